"""Writing: decide, append, wait for the fold, and answer; once, however often a call with a key is sent.

A key is the caller's own name for one call. All ids of the call derive from it and the owner's secret, so nobody who sees an id can
confirm a guess of the key. If the log has events under these ids, they are compared with what the command leads to. What was
appended before under an id is read from the log, whatever happened since.

The verbs about memories that are there (negate, mention, merge, un-merge, promote) are here too; others build on them. Each only
appends; what it did is read from the change log once the events are folded.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any, NamedTuple, Protocol, TypedDict, Unpack, cast

import orjson
from msgspec import structs

from engramlog_server.api.checks import (
    caller_in_hand,
    check_memory_id,
    check_owner,
    label_objection,
    parse_instant,
    speaker,
)
from engramlog_server.api.services.histories import SCANNED
from engramlog_server.api.services.reading import Reader
from engramlog_server.api.snapshots import Snapshot
from engramlog_server.api.work import current_check, has_appended, weigh
from engramlog_server.events.catalogue import (
    EventData,
    MemoryCreated,
    MemoryMentioned,
    MemoryMerged,
    MemoryRevised,
    MemoryUnmerged,
    SensitivitySet,
)
from engramlog_server.events.envelope import AnyEvent, Prepared, decode, digest, from_micros, micros, new_event_id
from engramlog_server.events.errors import (
    AccessDenied,
    ConcurrencyError,
    EngramlogError,
    EventIdTaken,
    InputError,
    InvalidBatch,
    InvalidEvent,
    KeyTaken,
    NotYetFolded,
    OwnerTooLarge,
    StoreUnavailable,
    refused,
)
from engramlog_server.events.log import AppendReceipt, EventLog, foreseen, marked, written_to
from engramlog_server.events.partitions import parse_position, partition_of, position_text
from engramlog_server.events.standing import Objection, Speaker, reach
from engramlog_server.events.validation import judged, make_event, read_events, ready
from engramlog_server.events.vocabulary import Trust, is_text
from engramlog_server.projections.access.caller import check_said
from engramlog_server.projections.decide.commands import (
    EVENT,
    OPTIONAL,
    Command,
    Confirm,
    Ids,
    Made,
    Merge,
    Negate,
    Promote,
    Tell,
    decide,
    rejected_values,
    statements_left,
)
from engramlog_server.projections.fold.changelog import describe
from engramlog_server.projections.language.contradiction.change import Alike
from engramlog_server.projections.language.statements import statement, statements_of
from engramlog_server.projections.memory.record import SECRET, Memory
from engramlog_server.projections.memory.rejection import Rejections, refusing
from engramlog_server.projections.redis.view import RedisViews
from engramlog_server.projections.shapes import Change, Effects, LevelSet
from engramlog_server.projections.views.view import would_change

MOST_KEY = 200
"""Longest key, in characters."""


def refuse_rejected(snapshot: Snapshot, value: bytes, when: int) -> None:
    """Raises InputError where a person rejected a value, and evidence of this time does not count."""
    found = refusing(snapshot.view.state.rejections, (value,), when)
    if found is not None:
        got = f"what was rejected, at {position_text(snapshot.partition, found.seq)}"
        raise refused("content", got, "what was not; `confirm` says that it holds after all, where its owner does")


def checked_key(key: str) -> str:
    """The key of a call, or InputError."""
    if not is_text(key, MOST_KEY):
        shown = key[:80].encode("utf-8", "replace").decode()
        raise refused("key", shown, f"some text of at most {MOST_KEY} characters")
    return key


def taken(key: str | None, position: str) -> KeyTaken:
    """The refusal of a key that stands for something else."""
    allowed = f"a new key: something else was said under this one, at {position}"
    shown = str(key)[:80]
    return KeyTaken(
        f"key: got {shown!r}; allowed: {allowed}", field="key", got=shown, allowed=allowed, position=position
    )


def refusal_of(receipt: AppendReceipt) -> EngramlogError:
    """Why an event was not written."""
    if receipt.status == "head_mismatch":
        return ConcurrencyError(
            f"event {receipt.event_id}: the owner's head is {receipt.position}", event_id=receipt.event_id
        )
    if receipt.status == "conflict":
        return EventIdTaken(receipt.event_id, receipt.position)
    return StoreUnavailable(receipt.error or f"event {receipt.event_id} was not written", event_id=receipt.event_id)


_STATING = tuple(f"{one.__name__}." for one in (MemoryCreated, MemoryRevised, MemoryMerged))
"""How the kinds begin of events of which a memory's words may come."""


