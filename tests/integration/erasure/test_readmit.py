"""Who was erased may be spoken of again: by an act of its own, under a new key, and nothing of before comes back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engramlog_server.consumers.fold.rebuild import rebuild_partition
from engramlog_server.consumers.verify.partition import verify_partition
from engramlog_server.consumers.verify.store import verify_store
from engramlog_server.events.cipher import SECRET_BYTES
from engramlog_server.events.errors import InputError, OwnerErased, OwnerQuarantined
from engramlog_server.events.keys import tombstone
from engramlog_server.events.partitions import LogKeys, partition_of
from engramlog_server.ops.erasure.machine import carry_out, readmit_owner
from engramlog_server.ops.erasure.plan import ErasurePlan
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.store import OpenStore, open_the_store
from tests.given.events import created
from tests.given.key_stores import keys_in
from tests.integration.consumers.jobs.test_lifecycle_jobs import Jobs
from tests.integration.live import Live, wait_until


class Erasing:
    """A sealed store of a data folder, with a worker that folds it."""

    def __init__(self, store: OpenStore, settings: Settings) -> None:
        self.store, self.settings = store, settings
        self.live = Live(
            store.url, store.identity.partitions, master=store.client.seals.master, keys=keys_in(store.client)
        )
        self.jobs = Jobs(self.live)

    def erase(self, owner: str) -> None:
        carry_out(self.store, self.settings, ErasurePlan(owner, (), "objection"))

    def memories(self, owner: str) -> list[str]:
        """The ids of what is remembered, once all is folded."""
        head = self.live.log.owner_head(owner)
        with self.jobs.views.view(owner, after=head, wait_seconds=60.0) as (view, _):
            return sorted(one.id for one in view.columns.memories)

    def of_the_store(self) -> list[str]:
        """What a verification finds beside partitions."""
        wire = self.store.wire()
        try:
            return [one["what"] for one in verify_store(wire).differences]
        finally:
            wire.close()

    def differences(self, owner: str) -> list[object]:
        """What a verification of the owner's partition finds."""
        number = partition_of(owner, self.store.identity.partitions)
        wait_until(lambda: self.live.folded_of(number))
        return list(verify_partition(self.live.client, number, self.store.identity.tags[number]).differences)


@pytest.fixture
def erasing(tmp_path: Path) -> Iterator[Erasing]:
    settings = Settings(data=tmp_path / "data", redis_url=None, partitions=2)
    with open_the_store(settings) as store:
        made = Erasing(store, settings)
        made.live.start_worker("folder")
        try:
            yield made
        finally:
            made.jobs.views.close()
            made.live.close()


def test_what_is_said_since_is_remembered_and_nothing_of_before(erasing: Erasing) -> None:
    erasing.jobs.tell("ada", created("Ada keeps bees", "bees", 0), created("Ada sails", "boat", 1))
    erasing.jobs.tell("bob", created("Bob drinks tea", "tea", 0))
    assert erasing.memories("ada") == ["bees", "boat"]
    erasing.erase("ada")
    with pytest.raises(OwnerErased):
        erasing.memories("ada")
    with pytest.raises(OwnerErased):
        erasing.jobs.tell("ada", created("Ada paints", "paint", 2))
    told = readmit_owner(erasing.store, erasing.settings, "ada", "signed up anew")
    assert told["owner"] == "ada"
    assert erasing.memories("ada") == []
    erasing.jobs.tell("ada", created("Ada paints", "paint", 3))
    assert erasing.memories("ada") == ["paint"]
    assert erasing.memories("bob") == ["tea"]
    assert erasing.differences("ada") == []
    number = partition_of("ada", 2)
    rebuild_partition(erasing.live.client, erasing.store.identity.tags[number], holder="again")
    assert erasing.memories("ada") == ["paint"], "folded anew it is the same"
    assert erasing.differences("ada") == []


def test_twice_erased_and_twice_readmitted(erasing: Erasing) -> None:
    for turn in range(3):
        erasing.jobs.tell("ada", created(f"Ada said so {turn} times", f"m{turn}", turn))
        assert erasing.memories("ada") == [f"m{turn}"]
        erasing.erase("ada")
        readmit_owner(erasing.store, erasing.settings, "ada")
    assert erasing.memories("ada") == []
    assert erasing.differences("ada") == []


def test_under_its_old_id_nothing_comes_back(erasing: Erasing) -> None:
    before = erasing.jobs.prepared("ada", created("Ada keeps bees", "bees", 0))
    erasing.live.append(before)
    erasing.erase("ada")
    readmit_owner(erasing.store, erasing.settings, "ada")
    (receipt,) = erasing.live.log.append([before])
    assert not receipt.written
    assert erasing.memories("ada") == []


