"""The event log in memory: the contract in its plainest form, for tests, replays and readers of this code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from secrets import token_bytes
from threading import Condition, Lock
from uuid import UUID

from engramlog_server.events.cipher import SALT_BYTES, SECRET_BYTES
from engramlog_server.events.envelope import (
    LOCAL,
    UNMARKED,
    Marker,
    Marks,
    Naming,
    Prepared,
    Stored,
    checked_principal,
    commitment,
    dedupe_field,
    principal_of,
    told_beside,
)
from engramlog_server.events.log import Appendable, AppendReceipt, Status, check_request_size, marked
from engramlog_server.events.partitions import DEFAULT_PARTITIONS, partition_of, position_text
from engramlog_server.events.trust import ASSERTED
from engramlog_server.events.vocabulary import Trust


class InMemoryEventLog:
    """An `EventLog` of plain lists. `clock` gives microseconds since 1970, `chance` so many random bytes."""

    def __init__(
        self,
        clock: Callable[[], int],
        partitions: int = DEFAULT_PARTITIONS,
        *,
        marker: Marker = UNMARKED,
        principal: str = LOCAL,
        chance: Callable[[int], bytes] = token_bytes,
    ) -> None:
        self._clock = clock
        self._marker = marker
        self._principal = checked_principal(principal)
        self._chance = chance
        self._secrets: dict[str, bytes] = {}
        self._recorded = [0] * partitions
        self._entries: list[list[Stored]] = [[] for _ in range(partitions)]
        self._by_id: list[dict[bytes, tuple[int, bytes]]] = [{} for _ in range(partitions)]
        self._heads: dict[str, int] = {}
        self._lock = Lock()
        self._grown = Condition(self._lock)

    @property
    def principal(self) -> str:
        """See `EventLog.principal`."""
        return self._principal

    @property
    def highest(self) -> Trust:
        """See `EventLog.highest`."""
        return ASSERTED

    @property
    def marker(self) -> Marker:
        """See `EventLog.marker`."""
        return self._marker

    @property
    def partitions(self) -> int:
        """How many partitions there are."""
        return len(self._entries)

    def append(
        self,
        events: Sequence[Appendable],
        *,
        expected_heads: Mapping[str, int] | None = None,
        principal: str | None = None,
    ) -> list[AppendReceipt]:
        """See `EventLog.append`."""
        check_request_size(len(events))
        parts: dict[int, list[int]] = {}
        for index, event in enumerate(events):
            parts.setdefault(partition_of(event.owner, self.partitions), []).append(index)
        receipts: dict[int, AppendReceipt] = {}
        by = self._principal if principal is None else checked_principal(principal)
        with self._lock:
            for partition, indexes in parts.items():
                part = [marked(events[i], self._marker) for i in indexes]
                answers = self._append_part(partition, part, expected_heads or {}, by)
                receipts.update(zip(indexes, answers, strict=True))
            self._grown.notify_all()
        return [receipts[i] for i in range(len(events))]

    def secrets_of(self, owners: Iterable[str]) -> dict[str, bytes]:
        """See `EventLog.secrets_of`."""
        return {owner: self._secrets[owner] for owner in owners if owner in self._secrets}

    def adopt_secret(self, owner: str, secret: bytes) -> bytes:
        """See `EventLog.adopt_secret`."""
        with self._lock:
            return self._secrets.setdefault(owner, secret)

    def naming(self, owner: str, *, make: bool = False) -> Naming:
        """See `EventLog.naming`."""
        with self._lock:
            if make and owner not in self._secrets:
                self._secrets[owner] = self._chance(SECRET_BYTES)
        return Naming(owner, self._secrets.get(owner, b""))

    def seqs_of(self, owner: str, event_ids: Sequence[str]) -> dict[str, int]:
        """See `EventLog.seqs_of`."""
        known = self._by_id[partition_of(owner, self.partitions)]
        found = ((one, known.get(dedupe_field(owner, UUID(one).bytes))) for one in event_ids)
        return {one: at[0] for one, at in found if at is not None}

    def alarm_of(self, partition: int) -> str | None:
        """See `EventLog.alarm_of`. Nobody else can write here, so it is None for every partition."""
        assert 0 <= partition < self.partitions
        return None

    def prove(self, owner: str, seqs: Mapping[str, int]) -> None:
        """See `EventLog.prove`. Nothing here has replicas."""

    def _append_part(
        self,
        partition: int,
        part: list[tuple[Prepared, Marks | None]],
        expected_heads: Mapping[str, int],
        principal: str,
    ) -> list[AppendReceipt]:
        known = self._by_id[partition]
        head = len(self._entries[partition])
        events = [event for event, _ in part]
        found: list[tuple[Status, int]] = []
        fresh: dict[bytes, tuple[int, bytes]] = {}
        for event in events:
            field = dedupe_field(event.owner, event.raw_id)
            seq, body = known.get(field) or fresh.get(field) or (0, b"")
            if not seq:
                seq = head + len(fresh) + 1
                fresh[field] = (seq, event.body)
                found.append(("appended", seq))
            else:
                found.append(("already_appended" if body == event.body else "conflict", seq))
        refused = self._refusals(events, found, expected_heads)
        if refused:
            return [
                AppendReceipt(e.event_id, *refused[i])
                if i in refused
                else self._unwritten(partition, e, found[i], head)
                for i, e in enumerate(events)
            ]
        clock = self._clock()
        recorded = self._recorded[partition] = max(clock, self._recorded[partition])
        for (event, marks), (status, seq) in zip(part, found, strict=True):
            if status == "appended" and seq > len(self._entries[partition]):
                self._entries[partition].append(self._stored(seq, event, marks, principal, recorded, clock))
                known[dedupe_field(event.owner, event.raw_id)] = (seq, event.body)
                if event.moves_head:
                    self._heads[event.owner] = seq
        return [
            AppendReceipt(e.event_id, status, position_text(partition, seq))
            for e, (status, seq) in zip(events, found, strict=True)
        ]

    def _stored(
        self, seq: int, event: Prepared, marks: Marks | None, principal: str, recorded: int, clock: int
    ) -> Stored:
        secret = self._secrets.setdefault(event.owner, self._chance(SECRET_BYTES))
        salt = self._chance(SALT_BYTES)
        level, digests = told_beside(secret, self._marker, marks, event.trust)
        back = (b"%d" % clock,) if clock < recorded else ()
        clear = (b"%d" % recorded, principal_of(principal, event.model).encode(), level, digests)
        beside = (*clear, commitment(salt, event.body), *back)
        return Stored(seq, event.kind, event.raw_id, event.owner, event.body, beside, salt)

    def _refusals(
        self, events: list[Prepared], found: list[tuple[Status, int]], expected: Mapping[str, int]
    ) -> dict[int, tuple[Status, str | None]]:
        partition = partition_of(events[0].owner, self.partitions) if events else 0
        head = len(self._entries[partition])
        conflicts: dict[int, tuple[Status, str | None]] = {
            i: ("conflict", position_text(partition, seq) if seq <= head else None)
            for i, (status, seq) in enumerate(found)
            if status == "conflict"
        }
        if conflicts:
            return conflicts
        wrong = {
            e.owner
            for e, (status, _) in zip(events, found, strict=True)
            if status == "appended" and expected.get(e.owner, self.owner_head(e.owner)) != self.owner_head(e.owner)
        }
        return {
            i: (
                "head_mismatch",
                position_text(partition, self.owner_head(e.owner)) if self.owner_head(e.owner) else None,
            )
            for i, e in enumerate(events)
            if e.owner in wrong and found[i][0] == "appended"
        }

    @staticmethod
    def _unwritten(partition: int, event: Prepared, found: tuple[Status, int], head: int) -> AppendReceipt:
        status, seq = found
        if status == "already_appended" and seq <= head:
            return AppendReceipt(event.event_id, status, position_text(partition, seq))
        return AppendReceipt(event.event_id, "not_written")

    def read(self, partition: int, after: int, limit: int = 500) -> list[Stored]:
        """See `EventLog.read`."""
        return self._entries[partition][after : after + limit]

    def read_at(self, partition: int, seqs: Sequence[int]) -> list[Stored]:
        """See `EventLog.read_at`."""
        entries = self._entries[partition]
        return [entries[seq - 1] for seq in seqs if 1 <= seq <= len(entries)]

    def head(self, partition: int) -> int:
        """See `EventLog.head`."""
        return len(self._entries[partition])

    def wait_beyond(self, heads: Mapping[int, int], seconds: float) -> list[int]:
        """See `EventLog.wait_beyond`."""

        def beyond() -> list[int]:
            return [partition for partition, seq in heads.items() if len(self._entries[partition]) > seq]

        with self._grown:
            return self._grown.wait_for(beyond, seconds) or []

    def owner_head(self, owner: str) -> int:
        """See `EventLog.owner_head`."""
        return self._heads.get(owner, 0)

    def behind(self) -> int:
        """See `EventLog.behind`: there is one clock."""
        return 0

    def now(self) -> int:
        """See `EventLog.now`."""
        return self._clock()
