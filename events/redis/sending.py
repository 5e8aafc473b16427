"""Sending a request of events: its parts go to the partitions they belong to, and each gets the receipts of its own.

On one server what fails fails for all. On a Cluster parts lie on several nodes: what cannot be sent yet, since its slot is being
moved or its node was lost, waits for a bounded time while the others are written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from time import monotonic, sleep
from typing import Any, NamedTuple

import msgspec
import redis

from engramlog_server.events.alarms import CLUSTER_WAITS, Alarm, Alarms
from engramlog_server.events.envelope import Prepared
from engramlog_server.events.errors import StoreError, StoreFull, StoreUnavailable
from engramlog_server.events.log import Appendable, AppendReceipt, ready
from engramlog_server.events.marks import Marker
from engramlog_server.events.partitions import ALARMS_KEY, LogKeys
from engramlog_server.events.redis.append import APPEND, SAID_AGAIN, Brought, append_command, append_receipts
from engramlog_server.events.redis.clock import StoreClock
from engramlog_server.events.redis.durability import Promise
from engramlog_server.events.redis.haste import in_haste
from engramlog_server.events.redis.naming import read_seqs
from engramlog_server.events.redis.proving import WRITTEN, Proving, Receipts
from engramlog_server.events.redis.receipts import KeptReceipts
from engramlog_server.events.redis.secrets import Chance, OwnerSecret, Secrets
from engramlog_server.events.redis.wire import AGAIN, TOGETHER_BYTES, Wire, as_store_error, refusal_code
from engramlog_server.events.redis.wordless import Gone, refusal
from engramlog_server.events.sealing.cipher import SALT_BYTES

_SECRET_TRIES = 5
"""How often a part is sent again because another process made an owner's secret at the same time; once does."""
_CHANGING = (
    "the secrets of owners of partition {}, or what was erased there, change while they are asked for: is the store being replaced?"
    " Then send again; else see `engramlog verify`"
)
PAUSE_SECONDS, MOST_PAUSE_SECONDS = 0.02, 0.25
"""Between two tries of parts that cannot be sent yet: at first, and at most."""
TELL_SECONDS = 1.0
"""From when on an alarm tells that parts wait."""


class AppendRequest(NamedTuple):
    """What was asked to be appended, and by whom."""

    events: Sequence[Appendable]
    expected_heads: Mapping[str, int]
    principal: str


class _Answered(NamedTuple):
    """What came of one part: the script's answer or why there is none; and how far it is proved."""

    answer: Any
    fsynced: bool | None
    replicas: int


class _Sent(NamedTuple):
    """What became of some parts that have no receipts."""

    again: dict[int, list[int]]
    """To be sent again at once: another process made an owner's secret first, or something was erased meanwhile."""
    waiting: dict[int, StoreUnavailable]
    """Not carried out, and may be later."""


