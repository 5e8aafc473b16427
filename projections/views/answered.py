"""Which turns had memories in their prompt, and which answers used one: what was injected, for which turn, what was replied.

Pure, and linear in what was said.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from engramlog_server.events.envelope import EPOCH
from engramlog_server.projections.memory.working_memory import ASKING, SPEAKING, Injection, Said, Turn


class TurnAnswered(NamedTuple):
    """A turn for which memories were injected."""

    injections: tuple[Injection, ...]
    """In the order of the log: more than one where it was asked again and more was injected."""
    turn: Turn | None
    """The turn itself, the newest of that id; None where it is not recorded, or nobody told its id."""
    others: tuple[Turn, ...]
    """Older turns that were recorded under the same id."""
    replies: tuple[Turn, ...]
    linked: bool
    """Whether the replies say so themselves (`reply_to`); else they are what the assistant said next in the session."""
    following: tuple[Turn, ...]
    """The next two messages of the session behind the last injection: one may be the turn that nobody named."""

    @property
    def turn_id(self) -> str | None:
        """The turn's id, where it is told."""
        return self.injections[0].turn_id if self.injections else None

    @property
    def session(self) -> str | None:
        """The session that it belongs to."""
        if self.turn is not None:
            return self.turn.session
        return self.injections[0].session if self.injections else None

    def claimed_by(self, turn: Turn) -> TurnAnswered:
        """The same where a message that follows turned out to be the turn."""
        rest = self.following[self.following.index(turn) + 1 :]
        replies = () if not rest or rest[0].role in ASKING else rest[:1]
        return self._replace(turn=turn, replies=replies)


def turns_answered(told: Sequence[Said]) -> list[TurnAnswered]:
    """Every turn for which something was injected, of these turns and injections in log order; the newest first, each once."""
    turns: dict[str, list[Turn]] = defaultdict(list)
    replies: dict[str, list[Turn]] = defaultdict(list)
    for one in told:
        if isinstance(one, Turn):
            turns[one.turn_id].append(one)
            if one.reply_to is not None:
                replies[one.reply_to].append(one)
    groups: dict[str | int, list[tuple[Injection, tuple[Turn, ...]]]] = {}
    for injection, following in _with_following(told):
        groups.setdefault(injection.turn_id or injection.seq, []).append((injection, following))
    found = []
    for group in groups.values():  # newest first, as they are met
        injections = tuple(injection for injection, _ in reversed(group))
        turn_id, following = injections[0].turn_id, group[0][1]
        recorded = turns.get(turn_id, []) if turn_id else []
        turn = recorded[-1] if recorded else None
        linked = tuple(replies.get(turn_id, ())) if turn_id else ()
        nearby = _next([one for one in following if one is not turn])
        found.append(TurnAnswered(injections, turn, tuple(recorded[:-1]), linked or nearby, bool(linked), following))
    return found


def _with_following(told: Sequence[Said]) -> Iterator[tuple[Injection, tuple[Turn, ...]]]:
    """Each injection, the newest first, with the next two messages of its session."""
    following: dict[str | None, tuple[Turn, ...]] = {}
    for one in reversed(told):
        if isinstance(one, Injection):
            yield one, following.get(one.session, ())
        elif isinstance(one, Turn) and one.role in SPEAKING:
            following[one.session] = (one, *following.get(one.session, ())[:1])


def _next(following: Sequence[Turn]) -> tuple[Turn, ...]:
    """What the assistant said next, before anybody else said something further."""
    return () if not following or following[0].role in ASKING else (following[0],)


def answers_to(turn: Turn, told: Sequence[Said]) -> tuple[Turn, ...]:
    """The replies that name a turn."""
    return tuple(one for one in told if isinstance(one, Turn) and one.reply_to == turn.turn_id)


def answered_as(found: Sequence[TurnAnswered], name: str, partition: int) -> TurnAnswered | None:
    """The one of a turn's id, of a reply's, or of the position of an injection: the first of these that there is, the newest."""

    def is_at(one: TurnAnswered) -> bool:
        return any(f"{partition}:{each.seq}" == name for each in one.injections)

    looked = (
        lambda one: one.turn_id == name,
        lambda one: any(reply.turn_id == name for reply in one.replies),
        is_at,
    )
    return next((one for matches in looked for one in found if matches(one)), None)


