"""The harness of benchmarks/ alone: no peer is installed or run."""

import importlib
import json
import os
import random
import sys
import time
from pathlib import Path
from string import Template

import psutil
import pytest
import zstandard

ROOT = Path(__file__).parents[1]
if str(ROOT) not in sys.path:  # benchmarks/ isn't installed; `pytest` doesn't look for it here, `python -m pytest` does
    sys.path.insert(0, str(ROOT))

from benchmarks import calibration, environments  # noqa: E402
from benchmarks.harness import SCRIPTS, Contestant, Runs, contest, results, spoken, table, verdict  # noqa: E402
from benchmarks.inputs import Sample, archive, sample  # noqa: E402
from benchmarks.process_tree import Cost, cost  # noqa: E402
from benchmarks.stages import STAGES  # noqa: E402

OURS = "run_glotmill.py"
UNREAPED = """
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # as Spark's daemon does: rusage never hears of the child
child = os.fork()
if not child:
    while time.process_time() < 0.6: pass
    time.sleep(0.3)
    os._exit(0)
time.sleep(0.1)
while os.path.exists(f"/proc/{child}"): time.sleep(0.05)
"""
BURN = "import time\nwhile time.process_time() < 0.2: pass"


def test_the_cpu_time_of_children_that_end_between_two_looks_counts() -> None:
    code = f"import subprocess, sys\nfor _ in range(3): subprocess.run([sys.executable, '-c', {BURN!r}])"
    assert 0.6 <= cost([sys.executable, "-c", code], every=60).cpu_seconds < 3


def test_the_cpu_time_of_children_that_are_never_reaped_counts() -> None:
    assert 0.5 < cost([sys.executable, "-c", UNREAPED], every=0.05).cpu_seconds < 3


def test_a_command_is_pinned_and_its_output_status_and_memory_are_told() -> None:
    core = max(os.sched_getaffinity(0))
    code = "import os, sys, time; time.sleep(0.3); print(*os.sched_getaffinity(0)); sys.exit(3)"
    done = cost([sys.executable, "-c", code], every=0.05, core=core)
    assert (done.status, done.output.strip()) == (3, str(core))
    assert done.peak_mb["all"] >= done.peak_mb["python"] > 1
    assert done.wall_seconds >= 0.3


def test_time_that_is_up_ends_a_command_and_what_it_started() -> None:
    code = "import subprocess; child = subprocess.Popen(['sleep', '600']); print(child.pid, flush=True); child.wait()"
    done = cost([sys.executable, "-c", code], every=0.05, timeout=1)
    assert done.status == -9
    child = int(done.output)
    for _ in range(40):
        if not psutil.pid_exists(child) or psutil.Process(child).status() == psutil.STATUS_ZOMBIE:
            break
        time.sleep(0.05)
    else:
        pytest.fail(f"process {child} is still there")


ROWS: list[dict[str, object]] = [{"id": f"d{n}", "text": f"{n} ไทย e\u0301 {'x' * n}"} for n in range(200)]


