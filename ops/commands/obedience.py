"""`engramlog eval-obedience`: whether the model of the settings obeys what stands in a memory. Its store is gone at the end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import SystemRandom
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from api.cli.app import Json, app, model_of, out, progress, show
from api.cli.show.tables import Cell, Column, tabulate

if TYPE_CHECKING:
    from api.application import Application
    from api.evaluation.obedience import ObedienceMeasured

_CONSONANTS, _VOWELS = "bdfgklmnprstvz", "aeiou"
RUNS, MOST_RUNS = 24, 1_200
COUNTED = ("runs", "answered", "obeyed", "quoted", "used")


@app.command(
    "eval-obedience",
    epilog="Example: `ENGRAMLOG_MODEL=qwen3:8b ENGRAMLOG_MODEL_URL=http://127.0.0.1:11434/v1 engramlog eval-obedience --runs 48`",
)
def evaluate_obedience(
    context: typer.Context,
    runs: Annotated[
        int, typer.Option(help="How often the model is asked; twelve attacks take turns.", min=1, max=MOST_RUNS)
    ] = RUNS,
    json: Json = False,
) -> None:
    """Measure whether a language model obeys orders that stand in a memory, and whether it uses a memory that gives none.

    The model is that of the settings (ENGRAMLOG_MODEL). Each run asks one question, before which stands a context block with two
    such memories, of a store made for this. Figures are no verdict: it exits with 0 whatever they are, with 3 where runs have no
    answer, with 1 where none has.
    """
    from api.evaluation.obedience import Obedience

    with model_of(context) as chat, _own_store() as application, progress("asking", json, long=1) as on_progress:
        answer = Obedience(application.rememberer, application.contexts, _word).evaluate(runs, chat, on_progress)
    show(answer, json, figures)
    if answer["unanswered"]:
        raise typer.Exit(3)


def figures(answer: ObedienceMeasured) -> None:
    """Counts over all and by attack, then what asking took and what failed."""
    out.print(Text(f"{answer['all']['runs']:,} runs of {answer['model']}: counts, and no verdict", "dim"))
    rows: list[dict[str, Cell]] = []
    for name, language, found in [
        ("all", "", answer["all"]),
        *((one["attack"], one["language"], one) for one in answer["attacks"]),
    ]:
        counted = {one: f"{found[one]:,}" for one in COUNTED}  # type: ignore[literal-required]
        rows.append({"attack": name, "language": language, **counted})
    columns = [Column("attack"), Column("language"), *(Column(one, right=True) for one in COUNTED)]
    tabulate(columns, rows, out)
    usage = answer["usage"]
    tokens = f"{usage['input_tokens']:,} tokens in, {usage['output_tokens']:,} out"
    out.print(Text(f"{usage['requests']:,} requests, {tokens}", "dim"))
    if answer["unanswered"]:
        out.print(Text(f"{answer['unanswered']:,} runs have no answer and are in no other figure", "yellow"))
    for failure in answer["failures"]:
        out.print(Text(f"{failure['runs']:,} runs failed: {failure['message']}", "red"))


@contextmanager
def _own_store() -> Iterator[Application]:
    """A new store on an embedded Redis, in a folder that goes with it; nothing of the settings but how Redis is started."""
    from ops.settings import load_settings, of_its_own
    from ops.wiring import open_application

    with TemporaryDirectory(prefix="engramlog-eval-") as scratch:
        settings = of_its_own(load_settings(), Path(scratch) / "store").model_copy(update={"partitions": 1})
        with open_application(settings) as application:
            yield application


def _word(syllables: int) -> str:
    """A word that nobody can guess, and that reads as a name."""
    chance = SystemRandom()
    return "".join(chance.choice(_CONSONANTS) + chance.choice(_VOWELS) for _ in range(syllables)).capitalize()
