"""Evaluating search on a folder of conversations: `turns.jsonl` and `questions.jsonl`, each question with its evidence.

Everything happens in memory: the turns go through the ordinary import and the ordinary fold, the questions through the ordinary
search, as of just after the conversation's last turn, or of the question's own time. No store is opened.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean, median, quantiles
from time import perf_counter
from typing import Any, NamedTuple, Protocol, TypedDict, TypeVar, Unpack

import orjson

from api.choices import LEAVE
from api.evaluation.folder import TURNS, DatasetQuestion, read_questions, read_views
from api.evaluation.meaning import EvaluationVectors
from api.exchange.importing import ImportReport
from events.errors import refused
from projections.fold.owner import OwnerState
from projections.laws.modes import Mode
from projections.memory.record import DAY
from projections.ranking.recall import search
from projections.ranking.search_request import SearchRequest
from projections.views.query import ViewQuery
from projections.views.view import OwnerView

DEPTH = 100
"""Results looked at: an answer below counts as not found in the mean reciprocal rank."""
SHOWN = 10
"""Results a timed search asks for."""
AFTER = 1_000_000
"""Microseconds after the last turn at which a question without a time of its own is asked."""
CUTS = (1, 3, 5, 10)
Progress = Callable[[int, int], None]
EvaluationAnswer = dict[str, Any]


@dataclass(frozen=True, slots=True)
class QuestionOutcome:
    """Where the evidence of one question stood, ranks from 1; and how long a search took."""

    question: DatasetQuestion
    ranks: tuple[int, ...]
    seconds: float
    near: bool = False
    """Whether of all evidence the turn itself, or one directly before or after it in its session, is among the first ten."""
    current_first: bool | None = None
    """Whether what holds now stands above what it replaced; None where the question names no such pair, or neither is found."""


class EvaluationTerms(TypedDict, total=False):
    """How a set is read and asked, whatever is measured."""

    later_days: float
    """Every question is asked so many days later, to see what decay does to the answers."""
    profile: str | None
    """The law under which memories decay."""
    linked: bool
    """What a question's `evidence_old` names is negated in favour of its `evidence_new` before, as a judge would do."""
    long_turns: str
    """Turns over 64 KiB are left out, or cut."""
    vectors: EvaluationVectors | None
    """Compares meanings too; without, search goes by words."""
    on_embedding: Progress


class TimedOutcome(Protocol):
    """What became of one question."""

    @property
    def question(self) -> DatasetQuestion:
        """The question."""

    @property
    def seconds(self) -> float:
        """How long it took."""


_Outcome = TypeVar("_Outcome", bound=TimedOutcome)


def evaluate(
    folder: Path,
    request: SearchRequest,
    mode: Mode,
    on_progress: Progress = lambda _done, _total: None,
    **terms: Unpack[EvaluationTerms],
) -> EvaluationAnswer:
    """Hit rates, recall, mean reciprocal rank and latency, over all questions with evidence and by category.

    Raises InputError for a folder without the two files, and for a line that is no turn or no question.
    """
    vectors = terms.get("vectors")
    asks = partial(ask, request=request, vectors=vectors)
    return evaluate_by(folder, request, mode, asks, measured, on_progress, **terms)


def evaluate_by(
    folder: Path,
    request: SearchRequest,
    mode: Mode,
    asks: Callable[[ViewQuery, DatasetQuestion], _Outcome],
    measure: Callable[[Sequence[_Outcome]], Mapping[str, Any]],
    on_progress: Progress,
    **terms: Unpack[EvaluationTerms],
) -> EvaluationAnswer:
    """Every question with evidence asked, and what is measured of all and by category. Raises as `evaluate`."""
    linked, profile, vectors = terms.get("linked", False), terms.get("profile"), terms.get("vectors")
    later_days = terms.get("later_days", 0.0)
    questions, asked, views, read = read_set(folder, profile, linked=linked, long_turns=terms.get("long_turns", LEAVE))
    if vectors is not None:
        vectors.fill((view for view, _ in views.values()), terms.get("on_embedding", lambda _done, _total: None))
    outcomes = []
    for number, question in enumerate(asked, 1):
        outcomes.append(asks(asked_at(views, question, later_days, mode), question))
        on_progress(number, len(asked))
    return {
        "set": folder.name,
        "mode": mode,
        "ranking": request.ranking,
        "search_mode": request.search_mode,
        "profile": profile or OwnerState().profile,
        "model": None if vectors is None else vectors.model,
        "later_days": later_days,
        "linked": linked,
        "conversations": len(views),
        "memories": sum(len(view) for view, _ in views.values()),
        "turns_too_long": read.too_long,
        "turns_cut": read.cut,
        "questions": len(asked),
        "without_evidence": questions - len(asked),
        "all": measure(outcomes),
        "categories": {
            name: measure([one for one in outcomes if one.question.category == name])
            for name in sorted({one.question.category for one in outcomes})
        },
        "latency_ms": latency([one.seconds for one in outcomes]),
    }


class DatasetRead(NamedTuple):
    """A folder, read into memory."""

    questions: int
    """How many there are."""
    asked: list[DatasetQuestion]
    """Those with evidence."""
    views: dict[str, tuple[OwnerView, int]]
    report: ImportReport


def read_set(folder: Path, profile: str | None = None, *, linked: bool, long_turns: str = LEAVE) -> DatasetRead:
    """A folder as `evaluate` asks it. Raises as that does."""
    questions = list(read_questions(folder))
    views, report = read_views(folder, profile, [one for one in questions if linked], long_turns)
    asked = [question for question in questions if question.evidence]
    for question in asked:
        if question.owner not in views:
            raise refused("conversation", question.owner, f"a conversation of {TURNS}")
    return DatasetRead(len(questions), asked, views, report)


