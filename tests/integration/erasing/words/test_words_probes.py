"""What is noted before words are erased: of what goes alone, bounded, and joined with what was noted before a run was killed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from consumers.erasing.words import wipe_entries
from events.catalogue import MemoryCreated, TurnRecorded
from events.errors import NotFound
from events.partitions import LogKeys, partition_of
from events.redis.secrets import read_cipher
from events.redis.wire import Wire
from events.sealing.cipher import SALT_BYTES
from events.sealing.key_ring import KeyRing
from ops.erasing.probe_file import kept_probes, probes_folder, read_probes
from ops.erasing.probes import Probes
from ops.erasing.proof import note, note_words
from ops.erasing.words_probes import NAMES, SALTS, gather_words, joined
from projections.embedding.meaning import content_key
from tests.integration.erasing.erased import ADA, WORD, Erasing
from tests.integration.live import Live, live_store
from tests.servers import RedisServer

OWNER = "ada-lovelace"
GOES = "she keeps a small workshop behind the station"
BOTH = "everybody here says the weather is rather nice today"


class Store:
    """A sealed store of one partition."""

    def __init__(self, live: Live) -> None:
        self.live, self.keys = live, LogKeys(live.identity.tags[0])

    def say(self, owner: str, *texts: str) -> list[int]:
        """Memories of an owner; gives their seqs."""
        count = self.live.log.head(0)
        for at, text in enumerate(texts, count):
            self.live.append(self.live.created(owner, f"m{at}", text))
        return list(range(count + 1, count + 1 + len(texts)))

    def probes(self, seqs: list[int], owner: str = OWNER, most: int = 2_000) -> Probes:
        """Taken now."""
        wire = Wire(self.live.client)
        try:
            return gather_words(wire, self.live.identity.tags, owner, seqs, erasure_id="e", made_at=1, most=most)
        finally:
            wire.close()

    def wipe(self, seqs: list[int]) -> None:
        """Take their words."""
        wire = Wire(self.live.client)
        cipher = read_cipher(wire, self.keys, OWNER)
        assert cipher is not None
        assert wipe_entries(wire, self.keys.tag, OWNER, cipher, seqs, "e" * 36) == len(seqs)
        wire.close()


@pytest.fixture
def store(redis_server: RedisServer) -> Iterator[Store]:
    with live_store(redis_server.url, 1, master=KeyRing([bytes(32)])) as live:
        yield Store(live)


def test_what_goes_is_noted_and_nothing_that_stays_or_that_others_say(store: Store) -> None:
    store.say("bob", "nobody says it like bob does, on every Monday")
    going = store.say(OWNER, GOES, BOTH, "nobody says it like bob does, on every Monday", "我养猫")
    store.say(OWNER, BOTH)
    found = store.probes(going)
    assert found.is_of_words
    assert found.words
    assert all(one in GOES for one in found.words)
    assert (found.entries, found.events, found.texts, found.untold, found.short) == (going, 4, 4, 2, ["我养猫"])
    assert len(found.salts) == 4
    secret = store.live.log.secrets_of([OWNER])[OWNER]
    assert content_key(secret, GOES) in found.derived
    assert content_key(secret, BOTH) not in found.derived, "what stays has the same vector"
    kinds = set(found.needles()._kinds)
    assert kinds == {"word", "salt", "vector"}, "the owner's key stays where it is"


def test_a_short_text_that_stands_in_what_stays_or_in_what_is_left_is_not_looked_for(store: Store) -> None:
    going = store.say(OWNER, "fact", "Canoe", "harp", "owl", "茶")
    store.say(OWNER, "my canoe is red")
    found = store.probes(going)
    assert found.short == ["harp"], "a category stays, a keyword of what stays too, and three bytes are found anywhere"
    assert found.untold == 4


def test_ids_and_the_like_are_no_words_though_they_are_the_same_letters(store: Store) -> None:
    name = "the-harp-stands-behind-the-door"
    said = MemoryCreated(memory_id=name, content=name, category="fact", kind="fact", source="user")
    store.live.append(store.live.event(said, OWNER))
    assert store.probes([1]).words == []


def test_it_is_bounded_and_spread_over_all_that_goes(store: Store) -> None:
    texts = [f"第{number}天我们沿着河边走到了旧磨坊，看见了{number}只鸟" for number in range(300)]
    going = store.say(OWNER, *texts)
    found = store.probes(going, most=1_000)
    assert (len(found.salts), len(found.derived), found.entries) == (SALTS, NAMES, going)
    assert 800 <= len(found.needles()) <= 1_000
    places = [next(at for at, text in enumerate(texts) if one in text) for one in found.words if "第" in one]
    assert places[0] < 30
    assert places[-1] > 270


def test_an_entry_that_does_not_open_is_counted_and_one_without_a_salt_has_no_words(store: Store) -> None:
    going = store.say(OWNER, GOES, "the second of two sentences about mills")
    store.live.client.setrange(store.keys.salts, SALT_BYTES, b"\1" * SALT_BYTES)
    found = store.probes(going)
    assert (found.unopened, found.texts) == (1, 1)
    store.wipe(going[1:])
    found = store.probes(going[1:])
    assert (found.unopened, found.words, found.salts) == (0, [], [])


def test_nobody_has_nothing_noted(store: Store) -> None:
    with pytest.raises(NotFound, match="nobody"):
        store.probes([1], owner="nobody")


def test_what_was_noted_before_a_run_was_killed_stays_noted(store: Store) -> None:
    going = store.say(OWNER, GOES, "我养猫", "the second of two sentences about mills")
    before = store.probes(going)
    store.wipe(going[:2])
    now = store.probes(going[2:])
    assert not [one for one in now.words if one in GOES]
    found = joined(before, now)
    assert set(found.words) == set(before.words)
    assert (found.entries, found.events, found.short) == (going, 3, ["我养猫"])
    assert set(found.salts) == set(before.salts)
    assert set(found.derived) == set(before.derived)


@pytest.fixture
def erasing(redis_server: RedisServer, tmp_path: Path) -> Erasing:
    return Erasing(redis_server, tmp_path)


def test_a_second_run_notes_with_the_first_and_one_that_finds_nothing_notes_nothing(erasing: Erasing) -> None:
    with erasing.opened() as store:
        store_id, master = store.identity.store_id, store.client.seals.master
        assert master is not None
        folder = probes_folder(erasing.settings, store_id)
        number = partition_of(ADA, erasing.partitions)
        first, second = [one.seq for one in store.log.read(number, 0) if one.owner == ADA][:2]
        assert note_words(store, erasing.settings, ADA, "run", [first]) is None
        noted = read_probes(folder, master, store_id, "run")
        assert any(WORD in one for one in noted.words)
        assert note_words(store, erasing.settings, ADA, "run", [second]) is None
        assert read_probes(folder, master, store_id, "run").entries == [first, second]
        assert note_words(store, erasing.settings, ADA, "run", []) is None
        assert read_probes(folder, master, store_id, "run").entries == [first, second]
        assert "erased before" in str(note_words(store, erasing.settings, ADA, "other", []))
        assert kept_probes(folder) == ["run"]


def test_once_the_owner_goes_what_was_noted_of_its_words_goes_with_it(erasing: Erasing) -> None:
    with erasing.opened() as store:
        store_id, master = store.identity.store_id, store.client.seals.master
        assert master is not None
        folder, settings = probes_folder(erasing.settings, store_id), erasing.settings
        number = partition_of(ADA, erasing.partitions)
        seqs = [one.seq for one in store.log.read(number, 0) if one.owner == ADA]
        others = [one.seq for one in store.log.read(partition_of("bob", erasing.partitions), 0) if one.owner == "bob"]
        with erasing.live() as live:
            said = live.event(TurnRecorded(turn_id="t", role="user", text="a sentence that went before its owner"), ADA)
            (receipt,) = live.append(said)
        assert receipt.position is not None
        assert note_words(store, settings, ADA, "words", [int(receipt.position.partition(":")[2]), *seqs[:1]]) is None
        assert note_words(store, settings, "bob", "bobs", others[:1]) is None
        with erasing.wire() as wire:
            cipher = read_cipher(wire, LogKeys(erasing.tag()), ADA)
            assert cipher is not None
            wipe_entries(wire, erasing.tag(), ADA, cipher, [int(receipt.position.partition(":")[2])], "e" * 36)
        assert note(store, settings, ADA, "owner") is None
        assert kept_probes(folder) == ["bobs", "owner"]
        found = read_probes(folder, master, store_id, "owner")
        assert not found.is_of_words
        assert any(one in "a sentence that went before its owner" for one in found.words)
