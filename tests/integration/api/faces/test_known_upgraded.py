"""`known` in a store that began under 0.2.0: what nobody noted the recorded time of, and what came after."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from api.services.reading import Reader
from consumers.fold.worker import FoldWorker
from events.envelope import from_micros, utc_text
from events.errors import InputError
from events.partitions import LogKeys, partition_of
from projections.redis.view import RedisViews
from tests.given.samples import mention
from tests.integration.brought import Brought
from tests.release_0_2_0 import PARTITIONS
from tests.servers import RedisServer


@pytest.fixture
def old(redis_server: RedisServer, tmp_path: Path) -> Iterator[Brought]:
    store = Brought(redis_server, tmp_path / "data")
    yield store
    store.client.close()


def test_entries_of_before_count_from_when_the_format_began_and_each_by_its_position(old: Brought) -> None:
    owner = max({one.owner for one in old.events()}, key=lambda name: sum(o.owner == name for o in old.events()))
    partition = partition_of(owner, PARTITIONS)
    mine = [one.seq for one in old.events() if one.owner == owner]
    old.upgrade()
    meta = LogKeys(old.tags[partition]).meta
    began, last = int(old.client.hget(meta, "format2_at") or 0), int(old.client.hget(meta, "format2") or 0)
    assert mine[-1] <= last
    log, views = old.log(), RedisViews(old.client, old.tags)
    reader = Reader(log, views)
    try:
        instant = utc_text(from_micros(began))
        for known in (utc_text(from_micros(began - 1)), "2024-06-01"):
            with pytest.raises(InputError, match=f"^known: got '{known}'; allowed: from {instant} on, or a position"):
                reader.list(owner, known=known)
        receipt = log.append([mention("late", owner=owner)])[0]
        worker = FoldWorker(old.client, old.tags, "w")
        worker.drain({partition: int(str(receipt.position).split(":")[1])}, 60.0)
        worker.hand_over()

        def seen(known: str) -> tuple[int, int, list[str]]:
            with reader.snapshot(owner, known=known) as snapshot:
                return snapshot.view.state.applied, snapshot.now, [one.id for one in snapshot.view.columns]

        assert seen(instant) == seen(f"{partition}:{last}")
        assert seen(instant)[:2] == (len(mine), began)
        for count, seq in enumerate(mine, 1):
            assert seen(f"{partition}:{seq}")[:2] == (count, began)
        (stored,) = log.read_at(partition, [int(str(receipt.position).split(":")[1])])
        assert seen(str(receipt.position))[:2] == (len(mine) + 1, stored.recorded)
    finally:
        views.close()
        log.close()
