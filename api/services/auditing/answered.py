"""From an answer to what its prompt held: turns for which memories were injected, and the block as it was. Leaves no trace.

Also how an answer went with its memories: as reported for its turn, or read from its reply.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple, Unpack

from engramlog_server.api.requests.checks import LineTerms, TimeSpan, check_id_of, check_limit, span_of, told_lines
from engramlog_server.api.services.auditing.blocks import NOT_THERE, BlocksAgain
from engramlog_server.api.services.reading import Reader
from engramlog_server.api.services.uses import said_whole, turn_told, without_text
from engramlog_server.api.shapes import (
    AnsweredInFull,
    AnsweredTurn,
    AnsweredTurns,
    BlockAsItWas,
    Injected,
    InjectedMemory,
    OutcomeTold,
    Placed,
)
from engramlog_server.api.work.patience import both, current_check
from engramlog_server.events.catalogue import MemoryReinforced
from engramlog_server.events.envelope import Stored, decode, micros, utc_text
from engramlog_server.events.errors import NotFound
from engramlog_server.events.log import EventLog
from engramlog_server.events.partitions import position_text
from engramlog_server.projections.checks import Check
from engramlog_server.projections.fold.changelog import numbers_of
from engramlog_server.projections.fold.reasons import reason_told
from engramlog_server.projections.memory.deletion_view import forgotten_turns
from engramlog_server.projections.memory.sources import Asides
from engramlog_server.projections.memory.working_memory import ASKING, Injection, Turn
from engramlog_server.projections.prompt.recipe import asked_digest
from engramlog_server.projections.redis.said import all_said, said_among
from engramlog_server.projections.redis.view import RedisViews
from engramlog_server.projections.views.answered import TurnAnswered, answered_as, answers_to, turns_answered
from engramlog_server.projections.views.query import moment

MOST_OUTCOMES = 100
_REPORTS, _ = numbers_of(MemoryReinforced.__name__, "reinforce")
_PIECE = 500


class Outcomes(NamedTuple):
    """The newest that are of one answer, oldest first, and how many others there are."""

    told: list[OutcomeTold]
    left_out: int


def outcomes_of(
    views: RedisViews, owner: str, partition: int, one: TurnAnswered, within: Collection[int] | None, check: Check
) -> Outcomes:
    """What was reported of an answer: all reports about the owner are looked at. `within`: only in these events of the owner.

    Ids of turns are what producers chose: where several turns have one, what was reported under it is told of each.
    """
    turns = [turn for turn in (one.turn, *one.replies) if turn is not None]
    named = {one.turn_id, *(turn.turn_id for turn in turns)} - {None}
    causes = {turn.event_id for turn in turns}
    newest, found = deque[OutcomeTold](maxlen=MOST_OUTCOMES), 0
    for stored in _reports(views, owner, within, check):
        event = decode(stored.kind, stored.body)
        data = event.data
        assert isinstance(data, MemoryReinforced)
        by_turn = data.turn_id in named
        if not by_turn and event.causation_id not in causes:
            continue
        found += 1
        newest.append(
            {
                "position": position_text(partition, stored.seq),
                "at": moment(micros(event.occurred_at)),
                "memory": data.memory_id,
                "outcome": data.outcome,
                "from_memory": data.from_memory,
                "actor": event.actor,
                "principal": stored.principal,
                "linked_by": "turn_id" if by_turn else "cause",
            }
        )
    return Outcomes(list(newest), found - len(newest))


def _reports(views: RedisViews, owner: str, within: Collection[int] | None, check: Check) -> Iterator[Stored]:
    """Every report of how it went with a memory, in the order of the log, each once."""
    entries = views.changelogs.entries(owner, check=check)
    seqs = dict.fromkeys(entry.seq for _, entry in entries if entry.type == _REPORTS)
    for piece in _pieces([seq for seq in seqs if within is None or seq in within]):
        yield from views.stored(owner, piece)


def _pieces(seqs: Sequence[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(seqs), _PIECE):
        yield seqs[start : start + _PIECE]


MOST_ANSWERS = 1_000
MOST_REPLIES = 20
"""Replies told of one turn."""
MOST_OTHERS = 20
"""Older turns under a turn's id of which the words are looked at: the newest. A producer chooses ids, and may use one again."""
MOST_BLOCKS = 10
"""Blocks of one turn that are made again: the newest."""
MOST_CLAIMING = 20
"""Injections without a turn's id, before a turn, that are looked at: one of them may have been for it."""
NOTHING_RECORDED = (
    "nothing is recorded as injected for it: its block held no memory, was asked for without a trace or only looked at, or the"
    " write was lost (`engramlog alarms` tells of those)"
)


NO_BLOCK: BlockAsItWas = {
    "text": "",
    "stable": None,
    "turn": None,
    "tokens": 0,
    "tokens_then": None,
    "as_it_was": None,
    "why": NOT_THERE,
    "why_code": reason_told(NOT_THERE).code,
    "withheld": [],
}


