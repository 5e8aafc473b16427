"""Evaluating search on a folder of conversations: `turns.jsonl` and `questions.jsonl`, each question with its evidence.

Everything happens in memory: the turns go through the ordinary import and the ordinary fold, the questions through the ordinary
search, as of just after the conversation's last turn, or of the question's own time. No store is opened.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median, quantiles
from time import perf_counter
from typing import Any

import orjson

from api.asked import parse_instant, refused
from api.importing import ImportOptions, import_turns
from events.envelope import micros
from events.memory_log import InMemoryEventLog
from events.vocabulary import LATEST
from projections.fold import fold_owner
from projections.memory import DAY
from projections.modes import Mode
from projections.query import Asked
from projections.recall import Wish, search
from projections.view import OwnerView

TURNS, QUESTIONS = "turns.jsonl", "questions.jsonl"
DEPTH = 100
"""Results looked at: an answer below counts as not found in the mean reciprocal rank."""
SHOWN = 10
"""Results a timed search asks for."""
ASKED_AT = ("asked_at", "occurred_at")
"""Fields of a question that may tell when it is asked."""
AFTER = 1_000_000
"""Microseconds after the last turn at which a question without a time of its own is asked."""
UNSORTED = "without category"
CUTS = (1, 3, 5, 10)
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the turns that answer it; none where the right answer is that nothing does."""

    owner: str
    text: str
    evidence: tuple[str, ...]
    category: str
    at: int | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """Where the evidence of one question stood, ranks from 1; and how long a search took."""

    question: Question
    ranks: tuple[int, ...]
    seconds: float


def evaluate(
    folder: Path,
    wish: Wish,
    mode: Mode,
    on_progress: Progress = lambda _done, _total: None,
    *,
    later_days: float = 0.0,
) -> dict[str, Any]:
    """Hit rates, recall, mean reciprocal rank and latency, over all questions with evidence and by category.

    `later_days`: every question is asked so many days later, to see what decay does to the answers.
    Raises InputError for a folder without the two files, and for a line that is no turn or no question.
    """
    questions = list(read_questions(folder))
    views = read_views(folder)
    asked = [question for question in questions if question.evidence]
    for question in asked:
        if question.owner not in views:
            raise refused("conversation", question.owner, f"a conversation of {TURNS}")
    outcomes = []
    for number, question in enumerate(asked, 1):
        view, last = views[question.owner]
        at = (last + AFTER if question.at is None else question.at) + int(later_days * DAY)
        outcomes.append(_ask(view, question, at, wish, mode))
        on_progress(number, len(asked))
    return {
        "set": folder.name,
        "mode": mode,
        "ranking": wish.ranking,
        "later_days": later_days,
        "conversations": len(views),
        "memories": sum(len(view) for view, _ in views.values()),
        "questions": len(asked),
        "without_evidence": len(questions) - len(asked),
        "all": measured(outcomes),
        "categories": {
            name: measured([one for one in outcomes if one.question.category == name])
            for name in sorted({one.question.category for one in outcomes})
        },
        "latency_ms": _latency([one.seconds for one in outcomes]),
    }


def _ask(view: OwnerView, question: Question, at: int, wish: Wish, mode: Mode) -> Outcome:
    asked = Asked(view, at, mode)
    start = perf_counter()
    search(asked, question.text, SHOWN, wish)
    taken = perf_counter() - start
    found = [result["id"] for result in search(asked, question.text, DEPTH, wish)["results"]]
    places = {memory_id: rank for rank, memory_id in enumerate(found, 1)}
    return Outcome(question, tuple(sorted(places[one] for one in question.evidence if one in places)), taken)


