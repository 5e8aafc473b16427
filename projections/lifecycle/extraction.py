"""Reading an owner's log later than it was written: turns become typed memories, raw memories are judged, levels are raised. Pure.

Turns are read off their own memories, which stay: typed memories lie on top. How far they were read is an event,
`TurnsExtracted`, appended with what was decided. What is read again all the same, after a run that was killed, changes nothing.

All turns can be read again by the rules of today (`read_again`): nothing is carried out of it. What today's rules make is judged
against what is known, as a first reading is: what somebody deleted or rejected is not made again. A first reading takes a turn of
which something was drawn for known; there each statement is looked for by itself.

An entry's level is what the rules of its day found. When the rules change, the owner's events are folded once more as if today's
rules had validated them, and what they find more is appended as a raised level (`raises`): what a person judged by hand holds
there as ever, and merges take their highest source. Memories that were appended raw are judged as `add` judges them (`judgements`).
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain
from types import MappingProxyType
from typing import NamedTuple
from zoneinfo import ZoneInfo

from engramlog_server.events.catalogue import MemoryCreated, SensitivityRaised, TurnsExtracted
from engramlog_server.events.envelope import AnyEvent, Stored, decode, micros
from engramlog_server.events.trust import PROPOSED, TRUSTS
from engramlog_server.projections.checks import Check, counted, unchecked
from engramlog_server.projections.decide.commands import Does, of_beside
from engramlog_server.projections.language.contradiction.change import Alike, no_model
from engramlog_server.projections.language.extraction.rules import TurnReading, only_asks, questions, read_turn
from engramlog_server.projections.language.extraction.shape import TurnText
from engramlog_server.projections.language.sensitivity.level import LEVEL_RULES, detect_sensitivity, judged_under
from engramlog_server.projections.language.similar import similarity
from engramlog_server.projections.lifecycle.decision import Decision
from engramlog_server.projections.lifecycle.judge.corrections import judge
from engramlog_server.projections.lifecycle.judge.known import Candidates, core, says_again
from engramlog_server.projections.lifecycle.judge.statements import JOB, NewMemory, ReadTurn, Verdict, WriteJudge
from engramlog_server.projections.memory import working_memory
from engramlog_server.projections.memory.columns import Columns, state_of
from engramlog_server.projections.memory.deletion import deleted_turns
from engramlog_server.projections.memory.kind import is_drawn, is_statement, is_told_by_itself, is_turn, memory_of_turn
from engramlog_server.projections.memory.record import SECRET, Memory
from engramlog_server.projections.past.folding import fold_records
from engramlog_server.projections.views.view import OwnerView

_BYTES_A_TURN = 250


class TurnIndex:
    """The rows of a view that are turns. Of several memories of one turn the first is the turn; nothing is ever taken out."""

    def __init__(self) -> None:
        self._places: list[tuple[int, int]] = []
        """(Position of creation, row), ascending."""
        self._first: dict[str, tuple[int, int]] = {}

    def put(self, row: int, memory: Memory) -> None:
        """Take in a row; one that is known changes nothing."""
        if not is_turn(memory):
            return
        turn_id, place = memory.source_turns[0], (memory.created_seq, row)
        if turn_id not in self._first:
            self._first[turn_id] = place
            insort(self._places, place)  # at the end: rows come in the order of the log

    def __contains__(self, turn_id: object) -> bool:
        return turn_id in self._first

    def after(self, turn_id: str) -> int:
        """Position from which turns come after this one; 0 where it is not known."""
        place = self._first.get(turn_id)
        return 0 if place is None else place[0] + 1

    def rows(self, first: int = 0) -> Iterator[int]:
        """Rows of the turns from a position on, one by one."""
        return (self._places[at][1] for at in range(bisect_left(self._places, (first, -1)), len(self._places)))

    def rows_before(self, position: int, most: int) -> list[int]:
        """Rows of the newest `most` turns before a position."""
        end = bisect_left(self._places, (position, -1))
        return [row for _, row in self._places[max(end - most, 0) : end]]

    def bytes_used(self) -> int:
        """About how much it takes."""
        return _BYTES_A_TURN * len(self._places)


RULES = "rules"
MOST_BEFORE, MOST_AROUND = 8, 400
"""Turns that are looked back for what was said before an unread one, and characters of it that are read."""


def extractions(
    view: OwnerView,
    now: int,
    check: Check = unchecked,
    alike: Alike = no_model,
    asked: Mapping[str, str] = MappingProxyType({}),
) -> list[Decision]:
    """The events that the unread turns lead to, in the order in which they were said, and the mark that they are read.

    `asked`: what the assistant said just before a turn, by the turn's id, as `asked_before` tells it.
    """
    heard = turns_heard(view, check=check, asked=asked)
    unread = [one for one in heard if one.unread]
    if not unread:
        return []
    decided = [decision for verdict in judge(heard, view, now, check, alike) for decision in verdict.decisions]
    return [*decided, mark(unread, RULES, now, after=view.state.read.applied)]


def verdicts(
    view: OwnerView, now: int, *, again: bool = False, check: Check = unchecked, alike: Alike = no_model
) -> list[Verdict]:
    """What is made of every statement of the unread turns, with why; with `again` of all turns."""
    return judge(turns_heard(view, again=again, check=check), view, now, check, alike)


def asked_before(said: Iterable[working_memory.Said]) -> dict[str, str]:
    """By the id of a person's turn, the assistant's text just before it; no text that may be a secret."""
    asked, last = dict[str, str](), dict[str | None, str]()
    for one in said:
        if isinstance(one, working_memory.Turn) and one.role == "assistant":
            text = one.text[-MOST_AROUND:]
            last[one.session] = text if detect_sensitivity(text) < SECRET else ""
        elif isinstance(one, working_memory.Turn) and one.role in working_memory.ASKING:
            asked[one.turn_id] = last.pop(one.session, "")
    return asked


def turns_heard(
    view: OwnerView,
    *,
    again: bool = False,
    check: Check = unchecked,
    asked: Mapping[str, str] = MappingProxyType({}),
) -> list[ReadTurn]:
    """All turns of users and other people in the order of the log, with what they ask; those to be read are `unread`, and say
    what they state too.
    """
    first = 0 if again else first_unread(view)
    forgotten = deleted_turns(view.columns)

    def heard(memory: Memory, around: tuple[str, str]) -> ReadTurn:
        unread = memory.created_seq >= first and memory.source_turns[0] not in forgotten
        said = asked.get(memory.source_turns[0]) or around[0]
        told = _heard(memory, (said, around[1]), zone, unread=unread)
        statements, taken = read_turn(told.turn) if told.unread else TurnReading()
        return told._replace(statements=statements, questions=tuple(questions(told.turn)), taken=taken)

    zone = ZoneInfo(view.parameters.time_zone)
    turns = list(_turns(view, view.index(TurnIndex, check).rows()))
    return [heard(*one) for one in counted(turns, check, len(turns), every=1)]


def unread_turns(view: OwnerView) -> Iterator[ReadTurn]:
    """The turns that are to be read, one by one, in the order of the log: no more of them are looked at than are taken."""
    forgotten, zone = deleted_turns(view.columns), ZoneInfo(view.parameters.time_zone)
    index, first = view.index(TurnIndex), first_unread(view)
    rows = chain(index.rows_before(first, MOST_BEFORE), index.rows(first))
    for memory, around in _turns(view, rows):
        if memory.created_seq >= first and memory.source_turns[0] not in forgotten:
            yield _heard(memory, around, zone, unread=True)


def turns_before(view: OwnerView, seq: int, most: int) -> list[ReadTurn]:
    """The newest `most` turns before a position; they are not to be read."""
    zone, rows = ZoneInfo(view.parameters.time_zone), view.index(TurnIndex).rows_before(seq, most)
    return [_heard(memory, around, zone, unread=False) for memory, around in _turns(view, rows)]


def mark(unread: Sequence[ReadTurn], by: str, now: int, *, after: int, **told: object) -> Decision:
    """That these turns were read; `told` are further fields of the event.

    `after`: how many events were applied at the mark before, so that turns that are read once more get a mark of their own.
    """
    last = unread[-1]
    data = TurnsExtracted(up_to=last.turn.turn_id, turns=len(unread), by=by, **told)  # type: ignore[arg-type]
    return Decision(JOB, "read", (last.turn.turn_id, f"after {after}"), now, last.seq, f"read by {by}", data)


def unkept(view: OwnerView, said: Sequence[working_memory.Said]) -> list[Decision]:
    """Memories for turns of people that were recorded and have none: every turn stays retrievable, as after an import.

    But for turns that only ask, which tell nothing, and turns of which only what somebody deleted tells: those do not come
    back as memories.
    """
    kept, forgotten = view.index(TurnIndex), deleted_turns(view.columns)
    found: dict[str, Decision] = {}
    for one in said:
        if not isinstance(one, working_memory.Turn) or one.role not in working_memory.ASKING:
            continue
        if (
            one.turn_id in kept
            or one.turn_id in found
            or one.turn_id in forgotten
            or view.get(one.turn_id) is not None
            or not one.text.strip()
            or only_asks(TurnText(one.turn_id, one.text))
        ):
            continue
        data = memory_of_turn(one.turn_id, one.text, source="user", speaker=one.name)
        found[one.turn_id] = Decision(
            JOB,
            "keep_turn",
            (one.turn_id,),
            one.at,
            one.seq,
            "a turn is a memory",
            data,
            one.at,
            "user",
            one.session,
            trust=one.trust,
        )
    return list(found.values())


def _turns(view: OwnerView, rows: Iterable[int]) -> Iterator[tuple[Memory, tuple[str, str]]]:
    """Those of these turns that users or other people said, and that stand; one that a job merged was said all the same.

    Each with what the assistant said just before it in its session, and what people said before that; empty if there is nothing.
    """
    asked, before = dict[str | None, str](), dict[str | None, str]()
    for row in rows:
        memory = view.columns.memories[row]
        if memory.sensitivity >= SECRET or not _stands(view, row):
            continue
        session, text = memory.session, memory.content[:MOST_AROUND]
        if memory.source == "user":
            yield memory, (asked.pop(session, ""), before.get(session, ""))
            before[session] = f"{before.get(session, '')}\n{text}"[-MOST_AROUND:]
        elif memory.source == "assistant":
            asked[session] = text


def _stands(view: OwnerView, row: int) -> bool:
    """Whether a row is live, or was merged into one that is. One that is set aside is read: what is drawn from it is withheld."""
    states = view.columns.state
    at: int | None = row
    while at is not None and states[at] == Columns.MERGED:
        at = view.columns.row(view.columns.memories[at].merged_into or "")
    return at is not None and bool(states[at] in (Columns.LIVE, Columns.SET_ASIDE))


def first_unread(view: OwnerView) -> int:
    """Position from which turns are to be read; 0 where none was read, or the last one that was is not known here."""
    return view.index(TurnIndex).after(view.state.read.up_to)


def _heard(memory: Memory, around: tuple[str, str], zone: ZoneInfo, *, unread: bool) -> ReadTurn:
    day = datetime.fromtimestamp(memory.created_at // 1_000_000, zone).date().isoformat()
    turn = TurnText(memory.source_turns[0], memory.content, "user", memory.speaker, day, *around)
    return ReadTurn(
        turn, memory.created_seq, memory.created_at, memory.session, (), (), unread, trust=TRUSTS[memory.trust]
    )


KNOWN = "known from this turn"
MORE = "in a turn of which something else was drawn"


class ReadAgain(NamedTuple):
    """What a reading of all turns comes to."""

    turns: int
    """That were read again."""
    verdicts: list[Verdict]
    """On each statement of today's rules: SKIP is known, or not kept."""
    gone: list[str]
    """Ids of live memories that were drawn from these turns, and that today's rules would not draw."""