NEWEST = 64
"""How many events beside its own a verb looks back over at first."""


class CatchUp(Protocol):
    """Waits for the fold, or folds where no worker does."""

    def __call__(self, until: Mapping[int, int]) -> None:
        """Returns once these positions (partition -> seq) are folded; raises NotYetFolded where nobody folds them."""

    def tend(self, partition: int) -> None:
        """Have what operators ask of a partition carried out, where no worker does."""


class Appender:
    """Appends events to one store. `catch_up` waits for the fold, or folds where no worker does."""

    def __init__(self, log: EventLog, views: RedisViews, reader: Reader, catch_up: CatchUp) -> None:
        self._log = log
        self._views = views
        self._reader = reader
        self._catch_up = catch_up
        self.on_turns: Callable[[str], None] = lambda _owner: None
        """Called with the owner after turns from outside were appended."""
        self.on_texts: Callable[[str, int], None] = lambda _owner, _texts: None
        """Called with the owner and a number of texts after a verb wrote them; not for raw appends."""

    def append(
        self, raws: Sequence[bytes | str], *, expected_heads: Mapping[str, int] | None = None
    ) -> list[AppendReceipt]:
        """Validate a request of JSON envelopes from outside whole, then append it; one receipt per event.

        Nobody outside speaks as operator or system (`events.standing`): those use the command line at the store.
        """
        events = self._inspected(self.read(raws))
        refused = self.rejected_among(events)
        has_appended()
        receipts = self._log.append(events, expected_heads=expected_heads)
        self._views.unjudged.note(events, receipts)
        written = (event for receipt, event in zip(receipts, events, strict=True) if receipt.written)
        for owner in dict.fromkeys(event.owner for event in written if event.kind.startswith("TurnRecorded.")):
            self.on_turns(owner)
        return [self.told(receipt, event, refused) for receipt, event in zip(receipts, events, strict=True)]

    def _inspected(self, events: Sequence[Prepared]) -> list[Prepared]:
        """The events with what is found in their words, which is most of the work: here it can end, for nothing is written yet."""
        found, check = list[Prepared](), current_check()
        for done, event in enumerate(events):
            check(done, len(events))
            one, marks = marked(event, self._log.marker)
            found.append(one._replace(marks=marks))
        return found

    def read(self, raws: Sequence[bytes | str]) -> list[Prepared]:
        """A request of JSON envelopes from outside, validated whole."""
        by = Speaker("http", self._log.principal, raw=True, highest=self._log.highest)
        caller, denied, check = caller_in_hand(), list[AccessDenied](), current_check()

        def look(event: AnyEvent) -> Objection | None:
            check(0, len(raws))
            if (found := check_said(caller, event)) is not None:
                denied.append(found)
            return label_objection(event)

        try:
            events = read_events(raws, now=self._log.now(), by=by, look=look)
        except InvalidBatch as refused:
            raise judged(refused, self._log.behind()) from None
        if denied:
            raise denied[0]
        return events

    def rejected_among(self, events: Sequence[Prepared]) -> Mapping[str, str]:
        """Event id -> position at which a person rejected what it says, of what the fold will pass over.

        Costs two round trips a partition that is told of.
        """
        stating = [one for one in events if one.kind.startswith(_STATING)]
        try:
            rejections = self._views.rejections({one.owner for one in stating}) if stating else {}
        except EngramlogError:  # a damaged build hinders no producer
            return {}
        secrets = self._log.secrets_of(list(rejections)) if rejections else {}
        known = ((one, secrets.get(one.owner)) for one in stating if one.owner in rejections)
        found = ((one, self._rejected(one, rejections[one.owner], secret)) for one, secret in known if secret)
        return {one.event_id: position for one, position in found if position is not None}

    def _rejected(self, event: Prepared, rejections: Rejections, secret: bytes) -> str | None:
        told = decode(event.kind, event.body)
        if isinstance(told.data, MemoryCreated) and told.data.source_turns == (told.data.memory_id,):
            return None  # a turn was said all the same
        digests = [digest(secret, one) for one in statements_of(told)]
        found = refusing(rejections, digests, micros(told.occurred_at))
        return None if found is None else position_text(partition_of(event.owner, self._log.partitions), found.seq)

    def told(self, receipt: AppendReceipt, event: Prepared, refused: Mapping[str, str]) -> AppendReceipt:
        """A receipt as its producer gets it: whether a person rejected what the event says, and of a conflict when it was."""
        if receipt.written and event.event_id in refused:
            return structs.replace(receipt, rejected=refused[event.event_id])
        return self._dated(receipt, event.owner)

    def _dated(self, receipt: AppendReceipt, owner: str) -> AppendReceipt:
        """A conflict with the time of what has the id, so that its owner can tell an earlier try of his own by it."""
        if receipt.status != "conflict" or receipt.position is None:
            return receipt
        partition, seq = parse_position(receipt.position)
        there = (stored for stored in self._log.read_at(partition, [seq]) if stored.owner == owner)
        times = (orjson.loads(stored.body).get("occurred_at") for stored in there)
        return structs.replace(receipt, occurred_at=next(times, None))

    def settle(self, receipts: Sequence[AppendReceipt]) -> None:
        """Wait until everything that was written is folded."""
        self.settle_positions(written_to(receipts))

    def settle_positions(self, until: Mapping[int, int]) -> None:
        """Wait until every partition named is folded up to its seq."""
        if until:
            self._catch_up(until)

    def nudge(self, owner: str) -> None:
        """Have the owner's partition tended once, where no worker does."""
        self._catch_up.tend(partition_of(owner, self._log.partitions))

    def when(self, occurred_at: str | None) -> int:
        """Microseconds since 1970 of what was said, or of now."""
        return self._log.now() if occurred_at is None else parse_instant(occurred_at, "occurred_at")

    @property
    def by(self) -> Speaker:
        """By which path the verb in hand came in, and who brings it."""
        return speaker(self._log)

    def event(
        self,
        data: Any,
        owner: str,
        when: int,
        actor: str,
        *,
        event_id: str | None = None,
        causation_id: str | None = None,
        session: str | None = None,
        correlation_id: str | None = None,
        trust: Trust | None = None,
    ) -> AnyEvent:
        """An event of these data, checked as in validation."""
        try:
            return make_event(
                data,
                owner=owner,
                occurred_at=from_micros(when),
                actor=actor,
                now=self._log.now(),
                event_id=event_id,
                session_id=session,
                causation_id=causation_id,
                correlation_id=correlation_id,
                trust=trust,
                by=self.by,
                look=label_objection,
            )
        except InvalidEvent as problem:
            raise problem.of_verb() from None

    def ready(self, events: Iterable[AnyEvent]) -> list[Prepared]:
        """Events ready to append, each with how far its word goes by the path of the verb in hand."""
        by = self.by
        return [ready(one, by) for one in events]

    def append_all(self, prepared: Sequence[Any]) -> list[AppendReceipt]:
        """Append prepared events and raise where any of them was not written."""
        has_appended()
        receipts = self._log.append(prepared)
        for receipt in receipts:
            if not receipt.written:
                raise refusal_of(receipt)
        return receipts

    def effects_of(self, owner: str, receipts: Sequence[AppendReceipt]) -> list[Change]:
        """Change-log entries of what these receipts stand for."""
        places = [parse_position(receipt.position) for receipt in receipts if receipt.position]
        return self.effects(owner, places[0][0] if places else 0, [seq for _, seq in places])

    def effects(self, owner: str, partition: int, seqs: Iterable[int]) -> list[Change]:
        """Change-log entries of the events at these seqs: read from the newest back, no farther than it takes."""
        wanted = set(seqs)
        applied, reach = self._views.applied(partition, [owner])[0], len(wanted) + NEWEST
        while True:
            tail = self._views.tail(owner, max(applied - reach, 0))
            if reach >= applied or wanted <= set(tail.seqs):
                return [describe(entry, partition) for entry in tail.entries if entry.seq in wanted]
            reach *= 8


