"""`engramlog eval`: how well search answers the questions of a folder of conversations. Opens no store."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer
from rich.console import Console
from rich.text import Text

from api.choices import BUDGET, LEAVE
from api.cli.app import Json, app, out, progress, show
from api.cli.files import Against, LongTurns, Saved
from api.cli.show.tables import Cell, Column, compared_cell, tabulate
from events.errors import refused
from events.parameters import Profile
from projections.choices import RANKINGS, SEARCH_MODES, THRESHOLD

if TYPE_CHECKING:
    from api.evaluation.over_time import MeasuredOverTime
    from api.evaluation.search import EvaluationAnswer

LONG_EVALUATION = 100
"""Questions from which a progress bar is shown."""
MEASURES = ("hit@1", "hit@3", "hit@5", "hit@10", "all@10", "near@10", "recall@10", "mrr")
ROOM = ("hit@5", "near@10", "recall@10")
"""Those that a narrow terminal does without."""
OF_BLOCKS = ("some", "any", "all", "near")


@app.command(
    "eval",
    epilog="Example: `engramlog eval my-conversations --save before.json`, later"
    " `engramlog eval my-conversations --against before.json`",
)
def evaluate_set(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="SET",
            help="A folder with turns.jsonl (as `import turns` reads) and questions.jsonl (conversation, question, evidence:"
            " the ids of the turns that answer it; optionally category and asked_at).",
            show_default=False,
        ),
    ],
    ranking: Annotated[str, typer.Option(help=", ".join(RANKINGS) + ".")] = RANKINGS[0],
    mode: Annotated[str, typer.Option(help="normal, review or debug.")] = "review",
    search_mode: Annotated[
        str, typer.Option(help=", ".join(SEARCH_MODES) + "; hybrid goes by words without an embedder.")
    ] = "hybrid",
    embedder: Annotated[
        str,
        typer.Option(
            envvar="ENGRAMLOG_EMBEDDER",
            help="none, auto (by a conversation's letters), minilm, use, openai:MODEL or"
            " package:object: compares meanings too.",
        ),
    ] = "none",
    url: Annotated[
        str | None, typer.Option("--embedder-url", envvar="ENGRAMLOG_EMBEDDER_URL", help="Of the openai: endpoint.")
    ] = None,
    vectors: Annotated[
        Path | None, typer.Option(help="Keep the vectors in this file, for the next run.", show_default=False)
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option(
            help="The law under which memories decay: " + ", ".join(get_args(Profile)) + ".", show_default=False
        ),
    ] = None,
    linked: Annotated[
        bool,
        typer.Option(
            "--linked", help="Before asking, negate what questions call evidence_old in favour of their evidence_new."
        ),
    ] = False,
    later: Annotated[
        float, typer.Option(help="Ask so many days later: what decay does to the answers.", min=0, max=36_500)
    ] = 0.0,
    long_turns: LongTurns = LEAVE,
    saved: Saved = None,
    against: Against = None,
    over_time: Annotated[
        bool,
        typer.Option("--over-time", help="Normal and review mode under every law, at import and 30 to 365 days later."),
    ] = False,
    include_faded: Annotated[
        bool | None, typer.Option("--include-faded/--no-faded", help="As `search` has it.", show_default=False)
    ] = None,
    context: Annotated[
        bool,
        typer.Option("--context", help="Ask for the context block of each question, in normal mode, not for a search."),
    ] = False,
    budget: Annotated[int, typer.Option(help="Of a context block, in tokens.")] = BUDGET,
    threshold: Annotated[
        float, typer.Option(help="Of a context block: how close a memory must be, 0 to 1.")
    ] = THRESHOLD,
    whole: Annotated[
        bool | None, typer.Option("--whole/--no-whole", help="As `context` has it.", show_default=False)
    ] = None,
    json: Json = False,
) -> None:
    """Measure search on conversations with questions whose answers are known: hit rates, recall, rank and time.

    all@10: all evidence among the first ten; near@10: of all of it the turn itself or a direct neighbour in its session.
    """
    from api.evaluation.by_name import EvaluationNames, evaluate_named, evaluate_named_over_time

    names = EvaluationNames(
        folder, ranking, mode, search_mode, embedder, url, vectors, profile, linked, later, long_turns, include_faded
    )
    watch = partial(progress, as_json=json, long=LONG_EVALUATION)
    if context:
        from api.evaluation.blocks import BlockAsked
        from api.evaluation.by_name import evaluate_blocks_named

        if over_time:
            raise refused("over_time", over_time, "search: without --context")
        show(evaluate_blocks_named(names, BlockAsked(budget, threshold, whole), watch, saved, against), json, blocks)
    elif over_time:
        show(evaluate_named_over_time(names, watch, saved), json, by_time)
    else:
        show(evaluate_named(names, watch, saved, against), json, figures)


def by_time(answer: MeasuredOverTime, console: Console = out) -> None:
    """Normal beside review mode under each law, as time goes by."""
    console.print(
        Text(f"{answer['set']}: {answer['questions']:,} questions, ranking {answer['ranking']}; hit@10", "dim")
    )
    rows: dict[tuple[str, str], dict[str, Cell]] = {}
    for one in answer["over_time"]:
        later = f"{one['later_days']} days later" if one["later_days"] else "at import"
        row = rows.setdefault((one["profile"], one["mode"]), {"law": Text(one["profile"]), "mode": one["mode"]})
        row[later] = f"{one['found']['hit@10']:.3f}"
    names = next(iter(rows.values()))
    tabulate([Column(name, right=name not in ("law", "mode")) for name in names], list(rows.values()), console)


def blocks(answer: EvaluationAnswer, console: Console = out) -> None:
    """What the blocks held by category, with what changed since a saved run; then what they took."""
    _told(answer, console)
    changed = answer.get("differences", {"all": {}, "categories": {}})
    rows: list[dict[str, Cell]] = []
    measured = [(name, found, changed["categories"].get(name, {})) for name, found in answer["categories"].items()]
    for name, found, change in [("all", answer["all"], changed["all"]), *measured]:
        cells: dict[str, Cell] = {one: compared_cell(found.get(one), change.get(one)) for one in OF_BLOCKS}
        taken: dict[str, Cell] = {one: f"{found[one]:,.1f}" for one in ("memories", "tokens")}
        rows.append({"category": Text(name), "questions": f"{found['questions']:,}", **cells, **taken})
    columns = [Column("category", is_id=True), *(Column(one, right=True) for one in ("questions", *OF_BLOCKS))]
    tabulate([*columns, Column("memories", right=True), Column("tokens", right=True)], rows, console)
    asked, found = answer["context"], answer["all"]
    told = f"budget {asked['budget']:,}, threshold {asked['threshold']}: {found['tokens_p95']:,.0f} tokens at p95"
    console.print(Text(told, "dim"))


def figures(answer: EvaluationAnswer, console: Console = out) -> None:
    """Hit rates by category, with what changed since a saved run."""
    _told(answer, console)
    changed = answer.get("differences", {"all": {}, "categories": {}})
    rows: list[dict[str, Cell]] = []
    measured = [(name, found, changed["categories"].get(name, {})) for name, found in answer["categories"].items()]
    for name, found, change in [("all", answer["all"], changed["all"]), *measured]:
        cells: dict[str, Cell] = {one: compared_cell(found.get(one), change.get(one)) for one in MEASURES}
        rows.append({"category": Text(name), "questions": f"{found['questions']:,}", **cells})
    columns = [Column("category", is_id=True), Column("questions", right=True)]
    columns += [Column(one, right=True, if_room=one in ROOM) for one in MEASURES]
    tabulate(columns, rows, console)
    if pairs := answer["all"].get("pairs"):
        told = (
            f"what holds now stands above what it replaced in {answer['all']['current_first']:.3f} of {pairs:,} pairs"
        )
        console.print(Text(told, "dim"))
    if latency := answer["latency_ms"]:
        console.print(
            Text(f"a search took {latency['p50']:.2f} ms at the median, {latency['p95']:.2f} ms at p95", "dim")
        )


def _told(answer: EvaluationAnswer, console: Console) -> None:
    """Which set was asked how."""
    left_out = f", {answer['without_evidence']:,} without evidence left out" if answer["without_evidence"] else ""
    told = (
        f"{answer['set']}: {answer['memories']:,} memories in {answer['conversations']:,} conversations,"
        f" {answer['questions']:,} questions{left_out}; ranking {answer['ranking']}, {answer['search_mode']}"
        f" ({answer['model'] or 'by words'}), mode {answer['mode']}, profile {answer['profile']}"
    )
    console.print(Text(told, "dim"))
    for count, what in ((answer["turns_too_long"], "left out"), (answer["turns_cut"], "cut")):
        if count:
            console.print(Text(f"{count:,} turn{'' if count == 1 else 's'} of more than 64 KiB {what}", "yellow"))