def read_again(view: OwnerView, now: int, check: Check = unchecked) -> ReadAgain:
    """Read all turns of an owner once more, whoever read them first."""
    heard = turns_heard(view, again=True, check=check)
    turns = {one.turn.turn_id: one for one in heard if one.unread}
    shelf, told, verdicts = Candidates(view, check), set[str | None](), list[Verdict]()
    judged, least = judge(heard, view, now, check), view.parameters.merge_similarity
    for one in counted(judged, check, len(judged)):
        near = shelf.near(one.statement.content, turns[one.turn_id].turn.speaker)
        told.update([one.memory_id, *(known.id for _, known in near if _says(one, known.content, least))])
        is_more = (
            one.reason == KNOWN
            and view.get(one.memory_id or "") is None
            and not any(_says(one, content, least) for content in shelf.contents_of(one.turn_id))
        )
        verdicts.append(one._replace(operation="ADD", reason=MORE) if is_more else one)
    gone = [name for name in _drawn(view, turns.keys(), check) if name not in told]
    return ReadAgain(len(turns), verdicts, gone)


def _says(one: Verdict, content: str, least: float) -> bool:
    """Whether a content says what a statement says, whatever has become of it."""
    return similarity(core(one.statement.content), core(content)) >= least and says_again(one.statement, content)


