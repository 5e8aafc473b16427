"""Procedures of starting, stopping, opening and spreading: each as it stands on the page."""

from __future__ import annotations

import signal

from tests.acceptance.runbook.given import redis_of_ones_own, told
from tests.acceptance.runbook.night import Night
from tests.given.access.certificates import certificate
from tests.given.clusters.ports import free_ports


def test_start_and_stop(night: Night) -> None:
    night.do()
    night.check()


def test_open_it_to_others(night: Night) -> None:
    pair = certificate(night.folder / "tls", "localhost")
    night.setting(CERTIFICATE=pair.chain, CERTIFICATE_KEY=pair.key, ENGRAMLOG_PORT=free_ports(1)[0])
    night.given("systemctl start engramlog")
    night.do()
    night.check()


def test_add_or_remove_a_worker(night: Night) -> None:
    with redis_of_ones_own(night.folder) as server:
        night.setting(ENGRAMLOG_REDIS_URL=server.url)
        night.given("systemctl start engramlog-worker@1")
        night.do()
        night.until(night.told("engramlog-worker@2", "partitions taken"))
        night.check()
        night.undo()


def test_a_worker_hangs(night: Night) -> None:
    with redis_of_ones_own(night.folder) as server:
        night.setting(ENGRAMLOG_REDIS_URL=server.url)
        night.given("systemctl start engramlog-worker@1 engramlog-worker@2")
        night.until(night.told("engramlog-worker@1", "partitions taken"))
        night.kill("engramlog-worker@1", signal.SIGSTOP)
        stopped = f"-{night.pid('engramlog-worker@1')}-"
        night.until(lambda: stopped in night.given("engramlog status --json | jq .silent").out)
        assert stopped in night.when().out
        night.do()
        night.check()


def test_nobody_folds(night: Night) -> None:
    with redis_of_ones_own(night.folder) as server:
        night.setting(ENGRAMLOG_REDIS_URL=server.url)
        night.given("engramlog list alice")
        told(server.url, "alice", "it waited")
        night.when()
        night.do()
        night.check()
