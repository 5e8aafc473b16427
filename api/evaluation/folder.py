"""The folder of an evaluation: `turns.jsonl` and `questions.jsonl`, read into views and questions. No store is opened."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from api.choices import LEAVE
from api.evaluation.lines import object_on
from api.exchange.importing import ImportOptions, ImportReport, import_turns
from api.requests.checks import parse_instant
from events.catalogue import MemoryNegated
from events.envelope import from_micros, micros
from events.errors import refused
from events.memory_log import InMemoryEventLog
from events.standing import Speaker
from events.validation import make_event, ready
from events.vocabulary import LATEST
from projections.fold.owner import fold_owner
from projections.views.view import OwnerView

TURNS, QUESTIONS = "turns.jsonl", "questions.jsonl"
ASKED_AT = ("asked_at", "occurred_at")
"""Fields of a question that may tell when it is asked."""
UNSORTED = "without category"


@dataclass(frozen=True, slots=True)
class DatasetQuestion:
    """A question with the turns that answer it; none where the right answer is that nothing does."""

    owner: str
    text: str
    evidence: tuple[str, ...]
    category: str
    at: int | None
    outdated: tuple[str, ...] = ()
    """Of the evidence, what had been said before it changed (`evidence_old`) ..."""
    current: tuple[str, ...] = ()
    """... and what holds since (`evidence_new`)."""


def read_views(
    folder: Path, profile: str | None = None, links: Sequence[DatasetQuestion] = (), long_turns: str = LEAVE
) -> tuple[dict[str, tuple[OwnerView, int]], ImportReport]:
    """Each conversation as an owner's view, with the time of its last turn, microseconds since 1970; and what was read.

    `profile`: read under this law. `links`: questions whose outdated evidence is negated in favour of the current one.
    """
    log = InMemoryEventLog(lambda: micros(LATEST), partitions=1)
    with _opened(folder / TURNS) as lines:
        done = import_turns(log, lines, ImportOptions(long_turns=long_turns))
    if done.done.error is not None:
        raise done.done.error
    stored = defaultdict(list)
    for one in log.read(0, 0, log.head(0)):
        stored[one.owner].append(one)
    if links:
        _link(log, links, {owner: fold_owner(events).newest for owner, events in stored.items()})
        stored.clear()
        for one in log.read(0, 0, log.head(0)):
            stored[one.owner].append(one)
    views = {}
    for owner, events in stored.items():
        history = fold_owner(events)
        if profile is not None:
            history = history._replace(owner=msgspec.structs.replace(history.owner, profile=profile))
        views[owner] = OwnerView.of_history(owner, history), history.newest
    return views, done


def _link(log: InMemoryEventLog, links: Sequence[DatasetQuestion], newest: Mapping[str, int]) -> None:
    """Negate what is outdated just after the last turn."""
    for question in links:
        if question.outdated and question.current and question.owner in newest:
            for memory_id in question.outdated:
                data = MemoryNegated(memory_id=memory_id, replaced_by=question.current[-1], resolution="latest_wins")
                at = from_micros(newest[question.owner])
                event = make_event(
                    data,
                    owner=question.owner,
                    occurred_at=at,
                    actor="judge",
                    now=micros(LATEST),
                    by=Speaker("job", log.principal),
                )
                log.append([ready(event, Speaker("job", log.principal))])


def read_questions(folder: Path) -> Iterator[DatasetQuestion]:
    """The questions of a folder, in order. Raises InputError naming the line."""
    with _opened(folder / QUESTIONS) as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield _question(line, number)


def _question(line: bytes, number: int) -> DatasetQuestion:
    document = object_on(line, f"{QUESTIONS} line {number}")
    for name in ("conversation", "question"):
        if not isinstance(document.get(name), str) or not document[name].strip():
            raise refused(f"{QUESTIONS} line {number}, {name}", document.get(name), "a text")
    evidence, outdated, current = (
        _ids(document, number, name) for name in ("evidence", "evidence_old", "evidence_new")
    )
    told = next((document[name] for name in ASKED_AT if document.get(name)), None)
    at = None if told is None else parse_instant(str(told), f"{QUESTIONS} line {number}, asked_at")
    category = str(document.get("category") or UNSORTED)
    changed = tuple(one for one in outdated if one not in current)
    return DatasetQuestion(document["conversation"], document["question"], evidence, category, at, changed, current)


def _ids(document: Mapping[str, Any], number: int, name: str) -> tuple[str, ...]:
    """A list of turn ids in a question's line, each once."""
    found = document.get(name) or []
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise refused(f"{QUESTIONS} line {number}, {name}", found, "a list of turn ids")
    return tuple(dict.fromkeys(found))


def _opened(path: Path) -> Any:
    try:
        return path.open("rb")
    except OSError as error:
        needed = f"{TURNS} and {QUESTIONS}" if path.name == QUESTIONS else TURNS
        raise refused("set", str(path), f"a folder with {needed} ({error.strerror})") from None
