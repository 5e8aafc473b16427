"""Erasing single memories of an owner, with the turns that say them. What it would do, and what it refuses, is in `words_told`.

The order is that of an owner's erasure. What is meant is written down; the memories are deleted and what they say is rejected, so
that no face tells them and nothing brings them back; their ids are fenced; then their entries of the log lose their words, by one
script with what is left of them; then the owner's partition is folded anew from what is left. Killed anywhere, it is gone on with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

import msgspec

from engramlog_server.api.application import Application
from engramlog_server.consumers.erasing.steps import drop_from_builds, drop_vectors_of
from engramlog_server.consumers.erasing.words import LogSoFar, fence_names, wipe_entries
from engramlog_server.consumers.fold.folder import Probe, unprobed
from engramlog_server.consumers.fold.rebuild import LEASE_MS, rebuild_partition, refuse_without_room
from engramlog_server.consumers.sealing.leaving import Rewritten
from engramlog_server.consumers.verify.partition import verify_partition
from engramlog_server.consumers.verify.store import positions_digest, wiped_by
from engramlog_server.events.catalogue import EventData, MemoryUnmerged
from engramlog_server.events.envelope import AnyEvent, derived_id, new_event_id, prepare, utc_text
from engramlog_server.events.errors import NotFound, StoreUnavailable
from engramlog_server.events.log import AppendReceipt
from engramlog_server.events.of_the_store import label_of
from engramlog_server.events.partitions import LogKeys, position_text
from engramlog_server.events.redis.secrets import read_cipher
from engramlog_server.events.redis.wire import Wire
from engramlog_server.events.sealing.cipher import ValueCipher
from engramlog_server.events.sealing.key_store import Wiped
from engramlog_server.events.standing import Speaker
from engramlog_server.events.validation import make_event
from engramlog_server.events.vocabulary import MAX_REQUEST_EVENTS
from engramlog_server.ops.embedded.rewriting import rewrite_all
from engramlog_server.ops.erasing.owner import ErasureCertified, partition_to_erase_in, refuse_without_key, wire_of
from engramlog_server.ops.erasing.residue import Probes, probes_of, residue_of
from engramlog_server.ops.erasing.words_again import erased_event
from engramlog_server.ops.erasing.words_list import WordsGoing, WordsSteps
from engramlog_server.ops.erasing.words_told import WordsPlan, deleted_with, reached, refuse_broken, refuse_stuck
from engramlog_server.ops.keys.backup import saved_anew
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.store import OpenStore
from engramlog_server.ops.worker_id import new_worker_id
from engramlog_server.projections.decide.rejecting import rejection, values_said
from engramlog_server.projections.fold.builds import BuildKeys
from engramlog_server.projections.memory.rejection import known
from engramlog_server.projections.redis.store import read_checkpoint
from engramlog_server.projections.reports.erasing.reach import Reach, merges_apart

ALARM = "erasure_left"
AGAIN = "engramlog erase"
STEPS = 5
"""Of which progress is told: deleting, taking words away, folding anew, writing files, proving."""
ROUNDS = 3
"""How often at most what was said meanwhile is looked for: a job that began before may end after."""
Progress = Callable[[int, int], None]


class WordsCertificate(ErasureCertified, frozen=True, kw_only=True):
    """That memories of an owner lost their words for good. It names none of them."""

    memories: int
    turns: int
    entries: str
    """SHA-256 of the positions of the entries that have no words any more, one a line, in the order of the log."""
    said_meanwhile: bool
    """Whether something about them was said again and again while they were erased, and is there: another run takes it."""


def carry_out_words(
    application: Application,
    store: OpenStore,
    settings: Settings,
    plan: WordsPlan,
    *,
    probe: Probe = unprobed,
    on_progress: Progress = lambda _done, _all: None,
    on_wait: Callable[[str], None] = lambda _told: None,
    lease_ms: int = LEASE_MS,
) -> WordsCertificate:
    """Erase the words of these memories, or go on where an earlier run was killed; gives the certificate.

    Raises InputError, NotFound, OwnerQuarantined, DamagedState, StoreFull before the first change; whatever is raised
    later leaves what another run goes on with.
    """
    tag, number = partition_to_erase_in(store, plan.owner)
    with wire_of(store) as wire:
        refuse_without_room(wire, [tag])
        refuse_without_key(store)
        refuse_stuck(wire, tag, plan.owner)
        cipher = read_cipher(wire, LogKeys(tag), plan.owner)
        if cipher is None:
            raise NotFound(f"owner: got {plan.owner!r}; allowed: one of whom the store has anything", owner=plan.owner)
        run = _WordsRun(application, store, settings, plan, (wire, tag, number, cipher))
        probes = run.begin(probe)
        on_progress(1, STEPS)
        run.delete()
        probe("after they are deleted")
        build = ""
        for _ in range(ROUNDS):
            had_words = run.fence(probe)
            if build and not had_words:
                break
            run.wipe()
            on_progress(2, STEPS)
            probe("after their words")
            refuse_without_key(store)
            build = rebuild_partition(
                store.client, tag, holder=new_worker_id(), probe=probe, on_wait=on_wait, lease_ms=lease_ms, anew=True
            ).new
            probe("after it was folded without them")
            run.let_go(build)
        on_progress(3, STEPS)
        probe("before files are rewritten")
        rewritten = rewrite_all(store.embedded, wire, on_wait, AGAIN)
        on_progress(4, STEPS)
        probe("before it is proved")
        done = run.end(build, rewritten)
        probe("after the end")
        done = msgspec.structs.replace(done, residue=residue_of(store, settings, probes))
        store.alarms.cleared(ALARM, done.erasure)
        on_progress(STEPS, STEPS)
    return done


class _WordsRun:
    """One erasure of words, from its beginning to its end."""

    def __init__(
        self,
        application: Application,
        store: OpenStore,
        settings: Settings,
        plan: WordsPlan,
        where: tuple[Wire, str, int, ValueCipher],
    ) -> None:
        self._application, self._store, self._settings, self._plan = application, store, settings, plan
        self._wire, self._tag, self._number, self._cipher = where
        self._label = label_of(store.identity.store_id, plan.owner)
        self._steps = WordsSteps(store, settings, plan.owner, self._label, self._cipher)
        self._log = LogSoFar(self._wire, self._tag, plan.owner)
        self._erasure, self._going = "", WordsGoing(plan.ids)
        self._began: datetime | None = None
        self._event = ""
        self._also = dict[str, str]()
        self._reach: Reach | None = None
        self._is_fenced = False

    def begin(self, probe: Probe) -> Probes:
        """Say what is meant, unless an earlier run said it: one of the same ids is gone on with, and certified again. Gives what is
        searched for at the end."""
        plan = self._plan
        for erasure, (first, going) in self._steps.begun().items():
            if set(going.named) == set(plan.ids):
                self._erasure, self._going, self._event = erasure, going, first.event
                self._began = datetime.fromisoformat(first.at)
                self._plan = plan._replace(ground=first.ground, reason=first.reason, begun=True)
                self._also = dict.fromkeys(going.memories, "it went with what was named")
        reach = self._reach = reached(self._log.look(), self._plan, self._also)
        refuse_broken(reach, self._plan, self._number)
        if not self._erasure:
            self._erasure = new_event_id()
            probe("before it is written down")
            self._began, _ = self._steps.say(
                self._erasure, "began", self._going, ground=plan.ground, reason=plan.reason
            )
            self._event = self._steps.begun()[self._erasure][0].event
        self._store.alarms.raised(
            ALARM,
            self._erasure,
            f"an erasure began and did not end: `{AGAIN}` of the same owner and ids, or with --again, goes on with it",
        )
        probes = probes_of(self._wire, self._tag, plan.owner, {one.seq for one in reach.entries})
        probe("before they are deleted")
        return probes

    def delete(self) -> None:
        """Delete what is named, with what was made of it, and reject what it says; folded when this returns. Merges that go come
        apart before: what else they were merged from stays."""
        owner, named = self._plan.owner, reached(self._log.look(), self._plan, {}).named
        self._take_apart()
        self._also |= dict(deleted_with(self._application, owner, named, dry_run=False, key=self._erasure))
        self._reject_deleted_before(named)

    def _take_apart(self) -> None:
        """Undo merges that go of which a part stays: what goes can be deleted then, and what hid under them stands by itself."""
        assert self._reach is not None
        with self._application.reader.snapshot(self._plan.owner) as snapshot:
            apart = merges_apart(self._reach.memories, snapshot.view.get)
        self._append([self._says(MemoryUnmerged(into=one), "part erased", one) for one in apart])

    def _says(self, data: EventData, purpose: str, about: str) -> AnyEvent:
        """What this erasure says of a memory: the same event whenever it is said again."""
        assert self._began is not None
        return make_event(
            data,
            owner=self._plan.owner,
            occurred_at=self._began,
            actor="user",
            now=self._store.log.now(),
            event_id=derived_id(purpose, self._plan.owner, self._erasure, about),
            by=Speaker("terminal", self._store.log.principal),
        )

    def _reject_deleted_before(self, named: Sequence[str]) -> None:
        """What a memory said that was deleted by somebody before becomes no memory again either."""
        with self._application.reader.snapshot(self._plan.owner) as snapshot:
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
        """Write down what goes, shut the door for its ids, and say of each memory that it is erased; whether anything of it still
        has words."""
        reach = self._reach = reached(self._log.look(), self._plan, self._also)
        if not reach.entries and self._is_fenced and not reach.memories.keys() - set(self._going.memories):
            return False
        events = b"".join(one.raw_id for one in reach.entries)
        self._going = WordsGoing(self._plan.ids, tuple(reach.memories), tuple(reach.turns), events)
        assert self._began is not None
        self._steps.note(
            self._erasure,
            "fenced",
            self._going,
            at=utc_text(self._began),
            event=self._event,
            ground=self._plan.ground,
            reason=self._plan.reason,
        )
        probe("after the list")
        fence_names(self._wire, self._tag, self._cipher.secret, reach.memories, reach.turns)
        self._append(
            [
                erased_event(self._plan.owner, one, self._erasure, self._began, self._plan.reason)
                for one in reach.memories
            ]
        )
        self._is_fenced = True
        probe("after the fence")
        return bool(reach.entries)

    def wipe(self) -> None:
        """Take the words out of the entries."""
        assert self._reach is not None
        seqs = [one.seq for one in self._reach.entries]
        wipe_entries(self._wire, self._tag, self._plan.owner, seqs, Wiped(self._erasure, self._number, 0))
        self._log.look_again(seqs)

    def let_go(self, build: str) -> None:
        """Drop what was made of the owner's words besides the build that was folded anew: it is made again from what is left."""
        owner, store = self._plan.owner, self._store
        drop_from_builds(self._wire, self._tag, owner, but=build)
        drop_vectors_of(self._wire, self._tag, owner)
        store.views.forget(owner)

    def end(self, build: str, rewritten: Rewritten) -> WordsCertificate:
        """Prove the partition, say that it is done, and certify it."""
        plan, store, number = self._plan, self._store, self._number
        assert self._reach is not None
        assert self._began is not None
        verdict = verify_partition(store.client, number, self._tag)
        checkpoint = read_checkpoint(self._wire, BuildKeys(self._tag, build))
        until, chain = position_text(number, checkpoint.seq), checkpoint.head.hex()
        seqs = wiped_by(self._wire, store.identity.tags).get(self._erasure, {}).get(number, [])
        unproven = [*rewritten.not_proven]
        if self._reach.unread:
            unproven.append(
                f"{len(self._reach.unread)} entries of the owner cannot be read, so what they are about is not known:"
                " see `engramlog verify`"
            )
        meanwhile = bool(reached(LogSoFar(self._wire, self._tag, plan.owner).look(), plan, self._also).entries)
        if meanwhile:
            unproven.append(f"something about them was said meanwhile, again and again: run `{AGAIN}` once more")
        digest = positions_digest(number, seqs)
        ended, position = self._steps.say(
            self._erasure,
            "ended",
            msgspec.structs.replace(self._going, events=b""),
            salts=[one for one, by in self._wire.seals.keys.wiped() if by.erasure == self._erasure],
            ground=plan.ground,
            reason=plan.reason,
            memories=len(self._reach.memories),
            events=len(seqs),
            entries=digest,
            until=until,
            chain=chain,
            unproven=len(unproven),
        )
        kept = saved_anew(store, self._settings)  # with the end of this erasure in it
        return WordsCertificate(
            erasure=self._erasure,
            store_id=store.identity.store_id,
            label=self._label,
            ground=plan.ground,
            reason=plan.reason,
            by=store.log.principal,
            began_at=utc_text(self._began),
            ended_at=utc_text(ended),
            memories=len(self._reach.memories),
            turns=len(self._reach.turns),
            events=len(seqs),
            entries=digest,
            until=until,
            chain=chain,
            position=position,
            verified=not verdict.differences,
            differences=verdict.differences[:20],
            aof=rewritten.aof,
            dump=rewritten.dump,
            keys_saved_at=kept.saved_at,
            said_meanwhile=meanwhile,
            not_proven=[*unproven, *kept.not_proven],
        )

    def _append(self, events: list[AnyEvent]) -> None:
        """Append what erases, and have it folded. Raises StoreError."""
        receipts = list[AppendReceipt]()
        for start in range(0, len(events), MAX_REQUEST_EVENTS):
            receipts += self._store.log.append([prepare(one) for one in events[start : start + MAX_REQUEST_EVENTS]])
        if wrong := next((one for one in receipts if not (one.written and one.position)), None):
            raise StoreUnavailable(
                f"what is erased could not be said: {wrong.error or wrong.status}; run `{AGAIN}` again"
            )
        self._application.writer.settle(receipts)
