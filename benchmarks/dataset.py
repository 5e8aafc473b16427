"""Conversation sets: folders with `turns.jsonl` and `questions.jsonl`, read into memory through the ordinary import and fold."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from engramlog_server.api.exchange.turns import ImportOptions, import_turns
from engramlog_server.events.envelope import micros
from engramlog_server.events.errors import InputError
from engramlog_server.events.memory_log import InMemoryEventLog
from engramlog_server.events.vocabulary import LATEST
from engramlog_server.projections.fold.owner import fold_owner
from engramlog_server.projections.views.query import ViewQuery
from engramlog_server.projections.views.view import OwnerView

TURNS, QUESTIONS = "turns.jsonl", "questions.jsonl"
AFTER = 1_000_000
"""Microseconds after the last turn at which a question without its own time is asked."""


class Question(NamedTuple):
    """A question and the turns that answer it."""

    conversation: str
    text: str
    evidence: tuple[str, ...]
    category: str
    at: int | None
    """When it is asked, microseconds since 1970; None: just after the last turn."""
    outdated: tuple[str, ...]
    """Turns of the evidence that no longer hold."""
    current: tuple[str, ...]
    """Turns of the evidence that replaced them."""


class Conversation(NamedTuple):
    """One conversation as the memories of one owner; each turn is a memory."""

    view: OwnerView
    last: int
    """Time of the last turn, microseconds since 1970."""
    later: int = 0
    """Microseconds after its time at which a question is asked."""

    def asked(self, question: Question, mode: str) -> ViewQuery:
        """The view at the time of the question."""
        at = (self.last + AFTER if question.at is None else question.at) + self.later
        return ViewQuery(self.view, at, mode)  # type: ignore[arg-type]


class Dataset(NamedTuple):
    """A folder, read."""

    name: str
    conversations: Mapping[str, Conversation]
    questions: list[Question]
    """Those with evidence; the others have no right answer among the turns."""

    def later(self, days: int) -> Dataset:
        """The same, every question asked this many days later."""
        conversations = {name: one._replace(later=days * 86_400_000_000) for name, one in self.conversations.items()}
        return self._replace(conversations=conversations)


def read_dataset(folder: Path) -> Dataset:
    """Read a set. Raises InputError for a line that is no turn or question, and for a question about a missing conversation."""
    conversations = read_conversations(folder)
    questions = [one for one in read_questions(folder) if one.evidence]
    for question in questions:
        if question.conversation not in conversations:
            raise InputError(f"{folder / QUESTIONS}: no conversation {question.conversation!r} in {TURNS}")
    return Dataset(folder.name, conversations, questions)


def read_conversations(folder: Path) -> dict[str, Conversation]:
    """Every conversation of `turns.jsonl`. Raises InputError."""
    log = InMemoryEventLog(lambda: micros(LATEST), partitions=1)
    with (folder / TURNS).open("rb") as lines:
        done = import_turns(log, lines, ImportOptions())
    if done.done.error is not None:
        raise done.done.error
    by_owner = defaultdict(list)
    for event in log.read(0, 0, log.head(0)):
        by_owner[event.owner].append(event)
    histories = {owner: fold_owner(events) for owner, events in by_owner.items()}
    return {
        owner: Conversation(OwnerView.of_history(owner, history), history.newest)
        for owner, history in histories.items()
    }


def read_questions(folder: Path) -> Iterator[Question]:
    """Every question of `questions.jsonl`, in order. Raises InputError naming the line."""
    path = folder / QUESTIONS
    for number, row in read_lines(path):
        try:
            asked_at = row.get("asked_at") or row.get("occurred_at")
            outdated, current = (tuple(row.get(name) or ()) for name in ("evidence_old", "evidence_new"))
            yield Question(
                row["conversation"],
                row["question"],
                tuple(dict.fromkeys(row.get("evidence") or ())),
                str(row.get("category") or "without category"),
                None if asked_at is None else _instant(asked_at),
                tuple(one for one in outdated if one not in current),
                current,
            )
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{path} line {number}: no question ({error!r})") from error


def _instant(text: str) -> int:
    at = datetime.fromisoformat(text)
    return micros(at if at.tzinfo else at.replace(tzinfo=UTC))


def read_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The JSON object of each line with its number. Raises InputError for another kind of line."""
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                row = orjson.loads(line)
            except orjson.JSONDecodeError as error:
                raise InputError(f"{path} line {number}: {error}") from error
            if not isinstance(row, dict):
                raise InputError(f"{path} line {number}: got {row!r}; allowed: a JSON object")
            yield number, row
