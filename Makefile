# Two commands do all set-up: `make demo` and `make test`. Both need Python 3.11 or later, and nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 2# of the tests; each starts a Spark of its own

.PHONY: setup demo test test-slow check format lock clean

setup: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	touch $@

demo: setup
	$(BIN)/glotmill demo --out out/demo

test: setup
	$(BIN)/python -m pytest -q -m "not slow" -n $(WORKERS) --dist loadfile

test-slow: setup
	$(BIN)/python -m pytest -q -m slow

check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: setup
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lock: setup
	$(BIN)/python -m pip freeze --exclude-editable | grep -v '^glotmill' > constraints.txt

clean:
	rm -rf $(VENV) out build dist *.egg-info
