"""Owners whose keys cannot be had: parked and told, their partition goes on, and all is folded in order once they can be had."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from engramlog_server.consumers.fold.rebuild import rebuild_partition
from engramlog_server.events.alarms import KEYS_UNAVAILABLE
from engramlog_server.events.catalogue import EventData
from engramlog_server.events.cipher import BODY_MARK
from engramlog_server.events.envelope import Event, decode
from engramlog_server.events.errors import KeyUnavailable, OwnerErased, StoreError, UndecodableEvent
from engramlog_server.events.keys import Seals, tombstone
from engramlog_server.events.partitions import LogKeys
from engramlog_server.events.redis.log import RedisEventLog
from engramlog_server.events.redis.server import connect
from engramlog_server.events.redis.wire import StoreClient, open_wire
from engramlog_server.ops.keys.vault import VaultKey
from engramlog_server.ops.settings import service_key
from engramlog_server.projections.fold import partition
from engramlog_server.projections.redis.builds import FIRST_BUILD, BuildKeys
from engramlog_server.projections.redis.create import known_identity
from engramlog_server.projections.redis.store import (
    decode_quarantine,
    read_checkpoint,
    read_owner,
    read_parked,
    read_stuck,
)
from tests.given.alarms import KeptAlarms
from tests.given.key_service import TOKEN, FakeKeyService
from tests.given.key_stores import shared_keys
from tests.integration.live import Live, live_store, wait_until
from tests.servers import RedisServer

STANDING = (KEYS_UNAVAILABLE, "partition 0")


def key_of(service: FakeKeyService, rest: float = 0.05) -> VaultKey:
    place = service_key(service.setting)
    assert place is not None
    return VaultKey(place, lambda: TOKEN, rest=rest)


class Sealed:
    """A sealed store of one partition, whose writer has the key; a worker, as another process, that asks the service."""

    def __init__(self, store: Live, url: str, service: FakeKeyService) -> None:
        self.store, self.service, self.url = store, service, url
        self.alarms = KeptAlarms()
        self.keys = BuildKeys(store.identity.tags[0], FIRST_BUILD)
        self.wire = open_wire(store.client)

    def process(self) -> StoreClient:
        """What another process has, which began while the key could be had: it knows no owner's key yet."""
        client = connect(self.url, master=key_of(self.service), keys=shared_keys)
        known_identity(open_wire(client))
        return client

    def worker(self, name: str, client: StoreClient | None = None, look_seconds: float = 0.1) -> None:
        """One more worker, as a process of its own."""
        client = client or self.process()
        self.store.start_worker(name, client=client, alarms=self.alarms, look_seconds=look_seconds)

    def records(self, owner: str) -> int:
        """How many memories are folded."""
        return int(self.wire.call("HLEN", self.keys.records(owner)))

    def reason(self, owner: str) -> str:
        """Why it stands still; nothing where it does not."""
        raw = self.wire.call("HGET", self.keys.quarantine, owner)
        return "" if raw is None else decode_quarantine(raw).reason

    def is_as_if_folded_at_once(self) -> bool:
        """Whether a fold of the log from its beginning ends in the same records, each keyed by its owner's secret."""
        live = read_checkpoint(self.wire, self.keys)
        done = rebuild_partition(self.store.client, self.keys.tag, holder="rebuild")
        return read_checkpoint(self.wire, BuildKeys(self.keys.tag, done.new)) == live


@contextmanager
def sealed_store(url: str, service: FakeKeyService) -> Iterator[Sealed]:
    with live_store(url, partitions=1, master=key_of(service, rest=0.0)) as store:
        yield Sealed(store, url, service)


Trouble = Callable[[FakeKeyService], None]
TROUBLES: dict[str, Trouble] = {
    "unreachable": lambda service: service.says(503),
    "another token": lambda service: setattr(service, "token", "another"),
    "key taken away": lambda service: setattr(service, "least", 2),
}


def over(service: FakeKeyService) -> None:
    service.answers()
    service.token, service.least = TOKEN, 1