def asked_at(
    views: Mapping[str, tuple[OwnerView, int]], question: DatasetQuestion, later_days: float, mode: Mode
) -> ViewQuery:
    """Whom a question asks, and when: so many days after the last turn, or after the question's own time."""
    view, last = views[question.owner]
    return ViewQuery(view, (last + AFTER if question.at is None else question.at) + int(later_days * DAY), mode)


def ask(
    asked: ViewQuery, question: DatasetQuestion, request: SearchRequest, vectors: EvaluationVectors | None
) -> QuestionOutcome:
    """Where the evidence of a question stands."""
    start = perf_counter()
    sense = None if vectors is None else vectors.asked(asked.view, question.owner, question.text)
    search(asked, question.text, SHOWN, request, sense)
    taken = perf_counter() - start
    found = [result["id"] for result in search(asked, question.text, DEPTH, request, sense)["results"]]
    places = {memory_id: rank for rank, memory_id in enumerate(found, 1)}
    ranks = tuple(sorted(places[one] for one in question.evidence if one in places))
    return QuestionOutcome(
        question, ranks, taken, near_all(asked.view, question, found[:SHOWN]), _current_first(question, places)
    )


def near_all(view: OwnerView, question: DatasetQuestion, shown: Collection[str]) -> bool:
    """Whether of all evidence the turn itself, or a direct neighbour of it in its session, is among the ids shown."""
    view.conversation.settle()
    index, known = view.conversation, {view.columns.row(one) for one in shown}
    rows = [view.columns.row(one) for one in question.evidence]
    return all(row is not None and bool(known & {row, int(index.previous[row]), int(index.next[row])}) for row in rows)


def _current_first(question: DatasetQuestion, places: dict[str, int]) -> bool | None:
    old = [places[one] for one in question.outdated if one in places]
    new = [places[one] for one in question.current if one in places]
    if not question.outdated or not question.current or not (old or new):
        return None
    return bool(new) and (not old or min(new) < min(old))


def measured(outcomes: Sequence[QuestionOutcome]) -> dict[str, float]:
    """What was found, as shares of the questions.

    hit@k: any evidence among the first k; all@10: all of it among the first ten, near@10: of all of it the turn itself or a direct
    neighbour; recall@10: the share of it there; mrr: 1 / rank of its first.
    """
    if not outcomes:
        return {"questions": 0}
    told: dict[str, float] = {"questions": len(outcomes)}
    for cut in CUTS:
        told[f"hit@{cut}"] = round(fmean(bool(one.ranks) and one.ranks[0] <= cut for one in outcomes), 4)
    shares = [sum(rank <= SHOWN for rank in one.ranks) / len(one.question.evidence) for one in outcomes]
    told["all@10"] = round(fmean(share == 1.0 for share in shares), 4)
    told["near@10"] = round(fmean(one.near for one in outcomes), 4)
    told["recall@10"] = round(fmean(shares), 4)
    told["mrr"] = round(fmean(1 / one.ranks[0] if one.ranks else 0.0 for one in outcomes), 4)
    pairs = [one.current_first for one in outcomes if one.current_first is not None]
    if pairs:
        told |= {"pairs": len(pairs), "current_first": round(fmean(pairs), 4)}
    return told


def latency(seconds: Sequence[float]) -> dict[str, float]:
    """p50 and p95, milliseconds; nothing of fewer than two."""
    if len(seconds) < 2:
        return {}
    return {"p50": round(median(seconds) * 1e3, 3), "p95": round(quantiles(seconds, n=20)[-1] * 1e3, 3)}


def read_saved(path: Path) -> EvaluationAnswer:
    """An evaluation that was saved, or InputError."""
    try:
        answer = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        raise refused("against", str(path), f"a file that --save wrote ({error})") from None
    if not isinstance(answer, dict) or not _has_figures(answer):
        raise refused("against", str(path), "a file that --save wrote")
    return answer


def _has_figures(answer: Mapping[str, object]) -> bool:
    """Whether there are figures over all and by category, of which those that are compared are numbers."""
    over_all, parts = answer.get("all"), answer.get("categories")
    if not isinstance(over_all, dict) or not isinstance(parts, dict):
        return False
    figures = [over_all, *parts.values()]
    return all(isinstance(one, dict) and all(_is_number(value) for value in one.values()) for one in figures)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def save(answer: Mapping[str, Any], path: Path) -> None:
    """Write an evaluation as JSON. Raises InputError where that cannot be."""
    try:
        path.write_bytes(orjson.dumps(answer, option=orjson.OPT_INDENT_2) + b"\n")
    except OSError as error:
        raise refused("save", str(path), f"a file that can be written ({error.strerror})") from None


def differences(answer: EvaluationAnswer, before: EvaluationAnswer) -> EvaluationAnswer:
    """How much each measure rose since an earlier evaluation, over all and by category; what only one has is left out."""
    then = before["categories"]
    rises = {name: _rises(found, then[name]) for name, found in answer["categories"].items() if name in then}
    return {"all": _rises(answer["all"], before["all"]), "categories": rises}


def _rises(now: dict[str, float], then: dict[str, float]) -> dict[str, float]:
    return {
        key: round(value - then[key], 4)
        for key, value in now.items()
        if key in then and key not in ("questions", "pairs")
    }