PAGE = 500


class LogEvent(NamedTuple):
    """An event as the log has it."""

    seq: int
    event: AnyEvent


def carried_before(log: EventLog, owner: str, event_ids: Collection[str]) -> dict[str, list[LogEvent]]:
    """Those of these ids under which the owner has an event -> that event, and after it what names it as its cause.

    What follows from an event is appended in the same request: it stands right behind it, or behind another one's of them.
    Raises UnderReplicated as appending them again would.
    """
    seqs = log.seqs_of(owner, list(event_ids))
    found: dict[str, list[LogEvent]] = {one: [] for one in sorted(seqs, key=seqs.__getitem__)}
    if not found:
        return found
    log.prove(owner, seqs)
    partition, at, last = partition_of(owner, log.partitions), min(seqs.values()) - 1, max(seqs.values())
    weigh((last - at) // SCANNED)
    while page := log.read(partition, at, PAGE):
        for one in page:
            event = decode(one.kind, one.body) if one.owner == owner else None
            root = event and (event.event_id if event.event_id in found else event.causation_id)
            if event is None or root not in found:
                if one.seq > last:
                    return found
                continue
            found[root].append(LogEvent(one.seq, event))
        at = page[-1].seq
    return found


class Given(TypedDict, total=False):
    """Who gives a command, when, in which session, and under which key."""

    actor: str
    occurred_at: str | None
    session: str | None
    key: str | None


class Rehearsable(Given, total=False):
    """The same of a command that may be asked about instead: `dry_run` tells what it would do, and nothing is written."""

    dry_run: bool


class Carried(NamedTuple):
    """What became of a command."""

    answer: Effects
    """With what the command itself names, such as `id`."""
    seqs: tuple[int, ...]
    """Where its events stand, in their order; empty where nothing was left to do."""
    at: int | None
    """When it happened, microseconds since 1970."""
    again: bool
    """Whether it was carried out before, under its key."""


class Looked(NamedTuple):
    """What a look at the owner's newest state, just before its command is appended, makes of it."""

    command: Command
    head: int | None
    """The owner's head then: had it moved, the look would be another. None: nothing hangs on it."""


Look = Callable[[int], Looked | None]
"""Asked with when the command happens; raises where it may not be."""
TRIES = 8
"""How often a command is looked at anew because its owner went on meanwhile; then it is appended as it was seen last."""


class Writer(Appender):
    """Appends events to one store, and carries out commands and the verbs of people. Safe for threads."""

    # --- an owner as verbs find it: by all that was told before

    @property
    def alike(self) -> Alike:
        """How near texts are in meaning, for the judge."""
        return self._reader.alike

    def await_folded(self, owner: str, memory_ids: Iterable[str]) -> None:
        """Where one of these memories is not there, and newer events of the owner may tell of it: wait for their fold.

        So a verb finds what was appended just before it. Raises NotYetFolded where nothing moves.
        """
        with self._reader.snapshot(owner) as snapshot:
            partition, known = parse_position(snapshot.position)
            late = snapshot.behind if snapshot.quarantine is None else 0  # what is parked waits for an operator
            missing = any(snapshot.view.get(check_memory_id(one)) is None for one in memory_ids) if late else False
        if missing:
            self.settle_positions({partition: known + late})

    def standing(self, owner: str, memory_id: str, *, live: bool = False) -> Memory:
        """The memory, if events may still change it: or a delete would be written, ignored and believed.

        `live`: it must not be deleted, either.
        Raises NotFound, NotYetFolded where newer events may tell of it and nobody folds them, or InputError where the memory
        was purged or another stands for it.
        """
        self.await_folded(owner, [memory_id])
        with self._reader.snapshot(owner) as snapshot:
            memory = self._reader.memory(snapshot, owner, memory_id)
        where = {"owner": owner, "memory_id": memory_id}
        if memory.purged_at is not None:
            raise InputError(
                f"memory {memory_id} was purged: only a tombstone is left, and nothing can change it", **where
            )
        if memory.merged_into is not None:
            raise InputError(
                f"memory {memory_id} was merged into {memory.merged_into}, which stands for it: name that one, or bring"
                f" the sources back first (`engramlog unmerge {owner} {memory.merged_into}`)",
                merged_into=memory.merged_into,
                **where,
            )
        if live and memory.deleted_at is not None:
            raise InputError(
                f"memory {memory_id} is deleted: bring it back first (`engramlog delete --undo {owner} {memory_id}`)",
                **where,
            )
        return memory

    def is_there(self, owner: str, memory_id: str) -> bool:
        """Whether the owner has, or had, a memory of this id, by all that was told before."""
        self.await_folded(owner, [memory_id])
        with self._reader.snapshot(owner) as snapshot:
            return snapshot.view.get(memory_id) is not None

    def rejected_of(self, owner: str, memory_id: str) -> tuple[str, ...]:
        """What a memory says that is rejected now, as events name values; none where it is not there."""
        self.await_folded(owner, [memory_id])
        with self._reader.snapshot(owner) as snapshot:
            view = snapshot.view
            memory = view.get(memory_id)
            return () if memory is None else rejected_values(view.state.rejections, view.as_folded(memory), view.get)

    def value_of(self, owner: str, text: str) -> bytes:
        """The digest by which what a text says is known again, 16 bytes; empty for an owner without a secret."""
        secret = self._log.secrets_of([owner]).get(owner, b"")
        return digest(secret, statement(text)) if secret else b""

    def value_in(self, snapshot: Snapshot, text: str) -> bytes:
        """`value_of` by a state that is held: an owner of whom anything is known has a secret, asked for once."""
        view = snapshot.view
        if not view.naming.secret and view.state.applied:
            view.naming = self._log.naming(view.owner)
        return digest(view.naming.secret, statement(text)) if view.naming.secret else b""

    def refuse_rejected(self, owner: str, text: str, when: int) -> None:
        """Raises InputError where a person rejected what a text says: the fold would pass it over, and here it is told sooner."""
        with self._reader.snapshot(owner) as snapshot:
            refuse_rejected(snapshot, self.value_in(snapshot, text), when)

    @contextmanager
    def newest(self, owner: str) -> Iterator[tuple[Snapshot, int | None]]:
        """The owner's newest state with its head; None where it stands still, or where nobody folds what was told before."""
        with self._reader.snapshot(owner) as snapshot:
            if snapshot.quarantine is not None or not snapshot.behind:
                yield snapshot, None if snapshot.quarantine is not None else snapshot.head
                return
            partition, known = parse_position(snapshot.position)
        try:
            self.settle_positions({partition: known + snapshot.behind})
        except NotYetFolded:
            with self._reader.snapshot(owner) as stale:
                yield stale, None
            return
        with self._reader.snapshot(owner) as level:
            # What came since is not in it: a head that is known to have moved has the look made anew.
            yield level, parse_position(level.position)[1] if level.behind else level.head

    def told_records(self, owner: str, ids: Collection[str]) -> Mapping[str, Memory]:
        """What was just written tells of these memories; as they were folded where the owner has too many to be loaded."""
        try:
            with self.newest(owner) as (snapshot, _):
                return {one: memory for one in ids if (memory := snapshot.view.get(one)) is not None}
        except OwnerTooLarge:
            return self._views.told_records(owner, ids)

    # --- carrying out a command

    def carry_out(
        self,
        owner: str,
        command: Command,
        *,
        live: Collection[str] = (),
        ids: Ids | None = None,
        look: Look = lambda _when: None,
        **given: Unpack[Rehearsable],
    ) -> Carried:
        """Decide, append, wait for the fold, and tell what each event did; `quarantined` where they are parked instead.

        `live`: those memories, of which it is about, that must not be deleted. `ids`: by what its ids are made where that is not,
        as everywhere, the key. `look` is called before anything is appended, and may put another command of the same names in
        place of this; where it names the owner's head, it is called anew while that moves.
        Under a key that was used before nothing is written, and the answer is that of the first time. Raises KeyTaken where the
        key stands for something else, and what `standing` and validation raise. `dry_run`: answers and refuses as it would, by
        what is folded at that moment, and leaves nothing behind.
        """
        check_owner(owner)
        key, dry_run = given.get("key"), given.get("dry_run", False)
        view, problem = {}, None
        try:
            view = {one: self.standing(owner, one, live=one in live) for one in command.about}
        except InputError as error:
            problem = error
        # Only now, with the view read: what an equal call did until here is found, and what it does later is not in the view.
        if (
            key is not None
            and (known := self._known(owner, command, given, ids or self.ids_of(owner, key))) is not None
        ):
            return _rehearsed(known) if dry_run else known
        if problem is not None:
            raise problem
        when = self.when(given.get("occurred_at"))
        ids = ids or self.ids_of(owner, key, make=not dry_run)
        events = self._events_of(owner, command, view, ids, given, when)
        if dry_run:
            if (looked := look(when)) is not None:
                command = looked.command
                events = self._events_of(owner, command, view, ids, given, when)
            return self._foreseen(owner, command, events)
        for left in reversed(range(TRIES)):
            looked = look(when)
            if looked is not None:
                command = looked.command
                events = self._events_of(owner, command, view, ids, given, when)
            heads = None if looked is None or looked.head is None or not left else {owner: looked.head}
            has_appended()
            receipts = self._log.append(self.ready(events), expected_heads=heads)
            if not any(one.status == "head_mismatch" for one in receipts):
                break
            when = self.when(given.get("occurred_at"))  # what was told meanwhile was told before
        refusal = next((refusal_of(one) for one in receipts if not one.written), None)
        if refusal is not None:
            # Whoever sent the same at the same time was first.
            known = None if key is None else self._known(owner, command, given, ids)
            if known is None:
                raise refusal
            return known
        seqs = tuple(parse_position(one.position or "0:0")[1] for one in receipts)
        at = micros(events[-1].occurred_at) if events else None
        again = bool(receipts) and all(one.status == "already_appended" for one in receipts)
        done = self._told(owner, command, [one.data for one in events], seqs, at, again=again)
        if not again:
            self.on_texts(owner, texts_in(one.data for one in events))
        return done

    def ids_of(self, owner: str, key: str | None, *, make: bool = False) -> Ids:
        """By what the ids of a call are made: its key and the owner's secret, or chance where it has no key.

        `make`: give an owner a secret who has none. Raises InputError for a key that cannot be.
        """
        if key is None:
            return cache(lambda _name: new_event_id())
        naming = self._log.naming(owner, make=make) if checked_key(key) else None
        if naming is None or not naming.secret:  # nothing was said of the owner yet, under this key or any
            return cache(lambda _name: new_event_id())
        return lambda name: naming.made("call", key, name)

    def before(
        self, owner: str, key: str | None, event_ids: Sequence[str], agrees: Callable[[Sequence[AnyEvent]], bool]
    ) -> list[LogEvent]:
        """What a call did under its key before: events under these ids, in this order, folded; empty where nothing is there.

        Raises KeyTaken where `agrees` says that they are another call's.
        """
        seqs = self._log.seqs_of(owner, event_ids)
        if not seqs:
            return []
        partition, first = partition_of(owner, self._log.partitions), min(seqs.values())
        weigh((self._log.head(partition) - first) // SCANNED)
        stored = {one.seq: decode(one.kind, one.body) for one in self._log.read_at(partition, sorted(seqs.values()))}
        done = [LogEvent(seqs[event_id], stored[seqs[event_id]]) for event_id in event_ids if event_id in seqs]
        if not agrees([one.event for one in done]):
            raise taken(key, position_text(partition, first))
        self._log.prove(owner, seqs)
        self.settle_positions({partition: max(seqs.values())})
        return done

    def _known(self, owner: str, command: Command, given: Given, ids: Ids) -> Carried | None:
        """What the same command did under this key, or None where nothing was said under it. Raises KeyTaken."""
        names = [ids(name) for name in command.names]
        least = [ids(name) for name in command.names if name not in OPTIONAL]
        maybe = {ids(name) for name in command.names if name in OPTIONAL}
        beyond = [] if command.beyond is None else [ids(command.beyond)]

        def agrees(events: Sequence[AnyEvent]) -> bool:
            whole = [one.event_id for one in events if one.event_id not in maybe] == least
            return whole and _is_of(command, events, given, ids)

        done = self.before(owner, given.get("key"), [*names, *beyond], agrees)
        if not done:
            return None
        seqs, at = tuple(one.seq for one in done), micros(done[-1].event.occurred_at)
        return self._told(owner, command, [one.event.data for one in done], seqs, at, again=True)

    def _events_of(
        self, owner: str, command: Command, view: Mapping[str, Memory], ids: Ids, given: Given, when: int
    ) -> list[AnyEvent]:
        return [self._event_of(owner, one, given, when) for one in decide(command, view, ids)]

    def _event_of(self, owner: str, made: Made, given: Given, when: int) -> AnyEvent:
        """An event as it was decided, with what its command said of it."""
        try:
            return self.event(
                made.data,
                owner,
                when if made.occurred_at is None else self.when(made.occurred_at),
                made.actor or given.get("actor", "user"),
                event_id=made.event_id,
                causation_id=made.causation_id,
                session=given.get("session"),
                trust=made.trust,
            )
        except InputError as problem:
            if made.turn is None:
                raise
            raise InputError(f"turn {made.turn}: {problem.message}", turn=made.turn, **problem.context) from None

    def _foreseen(self, owner: str, command: Command, events: Sequence[AnyEvent]) -> Carried:
        """What the fold would tell of events that are not appended, behind all that was."""
        if events and (head := self._log.owner_head(owner)):
            self.settle_positions({partition_of(owner, self._log.partitions): head})
        secret = self._log.naming(owner).secret
        with self._reader.snapshot(owner) as snapshot:
            stored = foreseen(self._log, owner, self.ready(events)) if snapshot.quarantine is None else ()
            entries = would_change(snapshot.view, stored, secret)
        changes = [describe(one, snapshot.partition) for one in entries]
        named = command.answer([one.data for one in events])
        answer = cast("Effects", {**named, "owner": owner, "changes": changes, **snapshot.place})
        at = micros(events[-1].occurred_at) if events else None
        return _rehearsed(Carried(answer, (), at, again=False))

    def _told(
        self,
        owner: str,
        command: Command,
        data: Sequence[EventData],
        seqs: tuple[int, ...],
        at: int | None,
        *,
        again: bool,
    ) -> Carried:
        """What events did, once they are folded."""
        partition = partition_of(owner, self._log.partitions)
        if seqs:
            self.settle_positions({partition: max(seqs)})
        changes = self.effects(owner, partition, seqs) if seqs else []
        snapshot = self._reader.glance(owner)  # without memories: what is written is told of whoever has too many
        assert snapshot is not None
        position = position_text(partition, seqs[-1]) if seqs else snapshot.position
        told = {"owner": owner, "position": position, "changes": changes, **snapshot.told}
        return Carried(cast("Effects", {**command.answer(data), **told}), seqs, at, again)

    def done(self, owner: str, events: Sequence[AnyEvent], answer: Mapping[str, object]) -> Mapping[str, Any]:
        """Append, wait for the fold, and tell what each event did; `quarantined` where they are parked instead."""
        receipts = self.append_all(self.ready(events))
        self.settle(receipts)
        told = {"owner": owner, "position": receipts[-1].position, "changes": self.effects_of(owner, receipts)}
        snapshot = self._reader.glance(owner)
        assert snapshot is not None
        return {**answer, **told, **snapshot.told}

    # --- the verbs

    def negate(
        self,
        owner: str,
        memory_id: str,
        *,
        correction: str | None = None,
        replaced_by: str | None = None,
        resolution: str | None = None,
        reason: str = "",
        turn_id: str | None = None,
        never: bool = False,
        **given: Unpack[Rehearsable],
    ) -> Effects:
        """It is no longer so. With a correction, a new memory is created that replaces it, in one batch.

        `never`: it was never so, and what it says becomes no memory again, whoever says it; a person's to say.
        """
        actor = given.get("actor", "user")
        source, reaches = "user" if actor == "user" else "system", reach(actor, self.by)
        command = Negate(memory_id, correction, replaced_by, resolution, reason, turn_id, source, never, reaches)
        command.check()
        try:
            return self.carry_out(owner, command, **given).answer
        except InvalidEvent as problem:
            raise problem if problem.field != "content" else problem.of("correction") from None

    def mention(
        self,
        owner: str,
        memory_id: str,
        *,
        similarity: float | None = None,
        turn_id: str | None = None,
        **given: Unpack[Rehearsable],
    ) -> Effects:
        """Somebody came back to it, in words alike by so much: it is active from here on.

        Where its owner did, a negation is undone, whoever or whatever judged it. What had replaced it stays, and both are flagged
        as a possible conflict. Only a mention by the user reaffirms. Raises InputError where it is deleted.
        """
        data = MemoryMentioned(memory_id=check_memory_id(memory_id), similarity=similarity, turn_id=turn_id)
        return self.tell(owner, memory_id, data, live=(memory_id,), **given)

    def confirm(self, owner: str, memory_id: str, **given: Unpack[Rehearsable]) -> Effects:
        """It holds: as if its owner had just said it again, in the same words. Where that was rejected, it is so no more."""
        command = Confirm(MemoryMentioned(memory_id=check_memory_id(memory_id)), self.rejected_of(owner, memory_id))
        return self.carry_out(owner, command, live=(memory_id,), **given).answer

    def unmerge(self, owner: str, into: str, *, reason: str = "", **given: Unpack[Rehearsable]) -> Effects:
        """Undo a merge: the sources come back as they were."""
        return self.tell(owner, into, MemoryUnmerged(into=check_memory_id(into), reason=reason), **given)

    def merge(
        self,
        owner: str,
        sources: Sequence[str],
        *,
        summary: str | None = None,
        into: str | None = None,
        reason: str = "",
        **given: Unpack[Rehearsable],
    ) -> Effects:
        """Several memories become a new one; without a summary it says what the newest says, and what others add to that."""
        return self.carry_out(owner, Merge(tuple(sources), summary, into or None, reason), **given).answer

    def promote(
        self, owner: str, memory_id: str, *, to: str = "core", reason: str = "", **given: Unpack[Given]
    ) -> Effects:
        """An operator moves it to another tier: in core or system it stands in every prompt; in fact or episode no longer."""
        given.setdefault("actor", "operator")
        return self.carry_out(owner, Promote(check_memory_id(memory_id), to, reason), **given).answer

    def set_sensitivity(
        self, owner: str, memory_id: str, level: int, *, reason: str, **given: Unpack[Rehearsable]
    ) -> LevelSet:
        """A person says how sensitive a memory is, 0 (public) to 3 (secret): the one way down from what rules found.

        Of a turn the answer names the statements drawn from it that are told at a lower level: they do not become as sensitive. It
        names none where the owner cannot be read after the write, as one that has become too large. Raises AccessDenied where a
        caller lowers what he is not told as it stands.
        """
        if not reason.strip():
            raise refused("reason", None, "why, in words: the log keeps it")
        self._check_lowered(owner, check_memory_id(memory_id), level)
        data = SensitivitySet(memory_id=check_memory_id(memory_id), level=level, reason=reason)
        answer = self.tell(owner, memory_id, data, **given)
        left = None
        with suppress(EngramlogError), self._reader.snapshot(owner) as snapshot:  # what was written is told nonetheless
            turn = snapshot.view.get(memory_id)
            left = None if turn is None else statements_left(snapshot.view.columns, turn, level)
        told = cast("LevelSet", answer)
        return told if left is None else {**told, "statements": left}

    def _check_lowered(self, owner: str, memory_id: str, level: int) -> None:
        """Who lowers a level shows the text to whoever reads at the lower one, himself too: so it has to be told to him already."""
        caller = caller_in_hand()
        if caller.is_unlimited:
            return
        with self._reader.snapshot(owner) as snapshot:
            found = snapshot.view.get(memory_id)
        if found is not None and level < found.sensitivity:
            caller.check("reveal" if found.sensitivity >= SECRET else "read", owner, sensitivity=found.sensitivity)

    def tell(
        self, owner: str, memory_id: str, data: EventData, *, live: Collection[str] = (), **given: Unpack[Rehearsable]
    ) -> Effects:
        """One event about one memory that stands."""
        return self.carry_out(owner, Tell((data,), (memory_id,), {"id": memory_id}), live=live, **given).answer


def texts_in(data: Iterable[EventData]) -> int:
    """How many events give a memory a text."""
    return sum(isinstance(one, (MemoryCreated, MemoryRevised, MemoryMerged)) for one in data)


def _rehearsed(carried: Carried) -> Carried:
    """The same as an answer of what was not written now."""
    return carried._replace(answer={**carried.answer, "dry_run": True})


def _is_of(command: Command, events: Sequence[AnyEvent], given: Given, ids: Ids) -> bool:
    """Whether events are what a command led to, given by the same in the same session; at whatever time."""
    last = events[-1]
    same = EVENT not in command.names or last.actor == given.get("actor", "user")
    return same and last.session_id == given.get("session") and command.agrees([one.data for one in events], ids)