class MemoryUse(NamedTuple):
    """One turn for which a memory was injected."""

    injection: Injection
    """The first that was recorded of it."""
    turn: Turn | None
    """The turn that was answered; None where it is not recorded."""
    replies: tuple[Turn, ...]
    linked: bool
    """Whether the replies say so themselves (`reply_to`); else they are what the assistant said next in the session."""


def uses_of(memory_id: str, told: Sequence[Said]) -> list[MemoryUse]:
    """Every use of a memory in these turns and injections, which are in log order; the newest first, each turn once."""
    turns: dict[str, Turn] = {}
    replies: dict[str, list[Turn]] = defaultdict(list)
    for one in told:
        if isinstance(one, Turn):
            turns[one.turn_id] = one
            if one.reply_to is not None:
                replies[one.reply_to].append(one)
    found: dict[str | int, MemoryUse] = {}
    for at, one in enumerate(told):
        if not isinstance(one, Injection) or memory_id not in one.ids:
            continue
        key = one.turn_id or one.seq
        if key in found:
            continue
        turn = turns.get(one.turn_id) if one.turn_id else None
        linked = tuple(replies.get(one.turn_id, ())) if one.turn_id else ()
        found[key] = MemoryUse(one, turn, linked or _said_next(told, at, one, turn), bool(linked))
    return sorted(found.values(), key=lambda use: -use.injection.seq)


def _said_next(told: Sequence[Said], at: int, injection: Injection, turn: Turn | None) -> tuple[Turn, ...]:
    """What the assistant said next in the session, before anybody else said something further."""
    session = injection.session if turn is None else turn.session
    following = (
        one
        for one in told[at + 1 :]
        if isinstance(one, Turn) and one.session == session and one.role in SPEAKING and one is not turn
    )
    answer = next(following, None)
    return () if answer is None or answer.role in ASKING else (answer,)


MOST_WEEKS = 53


class Report(NamedTuple):
    """Somebody reported how a task went in which a memory was used."""

    turn_id: str | None
    cause: str | None
    """Id of the event that the report names as its cause."""
    outcome: str


class WeekOfAnswers(NamedTuple):
    """The answers of one week, and how their tasks went."""

    monday: date
    """In UTC."""
    answers: int
    """Turns for which memories were injected first in this week."""
    task_success: int
    task_failure: int
    """Answers by the newest report of their task; those without a report count in neither."""


def weeks_of_answers(found: Iterable[TurnAnswered], reports: Iterable[Report]) -> list[WeekOfAnswers]:
    """How the tasks of these answers went, by week, the newest first, at most `MOST_WEEKS`; weeks without an answer are left out.

    `reports`: in the order of the log. A report belongs to an answer by the id of its turn or reply, or by the event it names as
    its cause. `used` and `manual_review` say nothing of how a task went.
    """
    told = dict[tuple[str, str | None], tuple[int, str]]()
    for number, report in enumerate(reports):
        if report.outcome in ("task_success", "task_failure"):
            told["turn", report.turn_id] = told["cause", report.cause] = number, report.outcome
    weeks: dict[date, Counter[str]] = defaultdict(Counter)
    for one in found:
        day = (EPOCH + timedelta(microseconds=one.injections[0].at)).date()
        week = weeks[day - timedelta(days=day.weekday())]
        week["answers"] += 1
        names = {
            ("turn", one.turn_id),
            *(name for turn in _turns(one) for name in (("turn", turn.turn_id), ("cause", turn.event_id))),
        }
        _, outcome = max((told[name] for name in names & told.keys() if name[1]), default=(0, ""))
        week[outcome] += 1
    newest = sorted(weeks.items(), reverse=True)[:MOST_WEEKS]
    return [WeekOfAnswers(day, week["answers"], week["task_success"], week["task_failure"]) for day, week in newest]


def _turns(one: TurnAnswered) -> Iterable[Turn]:
    """What was asked and replied; where nobody named the turn, what was said next."""
    return one.following if one.turn is None else (one.turn, *one.replies)
