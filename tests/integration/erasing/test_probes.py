"""What is taken before an erasure: words in both languages, the key and what is made of it, and nothing that others say too."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from events.catalogue import MemoryCreated, TurnRecorded
from events.errors import NotFound, OwnerErased
from events.partitions import LogKeys
from events.redis.wire import Wire
from events.sealing.cipher import SALT_BYTES
from events.sealing.key_ring import KeyRing
from events.sealing.seals import tombstone
from ops.erasing.probes import MOST_NEEDLES, SALTS, Probes, gather
from tests.integration.live import Live, live_store
from tests.servers import RedisServer

OWNER = "ada-lovelace"
COMMON = "everybody here says the weather is rather nice today"


class Store:
    """A sealed store of one partition, and what is taken from it."""

    def __init__(self, live: Live) -> None:
        self.live, self.keys = live, LogKeys(live.identity.tags[0])

    def say(self, owner: str, *texts: str) -> None:
        """Turns of an owner."""
        self.live.append(
            *[
                self.live.event(TurnRecorded(turn_id=f"t{at}", role="user", text=text), owner)
                for at, text in enumerate(texts)
            ]
        )

    def probes(self, owner: str = OWNER, most: int = MOST_NEEDLES) -> Probes:
        """Taken now."""
        wire = Wire(self.live.client)
        try:
            return gather(wire, self.live.identity.tags, owner, erasure_id="e", made_at=1, most=most)
        finally:
            wire.close()


@pytest.fixture
def store(redis_server: RedisServer) -> Iterator[Store]:
    with live_store(redis_server.url, 1, master=KeyRing([bytes(32)])) as live:
        yield Store(live)


def test_words_of_both_languages_are_taken_from_every_kind_of_field(store: Store) -> None:
    said = MemoryCreated(
        memory_id="m",
        content="she keeps a small workshop behind the station",
        category="fact",
        kind="fact",
        source="user",
        keywords=("差分机的齿轮", "difference engine"),
        because="她自己在星期三的会上说的",
    )
    store.live.append(store.live.event(said, OWNER))
    store.say(OWNER, "她每天早上都要去火车站后面的小作坊里打磨齿轮和轴承")
    words = store.probes().words
    for text in (said.content, said.because, *said.keywords, "她每天早上都要去火车站后面的小作坊里打磨齿轮和轴承"):
        assert any(one in text for one in words), text


def test_the_key_and_its_line_are_taken_and_salts_as_they_stand(store: Store) -> None:
    store.say(OWNER, *[f"this is what was said in turn number {number}" for number in range(40)])
    found = store.probes()
    assert found.secret == store.live.log.secrets_of([OWNER])[OWNER]
    assert found.line == store.live.client.hget(store.keys.secrets, OWNER)
    table = store.live.client.get(store.keys.salts)
    assert isinstance(table, bytes)
    places = [table.index(one) for one in found.salts]
    assert len(places) == SALTS
    assert places == sorted(places)
    assert all(place % SALT_BYTES == 0 for place in places)
    assert places[-1] > len(table) // 2


def test_what_others_say_too_and_a_part_of_the_own_name_are_left_out(store: Store) -> None:
    store.say("bob", COMMON)
    store.say(OWNER, COMMON, "nobody else has ever said this about rivers", OWNER)
    found = store.probes()
    assert found.shared == 1
    assert found.words
    assert all(one in "nobody else has ever said this about rivers" for one in found.words)


def test_needles_are_bounded_and_spread_over_all_that_was_said(store: Store) -> None:
    texts = [f"第{number}天我们沿着河边走到了旧磨坊，看见了{number}只鸟" for number in range(900)]
    for at in range(0, len(texts), 100):
        store.say(OWNER, *texts[at : at + 100])
    found = store.probes(most=400)
    needles = found.needles()
    assert 200 <= len(needles) <= 400
    places = [next(at for at, text in enumerate(texts) if one in text) for one in found.words if "第" in one]
    assert places[0] < 90
    assert places[-1] > 810
    assert found.events == found.texts == len(texts)


def test_an_entry_that_does_not_open_stops_nothing_and_is_counted(store: Store) -> None:
    store.say(OWNER, "the first of two sentences about rivers", "the second of two sentences about mills")
    store.live.client.setrange(store.keys.salts, SALT_BYTES, b"\1" * SALT_BYTES)
    found = store.probes()
    assert (found.events, found.unopened, found.texts) == (2, 1, 1)
    store.live.client.setrange(store.keys.salts, SALT_BYTES, bytes(SALT_BYTES))
    assert store.probes().unopened == 0  # an event that was erased by itself is no damage


def test_an_owner_without_a_key_and_one_that_was_erased_are_told(store: Store) -> None:
    with pytest.raises(NotFound, match="nobody"):
        store.probes("nobody")
    store.say(OWNER, "something")
    store.live.client.hset(store.keys.secrets, OWNER, tombstone(b"x"))
    with pytest.raises(OwnerErased):
        store.probes()
