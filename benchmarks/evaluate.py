"""`make eval DATA=DIR`: quality of search, context, extraction and contradiction on sets of talk, on everyday talk, on own rows.

A set is a folder with `turns.jsonl` and `questions.jsonl`, or with `pairs.jsonl`. The lines are described in docs/figures.md.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

from benchmarks.dataset import QUESTIONS, TURNS, Dataset, read_dataset
from benchmarks.facts_quality import CHATS, evaluate_chats, evaluate_facts
from benchmarks.goals import CHATS as CHATS_TABLE
from benchmarks.goals import CONTEXT, LATER, OWN, SEARCH, goal_rows
from benchmarks.measure import Row, show
from benchmarks.quality import BUDGETS, CUTS, bm25, evaluate_context, evaluate_pairs, evaluate_ranking, evaluate_search
from benchmarks.vectors import Meanings, meanings_named
from engramlog_server.events.errors import InputError

PAIRS, BM25 = "pairs.jsonl", "bm25"
PARTS = ("search", "context", "later", "facts", "pairs", "everyday", "rows")
DAYS = 365
"""How much later than just after the last turn the part `later` asks."""


def add_arguments(parser: ArgumentParser) -> None:
    """Options of `eval`."""
    parser.add_argument("data", type=Path, help="a folder of sets, or one set")
    parser.add_argument("--sets", default="", help="names of sets, separated by commas [default: all]")
    parser.add_argument("--parts", default="", help=f"some of {','.join(PARTS)} [default: all]")
    parser.add_argument(
        "--embedders",
        default="bm25,use",
        help="bm25 (search alone), words, auto, minilm, use or another [default: bm25,use]",
    )
    parser.add_argument("--most", type=int, help="only so many personas and rows of the everyday set")
    parser.add_argument(
        "--wait", default="0", help="everyday and rows: seconds between writing and asking, such as 0,90 [default: 0]"
    )
    parser.add_argument(
        "--script", type=Path, help="everyday: the script of another copy of the set [default: our own]"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: Namespace) -> None:
    """Evaluate and print each table when it is ready; with `--json` everything at the end. Raises InputError."""
    parts, tables = _chosen("parts", options.parts, PARTS), dict[str, list[Row]]()
    folders = sets_in(options.data)
    names = _chosen("sets", options.sets, [folder.name for folder in folders])
    folders = [folder for folder in folders if folder.name in names]
    embedders = {name: None if name == BM25 else meanings_named(name) for name in options.embedders.split(",")}
    waits = _waits(options.wait)
    if options.script is not None and not options.script.is_file():
        raise InputError(f"script: got {options.script}; allowed: a Python file")

    def add(title: str, rows: list[Row]) -> None:
        tables.setdefault(title, []).extend(rows)
        if not options.json:
            show({title: rows}, as_json=False)

    for folder in folders:
        asked = {"search", "context", "later"} & set(parts)
        if asked and (folder / TURNS).exists() and (folder / QUESTIONS).exists():
            for title, rows in conversation_tables(read_dataset(folder), embedders, parts):
                add(title, rows)
        if "facts" in parts and (folder / TURNS).exists():
            add("facts", [timed({"set": folder.name}, partial(facts_without_missed, folder))])
        if "facts" in parts and (folder / CHATS).exists():
            add(CHATS_TABLE, [timed({"set": folder.name}, partial(chats_without_missed, folder))])
        if "pairs" in parts and (folder / PAIRS).exists():
            add("pairs", pair_rows(folder))
    for wait in waits:
        for title, rows in service_tables(options, parts, wait):
            add(title, rows)
    if goals := goal_rows(tables):
        add("goals", goals)
    if options.json:
        show(tables, as_json=True)


def service_tables(options: Namespace, parts: Sequence[str], wait: float) -> Iterator[tuple[str, list[Row]]]:
    """Rows of everyday talk and of own rows, each in a service of its own."""
    from benchmarks.everyday import evaluate_everyday, run_script  # noqa: PLC0415 - the client
    from benchmarks.rows import evaluate_rows  # noqa: PLC0415
    from benchmarks.service import fresh_service  # noqa: PLC0415

    if "everyday" in parts:
        with fresh_service() as service:
            if options.script is None:
                figures = evaluate_everyday(service, most=options.most, sets=options.data, wait=wait)
            else:
                figures = run_script(options.script, service, wait)
        for name, row in figures.items():
            yield f"everyday: {name}", [{"wait": wait, **row}]
    if "rows" in parts:
        with fresh_service() as service:
            for row in evaluate_rows(service, wait=wait)["figures"]:
                yield OWN, [{"wait": wait, **row}]


def sets_in(data: Path) -> list[Path]:
    """The sets below a folder, or the folder if it is one. Raises InputError if there are none."""

    def is_set(folder: Path) -> bool:
        return any((folder / name).exists() for name in (TURNS, PAIRS, CHATS))

    if not data.is_dir():
        raise InputError(f"data: got {data}; allowed: a folder")
    found = (
        [data] if is_set(data) else sorted(folder for folder in data.iterdir() if folder.is_dir() and is_set(folder))
    )
    if not found:
        raise InputError(f"data: got {data}; allowed: a folder with {TURNS} or {PAIRS}, or a folder of such folders")
    return found


def conversation_tables(
    data: Dataset, embedders: Mapping[str, Meanings | None], parts: Sequence[str]
) -> Iterator[tuple[str, list[Row]]]:
    """Rows of search and context for each embedder, with CPU seconds; embedding the memories is a row of its own."""
    plain: dict[str, dict[str, float]] = {}
    for name, meanings in embedders.items():
        head: Row = {"set": data.name, "embedder": name}
        if meanings is not None:
            views = [one.view for one in data.conversations.values()]
            start = process_time()
            meanings.fill(views)
            memories = sum(len(view) for view in views)
            yield "embedding", [head | {"memories": memories, "CPU s": round(process_time() - start, 1)}]
        if "search" in parts:
            start = process_time()
            shares = evaluate_ranking(data, bm25(data)) if name == BM25 else evaluate_search(data, meanings)
            taken = round(process_time() - start, 1)
            yield (
                SEARCH,
                [
                    head
                    | {"category": category, **row}
                    | {f"over bm25@{cut}": row[f"hit@{cut}"] - plain[category][f"hit@{cut}"] for cut in CUTS if plain}
                    | ({"CPU s": taken} if category == "all" else {})
                    for category, row in shares.items()
                ],
            )
            if name == BM25:
                plain = shares
        if name == BM25 or not {"context", "later"} & set(parts):
            continue
        now = timed(head, partial(evaluate_context, data, meanings))
        if "context" in parts:
            yield CONTEXT, [now]
        if "later" in parts:
            then = timed(head, partial(evaluate_context, data.later(DAYS), meanings))
            lost = {f"lost@{budget}": now[f"whole@{budget}"] - then[f"whole@{budget}"] for budget in BUDGETS}
            yield LATER, [head | {"days": DAYS, **then, **lost}]


def pair_rows(folder: Path) -> list[Row]:
    """Rows of `pairs.jsonl`: all, then each kind."""
    start = process_time()
    figures = evaluate_pairs(folder / PAIRS)
    taken = round(process_time() - start, 1)
    return [
        {"set": folder.name, "kind": kind, **row} | ({"CPU s": taken} if kind == "all" else {})
        for kind, row in figures.items()
    ]


def timed(head: Row, work: Callable[[], Mapping[str, Any]]) -> Row:
    """A row with the CPU seconds that its figures took."""
    start = process_time()
    figures = work()
    return {**head, **figures, "CPU s": round(process_time() - start, 1)}


def facts_without_missed(folder: Path) -> Row:
    """Figures without the list of missed marks, which `python -m benchmarks facts SET` prints."""
    return {name: value for name, value in evaluate_facts(folder).items() if name != "missed"}


def chats_without_missed(folder: Path) -> Row:
    """Figures without lists: shares of what was found, of what a person read as right, and of no facts kept."""
    figures = {name: value for name, value in evaluate_chats(folder).items() if name not in ("missed", "kept")}
    kept, others = figures.pop("not facts kept", 0), figures.get("not facts", 0)
    right, read = figures.pop("right"), figures["read"]
    return figures | {
        "recall": figures["found"] / figures["facts"] if figures.get("facts") else None,
        "precision": right / read if read else None,
        "not facts kept": kept / others if others else None,
    }


def _waits(text: str) -> list[float]:
    try:
        return [float(one) for one in text.split(",")]
    except ValueError:
        raise InputError(f"wait: got {text!r}; allowed: seconds, separated by commas") from None


def _chosen(field: str, text: str, allowed: Sequence[str]) -> Sequence[str]:
    names = text.split(",") if text else allowed
    for name in names:
        if name not in allowed:
            raise InputError(f"{field}: got {name!r}; allowed: {', '.join(allowed)}")
    return names