def _drawn(view: OwnerView, turns: Collection[str], check: Check) -> Iterator[str]:
    """Ids of live memories that were drawn from these turns alone."""
    columns = view.columns
    live = (columns.standing() == Columns.LIVE).nonzero()[0].tolist()
    for row in counted(live, check, len(live)):
        memory = columns.memories[row]
        if is_drawn(memory) and is_statement(memory) and all(turn in turns for turn in memory.source_turns):
            yield memory.id


_UNJUDGED = b"0:0"
_WORDED = ("MemoryCreated.", "MemoryRevised.", "MemoryCompressed.", "MemoryMerged.", "FactAsserted.")
"""Kinds of events whose words become a memory's."""


def is_outdated(stored: Stored) -> bool:
    """Whether it puts words into a memory whose level was found by older rules than today's, or by none."""
    return stored.kind.startswith(_WORDED) and judged_under(stored) < LEVEL_RULES


def levels_today(stored: Iterable[Stored], check: Check = unchecked, total: int = 0) -> dict[str, int]:
    """Memory id -> its level had today's rules judged every outdated entry. `stored`: all that was folded of the owner, in order.

    A text is judged alone, so this may be lower than what stands: nothing is lowered by it.
    """
    memories = fold_records(_judged_anew(stored), check=check, total=total).memories
    return {memory.id: memory.sensitivity for memory in memories.values()}


