"""The last step: report.html, made again only when something that it shows changed."""

from collections.abc import Sequence

from pyspark.sql import SparkSession

from glotmill.curate.report import examples, facts
from glotmill.curate.report.page import page
from glotmill.jobs.located import recipe_rules
from glotmill.jobs.state import State
from glotmill.jobs.steps import Step
from glotmill.jobs.units import Desk
from glotmill.schemas.atomic import Transaction
from glotmill.schemas.code import code_version
from glotmill.schemas.units import Outcome, Unit

ONLY = "all"
REPORT = "report.html"


def report_step(state: State) -> Step:
    """One unit, done in the driver: it reads receipts and a few rows of a few tables."""
    ruleset = recipe_rules(state)

    def units(state: State) -> list[Unit]:
        return [Unit("report", ONLY, REPORT, {}, (facts.evidence(state.ledger),))]

    def act(spark: SparkSession, state: State, units: Sequence[Unit], desk: Desk) -> None:
        def write(unit: Unit, files: Transaction) -> tuple[Outcome, tuple[()]]:
            text = page(facts.gather(state.ledger, state.recipe), examples.gather(state.ledger), ruleset)
            files.path(REPORT).write_text(text, encoding="utf-8", newline="\n")
            return Outcome(), ()

        desk.do(units[0], write)

    return Step(
        "report",
        (),
        units,
        act,
        [state.recipe.model_dump(mode="json"), ruleset.written],
        code_version(
            ("glotmill.curate.report.page",), ("langcodes", "language-data"), ("glotmill.curate.report:style.css",)
        ),
    )
