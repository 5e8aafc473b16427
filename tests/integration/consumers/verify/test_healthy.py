"""A healthy store has no differences, whatever was run on it and however often."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.given.events import created
from tests.given.vectors import Vectors
from tests.integration.live import live_store
from tests.servers import RedisServer
from tests.tampering import findings


@pytest.fixture
def stood(redis_server: RedisServer) -> Iterator[Vectors]:
    with live_store(redis_server.url, partitions=2) as live:
        live.start_worker("folder")
        made = Vectors(live)
        yield made
        made.views.close()
        made.vectors.close()


def test_a_walk_that_only_takes_vectors_away_leaves_nothing_that_verify_refuses(stood: Vectors) -> None:
    stood.tell("ada", created("I drink tea", "tea"))
    for job in (stood.job, stood.job_by(None)):
        for partition in range(2):
            job.walk(partition)
        assert findings(stood.live) == []


def test_a_walk_over_nobody_leaves_nothing_that_verify_refuses_when_somebody_comes(stood: Vectors) -> None:
    for job in (stood.job, stood.job_by(None)):
        for partition in range(2):
            job.walk(partition)
    assert findings(stood.live) == []
    stood.tell("ada", created("I drink tea", "tea"))
    assert findings(stood.live) == []
