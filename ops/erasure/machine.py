"""The erasing machine: a set of an owner's entries loses its words for good. An owner who is erased is all of its entries.

The order makes it safe to be killed anywhere. What is meant is written down. Then the fence: nothing new is taken in. Then keys are
deleted: of an owner its key and its salts, of single memories the salts of their words. Then all that was made of the words goes:
the partition is folded anew, vectors and views are dropped, Redis writes its files again. Then it is proved and certified. Every
step can be done again, and a run that finds the fence goes on behind it.

What would be done, and what is refused, is in `plan`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import datetime
from hashlib import sha256
from secrets import token_bytes
from typing import Any, Literal, NamedTuple

import msgspec

from engramlog_server.api.application import Application
from engramlog_server.consumers.encryption import Rewritten
from engramlog_server.consumers.erasure import (
    Entries,
    LogSoFar,
    drop_from_builds,
    drop_salts,
    drop_vectors_of,
    fence,
    fence_names,
    opened_of,
    readmit,
    standing_of,
    wipe_entries,
)
from engramlog_server.consumers.fold.folder import Probe, unprobed
from engramlog_server.consumers.fold.rebuild import LEASE_MS, rebuild_partition, refuse_without_room
from engramlog_server.consumers.verify.partition import verify_partition
from engramlog_server.consumers.verify.store import positions_digest, wiped_by
from engramlog_server.events.catalogue import EventData, MemoryUnmerged, OwnerErasure, WordsErasure
from engramlog_server.events.cipher import SECRET_BYTES
from engramlog_server.events.envelope import AnyEvent, decode, derived_id, from_micros, new_event_id, prepare, utc_text
from engramlog_server.events.errors import KeyUnavailable, NotFound, StoreUnavailable, refused
from engramlog_server.events.keys import Wiped, erased_name
from engramlog_server.events.log import AppendReceipt
from engramlog_server.events.partitions import ERASURES, LogKeys, label_of, partition_of, position_text
from engramlog_server.events.redis.secrets import read_cipher, secret_lines
from engramlog_server.events.redis.wire import Wire
from engramlog_server.events.standing import Speaker
from engramlog_server.events.validation import make_event, ready
from engramlog_server.events.vocabulary import MAX_REQUEST_EVENTS
from engramlog_server.ops.erasure.fence_list import (
    ALARM,
    ErasureStep,
    FenceList,
    WordsGoing,
    erased_event,
    going_by,
    going_in,
    lacks,
    left_behind,
    open_erasures,
    owners_with,
)
from engramlog_server.ops.erasure.plan import (
    ErasurePlan,
    deleted_with,
    owner_plan,
    partition_to_erase_in,
    reached,
    refuse_broken,
    refuse_stuck,
    values_file,
)
from engramlog_server.ops.erasure.residue import NOT_KNOWN, Probes, Residue, probes_of, residue_of, rewrite_all
from engramlog_server.ops.keys.backup import save_keys_again
from engramlog_server.ops.processes.life import new_worker_id
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.store import OpenStore
from engramlog_server.projections.decide.commands import rejection, values_said
from engramlog_server.projections.fold.changelog import id_text
from engramlog_server.projections.memory.rejection import known
from engramlog_server.projections.redis.builds import BuildKeys
from engramlog_server.projections.redis.store import read_checkpoint
from engramlog_server.projections.reports.erasure import Reach, merges_apart

AGAIN = "engramlog erase"
STEPS = 5
"""Of which progress is told: fencing, deleting keys, folding anew, writing files, proving."""
ROUNDS = 3
"""How often at most what was said meanwhile is looked for: a job that began before may end after."""
Progress = Callable[[int, int], None]


class ErasureCertificate(msgspec.Struct, frozen=True, kw_only=True):
    """That an owner, or memories of an owner, were erased for good: when, by whom, on what ground. It names nobody: `label` is
    known again by the owner's name."""

    erasure: str
    store_id: str
    label: str
    ground: str
    reason: str
    by: str
    began_at: str
    ended_at: str
    events: int
    """Entries of the log whose words nobody can read any more."""
    until: str
    """Up to where the partition was folded without them."""
    chain: str
    """The log's chain there: what an auditor noted before still meets it."""
    position: str
    """Of the event that says so, in the log's own chain."""
    verified: bool
    """Whether the partition's log, chains and state agreed afterwards."""
    differences: list[dict[str, Any]]
    aof: str
    dump: str
    keys_saved_at: str | None
    """When the backup of the keys was written last: what was erased before cannot be opened by it. None where none is kept."""
    not_proven: list[str]
    """What could not be seen to from here, and what to do about it, a sentence each."""
    residue: Residue | None = None
    """What a search of Redis and of the files of this machine found afterwards."""
    open_entries: int | msgspec.UnsetType = msgspec.UNSET
    """Of an owner: entries that lie open, put there past Engramlog, and so can still be read."""
    memories: int | msgspec.UnsetType = msgspec.UNSET
    """This and what follows: of single memories."""
    turns: int | msgspec.UnsetType = msgspec.UNSET
    entries: str | msgspec.UnsetType = msgspec.UNSET
    """SHA-256 of the positions of the entries that have no words any more, one a line, in the order of the log."""
    said_meanwhile: bool | msgspec.UnsetType = msgspec.UNSET
    """Whether something about them was said again and again while they were erased, and is there: another run takes it."""


