"""Redis for every test that asks: fakeredis and the bundled Valkey, flushed before the test; newer servers only for some suites."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Iterator
from tempfile import TemporaryDirectory

import pytest
import redis
from hypothesis import settings

from tests.examples import QUICK_EXAMPLES
from tests.given.clusters.cluster import GivenCluster
from tests.given.clusters.kept import KeptClusters
from tests.servers import (
    MISSING,
    NO_BROWSER,
    NO_BUILDER,
    NO_CLI,
    NO_DISK,
    NO_NODE,
    NO_REDIS_8,
    NO_REGISTRY,
    NO_TOOLS,
    RedisServer,
    Servers,
    fake_client,
    wheel_server,
)

pytest_plugins = ["pytester", "tests.memory", "tests.parts"]
settings.register_profile("full", deadline=None)  # no timed assertions
settings.register_profile("quick", deadline=None, max_examples=QUICK_EXAMPLES)
settings.load_profile("full")


def pytest_configure(config: pytest.Config) -> None:
    """What a test keeps without naming a data folder is kept in one that lives as long as the session, also by its commands."""
    folder = TemporaryDirectory(prefix="engramlog-tests-", ignore_cleanup_errors=True)
    os.environ["XDG_DATA_HOME"] = folder.name
    os.environ["ENGRAMLOG_EMBEDDER"] = (
        "none"  # but where a test is about meanings: a store that it makes would compare them
    )
    os.environ["ENGRAMLOG_EXTRACTION"] = (
        "off"  # except in tests of extraction: it would add memories right after a write
    )
    config.add_cleanup(folder.cleanup)
    # A shell starts what runs in the background with interrupts ignored, and every process of a test would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)


EVERY_SERVER = ["valkey", "redis-7", "redis-8"]
"""Servers of the contract suite, of durability (their `conftest`) and of work on clusters; other tests use the bundled Valkey."""


@pytest.fixture(scope="session")
def redis_servers() -> Iterator[Servers]:
    """The real servers of this process."""
    servers = Servers()
    yield servers
    servers.stop()


@pytest.fixture(params=["fakeredis", "valkey"])
def redis_client(request: pytest.FixtureRequest) -> Iterator[redis.Redis]:
    """A client of an empty Redis: fakeredis and Valkey."""
    name = request.param
    client = fake_client() if name == "fakeredis" else request.getfixturevalue("redis_servers").get(name).client()
    yield client
    client.close()


@pytest.fixture(params=["valkey"])
def redis_server(request: pytest.FixtureRequest, redis_servers: Servers) -> RedisServer:
    """An empty real server."""
    return redis_servers.get(request.param)


@pytest.fixture
def real_redis_client(redis_server: RedisServer) -> Iterator[redis.Redis]:
    """A client of an empty real Redis."""
    with redis_server.client() as client:
        yield client


@pytest.fixture
def bundled_redis(redis_servers: Servers) -> Iterator[redis.Redis]:
    """A client of the empty bundled server, for tests that need one real server."""
    with redis_servers.get("valkey").client() as client:
        yield client


@pytest.fixture(scope="session")
def redis_clusters() -> Iterator[KeptClusters]:
    """The clusters of this process, by server."""
    clusters = KeptClusters()
    yield clusters
    clusters.close()


@pytest.fixture
def redis_cluster(request: pytest.FixtureRequest, redis_clusters: KeptClusters) -> GivenCluster:
    """An empty cluster that many tests share and none breaks: on the bundled server, or as `indirect` names it."""
    return redis_clusters.get(getattr(request, "param", "valkey"))


@pytest.fixture(params=EVERY_SERVER)
def any_redis_cluster(request: pytest.FixtureRequest, redis_clusters: KeptClusters) -> GivenCluster:
    """An empty cluster that many tests share and none breaks: on Valkey, Redis 7 and 8."""
    return redis_clusters.get(request.param)


@pytest.fixture
def own_cluster() -> Iterator[GivenCluster]:
    """A cluster for one test, to be broken: on the bundled server, with every write on disk before it is acknowledged."""
    with GivenCluster(wheel_server()) as cluster:
        yield cluster


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what did not run for want of a server, a disk, node, a browser, a builder or tools, also under -q."""
    for missing in (MISSING, NO_REDIS_8, NO_CLI, NO_DISK, NO_NODE, NO_REGISTRY, NO_BROWSER, NO_BUILDER, NO_TOOLS):
        skipped = [
            report
            for report in terminalreporter.stats.get("skipped", [])
            if isinstance(report.longrepr, tuple) and missing in report.longrepr[2]
        ]
        if skipped:
            files = Counter(report.nodeid.partition("::")[0] for report in skipped)
            named = ", ".join(f"{name} ({count})" for name, count in sorted(files.items()))
            terminalreporter.write_line(f"{missing}: {len(skipped)} tests did not run: {named}", yellow=True)
