"""`engramlog eval-pairs`: how well contradiction is told on pairs of statements, by rules or a model. Opens no store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from api.choices import HALVES
from api.cli.app import Json, app, model_of, out, progress, show
from api.cli.files import Against, Saved
from api.cli.show.tables import Cell, Column, compared_cell, tabulate

LONG_EVALUATION = 2_000
"""Pairs from which a progress bar is shown."""
LONG_ASKING = 20
"""The same where a model is asked."""


@app.command(
    "eval-pairs",
    epilog="Example: `engramlog eval-pairs pairs.jsonl --half second`, and with a model"
    " `ENGRAMLOG_MODEL=... ENGRAMLOG_MODEL_URL=... engramlog eval-pairs pairs.jsonl --model`",
)
def evaluate_pairs_of(
    context: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help='JSON Lines {"id", "a", "b", "label"}: a known statement, a new one, and contradict (negated, antonym) or any'
            " other label. Optionally kind, by which figures are parted, and group, which is never cut in two by --half.",
            show_default=False,
        ),
    ],
    half: Annotated[str, typer.Option(help=", ".join(HALVES) + ": by a hash of the group or id.")] = HALVES[0],
    model: Annotated[
        bool,
        typer.Option("--model", help="Ask the language model of the settings (ENGRAMLOG_MODEL) instead of the rules."),
    ] = False,
    saved: Saved = None,
    against: Against = None,
    json: Json = False,
) -> None:
    """Measure how well contradiction is told on labelled pairs: precision, recall, F1, accuracy; and how many are sure.

    By the rules, or by a model; pairs for which a model gives no answer count for nothing, and the command then exits with 3.
    """
    from api.evaluation.pairs import RULES, evaluate_pairs, read_pairs, rises
    from api.evaluation.pairs_by_model import evaluate_pairs_by_model
    from api.evaluation.search import read_saved, save

    before = None if against is None else read_saved(against)
    pairs = read_pairs(file, half)
    answer: dict[str, Any] = {"set": str(file.name), "half": half}
    if model:
        with model_of(context) as chat, progress("asking", json, long=LONG_ASKING) as on_progress:
            answer |= evaluate_pairs_by_model(pairs, chat, on_progress)
    else:
        with progress("comparing", json, long=LONG_EVALUATION) as on_progress:
            answer |= {"judge": RULES, **evaluate_pairs(pairs, on_progress)}
    if saved is not None:
        save(answer, saved)
    if before is not None:
        answer["differences"] = rises(answer, before)
    show(answer, json, figures)
    if answer.get("unanswered"):
        raise typer.Exit(3)


def figures(answer: dict[str, Any], console: Console = out) -> None:
    """Shares by kind with what changed since a saved run, then what each label was taken for."""
    from api.evaluation.pairs import MEASURED

    part = "" if answer["half"] == "all" else f", {answer['half']} half"
    console.print(Text(f"{answer['set']}{part}: {answer['pairs']:,} pairs, by {answer['judge']}", "dim"))
    changed = answer.get("differences", {"all": {}, "categories": {}})
    rows: list[dict[str, Cell]] = []
    measured = [(kind, found, changed["categories"].get(kind, {})) for kind, found in answer["categories"].items()]
    for kind, found, change in [("all", answer["all"], changed["all"]), *measured]:
        counts: dict[str, Cell] = {name: f"{found[name]:,}" for name in ("pairs", "opposed", "found", "sure")}
        rows.append(
            {
                "kind": Text(kind),
                **counts,
                **{name: compared_cell(found.get(name), change.get(name)) for name in MEASURED},
            }
        )
    columns = [Column("kind", is_id=True), Column("pairs", right=True), Column("opposed", right=True)]
    columns += [Column("found", right=True), *(Column(name, right=True) for name in MEASURED[:4])]
    tabulate([*columns, Column("sure", right=True), Column("sure_precision", right=True)], rows, console)
    for label, found in answer["labels"].items():
        console.print(Text(f"{label}: " + ", ".join(f"{times:,} {kind}" for kind, times in found.items()), "dim"))
    _asked(answer, console)


def _asked(answer: dict[str, Any], console: Console) -> None:
    """What asking a model took, and what it failed to answer."""
    if (usage := answer.get("usage")) is None:
        return
    tokens = f"{usage['input_tokens']:,} tokens in, {usage['output_tokens']:,} out"
    console.print(Text(f"{usage['requests']:,} requests, {tokens}", "dim"))
    if answer["unanswered"]:
        console.print(Text(f"{answer['unanswered']:,} pairs have no answer and are in no figure", "yellow"))
    for failure in answer["failures"]:
        console.print(Text(f"{failure['requests']:,} requests failed: {failure['message']}", "red"))