@pytest.mark.parametrize("trouble", TROUBLES)
def test_an_owner_waits_for_its_key_its_partition_goes_on_and_all_is_folded_in_order_once_it_is_back(
    redis_server: RedisServer, service: FakeKeyService, trouble: str
) -> None:
    with sealed_store(redis_server.url, service) as sealed:
        store = sealed.store
        store.append(store.created("ada", "a1"), store.created("bob", "b1"))
        sealed.worker("w1")
        wait_until(store.folded)
        store.append(store.created("eve", "e1"))
        wait_until(store.folded)
        store.stop_worker("w1")
        other = sealed.process()
        TROUBLES[trouble](service)

        told = [store.mentioned("ada", "a1"), store.created("ada", "a2"), store.mentioned("ada", "a2")]
        store.append(*told)  # its key is known to who writes
        sealed_entries = store.client.xrange(LogKeys(sealed.keys.tag).stream)
        assert all(fields[b"e"][:1] == BODY_MARK for _, fields in sealed_entries)
        sealed.worker("w2", other)
        wait_until(lambda: store.folded() and STANDING in sealed.alarms.standing)
        assert sealed.reason("ada").startswith("KeyUnavailable: ")
        assert sealed.alarms.standing[STANDING].startswith("1 owner, such as ada: KeyUnavailable: ")
        assert (sealed.records("ada"), sealed.reason("bob")) == (1, "")
        assert read_parked(sealed.wire, sealed.keys, "ada") == [4, 5, 6]
        store.append(store.created("ada", "a3"))
        wait_until(lambda: read_parked(sealed.wire, sealed.keys, "ada") == [4, 5, 6, 7] and store.folded())

        over(service)
        wait_until(lambda: not sealed.reason("ada") and not sealed.alarms.standing)
        assert sealed.records("ada") == 3
        assert store.told("key returned")[-1] == {"partition": 0, "owner": "ada", "freed": True}
        raw = sealed.wire.call("HGET", sealed.keys.owners, "ada")
        assert read_owner(sealed.keys, "ada", raw).applied == 5, "in order, each once"
        store.append(store.mentioned("ada", "a3"))
        wait_until(store.folded)
        assert (sealed.reason("ada"), sealed.is_as_if_folded_at_once()) == ("", True)


def test_many_owners_wait_and_all_come_back(redis_server: RedisServer, service: FakeKeyService) -> None:
    owners = [f"owner-{number}" for number in range(120)]
    with sealed_store(redis_server.url, service) as sealed:
        store = sealed.store
        store.append(*(store.created(owner, f"m-{owner}") for owner in owners))
        service.says(503)
        sealed.worker("w1")
        wait_until(store.folded)
        wait_until(lambda: sealed.alarms.standing.get(STANDING, "").startswith("120 owners"))
        asked = len(service.asked)
        assert len(read_stuck(sealed.wire, sealed.keys, locked=True)) == 120
        assert asked < 20, "what does not answer is not asked for each owner"
        service.answers()
        wait_until(lambda: not read_stuck(sealed.wire, sealed.keys, locked=True) and not sealed.alarms.standing)
        assert [sealed.records(owner) for owner in owners] == [1] * 120
        assert sealed.is_as_if_folded_at_once()


def test_an_operator_s_retry_works_too(redis_server: RedisServer, service: FakeKeyService) -> None:
    with sealed_store(redis_server.url, service) as sealed:
        store = sealed.store
        store.append(store.created("ada", "a1"))
        service.says(503)
        sealed.worker("w1", look_seconds=600.0)
        wait_until(lambda: store.folded() and sealed.reason("ada"))
        control = sealed.keys.log.control
        store.client.hset(control, "retry:ada", "ada")
        wait_until(lambda: not store.client.hexists(control, "retry:ada"))
        assert sealed.reason("ada").startswith("KeyUnavailable: ")
        service.answers()
        store.client.hset(control, "retry:ada", "ada")
        wait_until(lambda: not store.client.hexists(control, "retry:ada"))
        assert (sealed.reason("ada"), sealed.records("ada")) == ("", 1)


def test_an_erased_owner_is_told_as_erased_is_never_retried_and_nothing_is_said_under_its_name(
    redis_server: RedisServer, service: FakeKeyService
) -> None:
    with sealed_store(redis_server.url, service) as sealed:
        store = sealed.store
        store.append(store.created("ada", "a1"), store.created("bob", "b1"))
        store.client.hset(sealed.keys.log.secrets, "ada", tombstone(b"certificate 1"))
        sealed.worker("w1")
        wait_until(store.folded)
        assert (sealed.reason("ada"), sealed.records("ada")) == ("", 0), "its events are passed over, and stop nobody"
        assert sealed.records("bob") == 1
        assert read_stuck(sealed.wire, sealed.keys, locked=True) == []
        assert sealed.alarms.standing == {}
        for log in (
            store.log,
            RedisEventLog(store.client, store.identity.tags),
        ):  # one that knew it, and one that did not
            with pytest.raises(OwnerErased, match="'ada' was erased") as refusal:
                log.append([store.created("ada", "a2"), store.created("bob", "b2")])
            assert (refusal.value.status, refusal.value.passes) == (410, False)
            assert "retry_after" not in refusal.value.context
        assert store.log.head(0) == 2, "nothing of the request was written"