class AppendSending:
    """Sends what one log appends. Safe for threads, each with a wire of its own."""

    def __init__(
        self,
        keys: Sequence[LogKeys],
        secrets: Secrets,
        kept: KeptReceipts,
        clock: StoreClock,
        *,
        marker: Marker,
        chance: Chance,
        proving: Proving,
        alarms: Alarms | None,
        says_again: bool = False,
    ) -> None:
        """`says_again`: what is kept outside of the store, and it lacks."""
        self._says_again = says_again
        self.gone = Gone()
        self._keys, self._secrets, self._kept, self._clock = keys, secrets, kept, clock
        self._marker, self._chance, self._proving, self._alarms = marker, chance, proving, alarms
        self._told: set[int] = set()
        """Partitions of which an alarm tells that they wait."""

    def send(self, wire: Wire, request: AppendRequest, parts: Mapping[int, list[int]], receipts: Receipts) -> None:
        """Send these parts and write their receipts. Raises StoreUnavailable, ReceiptLost or StoreFull where nothing can be said of
        any of them, and UnderReplicated where what was written is not proved."""
        errors = dict[int, StoreError]()
        if wire.many:
            self._send_to_nodes(wire, request, parts, receipts, errors)
        else:
            self._send_all(wire, request, parts, receipts, errors)
        if errors and errors.keys() == parts.keys():
            raise next(iter(errors.values()))
        if any(one and one.error and "NOREPLICAS" in one.error for one in receipts):
            self._refuse_for_the_disk(wire, receipts)
        self._proving.refuse_unproved(parts, receipts)

    def _send_all(
        self,
        wire: Wire,
        request: AppendRequest,
        parts: Mapping[int, list[int]],
        receipts: Receipts,
        errors: dict[int, StoreError],
    ) -> dict[int, StoreUnavailable]:
        """Send these parts, but for those of which a receipt was lost; gives those that wait."""
        self._kept.ask(wire, parts if wire.many else None)
        asked = wire.generation
        left, waiting = dict(parts), dict[int, StoreUnavailable]()
        for partition, error in self._kept.refuse_lost(wire, parts).items():
            errors[partition] = error
            fail(request, left.pop(partition), receipts, error.message)
        for _ in range(_SECRET_TRIES):
            if not left:
                break
            left, more = self._send(wire, request, left, receipts, asked)
            waiting |= more
        for partition, indexes in left.items():
            fail(request, indexes, receipts, _CHANGING.format(partition))
        return waiting

    def _send_to_nodes(
        self,
        wire: Wire,
        request: AppendRequest,
        parts: Mapping[int, list[int]],
        receipts: Receipts,
        errors: dict[int, StoreError],
    ) -> None:
        """The same on a Cluster: what cannot be sent yet is tried again for as long as the wire is patient."""
        began, pause = monotonic(), PAUSE_SECONDS
        patience = wire.patience
        with in_haste(wire):
            left = dict(parts)
            while True:
                waiting = self._try(wire, request, left, receipts, errors)
                self._tell(left.keys() - waiting.keys(), waiting, monotonic() - began)
                left = {partition: parts[partition] for partition in waiting}
                if not left or monotonic() - began >= patience:
                    break
                sleep(pause)
                pause = min(2 * pause, MOST_PAUSE_SECONDS)
        for partition, error in waiting.items():
            fail(request, parts[partition], receipts, error.message)
        errors |= waiting

    def _try(
        self,
        wire: Wire,
        request: AppendRequest,
        parts: Mapping[int, list[int]],
        receipts: Receipts,
        errors: dict[int, StoreError],
    ) -> dict[int, StoreUnavailable]:
        """Send what can be sent; gives what waits. One node that fails keeps no other part from being written."""
        try:
            return self._send_all(wire, request, parts, receipts, errors)
        except StoreUnavailable as error:
            left = {partition: indexes for partition, indexes in parts.items() if receipts[indexes[0]] is None}
            if len(left) > 1:
                waiting = dict[int, StoreUnavailable]()
                for some in _by_node(wire, self._keys, left):
                    waiting |= self._try(wire, request, some, receipts, errors)
                return waiting
            if error.not_done:
                return dict.fromkeys(left, error)
            for partition, indexes in left.items():
                errors[partition] = error
                fail(request, indexes, receipts, error.message)
            return {}

    def _tell(self, written: Iterable[int], waiting: Mapping[int, StoreUnavailable], seconds: float) -> None:
        """Raise the alarm of parts that wait, and clear it once they are written."""
        if self._alarms is None:
            return
        for partition in self._told.intersection(written):
            self._told.discard(partition)
            self._alarms.cleared(CLUSTER_WAITS, f"partition {partition}")
        if seconds >= TELL_SECONDS:
            for partition, error in waiting.items():
                if partition not in self._told:
                    self._told.add(partition)
                    self._alarms.raised(CLUSTER_WAITS, f"partition {partition}", error.message)

    def _send(
        self, wire: Wire, request: AppendRequest, parts: Mapping[int, list[int]], receipts: Receipts, asked: int
    ) -> _Sent:
        """Send these parts once and write the receipts of those that were answered.

        `asked`: the generation under which it was looked whether kept receipts hold. Raises StoreUnavailable where it is over.
        """
        events, newer, found = request.events, set[int](), _Sent({}, {})
        secrets = self._secrets.of(wire, {events[i].owner for indexes in parts.values() for i in indexes})
        wire.load(APPEND)
        promised = self._proving.promises(wire, parts)
        commands, sent, waiting, size = list[bytes](), list[list[Prepared]](), list[bytes](), 0
        parts = self._allowed(wire, parts, events, secrets, receipts)
        _refuse_new_connections(wire, asked)
        sealed = wire.seals.store if wire.seals.is_on else None
        each = SALT_BYTES if sealed is None else 2 * SALT_BYTES
        brought = Brought(request.principal, self._marker, secrets, request.expected_heads, sealed)
        for partition, indexes in parts.items():
            mine, salts = [events[i] for i in indexes], self._chance(each * len(indexes))
            keys = self._keys[partition]
            floor = SAID_AGAIN if self._says_again else self._kept.floor(partition)
            command, written = append_command(keys, mine, brought, salts, floor, self.gone.count(keys))
            sent.append(written)
            commands.append(command)
            waiting.append(command)
            size += len(command)
            if size >= TOGETHER_BYTES:
                wire.send_together(waiting)
                waiting, size = [], 0
        if waiting:
            wire.send_together(waiting)
        answers = self._answers(wire, parts, commands, promised) if commands else ()
        for (partition, indexes), written, (answer, fsynced, replicas) in zip(
            parts.items(), sent, answers, strict=True
        ):
            if isinstance(answer, list) and answer[0] == b"gone":
                found.again[partition] = indexes
                continue
            if isinstance(answer, list) and answer[0] == b"secret":
                lines = zip(answer[3][::2], answer[3][1::2], strict=True)
                self._secrets.keep(wire.seals, {name.decode(): line for name, line in lines})
                found.again[partition] = indexes
                newer.add(partition)
                continue
            if wire.many and isinstance(answer, Exception):
                error = answer if isinstance(answer, StoreUnavailable) else as_store_error(answer)
                if isinstance(error, StoreUnavailable) and error.not_done:
                    found.waiting[partition] = error
                else:
                    fail(request, indexes, receipts, error.message)
                continue
            self._kept.keep(partition, written, answer, proved=replicas >= self._proving.least)
            if isinstance(answer, list) and len(answer) == WRITTEN:
                self._clock.saw(int(answer[4]), int(answer[3]))
            told = append_receipts(partition, written, answer, fsynced, replicas)
            for i, receipt in zip(indexes, told, strict=True):
                receipts[i] = receipt
        for partition in found.again.keys() - newer:
            self.gone.look(wire, self._keys[partition])
        return found

    def _allowed(
        self,
        wire: Wire,
        parts: Mapping[int, list[int]],
        events: Sequence[Appendable],
        secrets: Mapping[str, OwnerSecret],
        receipts: Receipts,
    ) -> Mapping[int, list[int]]:
        """The parts of which no event that is not known yet says something under an erased id; of the others receipts are written.

        Raises InputError where nothing of the request is written so far.
        """
        if not self.gone:
            return parts
        allowed = dict(parts)
        for partition, indexes in parts.items():
            keys = self._keys[partition]
            if self.gone.count(keys):
                mine = [events[i] for i in indexes]
                known = {event.owner: secrets[event.owner].secret for event in mine}
                for number, field, name in self.gone.named(keys, mine, known):
                    one = ready(mine[number])
                    if read_seqs(wire, keys, one.owner, [one.event_id]):
                        continue
                    if not any(receipt is not None and receipt.written for receipt in receipts):
                        raise refusal(field, name)
                    for i in allowed.pop(partition):
                        why = refusal(field, name).message
                        receipts[i] = AppendReceipt(ready(events[i]).event_id, "failed", error=why)
                    break
        return allowed

    def _answers(
        self,
        wire: Wire,
        parts: Mapping[int, list[int]],
        commands: list[bytes],
        promised: Mapping[int, Promise],
    ) -> Iterable[_Answered]:
        """Each script's answer, as soon as it is there, and how far it is proved, all down one connection to each server."""
        found, partitions = list[Any](), list(parts)
        sent = self._proving.standing(wire, partitions) if self._proving.is_asked else {}
        while len(found) < len(commands):
            found.append(_answer(wire))
            if len(found) == 1 and not self._proving.is_asked and not _is_forgotten(found[0]):
                yield _Answered(found.pop(), promised[partitions.pop(0)].kept, 0)
                commands = commands[1:]
        if forgotten := [number for number, answer in enumerate(found) if _is_forgotten(answer)]:
            wire.load_again(APPEND)
            wire.send_together([commands[number] for number in forgotten])
            for number in forgotten:
                found[number] = _answer(wire)
            sent |= self._proving.standing(wire, [partitions[number] for number in forgotten])
        proved = self._proving.proved(wire, partitions, found, sent)
        for partition, answer, (on_disk, replicas) in zip(partitions, found, proved, strict=True):
            yield _Answered(answer, promised[partition].told(on_disk), replicas)

    def _refuse_for_the_disk(self, wire: Wire, receipts: Sequence[AppendReceipt | None]) -> None:
        """Where Redis takes no writes since its disk is full (`ops.embedded.disk`), raises StoreFull with that disk's name."""
        try:
            told = wire.call("HGET", ALARMS_KEY, "disk_full|")
        except StoreUnavailable:
            if not wire.many:
                raise
            return  # the alarms lie on a node that was lost: what was written elsewhere is told all the same
        if told and not any(one and one.written for one in receipts):
            text = msgspec.json.decode(told, type=Alarm).text
            raise StoreFull(f"{text}; make room, then send the same request again", retry_after=30)