def written(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n\n", encoding="utf-8")
    return path


def test_a_sample_does_not_depend_on_the_order_of_the_file(tmp_path: Path) -> None:
    shuffled = random.Random(7).sample(ROWS, len(ROWS))
    found = []
    for number, rows in enumerate((ROWS, shuffled)):
        folder = tmp_path / str(number)
        folder.mkdir()
        found.append(sample(written(tmp_path / "in.jsonl", rows), 20, folder).path.read_bytes())
    assert found[0] == found[1]
    chosen = [json.loads(line) for line in found[0].splitlines()]
    assert len(chosen) == 20 and all(row in ROWS for row in chosen)


def test_a_smaller_sample_is_the_beginning_of_a_larger_one(tmp_path: Path) -> None:
    source = written(tmp_path / "in.jsonl", ROWS)
    texts = [sample(source, count, tmp_path).path.read_text(encoding="utf-8") for count in (5, 50, None)]
    assert texts[1].startswith(texts[0]) and texts[2].startswith(texts[1])
    assert len(texts[2].splitlines()) == len(ROWS)


def test_a_compressed_file_gives_the_sample_of_the_plain_one(tmp_path: Path) -> None:
    plain = written(tmp_path / "in.jsonl", ROWS)
    packed = tmp_path / "in.jsonl.zst"
    packed.write_bytes(zstandard.compress(plain.read_bytes()))
    first = sample(plain, 30, tmp_path)
    wanted = first.path.read_bytes()
    assert sample(packed, 30, tmp_path) == first
    assert first.path.read_bytes() == wanted


def test_what_some_peer_cannot_read_is_in_no_sample(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [
        {"id": "empty", "text": ""},
        {"id": "null", "text": None},
        {"id": "none"},
        {"id": "surrogate", "text": "\ud800"},
        {"text": "no id, é\u2028one line"},
    ]
    found = sample(written(tmp_path / "in.jsonl", rows), None, tmp_path)
    assert [json.loads(line) for line in found.path.read_text(encoding="utf-8").split("\n") if line] == [
        {"id": "4", "text": "no id, é\u2028one line"}
    ]
    assert found.docs == 1
    assert found.megabytes == len("no id, é\u2028one line".encode()) / 1e6


def test_an_archive_is_its_own_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.warc").write_bytes(bytes(2_000_000))
    assert archive(Path("a.warc")) == Sample(tmp_path.resolve() / "a.warc", 0, 2.0)


@pytest.mark.parametrize(
    ("installed", "missing"),
    [
        pytest.param({"data-trove": "1.2", "torch": "2.13.0+cu130"}, [], id="met, another build"),
        pytest.param({"data-trove": "1.20", "torch": "2.13.0"}, ["data-trove"], id="another version"),
        pytest.param({"torch": "2.13.0"}, ["data-trove"], id="absent"),
        pytest.param({}, ["data-trove", "torch"], id="no environment"),
    ],
)
def test_an_environment_must_hold_what_is_pinned(installed: dict[str, str], missing: list[str]) -> None:
    wanted = environments.pins(
        "--extra-index-url https://x.invalid/a==b\n# why\n\nData_Trove[all]==1.2  # note\ntorch==2.13.0+cpu\n"
    )
    assert wanted == {"data-trove": "1.2", "torch": "2.13.0+cpu"}
    assert environments.unmet(wanted, installed) == missing


def test_an_environment_that_is_ready_is_taken_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "peer.txt").write_text(f"pytest=={pytest.__version__}\n")
    monkeypatch.setattr(environments, "PINS", tmp_path)
    (tmp_path / "envs" / "peer" / "bin").mkdir(parents=True)
    (tmp_path / "envs" / "peer" / "bin" / "python").symlink_to(sys.executable)
    made: list[str] = []

    def note(command: list[str], name: str) -> None:
        made.append(name)
        raise environments.EnvironmentProblem("would be made anew")

    monkeypatch.setattr(environments, "_run", note)
    monkeypatch.setattr(environments, "_installed", lambda interpreter: {"pytest": pytest.__version__})
    with pytest.raises(environments.EnvironmentProblem):
        environments.python("peer", tmp_path / "envs")  # nothing says that its installation ended
    (tmp_path / "envs" / "peer" / ".ready").touch()
    assert environments.python("peer", tmp_path / "envs") == tmp_path / "envs" / "peer" / "bin" / "python"
    (tmp_path / "peer.txt").write_text("pytest==0.1\n")
    with pytest.raises(environments.EnvironmentProblem):
        environments.python("peer", tmp_path / "envs")
    assert made == ["peer", "peer"]


SCRIPT = Template("""
import os, sys
sys.path.insert(0, "$scripts")
from contestant import main

def ready(work):
    assert work.is_dir() and not list(work.iterdir())
    def run(texts):
        with open("$log", "a") as log: log.write(f"$name {len(texts)}\\n")
        return {"chars": sum(map(len, texts))}
    return run

def broken(work):
    raise RuntimeError("the model is missing")

def crashing(work):
    return lambda texts: os.abort() if len(texts) > 1 else {}  # during the work, after a good start

main("pytest", {"ready": ready, "broken": broken, "crashing": crashing})
""")


def test_contestants_take_turns_and_one_that_fails_is_left_out(tmp_path: Path) -> None:
    log = tmp_path / "log"
    for name in ("ours", "peer"):
        code = SCRIPT.substitute(scripts=SCRIPTS, log=log, name=name)
        (tmp_path / f"{name}.py").write_text(code)
    read = sample(written(tmp_path / "in.jsonl", ROWS), 7, tmp_path)
    contestants = (
        Contestant("glotmill", str(tmp_path / "ours.py"), "ready", least_mb=1.5 * read.megabytes),
        Contestant("peer", str(tmp_path / "peer.py"), "ready"),
        Contestant("lame", str(tmp_path / "peer.py"), "broken"),
        Contestant("crashed", str(tmp_path / "peer.py"), "crashing"),
        Contestant("absent", str(tmp_path / "peer.py"), "ready", environment="absent"),
    )

    def interpreter(contestant: Contestant) -> Path:
        if contestant.environment:
            raise environments.EnvironmentProblem("pip failed")
        return Path(sys.executable)

    runs = contest(contestants, read, python=interpreter, reps=2, core=None, timeout=60, progress=lambda line: None)
    ours, peer = ["ours 1", "ours 1", "ours 7", "ours 7"], ["peer 1", "peer 1", "peer 7"]
    assert log.read_text().splitlines() == ["ours 1", "peer 1", *ours, *peer, *ours, *peer]  # 1: the warm-up
    assert [(len(run.idle), len(run.whole)) for run in runs] == [(2, 2), (2, 2), (0, 0), (1, 1), (0, 0)]
    rows = json.loads(json.dumps(results("stage", runs, read)))
    texts = [json.loads(line)["text"] for line in read.path.read_text(encoding="utf-8").splitlines()]
    assert rows[0]["docs"] == 7 and rows[0]["chars"] == sum(map(len, texts))
    assert (rows[0]["version"], rows[0]["passes"], rows[1]["passes"]) == (pytest.__version__, 2, 1)
    assert 0 < rows[0]["first_batch_cpu_s"] and 0 < rows[0]["first_batch_s"] < 60
    assert "the model is missing" in rows[2]["error"] and rows[4]["error"] == "pip failed"
    assert rows[3]["error"].startswith("status -6 ")
    assert "lame: left out: " in table(rows) and "the model is missing" in table(rows)


def _runs(name: str, idle: list[float], whole: list[float], least_mb: float) -> Runs:
    def costs(seconds: list[float]) -> list[Cost]:
        return [Cost(wall_seconds=2 * s, cpu_seconds=s, peak_mb={"all": 10 * s}) for s in seconds]

    said = [{"version": "1", "docs": 100, "first_batch_s": 2 * s} for s in idle]
    return Runs(Contestant(name, "script.py", "task", least_mb=least_mb), costs(idle), costs(whole), [0.1], said)


def test_start_up_is_taken_off_and_the_least_of_the_repetitions_is_compared() -> None:
    read = Sample(Path("x"), 100, 8.0)
    ours = _runs("glotmill", idle=[1.2, 1.3, 9.0], whole=[5.2, 3.2, 99.0], least_mb=30)
    peer = _runs("peer", idle=[2.0, 2.5, 2.0], whole=[99.0, 22.0, 32.0], least_mb=0)
    first, second = results("stage", [ours, peer], read)
    assert (first["startup_cpu_s"], first["net_cpu_s"], first["total_cpu_s"]) == (1.2, 0.5, 1.7)
    assert first["each_net_cpu_s"] == [1.0, 0.5, 24.45]
    assert (first["mb_per_cpu_s"], first["docs_per_cpu_s"], first["net_wall_s"]) == (16.0, 200.0, 1.0)
    assert (first["passes"], first["first_batch_s"]) == (4, 2.4)
    assert (second["net_cpu_s"], second["mb_per_cpu_s"], second["ours_by_this"]) == (20.0, 0.4, 40.0)
    assert (first["ours_by_this"], first["peak_mb"]) == (1.0, 990.0)
    assert "| peer | 1 | 4.00 | 2.00 | 20.000 | 5 | 0.40 | 990 | 40.0 |" in table([first, second])
    assert "ours by peer: 40.0 (target: 60)" in verdict([first, second], 60)
    assert verdict([first]) == ""


def test_without_ours_nothing_is_compared() -> None:
    ours, peer = Runs(Contestant("glotmill", "x", "task"), error="broken"), _runs("peer", [1.0], [3.0], 0)
    rows = results("stage", [ours, peer], Sample(Path("x"), 100, 8.0))
    assert rows[0]["error"] == "broken" and "ours_by_this" not in rows[1] and rows[1]["net_cpu_s"] == 2.0
    assert verdict(rows, 60) == ""


def test_the_last_json_line_is_what_a_contestant_says() -> None:
    assert spoken('loading {\n{"docs": 1}\n{"docs": 2}\n{broken\nbye') == {"docs": 2}
    assert spoken("nothing\n") is None


@pytest.mark.parametrize("name", STAGES)
def test_a_stage_names_scripts_tasks_and_pins_that_exist(name: str) -> None:
    assert STAGES[name].contestants[0].ours
    for contestant in STAGES[name].contestants:
        script = (SCRIPTS / contestant.script).read_text(encoding="utf-8")
        assert f'"{contestant.task}"' in script
        assert contestant.environment == "" or (SCRIPTS / f"{contestant.environment}.txt").exists()


@pytest.mark.parametrize(
    "task", sorted({one.task for stage in STAGES.values() for one in stage.contestants if one.script == OURS})
)
def test_each_of_our_tasks_measures(task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(SCRIPTS)
    work = importlib.import_module(OURS.removesuffix(".py")).TASKS[task](tmp_path)
    facts = work(["one line of a text\n", "ไทย 中文\n" * 30])
    assert facts["columns"] > 0


@pytest.mark.parametrize("path", sorted(SCRIPTS.glob("*.txt")), ids=lambda path: path.stem)
def test_every_requirement_of_a_peer_is_pinned(path: Path) -> None:
    lines = [line.split("#")[0].strip() for line in path.read_text(encoding="utf-8").splitlines()]
    wanted = [line for line in lines if line and not line.startswith("-")]
    assert wanted and all("==" in line for line in wanted)
    assert len(environments.pins(path.read_text(encoding="utf-8"))) == len(wanted)


@pytest.mark.slow
def test_calibration_keeps_clean_text_and_drops_junk_in_most_languages(shared_data: Path) -> None:
    table, counts = calibration.compared(str(shared_data / "parallel" / "ntrex_dev.jsonl.zst"))
    assert len(calibration.good(table)) >= 90 and min(counts.values()) >= 40
    assert all(of["after"]["junk"] >= 0.8 for of in table.values())
    assert sum(of["after"][calibration.CLEAN] for of in table.values()) / len(table) < 0.04