class _Read(NamedTuple):
    """All that was said to an owner, without texts, and what of it may be told."""

    told: list[Turn | Injection]
    forgotten: frozenset[str]
    asides: Asides
    partition: int
    place: Placed
    zone: str
    """Of the owner's clocks."""
    within: frozenset[int] | None
    """Seqs of the owner's events, of the past; None at present."""


class Answers:
    """Answers what answers were made of, on one store. Safe for threads."""

    def __init__(self, log: EventLog, views: RedisViews, reader: Reader) -> None:
        self._log, self._views, self._reader = log, views, reader
        self._blocks = BlocksAgain(log, views, reader)

    def answers(
        self,
        owner: str,
        *,
        session: str | None = None,
        since: str | None = None,
        until: str | None = None,
        limit: int = 20,
        offset: int = 0,
        **times: Unpack[LineTerms],
    ) -> AnsweredTurns:
        """A page of the turns for which memories were injected, newest first. Reads all that was said to the owner.

        `since` and `until`: when the last of them was injected, RFC 3339 with a zone, or a day by the owner's clocks; both ends
        count. Texts of turns are told as `uses` tells them. Raises InputError naming the field.
        """
        wanted, skipped = check_limit(limit, MOST_ANSWERS), max(offset, 0)
        if session is not None:
            check_id_of("session", session)
        read = self._read(owner, times)
        span = span_of(since, until, read.zone)
        chosen = [one for one in turns_answered(read.told) if _counts(one, session, span)]
        secret = self._secret(owner)
        page = self._with_texts(owner, chosen[skipped : skipped + wanted], secret)
        return {
            "owner": owner,
            "answers": [_row(one, read) for one in page],
            "total": len(chosen),
            "offset": skipped,
            "session": session,
            "since": since,
            "until": until,
            **told_lines(times),
            **read.place,
        }

    def answer(self, owner: str, turn_id: str, **times: Unpack[LineTerms]) -> AnsweredInFull:
        """What was injected for one turn, each memory with its text as it was then, and each block made again.

        `turn_id`: of the turn that was asked, of a reply, or the position of an injection. Raises NotFound where none is known.
        """
        check_id_of("turn_id", turn_id)
        read, secret = self._read(owner, times), self._secret(owner)
        found = self._named(owner, turn_id, read, secret)
        kept = found.injections[-MOST_BLOCKS:]
        injected, memories = list[Injected](), dict[str, InjectedMemory]()
        for number, each in enumerate(kept):
            current_check()(number, len(kept))
            again = self._blocks.again(owner, each, _words(found, each, secret), secret)
            injected.append(_injected(each, NO_BLOCK if again is None else again.told, read))
            for one in again.memories if again is not None else map(_unknown, each.ids):
                memories[one["id"]] = one
        check = both(current_check(), times.get("on_progress"))
        outcomes = outcomes_of(self._views, owner, read.partition, found, read.within, check)
        return {
            "owner": owner,
            **_row(found, read),
            "injected": injected,
            "injections_left_out": len(found.injections) - len(kept),
            "injected_memories": list(memories.values()),
            "outcomes": outcomes.told,
            "outcomes_left_out": outcomes.left_out,
            "note": None if injected else NOTHING_RECORDED,
            **told_lines(times),
            **read.place,
        }

    def _secret(self, owner: str) -> bytes:
        return self._log.secrets_of([owner]).get(owner, b"")

    def _read(self, owner: str, times: LineTerms) -> _Read:
        check = both(current_check(), times.get("on_progress"))
        with self._reader.snapshot(owner, **times) as snapshot:
            forgotten = forgotten_turns(snapshot.present.columns)
            asides = snapshot.present.state.asides
            if snapshot.past is not None:
                forgotten |= forgotten_turns(snapshot.view.columns)
        if snapshot.past is None:
            said = all_said(self._views, owner, check)
        else:
            said = said_among(self._views, owner, snapshot.past.silent(), check)
        told = [one for each in said if (one := without_text(each)) is not None][::-1]
        zone = snapshot.view.parameters.time_zone
        within = None if snapshot.past is None else frozenset(snapshot.past.seqs)
        return _Read(told, forgotten, asides, snapshot.partition, snapshot.place, zone, within)

    def _named(self, owner: str, name: str, read: _Read, secret: bytes) -> TurnAnswered:
        """What was injected for the turn that is meant, with texts; without injections where the log knows the turn alone."""
        found = turns_answered(read.told)
        one = answered_as(found, name, read.partition)
        if one is not None:
            return self._with_texts(owner, [one], secret)[0]
        turns = [each for each in read.told if isinstance(each, Turn) and each.turn_id == name]
        if not turns:
            raise NotFound(
                f"owner {owner} has no turn {name}, no reply and no injection of that name (position {read.place['position']});"
                f" see `engramlog answers {owner}` for the turns whose prompts held memories",
                owner=owner,
            )
        seqs = {turn.seq for turn in turns}
        near = [each for each in found if each.turn_id is None and any(turn.seq in seqs for turn in each.following)]
        for each in self._with_texts(owner, near[:MOST_CLAIMING], secret):
            if name in {turn.turn_id for turn in (each.turn, *each.replies) if turn is not None}:
                return each
        alone = TurnAnswered(
            (), turns[-1], tuple(turns[:-1]), answers_to(turns[-1], read.told), linked=True, following=()
        )
        return self._with_texts(owner, [alone], secret)[0]

    def _with_texts(self, owner: str, page: Sequence[TurnAnswered], secret: bytes) -> list[TurnAnswered]:
        """The same with what was said, and with the turns that nobody named where the words of one are those that were asked."""
        page = [_bounded(one) for one in page]
        turns = [turn for one in page for turn in (one.turn, *one.others, *one.replies, *one.following) if turn]
        whole = said_whole(self._views, owner, turns)
        found = []
        for one in page:
            told = one._replace(
                turn=None if one.turn is None else whole[one.turn.seq],
                others=tuple(whole[each.seq] for each in one.others),
                replies=tuple(whole[each.seq] for each in one.replies),
                following=tuple(whole[each.seq] for each in one.following),
            )
            found.append(_claimed(told, secret))
        return found


