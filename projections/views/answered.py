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
    memory_id: str = ""
    session: str | None = None
    seq: int = 0
    at: int = 0
    """When it was reported, microseconds since 1970."""


class WeekOfAnswers(NamedTuple):
    """The answers of one week, and how their tasks went."""

    monday: date
    """In UTC."""
    answers: int
    """Turns for which memories were injected first in this week."""
    task_success: int
    task_failure: int
    """Answers by the newest report of their task; those without a report count in neither."""
    other_success: int
    other_failure: int
    """Reports of this week that belong to no known answer, one for each memory."""


def weeks_of_answers(found: Iterable[TurnAnswered], reports: Iterable[Report]) -> list[WeekOfAnswers]:
    """How the tasks of these answers went, by week, the newest first, at most `MOST_WEEKS`; weeks with neither are left out.

    `reports`: in the order of the log. A report belongs to an answer by the id of its turn or reply, or by the event it names as
    its cause. A report without a turn belongs to the newest earlier answer of its session whose prompt had the memory. `used` and
    `manual_review` say nothing of how a task went.
    """
    answers = list(found)
    named = defaultdict[tuple[str, str | None], list[int]](list)
    prompts = defaultdict[tuple[str, str], list[tuple[int, int]]](list)
    """By session and memory, the log positions and answers of the prompts that had it."""
    for number, one in enumerate(answers):
        named["turn", one.turn_id].append(number)
        for turn in _turns(one):
            named["turn", turn.turn_id].append(number)
            named["cause", turn.event_id].append(number)
        for injection in one.injections:
            for memory_id in injection.ids if injection.session is not None else ():
                prompts[injection.session or "", memory_id].append((injection.seq, number))
    outcomes = dict[int, str]()
    weeks: dict[date, Counter[str]] = defaultdict(Counter)
    for report in reports:
        if report.outcome not in ("task_success", "task_failure"):
            continue
        names = (("turn", report.turn_id), ("cause", report.cause))
        places = [number for name in names if name[1] is not None for number in named.get(name, ())]
        if not places and report.turn_id is None and report.session is not None:
            earlier = (one for one in prompts.get((report.session, report.memory_id), ()) if one[0] < report.seq)
            places = [number for _, number in [max(earlier, default=(0, -1))] if number >= 0]
        outcomes.update(dict.fromkeys(places, report.outcome))
        if not places:
            weeks[_monday(report.at)][f"other {report.outcome}"] += 1
    for number, one in enumerate(answers):
        week = weeks[_monday(one.injections[0].at)]
        week["answers"] += 1
        week[outcomes.get(number, "")] += 1
    columns = ("answers", "task_success", "task_failure", "other task_success", "other task_failure")
    newest = sorted(weeks.items(), reverse=True)[:MOST_WEEKS]
    return [WeekOfAnswers(day, *(week[column] for column in columns)) for day, week in newest]


def _monday(at: int) -> date:
    """The Monday, in UTC, of the week of an instant in microseconds since 1970."""
    day = (EPOCH + timedelta(microseconds=at)).date()
    return day - timedelta(days=day.weekday())


def _turns(one: TurnAnswered) -> Iterable[Turn]:
    """What was asked and replied; where nobody named the turn, what was said next."""
    return one.following if one.turn is None else (one.turn, *one.replies)
