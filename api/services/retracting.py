"""Retracting for good: a person's events undo what a replay leaves out, as one act. Nothing is deleted from the log.

The first call returns the reach under a digest: the events of the act, what they move and what they leave. The second call carries
out exactly that reach. The answer lists what no event can undo.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from itertools import islice
from typing import Any, NamedTuple, Unpack, cast

from engramlog_server.api.checks import Progress, check_actor, check_limit, check_mode, check_owner
from engramlog_server.api.services.reading import Reader
from engramlog_server.api.services.replaying import (
    MOST_DIFFERENCES,
    FoldAsked,
    Questions,
    Refolder,
    Sides,
    StrikesAsked,
    checked_questions,
    named_in,
    strikes_of,
    struck_answer,
    view_beside,
)
from engramlog_server.api.services.sources import some_memories
from engramlog_server.api.services.writing import LogEvent, Writer, refusal_of, taken
from engramlog_server.api.work import current_check, has_appended
from engramlog_server.events.catalogue import MemoryDeleted, MemoryRevised, SourceSetAside
from engramlog_server.events.envelope import AnyEvent, Naming, canonical, derived_id, micros
from engramlog_server.events.errors import ConcurrencyError, InputError, OwnerQuarantined, refused
from engramlog_server.events.log import EventLog
from engramlog_server.events.partitions import partition_of, position_text
from engramlog_server.events.standing import PERSONS, is_persons_word
from engramlog_server.events.vocabulary import MAX_REQUEST_EVENTS
from engramlog_server.projections.decide.commands import EVENT, Ids
from engramlog_server.projections.fold.changelog import reason_told
from engramlog_server.projections.fold.owner import OwnerState
from engramlog_server.projections.fold.working_set import names
from engramlog_server.projections.laws.modes import Mode
from engramlog_server.projections.memory.record import Memory, NamedSource, known
from engramlog_server.projections.redis.view import RedisViews
from engramlog_server.projections.reports.comparison import Difference, Side, moved
from engramlog_server.projections.reports.retraction import (
    ACT,
    MemoriesMoved,
    NotUndone,
    Undoing,
    UndoStep,
    after,
    as_folded,
    moved_by,
    remaining,
)
from engramlog_server.projections.shapes import (
    NotUndoneTold,
    QuestionMoved,
    Retracted,
    StandsOtherwise,
    UndoEvent,
)

MOST_TOLD = 100
"""Ids told of each thing that an act does to memories."""


class Spoken(NamedTuple):
    """Who says so, when (microseconds since 1970), and why."""

    actor: str
    when: int
    reason: str


class Act(NamedTuple):
    """The events of an act, and what they come to."""

    steps: tuple[UndoStep, ...]
    not_undone: tuple[NotUndone, ...]
    done: Side
    """The owner after it."""
    moves: MemoriesMoved
    remains: tuple[Difference, ...]
    """What it leaves otherwise than a replay has it."""
    reach: str
    """32 hexadecimal digits."""


def act_of(
    sides: Sides, undoing: Undoing, owner: str, spoken: Spoken, writer: Writer, asked: Mapping[str, Any], secret: bytes
) -> Act:
    """What undoes what is struck. Raises InputError where that is more than one request holds. The snapshot is held."""
    snapshot, history, check = sides.snapshot, sides.replay.history, current_check()
    state, memories = snapshot.view.state, as_folded(snapshot.view)
    steps, refusals = list[UndoStep](), list[NotUndone]()
    for step in undoing.steps((state, memories), (history.owner, history.memories), spoken.reason):
        try:
            writer.event(step.data, owner, spoken.when, spoken.actor)
        except InputError as problem:
            why = f"cannot be undone by an event: {problem.message}"
            refusals.append(NotUndone(type(step.data).__name__, why, 1, ()))
        else:
            steps.append(step)
    if len(steps) > MAX_REQUEST_EVENTS:
        allowed = (
            f"at most {MAX_REQUEST_EVENTS:,}, so that all are written or none: name less at a time, or a session or a principal,"
            " which one event sets aside"
        )
        raise refused("without", f"what takes {len(steps):,} events to undo", allowed)
    events = events_of(steps, owner, spoken, writer, lambda name: derived_id("reach", owner, name), None)
    then = after(owner, state, memories, events, state.seq, secret)
    done = Side(view_beside(snapshot, then), snapshot.now)
    moves, remains = moved_by(sides.before, done, check), tuple(remaining(done, sides.after, check))
    not_undone = (*undoing.not_undone, *refusals)
    told = [
        owner,
        asked,
        sorted(sides.replay.closure.struck),
        [(type(one.data).__name__, one.memory, one.cause) for one in steps],
        [_since(one, state, memories) for one in steps],
        moves.ids,
        [(one.kind, one.why, one.events) for one in not_undone],
        [one.id for one in remains],
    ]
    reach = blake2b(canonical(_plain(told)), digest_size=16).hexdigest()
    return Act(tuple(steps), not_undone, done, moves, remains, reach)


def _since(step: UndoStep, state: OwnerState, memories: Mapping[str, Memory]) -> int | None:
    """What tells an act from an equal one that was carried out before and was itself undone since."""
    if isinstance(step.data, SourceSetAside):
        one = known(state.asides, NamedSource(step.data.session, step.data.principal, step.data.actor))
        return None if one is None else one.brought_at
    memory = memories.get(step.memory or "")
    if memory is None:
        return None
    return memory.version if isinstance(step.data, MemoryRevised) else memory.restored_at


def events_of(
    steps: Sequence[UndoStep], owner: str, spoken: Spoken, writer: Writer, ids: Ids, call: str | None
) -> list[AnyEvent]:
    """The events of an act, all of one correlation.

    The first is the cause of the others; but what went with a turn has that as its cause, and other deletions have none:
    restoring a memory brings back what its own deletion took along, and no more.
    """
    names = name_of_events(len(steps))
    going = {one.memory: name for one, name in zip(steps, names, strict=True) if isinstance(one.data, MemoryDeleted)}
    found = []
    for number, (step, name) in enumerate(zip(steps, names, strict=True)):
        alone = not number or (step.cause == ACT and isinstance(step.data, MemoryDeleted))
        cause = None if alone else ids(names[0] if step.cause == ACT else going[step.cause])
        found.append(
            writer.event(
                step.data,
                owner,
                spoken.when,
                spoken.actor,
                event_id=ids(name),
                causation_id=cause,
                correlation_id=call,
            )
        )
    return found


def name_of_events(many: int) -> list[str]:
    """What the events of an act are to it; the first is known by the key alone, as that of any call is."""
    return [EVENT if not number else f"{EVENT} {number}" for number in range(many)]


def reach_answer(act: Act, partition: int, offset: int, most: int) -> dict[str, object]:
    """What an act reaches, as answers tell it."""
    return {
        "reach": act.reach,
        "undoes": [undo_told(one) for one in act.steps[offset : offset + most]],
        "undoes_total": len(act.steps),
        "goes": some_memories(act.moves.go),
        "comes_back": some_memories(act.moves.come_back),
        "changed": some_memories(act.moves.change),
        "changed_fields": dict(act.moves.otherwise),
        "not_undone": [_not_told(one, partition) for one in act.not_undone],
        "remains": [_remains_answer(one) for one in islice(act.remains, offset, offset + most)],
        "remains_total": len(act.remains),
    }


def undo_told(step: UndoStep) -> UndoEvent:
    """One event of an act: no words."""
    return {"event": type(step.data).__name__, "memory": step.memory}


def _not_told(one: NotUndone, partition: int) -> NotUndoneTold:
    first = [position_text(partition, seq) for seq in one.first if seq]
    return {
        "kind": one.kind,
        "why": one.why,
        "why_code": reason_told(one.why).code,
        "events": one.events,
        "first": first,
    }


def _remains_answer(one: Difference) -> StandsOtherwise:
    """What stands otherwise after the act than in a replay: the names of it, and both sides."""
    fields = [*(one.otherwise if one.after is not None else ["shown"]), *one.fields]
    return {"id": one.id, "fields": fields, "retracted": one.before, "replayed": one.after}


def _plain(value: Any) -> Any:
    """The same in lists."""
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return {name: _plain(one) for name, one in value.items()} if isinstance(value, Mapping) else value


_OF_SOURCES = ("without_effect", "in_its_light")
TRIES = 3
"""How often the owner is looked at anew because it went on meanwhile."""


class RetractAsked(StrikesAsked, total=False):
    """What is struck, and who says so."""

    actor: str


class _Call(NamedTuple):
    """What was asked, checked."""

    owner: str
    wanted: FoldAsked
    told: dict[str, list[str]]
    actor: str
    reason: str
    questions: Questions
    mode: Mode
    limit: int
    on_progress: Progress | None = None

    @property
    def asked(self) -> dict[str, object]:
        """What tells this call from another."""
        return {**self.told, "alone": self.wanted.alone}


class _Looked(NamedTuple):
    """What a call reaches as the owner stands."""

    act: Act
    answer: Retracted
    head: int
    stuck: str | None


class Retracter:
    """Undoes parts of the histories of one store's owners. Safe for threads."""

    def __init__(self, log: EventLog, views: RedisViews, reader: Reader, writer: Writer) -> None:
        self._log = log
        self._views = views
        self._reader = reader
        self._writer = writer
        self._refolder = Refolder(reader, log.partitions)

    def retract(
        self,
        owner: str,
        *,
        alone: bool = False,
        dry_run: bool = False,
        reach: str | None = None,
        reason: str = "",
        queries: Sequence[str] = (),
        mode: str = "normal",
        limit: int = 10,
        offset: int = 0,
        most: int = MOST_DIFFERENCES,
        on_progress: Progress | None = None,
        **asked: Unpack[RetractAsked],
    ) -> Retracted:
        """Undo what a replay without this would leave out, by a person's events; `dry_run`: tell what that would reach.

        `reach`: the digest that a dry run told. Raises InputError where there is none, for what was named in vain, and where it
        takes more events than one request holds; ConcurrencyError with the new reach (`reach`) where it is another by now: then
        nothing is written. All is written, or nothing. Sent again with the same reach it changes nothing.
        """
        actor = asked.pop("actor", "user")
        told, wanted = self._checked(owner, alone, asked, actor)
        page, texts = check_limit(most, MOST_DIFFERENCES, "most"), checked_questions(queries)
        wanted = wanted._replace(offset=max(offset, 0), most=page, ranks=bool(texts))
        checked, results = check_mode(mode), check_limit(limit)
        questions = Questions(self._reader, owner, texts)
        call = _Call(owner, wanted, told, actor, reason, questions, checked, results, on_progress)
        if dry_run:
            return self._looked(call).answer
        if reach is None:
            raise refused("reach", None, "the digest that a dry run prints: only what was shown is undone")
        return self._before(call, reach) or self._carried_out(call, reach)

    def _checked(
        self, owner: str, alone: bool, asked: StrikesAsked, actor: str
    ) -> tuple[dict[str, list[str]], FoldAsked]:
        """What is named, and what is folded for it."""
        check_owner(owner)
        check_actor(actor)
        told = named_in(asked)
        strikes = strikes_of(told, partition_of(owner, self._log.partitions))
        if not strikes.any:
            raise refused("without", None, "what is to be undone: events, turns, sessions, or who brought it")
        if not is_persons_word(actor, self._writer.by):
            allowed = "user or operator, over a path that vouches for the user: only a person undoes"
            raise refused("actor", actor, allowed)
        asides = (
            *(NamedSource(session=one) for one in told["without_sessions"]),
            *(NamedSource(principal=one) for one in told["without_principals"]),
            *(NamedSource(actor=one) for one in told["without_actors"]),
        )
        return told, FoldAsked(strikes, alone, asides=() if alone else asides)

    def _looked(self, call: _Call) -> _Looked:
        """What it reaches now. Writes nothing."""
        spoken = Spoken(call.actor, self._writer.when(None), call.reason)
        with self._refolder.sides(call.owner, call.wanted, {"on_progress": call.on_progress}) as sides:
            undoing, snapshot = sides.replay.undoing, sides.snapshot
            assert undoing is not None, "it was asked for"
            secret = self._reader.secret(call.owner)
            act = act_of(sides, undoing, call.owner, spoken, self._writer, call.asked, secret)
            stuck = None if snapshot.quarantine is None else position_text(snapshot.partition, snapshot.quarantine.seq)
            answer = {
                "owner": call.owner,
                "dry_run": True,
                "again": False,
                **call.asked,
                "mode": call.mode,
                "offset": call.wanted.offset,
                **reach_answer(act, snapshot.partition, call.wanted.offset, call.wanted.most),
                **struck_answer(sides, call.wanted.offset, call.wanted.most),
                "questions": self._questions(call, sides, act),
                "changes": [],
                **snapshot.place,
            }
        return _Looked(act, cast("Retracted", answer), snapshot.head, stuck)

    def _questions(self, call: _Call, sides: Sides, act: Act) -> list[QuestionMoved]:
        asked, check = call.questions, current_check()
        return list(moved(sides.before, act.done, asked.texts, call.mode, call.limit, check, rank=asked.rank))

    def _carried_out(self, call: _Call, reach: str) -> Retracted:
        owner = call.owner
        for left in reversed(range(TRIES)):
            with self._writer.newest(owner):
                pass  # what was told before is folded
            looked = self._looked(call)
            if looked.stuck is not None:
                raise OwnerQuarantined(
                    f"owner {owner} stands still before {looked.stuck}: what is undone would be parked behind it; see"
                    f" `engramlog dead {owner}`",
                    owner=owner,
                    position=looked.stuck,
                )
            if looked.act.reach != reach:
                raise _changed(owner, reach, looked)
            if not looked.act.steps:
                return {**looked.answer, "dry_run": False}
            spoken = Spoken(call.actor, self._writer.when(None), call.reason)
            ids = _ids(self._log.naming(owner), reach)
            events = events_of(looked.act.steps, owner, spoken, self._writer, ids, ids(ACT))
            has_appended()
            receipts = self._log.append(self._writer.ready(events), expected_heads={owner: looked.head})
            if left and any(one.status == "head_mismatch" for one in receipts):
                continue
            refusal = next((refusal_of(one) for one in receipts if not one.written), None)
            if refusal is not None:
                known = self._before(call, reach)  # whoever sent the same at the same time was first
                if known is None:
                    raise refusal
                return known
            self._writer.settle(receipts)
            gone = {
                one.data.memory_id: micros(one.occurred_at) for one in events if isinstance(one.data, MemoryDeleted)
            }
            self._views.deletions.add(owner, gone, self._writer.when(None))
            changes = self._writer.effects_of(owner, receipts)
            snapshot = self._reader.glance(owner)
            assert snapshot is not None
            position = receipts[-1].position or ""
            return {**looked.answer, "dry_run": False, "changes": changes, "position": position, **snapshot.told}
        raise AssertionError("the last try appends, or raises")

    def _before(self, call: _Call, reach: str) -> Retracted | None:
        """What was done under this reach before; None where nothing was.

        Raises KeyTaken where what stands there is no person's word of this act: a producer chooses the ids of what it sends.
        """
        naming = self._log.naming(call.owner)
        if not naming.secret:  # nothing was said of the owner yet
            return None
        ids = _ids(naming, reach)
        made = [ids(name) for name in name_of_events(MAX_REQUEST_EVENTS)]
        done = self._writer.before(call.owner, reach, made, lambda events: _is_act(events, ids(ACT)))
        if not done:
            return None
        partition = partition_of(call.owner, self._log.partitions)
        for one in self._log.read_at(partition, [each.seq for each in done]):
            if one.trust is not None:  # None is a person's own word
                raise taken(reach, position_text(partition, one.seq))
        return self._answer_again(call, reach, done)

    def _answer_again(self, call: _Call, reach: str, done: Sequence[LogEvent]) -> Retracted:
        """What was done then; what it reached is not looked at again, for it is done."""
        owner, partition = call.owner, partition_of(call.owner, self._log.partitions)
        changes = self._writer.effects(owner, partition, [one.seq for one in done])
        steps = [UndoStep(one.event.data, next(iter(names(one.event.data)), None)) for one in done]
        snapshot = self._reader.glance(owner)
        assert snapshot is not None
        answer = {
            "owner": owner,
            "dry_run": False,
            "again": True,
            **call.asked,
            "mode": call.mode,
            "offset": 0,
            "reach": reach,
            "undoes": [undo_told(one) for one in steps],
            "undoes_total": len(steps),
            **{name: some_memories(()) for name in ("goes", "comes_back", "changed")},
            **{name: {} for name in ("changed_fields", "struck_because")},
            **{name: [] for name in ("not_undone", "remains", "struck", "stays", *_OF_SOURCES, "questions")},
            **dict.fromkeys(("remains_total", "struck_total", "stays_total"), 0),
            "changes": changes,
            "position": position_text(partition, done[-1].seq),
            **snapshot.told,
        }
        return cast("Retracted", answer)


def _is_act(events: Sequence[AnyEvent], call: str) -> bool:
    """Whether persons said all of it, as one call."""
    return all(one.actor in PERSONS and one.correlation_id == call for one in events)


def _ids(naming: Naming, reach: str) -> Ids:
    """By what the ids of an act are made: what it reaches, with the owner's secret.

    So it is one act however often it is sent, and nobody who knows the reach takes its ids for something else.
    """
    return lambda name: naming.made("retract", reach, name)


def _changed(owner: str, reach: str, looked: _Looked) -> ConcurrencyError:
    """That it reaches something else by now, and what."""
    told = looked.answer
    return ConcurrencyError(
        f"reach {reach} of owner {owner} is another by now, {looked.act.reach}: something new arrived since it was returned, or the"
        " selection differs. Nothing was written; look at the new reach, and send that",
        owner=owner,
        reach=looked.act.reach,
        struck_total=told["struck_total"],
        undoes_total=told["undoes_total"],
        goes=told["goes"],
        comes_back=told["comes_back"],
        changed=told["changed"],
    )