def _by_node(wire: Wire, keys: Sequence[LogKeys], parts: Mapping[int, list[int]]) -> list[dict[int, list[int]]]:
    """Parts by the node that holds them; each by itself where they lie on one, or nobody tells."""
    by_node: dict[str, dict[int, list[int]]] = {}
    try:
        for partition, indexes in parts.items():
            by_node.setdefault(wire.node_of(keys[partition].meta), {})[partition] = indexes
    except StoreUnavailable:
        by_node.clear()
    if len(by_node) > 1:
        return list(by_node.values())
    return [{partition: indexes} for partition, indexes in parts.items()]


def _refuse_new_connections(wire: Wire, asked: int) -> None:
    if wire.many and wire.generation != asked:
        raise StoreUnavailable(f"a connection to the cluster was lost meanwhile; {AGAIN}", retry_after=1, not_done=True)


def fail(request: AppendRequest, indexes: Sequence[int], receipts: Receipts, why: str) -> None:
    """Write into the receipts of these events that they failed, and why."""
    for i in indexes:
        receipts[i] = AppendReceipt(ready(request.events[i]).event_id, "failed", error=why)


def _answer(wire: Wire) -> Any:
    """The next answer; a refusal as its error, and on a Cluster a node that was lost too."""
    try:
        return wire.receive()
    except redis.ResponseError as error:
        return error
    except StoreUnavailable as error:
        if not wire.many:
            raise
        return error


def _is_forgotten(answer: Any) -> bool:
    """Whether Redis no longer knew the script, so that nothing was done."""
    return isinstance(answer, redis.ResponseError) and refusal_code(answer) == "NOSCRIPT"
