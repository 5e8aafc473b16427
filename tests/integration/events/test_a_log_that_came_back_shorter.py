"""Redis comes back with the end of its append-only file gone: no worker and no reader may go on with what it remembers."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from engramlog_server.events.catalogue import MemoryCreated, MemoryRevised
from engramlog_server.events.errors import BeyondHead, StoreUnavailable
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.redis.view import RedisViews
from tests.chaos.attendants import live_keys
from tests.chaos.stage import asleep, staged
from tests.chaos.verdict import judge
from tests.patience import PATIENCE

T = TypeVar("T")


def _created(memory_id: str) -> MemoryCreated:
    return MemoryCreated(memory_id=memory_id, content="I like tea", category="fact", kind="fact", source="user")


def _connected(ask: Callable[[], T]) -> T:
    """An answer, from a caller that connects anew where its connection broke."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return ask()
        except StoreUnavailable:
            assert time.monotonic() < until
            time.sleep(0.01)


def _seen(views: RedisViews, owner: str, after: int = 0) -> tuple[dict[str, Memory], int]:
    """The owner's memories as a reader sees them, and the head it was told."""
    with views.view(owner, after=after) as (view, standing):
        return {memory.id: memory for memory in view.columns.memories}, standing.head


def test_a_reader_never_shows_what_the_store_has_lost(tmp_path: Path) -> None:
    with staged(tmp_path) as stage:
        stage.worker()
        stage.tell("ada", _created("m1"))
        stage.folded_to(1)
        size = stage.server.size()
        stage.tell("ada", MemoryRevised(memory_id="m1", content="I like coffee"), _created("m2"))
        stage.folded_to(3)
        views = RedisViews(stage.client, stage.tags)
        before, _ = _seen(views, "ada")
        stage.server.come_back_shorter(size)
        after, head = _connected(lambda: _seen(views, "ada"))
        with pytest.raises(BeyondHead):
            _seen(views, "ada", after=3)
        views.close()
    assert (before["m1"].content, set(before)) == ("I like coffee", {"m1", "m2"})
    assert (after["m1"].content, set(after), head) == ("I like tea", {"m1"}, 1)


def test_a_running_worker_folds_the_history_that_is_there_now(tmp_path: Path) -> None:
    with staged(tmp_path) as stage:
        worker = stage.worker()
        stage.tell("ada", _created("m1"))
        stage.folded_to(1)
        size = stage.server.size()
        stage.tell("ada", _created("m2"), MemoryRevised(memory_id="m1", content="I like coffee"))
        stage.folded_to(3)
        views = RedisViews(stage.client, stage.tags)
        _seen(views, "ada")
        stage.server.come_back_shorter(size)
        stage.wire.close()
        stage.another_producer()
        sent_before = list(stage.ledger.lines)
        _connected(lambda: stage.log.head(0))
        stage.tell("bob", _created("m3"))
        for line in sent_before:
            assert stage.ledger.deliver(stage.log, [line])
        stage.folded_to(4)
        verdict = judge(stage.client, stage.tags, stage.ledger)
        seen, _ = _connected(lambda: _seen(views, "ada", after=4))
        views.close()
        assert worker.code is None, "the same worker went on"
    assert verdict.clean, verdict
    assert (verdict.acknowledged, verdict.applied) == (4, 4)
    assert (seen["m1"].content, set(seen)) == ("I like coffee", {"m1", "m2"})


def test_a_worker_whose_commit_opens_its_connection_does_not_commit_to_another_history(tmp_path: Path) -> None:
    """Epochs are lost with the rest, so the next worker's may be the same again: only the connection tells."""
    with staged(tmp_path) as stage:
        empty = stage.server.size()
        stage.tell("ada", _created("m1"))
        stage.tell("bob", _created("m2"))
        sleeper = stage.worker(asleep_at="before a commit")
        asleep(sleeper)
        keys = live_keys(stage.wire, stage.tags[0])
        epoch = stage.wire.call("HGET", keys.checkpoint, "epoch")
        stage.server.come_back_shorter(empty)
        stage.wire.close()
        stage.another_producer()
        lost_first, lost_second = stage.ledger.lines
        _connected(lambda: stage.log.head(0))
        stage.tell("carol", _created("m3"))
        assert stage.ledger.deliver(stage.log, [lost_second])
        heir = stage.worker(asleep_at="before a commit")
        asleep(heir)
        assert stage.wire.call("HGET", keys.checkpoint, "epoch") == epoch
        stage.parted(sleeper)
        assert stage.ledger.deliver(stage.log, [lost_first])
        verdict = stage.settled()
    assert verdict.clean, verdict
    assert verdict.applied == verdict.acknowledged == 3
