"""`engramlog eval-facts`: how much of what people state about themselves extraction by rules catches. Opens no store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from api.choices import HALVES, LEAVE
from api.cli.app import Json, app, out, progress, show
from api.cli.files import Against, LongTurns, Saved
from api.cli.show.tables import Cell, Column, compared_cell, tabulate

if TYPE_CHECKING:
    from api.evaluation.fact_figures import FactsAnswer
    from api.evaluation.search import EvaluationAnswer

LONG_EVALUATION = 5
"""Conversations from which a progress bar is shown."""
COUNTED = ("turns", "memories", "per_100", "marked", "caught")
SHARES = ("recall", "asserted")


@app.command(
    "eval-facts",
    epilog="Example: `engramlog eval-facts my-conversations --marked marked.jsonl --half first --sample 20`",
)
def evaluate_facts_of(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="SET", help="A folder with turns.jsonl, as `import turns` reads it.", show_default=False
        ),
    ],
    marked: Annotated[
        Path | None,
        typer.Option(
            help='JSON Lines {"conversation", "turn_id", "subject", "classes", "words"}: a turn that states a fact, and of what is'
            ' to be caught whom it is about ("self", or a word for him), the categories that fit, and words of which it has one;'
            " the last three are lists.",
            show_default=False,
        ),
    ] = None,
    half: Annotated[str, typer.Option(help=", ".join(HALVES) + ": of the conversations, sorted by name.")] = HALVES[0],
    sample: Annotated[
        int, typer.Option(help="Show so many memories with their turns, to read one by one; at most 1,000.")
    ] = 0,
    seed: Annotated[int, typer.Option(help="Which memories these are.")] = 0,
    long_turns: LongTurns = LEAVE,
    saved: Saved = None,
    against: Against = None,
    json: Json = False,
) -> None:
    """Measure extraction by rules: the share of marked turns that is caught, and memories of a hundred turns.

    Caught is a turn of which a memory is made, or mentioned, that has subject, class and a word of the mark; a note is a copy.
    """
    from api.evaluation.facts import FactsAsked, check_comparable, evaluate_facts
    from api.evaluation.marks import read_marks
    from api.evaluation.search import differences, read_saved, save

    before = None if against is None else read_saved(against)
    marks = () if marked is None else read_marks(marked)
    with progress("reading", json, long=LONG_EVALUATION) as on_progress:
        answer = evaluate_facts(folder, marks, FactsAsked(half, sample, seed, long_turns), on_progress)
    if before is not None:
        check_comparable(answer, before)
    if saved is not None:
        save(answer, saved)
    if before is not None:
        answer["differences"] = differences(dict(answer), before)
    show(answer, json, figures)


def figures(answer: FactsAnswer, console: Console = out) -> None:
    """Shares by half and language with what changed since a saved run, then what was missed, and the sample."""
    part = "" if answer["half"] == HALVES[0] else f", {answer['half']} half"
    console.print(Text(f"{answer['set']}{part}: {answer['conversations']:,} conversations, by {answer['by']}", "dim"))
    if answer["marked_elsewhere"]:
        console.print(Text(f"{answer['marked_elsewhere']:,} marks are of turns in the other half", "dim"))
    changed: EvaluationAnswer = answer.get("differences", {"all": {}, "categories": {}})
    rows: list[dict[str, Cell]] = []
    for name, found, change in [
        ("all", answer["all"], changed["all"]),
        *((name, found, changed["categories"].get(name, {})) for name, found in answer["categories"].items()),
    ]:
        counts: dict[str, Cell] = {one: f"{found.get(one, 0):,}" for one in COUNTED}
        rows.append(
            {
                "part": Text(name),
                **counts,
                "recall": compared_cell(found.get("recall"), change.get("recall")),
                "asserted": compared_cell(found.get("asserted"), change.get("asserted")),
            }
        )
    columns = [Column("part", is_id=True), *(Column(one, right=True) for one in (*COUNTED, *SHARES))]
    tabulate(columns, rows, console)
    for missed in answer["missed"]:
        told = f"missed {missed['conversation']} {missed['turn_id']}: {', '.join(missed['words'])}"
        console.print(Text(told, "yellow"), soft_wrap=True)
    for number, one in enumerate(answer.get("sample", ()), 1):
        console.print(Text(f"{number}. {one['category']}, {one['kind']}: {one['content']}"), soft_wrap=True)
        console.print(Text(f"   {one['conversation']} {one['turn_id']}: {one['text']}", "dim"), soft_wrap=True)
    for count, what in ((answer["turns_too_long"], "left out"), (answer["turns_cut"], "cut")):
        if count:
            console.print(Text(f"{count:,} turn{'' if count == 1 else 's'} of more than 64 KiB {what}", "yellow"))