def test_an_owner_whose_line_is_gone_is_not_taken_for_one_whose_key_cannot_be_had(
    redis_server: RedisServer, service: FakeKeyService
) -> None:
    with sealed_store(redis_server.url, service) as sealed:
        store = sealed.store
        store.append(store.created("ada", "a1"))
        store.client.hdel(sealed.keys.log.secrets, "ada")
        sealed.worker("w1")
        wait_until(store.folded)
        assert not sealed.reason("ada").startswith(("", "KeyUnavailable", "OwnerErased")[1:])
        assert sealed.reason("ada")
        assert read_stuck(sealed.wire, sealed.keys, locked=True) == []


def test_known_owners_are_appended_to_while_the_service_is_away_and_new_ones_are_refused_whole(
    redis_server: RedisServer, service: FakeKeyService
) -> None:
    with sealed_store(redis_server.url, service) as sealed:
        store = sealed.store
        store.append(store.created("ada", "a1"))
        service.says(503)
        store.append(store.created("ada", "a2"))
        with pytest.raises(KeyUnavailable, match="answered 503") as refusal:
            store.log.append([store.created("ada", "a3"), store.created("new", "n1")])
        assert (refusal.value.status, refusal.value.context["retry_after"] >= 1) == (503, True)
        assert (store.log.head(0), store.client.hexists(sealed.keys.log.secrets, "new")) == (2, False)
        service.answers()
        store.append(store.created("ada", "a3"), store.created("new", "n1"))
        assert store.log.head(0) == 4


@pytest.mark.parametrize("length", range(1, 60))
def test_a_tombstone_is_never_taken_for_a_secret_or_a_line(length: int) -> None:
    seals = Seals()
    found = seals.ciphers({"ada": tombstone(b"c" * length)})["ada"]
    assert isinstance(found, OwnerErased)


def test_an_owner_whose_key_cannot_be_had_keeps_nobody_else_from_reading_the_log(
    redis_server: RedisServer, service: FakeKeyService
) -> None:
    with sealed_store(redis_server.url, service) as sealed:
        store = sealed.store
        store.append(store.created("ada", "a1"), store.created("bob", "b1"))
        line = store.client.hget(sealed.keys.log.secrets, "ada")
        store.client.hset(sealed.keys.log.secrets, "ada", line[:-1] + b"x")
        mine, others = RedisEventLog(store.client, store.identity.tags).read(0, 0)
        assert (mine.owner, mine.body[:1]) == ("ada", BODY_MARK)
        assert (others.owner, others.body[:1]) == ("bob", b"{")
        with pytest.raises(StoreError):
            store.log.read_at(0, [mine.seq])


def test_what_an_older_release_could_not_read_of_a_sealed_store_is_folded_by_the_next_worker(
    redis_server: RedisServer, service: FakeKeyService, monkeypatch: pytest.MonkeyPatch
) -> None:
    def decode_of_before(kind: str, body: bytes) -> Event[EventData]:
        if kind == "MemoryMentioned.1":
            raise UndecodableEvent("of no type or version that this release knows", kind=kind)
        return decode(kind, body)

    with sealed_store(redis_server.url, service) as sealed:
        store = sealed.store
        with monkeypatch.context() as before:
            before.setattr(partition, "decode", decode_of_before)
            sealed.worker("older")
            store.append(store.created("ada", "a1"), store.mentioned("ada", "a1"), store.created("bob", "b1"))
            store.append(store.created("ada", "a2"))
            wait_until(lambda: store.folded() and bool(sealed.reason("ada")))
            assert read_parked(sealed.wire, sealed.keys, "ada") == [2, 4]
            store.stop_worker("older")
        sealed.worker("newer")
        wait_until(lambda: not sealed.reason("ada"))
        assert (sealed.records("ada"), sealed.is_as_if_folded_at_once()) == (2, True)
        assert store.told("event decoded") == [{"partition": 0, "owner": "ada", "freed": True}]
