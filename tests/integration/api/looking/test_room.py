"""What the parts of a store take in Redis: compared with every key of a small store."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from engramlog_server.api.application import Application
from engramlog_server.api.services.capacity import OUTSIDE
from engramlog_server.api.services.remembering import NewTurn
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.wiring import JoinedApplication, open_application
from engramlog_server.projections.redis import usage

KINDS = {
    "ev": usage.EVENTS, "ids": usage.IDS, "st": usage.MEMORIES, "chg": usage.CHANGES, "log": usage.LOG,
    "tail": usage.LOG, "vea": "marks of jobs", "vec": usage.VECTORS, "vep": usage.VECTORS, "idx": usage.INDEX, "past": usage.PASTS,
}  # fmt: skip
"""Parts by the name in a key."""
NAME = re.compile(rb"\{[^}]*\}:(?:v[\d.]+:)?([a-z]+)")


@pytest.fixture
def application(tmp_path: Path) -> Iterator[Application]:
    settings = Settings(data=tmp_path / "store", partitions=1, extraction="off", embedder="use")
    with open_application(settings) as opened:
        for owner in range(12):
            turns = [NewTurn("user", f"Note {number} of {owner}: the kiln needs clay.") for number in range(20)]
            opened.rememberer.add_turns(f"owner-{owner}", turns)
        opened.settle()
        opened.embeddings.embed_all()
        yield opened


def by_every_key(application: Application) -> Counter[str]:
    """Bytes of each part, by asking about every entry of every key."""
    assert isinstance(application, JoinedApplication)
    client, found = application._store.client, Counter[str]()
    for key in client.scan_iter(count=1_000):
        name = NAME.match(key)
        part = KINDS.get(name[1].decode(), usage.OWNERS) if name else "identity"
        found[part] += client.memory_usage(key, samples=0)
    return found


def parts(application: Application) -> dict[str, int]:
    return {one["part"]: one["bytes"] for one in application.capacities.capacity()["parts"]}


def test_the_account_is_what_the_keys_take_and_reaches_the_memory_used(
    application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(usage, "MOST_OWNERS", 100)
    monkeypatch.setattr(usage, "MOST_BUCKETS", 512)
    told, exact = parts(application), by_every_key(application)
    assert set(told) - {OUTSIDE} == set(exact) - {"identity", "marks of jobs"}
    assert {part: size for part, size in told.items() if size != pytest.approx(exact.get(part, size), rel=0.1)} == {}
    used = application.capacities.capacity()["memory"]["used_bytes"]
    assert used is not None
    assert told[OUTSIDE] > 0
    assert sum(told.values()) == pytest.approx(used, rel=0.05)


def test_a_sample_of_owners_and_hashes_comes_near(application: Application) -> None:
    told, exact = parts(application), by_every_key(application)
    for part in (usage.EVENTS, usage.MEMORIES, usage.CHANGES, usage.LOG, usage.VECTORS):
        assert told[part] == pytest.approx(exact[part], rel=0.2), part
    assert told[usage.IDS] == pytest.approx(exact[usage.IDS], rel=0.5)