def carry_out(
    store: OpenStore,
    settings: Settings,
    plan: ErasurePlan,
    application: Application | None = None,
    *,
    probe: Probe = unprobed,
    on_progress: Progress = lambda _done, _all: None,
    on_wait: Callable[[str], None] = lambda _told: None,
    lease_ms: int = LEASE_MS,
) -> ErasureCertificate:
    """Erase what is planned, or go on where an earlier run was killed; gives the certificate. Single memories need the application.

    Raises InputError, NotFound, OwnerQuarantined, DamagedState, StoreFull before the first change; whatever is raised later leaves
    what another run goes on with.
    """
    tag, number = partition_to_erase_in(store, plan.owner)
    with closing(store.wire()) as wire:
        refuse_without_room(wire, [tag])
        _refuse_without_key(store)
        where = _Where(store, settings, wire, tag, number)
        run: _Erasure = _OwnerGoes(where, plan)
        if plan.ids:
            assert application is not None
            run = _WordsGo(where, plan, application)
        run.begin(probe)
        store.alarms.raised(
            ALARM,
            run.began.erasure,
            f"an erasure began and did not end: `{AGAIN}` of the same, or with --again, goes on with it",
        )
        probes = run.probes()
        run.hide(probe)
        on_progress(1, STEPS)
        build = ""
        for _ in range(ROUNDS):
            had_words = run.fence(probe)
            if build and not had_words:
                break
            probe("after the fence")
            forget(store, plan.owner)
            run.delete_keys()
            on_progress(2, STEPS)
            probe("after their words")
            _refuse_without_key(store)
            build = rebuild_partition(
                store.client, tag, holder=new_worker_id(), probe=probe, on_wait=on_wait, lease_ms=lease_ms, anew=True
            ).new
            probe("after it was folded without them")
            drop_from_builds(wire, tag, plan.owner, but=build)
            drop_vectors_of(wire, tag, plan.owner)
            run.drop_kept()
            forget(store, plan.owner)
        on_progress(3, STEPS)
        probe("before files are rewritten")
        rewritten = rewrite_all(store.embedded, wire, settings, on_wait, AGAIN)
        on_progress(4, STEPS)
        probe("before it is proved")
        done = run.certified(build, rewritten)
        probe("after the end")
        since = datetime.fromisoformat(done.began_at).timestamp()
        done = msgspec.structs.replace(done, residue=residue_of(store, settings, probes, since))
        store.alarms.cleared(ALARM, run.began.erasure)
        on_progress(STEPS, STEPS)
    return done


def readmit_owner(store: OpenStore, settings: Settings, owner: str, reason: str = "") -> dict[str, Any]:
    """Have an owner who was erased be spoken of again, under a new key; nothing of before comes back. JSON-ready.

    Raises InputError where it was not erased, or that did not end.
    """
    tag, number = partition_to_erase_in(store, owner)
    with closing(store.wire()) as wire:
        _, erasure = standing_of(wire, tag, owner)
        if erasure is None:
            raise refused("owner", owner[:80], "an owner who was erased: of this one everything stands")
        run = _OwnerGoes(_Where(store, settings, wire, tag, number), ErasurePlan(owner, reason=reason))
        if erasure in open_erasures(run.list.read()) or owner in left_behind(wire, (tag,)):
            raise refused(
                "owner", owner[:80], f"one whose erasure has ended: `{AGAIN}` of the same owner goes on with it"
            )
        fresh = wire.seals.lines({owner: token_bytes(SECRET_BYTES)})[owner]
        said, position = run.say(run.first(erasure), "readmitted")
        readmit(wire, tag, owner, fresh)
    forget(store, owner)
    return {"owner": owner, "erasure": erasure, "partition": number, "readmitted_at": said.at, "position": position}


