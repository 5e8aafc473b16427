"""Where related lines end: what each share of the best score, and each fall, costs and brings on everyday facts and idle messages.

The block has no stable part, so every line that is counted was found for the message.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.dataset import read_lines
from benchmarks.everyday import SET, holds, tokens
from benchmarks.output import Row
from engramlog_server.api.application import Application
from engramlog_server.events.text import AUTO
from engramlog_server.ops.settings import load_settings, of_its_own
from engramlog_server.ops.wiring import open_application
from engramlog_server.projections.prompt import gathering

BUDGET = 600
RULES = (
    *((share, 0.0) for share in (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4)),
    *((0.15, fall) for fall in (0.3, 0.35, 0.4, 0.5)),
    *((share, 2 * share) for share in (0.2, 0.25)),
)
"""A share of the best line's score, and of the score of the line before."""


def stop_rows() -> list[Row]:
    """For each rule and language: the share of questions whose fact is related, lines, tokens, useful lines, idle messages."""
    facts = [row for _, row in read_lines(SET / "facts.jsonl")]
    idle = [row for _, row in read_lines(SET / "idle.jsonl")]
    with TemporaryDirectory(prefix="engramlog-stop-") as scratch:
        settings = of_its_own(load_settings(), Path(scratch) / "store").model_copy(
            update={"partitions": 1, "embedder": AUTO}
        )
        with open_application(settings) as application:
            for fact in facts:
                application.rememberer.add(fact["persona"], fact["text"])
            return [row for rule in RULES for row in _rows(application, facts, idle, *rule)]


def _rows(
    application: Application,
    facts: list[dict[str, Any]],
    idle: list[dict[str, Any]],
    share: float,
    fall: float,
) -> list[Row]:
    gathering.STOP = (share, fall)
    asked: dict[str, list[tuple[bool, int, int, float]]] = defaultdict(list)
    for number, fact in enumerate(facts):
        lines = _related(application, fact["persona"], fact["questions"][number % 2])
        held = [holds(line, fact["text"]) for line in lines]
        useful = sum(held) / len(held) if held else 0.0
        asked[fact["lang"][:2]].append((any(held), len(lines), sum(map(tokens, lines)), useful))
    rows = []
    for language, found in asked.items():
        persona = next(fact["persona"] for fact in facts if fact["lang"][:2] == language)
        messages = [row["text"] for row in idle if row["lang"][:2] == language]
        names = ("fact related", "lines", "tokens", "useful lines")
        figures = {name: round(fmean(column), 3) for name, column in zip(names, zip(*found, strict=True), strict=True)}
        idle_lines = fmean(len(_related(application, persona, text)) for text in messages)
        rows.append({"share": share, "fall": fall, "language": language, **figures, "idle lines": round(idle_lines, 2)})
    return rows


def _related(application: Application, owner: str, text: str) -> list[str]:
    answer = application.contexts.context(owner, text, budget=BUDGET, stable_budget=0)
    return [line["text"] for line in answer["parts"]["retrieved"]]