def _bounded(one: TurnAnswered) -> TurnAnswered:
    """The same without the turns whose words nobody asks for: each may be 64 KiB, and there may be any number."""
    return one._replace(others=one.others[-MOST_OTHERS:], replies=one.replies[:MOST_REPLIES])


def _claimed(one: TurnAnswered, secret: bytes) -> TurnAnswered:
    """The same with its turn, where it was injected without an id and a message that follows says just what was asked."""
    asked = one.injections[-1].block.asked if one.injections and one.injections[-1].block is not None else None
    if one.turn is not None or asked is None:
        return one
    for turn in one.following:
        if turn.role in ASKING and asked_digest(secret, turn.text) == asked:
            return one.claimed_by(turn)
    return one


def _words(found: TurnAnswered, injection: Injection, secret: bytes) -> str | None:
    """What was asked, as far as the log has it: of several turns of one id the one whose words those were."""
    turns = [one for one in (found.turn, *reversed(found.others)) if one is not None]
    asked = injection.block.asked if injection.block is not None else None
    same = (one for one in turns if asked is not None and asked_digest(secret, one.text) == asked)
    best = next(same, turns[0] if turns else None)
    return None if best is None else best.text


def _counts(one: TurnAnswered, session: str | None, span: TimeSpan) -> bool:
    return session in (None, one.session) and span.holds(one.injections[-1].at)


def _row(one: TurnAnswered, read: _Read) -> AnsweredTurn:
    positions = [position_text(read.partition, each.seq) for each in one.injections]
    told_id = one.turn_id or (one.turn.turn_id if one.turn is not None else None)
    newest = one.injections[-1] if one.injections else None
    return {
        "id": told_id or positions[-1],
        "turn_id": told_id,
        "session": one.session,
        "injected_at": moment(one.injections[0].at) if one.injections else None,
        "positions": positions[-MOST_BLOCKS:],
        "principal": None if newest is None else newest.principal,
        "memories": len({memory_id for each in one.injections for memory_id in each.ids}),
        "turn": None if one.turn is None else turn_told(one.turn, read.forgotten, read.asides),
        "recorded_twice": bool(one.others),
        "replies": [turn_told(reply, read.forgotten, read.asides) for reply in one.replies[:MOST_REPLIES]],
        "linked_by": ("reply_to" if one.linked else "order") if one.replies else None,
    }


def _injected(one: Injection, block: BlockAsItWas, read: _Read) -> Injected:
    made = one.block
    return {
        "position": position_text(read.partition, one.seq),
        "at": moment(one.at),
        "principal": one.principal,
        "read_at": one.read_at,
        "memories": list(one.ids),
        "made": None
        if made is None
        else {
            "at": utc_text(made.at),
            "upto": made.upto,
            "budget": made.budget,
            "language": made.language,
            "messages": made.messages,
            "threshold": made.threshold,
            "searches": made.searches,
            "sensitive": made.sensitive,
            "proactive": made.proactive,
            "include_faded": made.include_faded,
            "trust": made.trust,
            "stable_budget": None if made.stable is None else made.stable.budget,
        },
        "block": block,
    }


def _unknown(memory_id: str) -> InjectedMemory:
    """A memory of which neither then nor today is known."""
    return {
        "id": memory_id,
        "part": None,
        "rank": None,
        "closeness": None,
        "long_ago": False,
        "memory": None,
        "withheld": "unknown",
        "weight": None,
        "trust": None,
        "created_at": None,
        "status": "unknown",
        "trust_today": None,
        "since": [],
    }
