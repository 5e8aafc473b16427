"""What time does to the answers of a set: normal mode beside review mode, under every law, at import and up to a year later."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import TypedDict

import msgspec

from api.choices import LEAVE
from api.evaluation.meaning import EvaluationVectors
from api.evaluation.search import Progress, ask, asked_at, measured, read_set
from projections.laws import LAWS
from projections.laws.modes import Mode
from projections.ranking.search_request import SearchRequest

LATER_DAYS = (0, 30, 180, 365)
COMPARED: tuple[Mode, ...] = ("normal", "review")


class MeasuredOnce(TypedDict):
    """What one mode found under one law, so many days after the last turn."""

    profile: str
    later_days: int
    mode: Mode
    found: dict[str, float]
    """As `measured` tells it."""


class MeasuredOverTime(TypedDict):
    """A set over time."""

    set: str
    ranking: str
    search_mode: str
    model: str | None
    linked: bool
    conversations: int
    memories: int
    questions: int
    without_evidence: int
    over_time: list[MeasuredOnce]


def _unheard(_done: int, _total: int) -> None:
    """Nobody waits."""


def evaluate_over_time(
    folder: Path,
    request: SearchRequest,
    on_progress: Progress = _unheard,
    *,
    linked: bool = False,
    long_turns: str = LEAVE,
    vectors: EvaluationVectors | None = None,
    on_embedding: Progress = _unheard,
) -> MeasuredOverTime:
    """`evaluate` under each law, 0, 30, 180 and 365 days after the last turn (or each question's own time), in both modes.

    No sweep runs in between: what a law would have had deleted by then is still there. Raises as `evaluate` does.
    """
    count, asked, views, _ = read_set(folder, linked=linked, long_turns=long_turns)
    if vectors is not None:
        vectors.fill((view for view, _ in views.values()), on_embedding)
    told: list[MeasuredOnce] = []
    runs = list(product(LAWS, LATER_DAYS, COMPARED))
    for number, (profile, later, mode) in enumerate(runs):
        for view, _ in views.values():
            view.follow(msgspec.structs.replace(view.state, profile=profile), ())
        outcomes = []
        for done, question in enumerate(asked, 1):
            outcomes.append(ask(asked_at(views, question, later, mode), question, request, vectors))
            on_progress(number * len(asked) + done, len(runs) * len(asked))
        told.append({"profile": profile, "later_days": later, "mode": mode, "found": measured(outcomes)})
    return {
        "set": folder.name,
        "ranking": request.ranking,
        "search_mode": request.search_mode,
        "model": None if vectors is None else vectors.model,
        "linked": linked,
        "conversations": len(views),
        "memories": sum(len(view) for view, _ in views.values()),
        "questions": len(asked),
        "without_evidence": count - len(asked),
        "over_time": told,
    }