def measured(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """hit@k: any evidence among the first k; recall@10: the share of it there; mrr: 1 / rank of its first."""
    if not outcomes:
        return {"questions": 0}
    told: dict[str, float] = {"questions": len(outcomes)}
    for cut in CUTS:
        told[f"hit@{cut}"] = round(fmean(bool(one.ranks) and one.ranks[0] <= cut for one in outcomes), 4)
    shares = [sum(rank <= SHOWN for rank in one.ranks) / len(one.question.evidence) for one in outcomes]
    told["recall@10"] = round(fmean(shares), 4)
    told["mrr"] = round(fmean(1 / one.ranks[0] if one.ranks else 0.0 for one in outcomes), 4)
    return told


def _latency(seconds: Sequence[float]) -> dict[str, float]:
    if len(seconds) < 2:
        return {}
    return {"p50": round(median(seconds) * 1e3, 3), "p95": round(quantiles(seconds, n=20)[-1] * 1e3, 3)}


def read_views(folder: Path) -> dict[str, tuple[OwnerView, int]]:
    """Each conversation as an owner's view, with the time of its last turn, microseconds since 1970."""
    log = InMemoryEventLog(lambda: micros(LATEST), partitions=1)
    with _opened(folder / TURNS) as lines:
        done = import_turns(log, lines, ImportOptions())
    if done.done.error is not None:
        raise done.done.error
    stored = defaultdict(list)
    for one in log.read(0, 0, log.head(0)):
        stored[one.owner].append(one)
    views = {}
    for owner, events in stored.items():
        history = fold_owner(events)
        views[owner] = OwnerView.of_history(owner, history), history.newest
    return views


def read_questions(folder: Path) -> Iterator[Question]:
    """The questions of a folder, in order. Raises InputError naming the line."""
    with _opened(folder / QUESTIONS) as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield _question(line, number)


def _question(line: bytes, number: int) -> Question:
    try:
        document = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise refused(
            f"{QUESTIONS} line {number}", line[:80].decode("utf-8", "replace"), f"one JSON object ({error})"
        ) from None
    if not isinstance(document, dict):
        raise refused(f"{QUESTIONS} line {number}", document, "a JSON object")
    for name in ("conversation", "question"):
        if not isinstance(document.get(name), str) or not document[name].strip():
            raise refused(f"{QUESTIONS} line {number}, {name}", document.get(name), "a text")
    evidence = document.get("evidence", [])
    if not isinstance(evidence, list) or not all(isinstance(one, str) for one in evidence):
        raise refused(f"{QUESTIONS} line {number}, evidence", evidence, "a list of turn ids")
    told = next((document[name] for name in ASKED_AT if document.get(name)), None)
    at = None if told is None else parse_instant(str(told), f"{QUESTIONS} line {number}, asked_at")
    category = str(document.get("category") or UNSORTED)
    return Question(document["conversation"], document["question"], tuple(dict.fromkeys(evidence)), category, at)


def _opened(path: Path) -> Any:
    try:
        return path.open("rb")
    except OSError as error:
        raise refused("set", str(path), f"a folder with {TURNS} and {QUESTIONS} ({error.strerror})") from None


def read_saved(path: Path) -> dict[str, Any]:
    """An evaluation that was saved, or InputError."""
    try:
        answer = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        raise refused("against", str(path), f"a file that --save wrote ({error})") from None
    if not isinstance(answer, dict) or not all(isinstance(answer.get(part), dict) for part in ("all", "categories")):
        raise refused("against", str(path), "a file that --save wrote")
    return answer


def save(answer: dict[str, Any], path: Path) -> None:
    """Write an evaluation as JSON. Raises InputError where that cannot be."""
    try:
        path.write_bytes(orjson.dumps(answer, option=orjson.OPT_INDENT_2) + b"\n")
    except OSError as error:
        raise refused("save", str(path), f"a file that can be written ({error.strerror})") from None


def differences(answer: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    """How much each measure rose since an earlier evaluation, over all and by category; what only one has is left out."""
    then = before["categories"]
    rises = {name: _rises(found, then[name]) for name, found in answer["categories"].items() if name in then}
    return {"all": _rises(answer["all"], before["all"]), "categories": rises}


def _rises(now: dict[str, float], then: dict[str, float]) -> dict[str, float]:
    return {key: round(value - then[key], 4) for key, value in now.items() if key in then and key != "questions"}