def test_refused_where_nothing_was_erased_or_that_did_not_end(erasing: Erasing) -> None:
    erasing.jobs.tell("ada", created("Ada keeps bees", "bees", 0))
    for owner, why in (("ada", "everything stands"), ("nobody", "everything stands"), (":access", "a colon")):
        with pytest.raises(InputError, match=why):
            readmit_owner(erasing.store, erasing.settings, owner)

    class Killed(BaseException):
        pass

    def probe(at: str) -> None:
        if at == "before it is proved":
            raise Killed

    with pytest.raises(Killed):
        carry_out(erasing.store, erasing.settings, ErasurePlan("ada", (), "objection"), probe=probe)
    with pytest.raises(InputError, match="has ended"):
        readmit_owner(erasing.store, erasing.settings, "ada")
    erasing.erase("ada")
    readmit_owner(erasing.store, erasing.settings, "ada")


def test_a_readmission_that_nobody_wrote_is_found(erasing: Erasing) -> None:
    erasing.jobs.tell("ada", created("Ada keeps bees", "bees", 0))
    assert erasing.memories("ada") == ["bees"]
    number = partition_of("ada", 2)
    keys = LogKeys(erasing.store.identity.tags[number])
    erasing.live.client.hset(keys.readmitted, "ada", "1 some-erasure")
    found = {one["what"] for one in erasing.differences("ada")}  # type: ignore[index]
    assert "a salt of an owner who was erased" in found
    erasing.live.client.hset(keys.readmitted, "ada", "no number")
    found = {one["what"] for one in erasing.differences("ada")}  # type: ignore[index]
    assert "a readmission that nothing wrote" in found


def test_a_process_that_still_holds_the_old_key_cannot_bring_it_back(erasing: Erasing) -> None:
    erasing.jobs.tell("ada", created("Ada keeps bees", "bees", 0))
    keys = LogKeys(erasing.live.tag_of("ada"))
    old = erasing.live.client.hget(keys.secrets, "ada")
    erasing.erase("ada")
    readmit_owner(erasing.store, erasing.settings, "ada")
    erasing.jobs.tell("ada", created("Ada paints", "paint", 1))  # by a log that has held the key all along
    assert erasing.live.log.adopt_secret("ada", b"o" * SECRET_BYTES) != b"o" * SECRET_BYTES
    assert erasing.live.client.hget(keys.secrets, "ada") != old
    assert erasing.memories("ada") == ["paint"]
    assert erasing.differences("ada") == []


@pytest.mark.parametrize("line", ["garbage", "9" * 5_000 + " x", "999999999 x", "-1 x", " x", "3 "])
def test_a_readmission_that_nobody_wrote_stops_its_owner_alone_and_loses_nothing(erasing: Erasing, line: str) -> None:
    others = [f"eve{n}" for n in range(8)]
    keys = LogKeys(erasing.live.tag_of("ada"))
    erasing.live.client.hset(keys.readmitted, "ada", line)
    erasing.jobs.tell("ada", created("Ada keeps bees", "bees", 0))
    for one in others:
        erasing.jobs.tell(one, created("Eve reads", "book", 0))
    wait_until(erasing.live.folded)
    assert all(erasing.memories(one) == ["book"] for one in others)
    with pytest.raises(OwnerQuarantined):
        erasing.memories("ada")
    assert [one for one in erasing.of_the_store() if "readmission" in one] or erasing.differences("ada")


def test_who_was_erased_in_silence_or_brought_back_so_is_found(erasing: Erasing) -> None:
    for owner in ("ada", "bob"):
        erasing.jobs.tell(owner, created(f"{owner} keeps bees", "bees", 0))
    client = erasing.live.client
    keys = {owner: LogKeys(erasing.live.tag_of(owner)) for owner in ("ada", "bob")}
    old = client.hget(keys["ada"].secrets, "ada")
    erasing.erase("ada")
    assert erasing.of_the_store() == []
    client.hset(keys["ada"].secrets, "ada", old)
    assert erasing.of_the_store() == ["an erasure after which its owner has a key again, or none at all"]
    client.hdel(keys["ada"].secrets, "ada")
    assert erasing.of_the_store() == ["an erasure after which its owner has a key again, or none at all"]
    erasing.erase("ada")
    assert erasing.of_the_store() == []
    client.hset(keys["bob"].secrets, "bob", tombstone(b"01a21d08-ba31-74e0-a0ca-3a9546f0b459"))
    assert erasing.of_the_store() == ["a key that was destroyed by no erasure that the log tells of"]
    client.hset(keys["ada"].readmitted, "ada", "1 01a21d08-ba31-74e0-a0ca-3a9546f0b459")
    assert "a readmission that the log does not tell of" in erasing.of_the_store()


@pytest.mark.parametrize("at", [12, -20, -1])
def test_a_flipped_byte_of_an_erased_owners_line_is_found(erasing: Erasing, at: int) -> None:
    """Of the erasure's id, and of the name of the key that was destroyed."""
    erasing.jobs.tell("ada", created("Ada keeps bees", "bees", 0))
    erasing.erase("ada")
    keys = LogKeys(erasing.live.tag_of("ada"))
    line = bytearray(erasing.live.client.hget(keys.secrets, "ada"))  # type: ignore[arg-type]
    line[at] ^= 1
    erasing.live.client.hset(keys.secrets, "ada", bytes(line))
    assert erasing.of_the_store() != []
