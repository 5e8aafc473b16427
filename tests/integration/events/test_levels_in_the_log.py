"""Events that come in through the log carry the level that the door found, and are folded by it without a rule."""

from __future__ import annotations

import pytest

from engramlog_server.consumers.verify import partition as redis_levels
from engramlog_server.consumers.verify.partition import Levels
from engramlog_server.events.catalogue import TurnRecorded
from engramlog_server.events.redis.log import RedisEventLog
from engramlog_server.events.redis.wire import open_wire
from engramlog_server.projections.fold.owner import fold_owner
from engramlog_server.projections.language.orders import MARKER
from engramlog_server.projections.language.sensitivity.level import LEVEL_RULES, Index, _of_name, judged_under
from engramlog_server.projections.lifecycle import extraction
from engramlog_server.projections.memory.working_memory import Turn, read_said
from tests.given.events import Told, created, made_ready, revised
from tests.integration.consumers.jobs.test_lifecycle_jobs import Jobs
from tests.integration.live import Live, live_store, wait_until
from tests.servers import RedisServer

PASSWORD = "My password is hunter2-Xq9!"
TOLD = (
    created(PASSWORD),
    created("I like tea", "n", sensitivity=1),
    revised("call me at 415-555-2671", "n", day=1),
    Told(TurnRecorded(turn_id="t", role="user", text="I work as a nurse"), 2),
)


def append(store: Live) -> None:
    log = RedisEventLog(store.client, store.identity.tags, marker=MARKER)
    events = [made_ready(one, "ada", log.now(), f"019cec00-0000-7000-8000-{n:012d}") for n, one in enumerate(TOLD)]
    assert all(one.written for one in log.append(events))
    log.close()


def test_the_log_holds_the_level_that_the_door_found_and_a_fold_asks_no_rule(
    redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with live_store(redis_server.url, partitions=1) as store:
        append(store)
        entries = store.log.read(0, 0)
        assert [(judged_under(one), one.level) for one in entries] == [(LEVEL_RULES, level) for level in (3, 0, 2, 1)]
        assert [said.level for said in map(read_said, entries) if isinstance(said, Turn)] == [1]
        _of_name.cache_clear()

        def asked(*_: object) -> None:
            raise AssertionError("a rule was asked")

        monkeypatch.setattr(Index, "read", asked)
        memories = fold_owner(entries).memories
        assert {i: one.sensitivity for i, one in memories.items()} == {"m": 3, "n": 2}
        store.start_worker("folder")
        wait_until(store.folded)
        jobs = Jobs(store)
        with jobs.views.view("ada", after=store.log.head(0), wait_seconds=10) as (view, _):
            assert {one.id: one.sensitivity for one in view.columns.memories} == {"m": 3, "n": 2}
        jobs.views.close()


def test_what_the_door_judged_by_todays_rules_is_not_read_again_until_they_change(
    redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with live_store(redis_server.url, partitions=1) as store:
        append(store)
        levels = Levels(open_wire(store.client), store.log, store.identity.tags[0], 0)
        assert levels.waiting() == ([], len(TOLD))
        for module in (extraction, redis_levels):
            monkeypatch.setattr(module, "LEVEL_RULES", LEVEL_RULES + 1)
        assert levels.waiting() == (["ada"], len(TOLD))