def unfinished_erasures(store: OpenStore, settings: Settings) -> list[tuple[str, tuple[str, ...]]]:
    """Owners, and what of each was named (nothing: the whole owner), of every erasure that did not end, or came back.

    One that ended right before its process died, so that its alarm stands, is among them. Raises StoreError.
    """
    wire, tags, listed = store.wire(), store.identity.tags, FenceList.of(settings, store.identity.store_id)
    alarmed = {one.subject for one in store.alarms.standing() if one.name == ALARM}
    owners, words = listed.read(), listed.read_words()
    try:
        lacking = lacks(wire, tags, owners)
        told = {one.erasure for one in owners if one.event not in lacking}
        unended = alarmed | open_erasures(owners).keys() | ({one.erasure for one in owners} - told)
        labels = {one.label for one in open_erasures(owners).values()}
        found = {*left_behind(wire, tags, unended)}
        found |= {owner for tag in tags for owner, _ in secret_lines(wire, tag) if listed.label(owner) in labels}
        left: list[tuple[str, tuple[str, ...]]] = [(owner, ()) for owner in sorted(found)]
        return left + [
            (owner, named) for owner, named in _unfinished_words(wire, tags, words, alarmed) if owner not in found
        ]
    finally:
        wire.close()


def _unfinished_words(
    wire: Wire, tags: Sequence[str], listed: Sequence[ErasureStep], alarmed: Collection[str]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Owners and what was named, of erasures that did not end, or whose end this copy of the log lacks."""
    lacking = lacks(wire, tags, listed)
    left = dict[str, ErasureStep]()
    for one in listed:
        if one.step != "ended" or one.event in lacking or one.erasure in alarmed:
            left[one.erasure] = one
        else:
            left.pop(one.erasure, None)
    if not left:
        return
    for _, owner, cipher in owners_with(wire, tags, listed[0].store, {one.label for one in left.values()}):
        for one in left.values():
            if one.label == label_of(one.store, owner) and (going := going_in(one, cipher, owner)) is not None:
                yield owner, going.named


def say_step(store: OpenStore, listed: FenceList, step: ErasureStep, **more: Any) -> tuple[ErasureStep, str]:
    """Say a step of an erasure in the log, then in the list; the step as said, and its position. Raises StoreError."""
    log = store.log
    now, by = log.now(), Speaker("job", log.principal)
    kind: Any = OwnerErasure if step.what == "owner" else WordsErasure
    data = kind(erasure=step.erasure, step=step.step, label=step.label, ground=step.ground, reason=step.reason, **more)
    event = make_event(data, owner=ERASURES, occurred_at=from_micros(now), actor="system", now=now, by=by)
    (receipt,) = log.append([ready(event, by)])
    if not receipt.written or receipt.position is None:
        raise StoreUnavailable(f"what is erased could not be written down: {receipt.error}")
    said = msgspec.structs.replace(step, at=utc_text(from_micros(now)), event=event.event_id)
    listed.append(said)
    listed.share(store.client.seals.keys)
    return said, receipt.position


def forget(store: OpenStore, owner: str) -> None:
    """Let go of what this process holds of an owner: views, and the opened key."""
    store.views.forget(owner)
    store.client.seals.forget(owner)
    store.log.forget(owner)


def _refuse_without_key(store: OpenStore) -> None:
    """Raise KeyUnavailable where the master key cannot be had: folded anew without it, everybody else would stand still."""
    standing = store.client.seals.look()
    if not standing.reachable:
        raise KeyUnavailable(
            f"the master key {standing.key} is unavailable, and the partition's other owners are folded again with it:"
            f" {standing.reason}; run `{AGAIN}` again once it can"
        )


class _Where(NamedTuple):
    """The store, and the partition in which is erased."""

    store: OpenStore
    settings: Settings
    wire: Wire
    tag: str
    number: int


class _Outcome(NamedTuple):
    """What an erasure came to."""

    said: Mapping[str, Any]
    """What the event of its end says."""
    certified: Mapping[str, Any]
    """What the certificate says."""
    listed: Mapping[str, Any]
    """What the list says."""
    unproven: Sequence[str]


class _Erasure:
    """One erasure from its beginning to its end; what differs between an owner and single memories is in the two below."""

    began: ErasureStep
    """How it began, as the list has it."""

    def __init__(self, where: _Where, plan: ErasurePlan) -> None:
        self.store, self.settings, self.wire, self.tag, self.number = where
        self.plan, self.list = plan, FenceList.of(self.settings, self.store.identity.store_id)
        self.is_fenced = False

    def first(self, erasure: str) -> ErasureStep:
        """What the list is to say first of an erasure."""
        what: Literal["owner", "words"] = "words" if self.plan.ids else "owner"
        return ErasureStep(
            self.list.store_id,
            erasure,
            self.list.label(self.plan.owner),
            "began",
            "",
            "",
            self.plan.ground,
            self.plan.reason,
            what,
        )

    def begun(self) -> ErasureStep | None:
        """The erasure of the same that an earlier run began, as it is to be gone on with."""
        raise NotImplementedError

    def begin(self, probe: Probe) -> None:
        """Say what is meant, unless an earlier run said it: one of the same is gone on with, and certified again."""
        found = self.begun()
        if found is None:
            probe("before it is written down")
            found, _ = self.say(self.first(new_event_id()), "began")
        self.began = found

    def say(
        self, step: ErasureStep, what: Any, listed: Mapping[str, Any] | None = None, **more: Any
    ) -> tuple[ErasureStep, str]:
        """Say a step in the log, then in the list; the step as said, and its position. Raises StoreError."""
        return say_step(self.store, self.list, msgspec.structs.replace(step, step=what, **(listed or {})), **more)

    def probes(self) -> Probes:
        """What is searched for at the end."""
        raise NotImplementedError

    def hide(self, probe: Probe) -> None:
        """Have no face tell it any more."""

    def fence(self, probe: Probe) -> bool:
        """Shut the door; whether anything still has words."""
        raise NotImplementedError

    def delete_keys(self) -> None:
        """Delete what opens the words."""
        raise NotImplementedError

    def drop_kept(self) -> None:
        """Drop what is kept of it beside the store."""

    def outcome(self) -> _Outcome:
        """What it came to, once the partition was folded anew."""
        raise NotImplementedError

    def certified(self, build: str, rewritten: Rewritten) -> ErasureCertificate:
        """Prove the partition, say that it is done, and certify it."""
        store, began = self.store, self.began
        verdict = verify_partition(store.client, self.number, self.tag)
        checkpoint = read_checkpoint(self.wire, BuildKeys(self.tag, build))
        until, chain = position_text(self.number, checkpoint.seq), checkpoint.head.hex()
        found = self.outcome()
        unproven = [*rewritten.not_proven, *found.unproven]
        ended, position = self.say(
            began, "ended", found.listed, **found.said, until=until, chain=chain, unproven=len(unproven)
        )
        kept = save_keys_again(store, self.settings)  # with the end of this erasure in it
        return ErasureCertificate(
            erasure=began.erasure,
            store_id=began.store,
            label=began.label,
            ground=began.ground,
            reason=began.reason,
            by=store.log.principal,
            began_at=began.at,
            ended_at=ended.at,
            until=until,
            chain=chain,
            position=position,
            verified=not verdict.differences,
            differences=verdict.differences[:20],
            aof=rewritten.aof,
            dump=rewritten.dump,
            keys_saved_at=kept.saved_at,
            not_proven=[*unproven, *kept.not_proven],
            **found.certified,
        )


class _OwnerGoes(_Erasure):
    """All entries of an owner: its key is deleted too, and nothing is taken in under its name."""

    _entries = Entries()

    def begun(self) -> ErasureStep | None:
        told = owner_plan(self.store, self.settings, self.plan.owner)
        self._was_fenced = told["erasure"] is not None
        self._catch_up()
        listed = [one for one in self.list.read() if one.label == told["label"]]
        if self._was_fenced:
            found = next((one for one in listed if (one.erasure, one.step) == (told["erasure"], "began")), None)
            return found or self.say(self.first(told["erasure"]), "began")[0]  # by a list that a copy brought back
        return next(iter(open_erasures(listed).values()), None)

    def _catch_up(self) -> None:
        """Have the list say all that the log says: a run may have been killed between the two, or the list was lost."""
        tag = self.store.identity.tags[partition_of(ERASURES, self.store.identity.partitions)]
        listed = {(one.erasure, one.step) for one in self.list.read()}
        for one in opened_of(self.wire, tag, ERASURES):
            told, at = decode(one.kind, one.body).data, utc_text(from_micros(one.recorded or 0))
            if isinstance(told, OwnerErasure) and (told.erasure, told.step) not in listed:
                listed.add((told.erasure, told.step))
                event = id_text(one.raw_id)
                self.list.append(
                    ErasureStep(
                        self.list.store_id, told.erasure, told.label, told.step, at, event, told.ground, told.reason
                    )
                )

    def probes(self) -> Probes:
        return Probes((), NOT_KNOWN) if self._was_fenced else probes_of(self.wire, self.tag, self.plan.owner)

    def fence(self, probe: Probe) -> bool:
        if self.is_fenced:
            return False
        if not self._was_fenced:
            probe("before the fence")
        erasure, self.is_fenced = fence(self.wire, self.tag, self.plan.owner, self.began.erasure), True
        if erasure != self.began.erasure:  # another run was quicker, and this one goes on with its erasure
            self.store.alarms.cleared(ALARM, self.began.erasure)
            theirs = (one for one in self.list.read() if (one.erasure, one.step) == (erasure, "began"))
            self.began = next(theirs, msgspec.structs.replace(self.began, erasure=erasure))
        return True

    def delete_keys(self) -> None:
        self._entries = drop_salts(self.wire, self.tag, self.plan.owner)

    def drop_kept(self) -> None:
        values_file(self.store, self.settings).forget(self.plan.owner)

    def outcome(self) -> _Outcome:
        line, _ = standing_of(self.wire, self.tag, self.plan.owner)
        unproven = []
        if self._entries.open:
            unproven.append(
                f"entries of this sealed store that are not encrypted, so they can still be read: {self._entries.open};"
                " see `engramlog verify`"
            )
        return _Outcome(
            {"events": self._entries.total, "line": sha256(line or b"").hexdigest()},
            {"events": self._entries.total, "open_entries": self._entries.open},
            {"key": erased_name(line or b"").hex()},
            unproven,
        )


class _WordsGo(_Erasure):
    """Entries of single memories, with the turns that say them: the owner, its key and the rest stay."""

    def __init__(self, where: _Where, plan: ErasurePlan, application: Application) -> None:
        super().__init__(where, plan)
        refuse_stuck(self.wire, self.tag, plan.owner)
        cipher = read_cipher(self.wire, LogKeys(self.tag), plan.owner)
        if cipher is None:
            raise NotFound(f"owner: got {plan.owner!r}; allowed: an owner with events in this store", owner=plan.owner)
        self._application, self._cipher = application, cipher
        self._log, self._going = LogSoFar(self.wire, self.tag, plan.owner), WordsGoing(plan.ids)
        self._also = dict[str, str]()
        self._reach: Reach

    def first(self, erasure: str) -> ErasureStep:
        return msgspec.structs.replace(super().first(erasure), sealed=self._sealed(self._going))

    def _sealed(self, going: WordsGoing) -> str:
        return going.seal(self._cipher, self.plan.owner)

    def begun(self) -> ErasureStep | None:
        label, found = self.list.label(self.plan.owner), None
        mine = [one for one in self.list.read_words() if one.label == label]
        for first, going in going_by(mine, self._cipher, self.plan.owner).values():
            if set(going.named) == set(self.plan.ids):
                found, self._going, self.plan = first, going, self.plan._replace(begun=True)
                self._also = dict.fromkeys(going.memories, "it went with what was named")
        self._reach = reached(self._log.look(), self.plan, self._also)
        refuse_broken(self._reach, self.plan, self.number)
        return found

    def probes(self) -> Probes:
        return probes_of(self.wire, self.tag, self.plan.owner, {one.seq for one in self._reach.entries})

    def hide(self, probe: Probe) -> None:
        """Delete what is named, with what was made of it, and reject what it says; folded when this returns. Merges that go come
        apart before: what else they were merged from stays."""
        probe("before they are deleted")
        owner, named = self.plan.owner, reached(self._log.look(), self.plan, {}).named
        with self._application.reader.snapshot(owner) as snapshot:
            apart = merges_apart(self._reach.memories, snapshot.view.get)
        self._append([self._says(MemoryUnmerged(into=one), "part erased", one) for one in apart])
        self._also |= dict(deleted_with(self._application, owner, named, dry_run=False, key=self.began.erasure))
        self._reject_deleted_before(named)
        probe("after they are deleted")

    def _says(self, data: EventData, purpose: str, about: str) -> AnyEvent:
        """What this erasure says of a memory: the same event whenever it is said again."""
        return make_event(
            data,
            owner=self.plan.owner,
            occurred_at=datetime.fromisoformat(self.began.at),
            actor="user",
            now=self.store.log.now(),
            event_id=derived_id(purpose, self.plan.owner, self.began.erasure, about),
            by=Speaker("terminal", self.store.log.principal),
        )

    def _reject_deleted_before(self, named: Sequence[str]) -> None:
        """What a memory said that was deleted by somebody before becomes no memory again either."""
        with self._application.reader.snapshot(self.plan.owner) as snapshot:
            view, events = snapshot.view, list[AnyEvent]()
            for memory_id in named:
                memory = view.get(memory_id)
                if memory is None:
                    continue
                standing = [known(view.state.rejections, bytes.fromhex(one)) for one in values_said(memory, view.get)]
                values = values_said(view.as_folded(memory), view.get)
                if not values or all(one is not None and one.stands for one in standing):
                    continue
                data = rejection(memory_id, values, "", memory.source_turns)
                events.append(self._says(data, "reject erased", memory_id))
        self._append(events)

    def fence(self, probe: Probe) -> bool:
        """Write down what goes, shut the door for its ids, and say of each memory that it is erased."""
        reach = self._reach = reached(self._log.look(), self.plan, self._also)
        if not reach.entries and self.is_fenced and not reach.memories.keys() - set(self._going.memories):
            return False
        events = b"".join(one.raw_id for one in reach.entries)
        self._going = WordsGoing(self.plan.ids, tuple(reach.memories), tuple(reach.turns), events)
        self.list.append(msgspec.structs.replace(self.began, step="fenced", sealed=self._sealed(self._going)))
        self.list.share(self.wire.seals.keys)
        probe("after the list")
        fence_names(self.wire, self.tag, self._cipher.secret, reach.memories, reach.turns)
        at = datetime.fromisoformat(self.began.at)
        self._append(
            [erased_event(self.plan.owner, one, self.began.erasure, at, self.began.reason) for one in reach.memories]
        )
        self.is_fenced = True
        return bool(reach.entries)

    def delete_keys(self) -> None:
        seqs = [one.seq for one in self._reach.entries]
        wipe_entries(self.wire, self.tag, self.plan.owner, seqs, Wiped(self.began.erasure, self.number, 0))
        self._log.look_again(seqs)

    def outcome(self) -> _Outcome:
        reach, erasure = self._reach, self.began.erasure
        seqs = wiped_by(self.wire, self.store.identity.tags).get(erasure, {}).get(self.number, [])
        unproven = list[str]()
        if reach.unread:
            unproven.append(
                f"entries of the owner that cannot be read, so their content is unknown: {len(reach.unread)};"
                " see `engramlog verify`"
            )
        now = LogSoFar(self.wire, self.tag, self.plan.owner).look()
        meanwhile = bool(reached(now, self.plan, self._also).entries)
        if meanwhile:
            unproven.append(f"something about them was said meanwhile, again and again: run `{AGAIN}` once more")
        salts = tuple(one for one, by in self.wire.seals.keys.wiped() if by.erasure == erasure)
        sealed = self._sealed(msgspec.structs.replace(self._going, events=b""))
        said = {"memories": len(reach.memories), "events": len(seqs), "entries": positions_digest(self.number, seqs)}
        return _Outcome(
            said,
            {**said, "turns": len(reach.turns), "said_meanwhile": meanwhile},
            {"sealed": sealed, "salts": salts},
            unproven,
        )

    def _append(self, events: list[AnyEvent]) -> None:
        """Append what erases, and have it folded. Raises StoreError."""
        receipts = list[AppendReceipt]()
        for start in range(0, len(events), MAX_REQUEST_EVENTS):
            receipts += self.store.log.append([prepare(one) for one in events[start : start + MAX_REQUEST_EVENTS]])
        if wrong := next((one for one in receipts if not (one.written and one.position)), None):
            raise StoreUnavailable(
                f"what is erased could not be said: {wrong.error or wrong.status}; run `{AGAIN}` again"
            )
        self._application.writer.settle(receipts)