def _judged_anew(stored: Iterable[Stored]) -> Iterator[Stored]:
    for one in stored:
        if is_outdated(one):
            yield one._replace(beside=(*one.beside[:2], _UNJUDGED, *one.beside[3:]))
        else:
            yield one


def raises(view: OwnerView, _now: int, check: Check = unchecked) -> list[Decision]:
    """One decision for each memory that is more sensitive by today's rules than it stands; none where nobody read again."""
    found = view.judged_today
    if found is None:
        return []
    memories = view.columns.memories
    return [
        Decision(
            "levels",
            "raise",
            (memory.id,),
            memory.updated_at,
            memory.changed_seq,
            f"rules {LEVEL_RULES} find {level} in its words (it is {memory.sensitivity})",
            SensitivityRaised(memory_id=memory.id, level=level, rules=LEVEL_RULES),
        )
        for memory in counted(memories, check, len(memories))
        if memory.purged_at is None and (level := found.get(memory.id, 0)) > memory.sensitivity
    ]


JUDGE = "judge"
_ACTIONS = {"ends": "negate", "ended by": "negate", "waits": "negate", "flags": "flag", "joins": "link"}


def judgements(
    view: OwnerView, entries: Sequence[Stored], check: Check = unchecked, alike: Alike = no_model
) -> list[Decision]:
    """The decisions on memories that these entries created, in ascending order of seq.

    Each is compared with what was created before it: what came later was judged, or will be, against this one. Memories that were
    changed since, that wait for a person, and those of imports are left out.
    """
    door, found = WriteJudge(view, check, alike), list[Decision]()
    for number, one in enumerate(entries):
        check(number, len(entries))
        event = decode(one.kind, one.body)
        data = event.data
        memory = view.get(data.memory_id) if isinstance(data, MemoryCreated) else None
        if memory is not None and memory.created_seq == one.seq and _is_to_be_judged(event, memory):
            found += _judged(view, door, event, memory)
    return found


def _is_to_be_judged(event: AnyEvent, memory: Memory) -> bool:
    data = event.data
    assert isinstance(data, MemoryCreated)
    stands = state_of(memory) == Columns.LIVE and not memory.is_negated and memory.merged_into is None
    own = is_told_by_itself(data) and not data.imported and memory.content == data.content
    return stands and own and TRUSTS[memory.trust] != PROPOSED


def _judged(view: OwnerView, door: WriteJudge, event: AnyEvent, memory: Memory) -> Iterator[Decision]:
    assert isinstance(event.data, MemoryCreated)
    at, trust = micros(event.occurred_at), TRUSTS[memory.trust]
    told = NewMemory.of_creation(event.data, at, event.actor, trust, memory_id=memory.id)
    for one in door.judge_recorded(told, memory.created_seq).beside:
        known = view.get(one.memory_id)
        if known is None or _is_decided(memory, known, one.does):
            continue
        ids = (memory.id,) if one.does == "ended by" else (one.memory_id, memory.id)
        when = at if one.at is None else one.at
        yield Decision(
            JUDGE,
            _ACTIONS[one.does],
            ids,
            when,
            memory.created_seq,
            one.reason,
            of_beside(one, memory.id, memory.content),
            when,
            "judge",
            once=(JUDGE, event.event_id, one.memory_id),
            trust=trust,
        )


def _is_decided(memory: Memory, known: Memory, does: Does) -> bool:
    """Whether something was decided about this pair, whatever a person made of it since. Of a contradiction no link decides."""
    joined = does == "joins" and any(edge.to == known.id for edge in memory.edges)
    ended = any(one.replaced_by == memory.id for one in known.negations)
    return (
        joined or known.id in memory.conflicts or ended or any(one.replaced_by == known.id for one in memory.negations)
    )
