"""Procedures of Redis: killed, cut, damaged, full, without replicas, failed over. Each as it stands on the page."""

from __future__ import annotations

import os
import signal

from engramlog_server.events.redis.server import connect
from tests.acceptance.runbook.given import TEA, an_event, pid_of_redis, private, redis_of_ones_own
from tests.acceptance.runbook.night import Night, alive
from tests.given.clusters.ports import free_ports


def test_redis_was_killed(night: Night) -> None:
    night.given("systemctl start engramlog", f"engramlog add alice '{TEA}'")
    os.kill(pid_of_redis(night), signal.SIGKILL)
    night.until(lambda: not alive(night.pid("engramlog")))
    night.when()
    night.do()
    night.check()


def test_the_end_of_the_file_was_cut(night: Night) -> None:
    night.given(f"engramlog add alice '{TEA}'")
    (file,) = (night.data / "appendonlydir").glob("*.incr.aof")
    with file.open("ab") as end:
        end.write(b"*3\r\n$3\r\nSET\r\n$4\r\nhalf")
    night.when()
    night.do()
    night.check()


def test_a_damaged_file(night: Night) -> None:
    night.given(f"engramlog add alice '{TEA}'")
    (file,) = (night.data / "appendonlydir").glob("*.incr.aof")
    before = file.stat().st_size
    night.given("engramlog add alice 'I have two cats'")
    with file.open("r+b") as bytes_:
        bytes_.seek(before)
        bytes_.write(b"!")
    night.when()
    night.do()
    night.check()


def test_memory_is_full(night: Night) -> None:
    night.setting(ENGRAMLOG_REDIS_MAXMEMORY=8_388_608)
    night.given("systemctl start engramlog", f"engramlog add alice '{TEA}'")
    with connect(private(night), timeout=10) as client:
        client.eval("return redis.call('SET', 'filler', string.rep('x', 5000000))", 0)
    night.until(lambda: night.given("engramlog add alice 'it is near' > /dev/null 2>&1 || echo full").out)
    night.when()
    night.do()
    night.check()


def test_the_socket_is_gone(night: Night) -> None:
    night.given("systemctl start engramlog")
    (night.data / "redis.sock").unlink()
    night.until(night.told("engramlog", '"name": "socket_removed"'))
    night.when()
    night.do()
    night.check()


def test_too_few_replicas(night: Night) -> None:
    first, second = free_ports(2)
    with redis_of_ones_own(night.folder, "primary", first) as primary, redis_of_ones_own(night.folder, "other", second):
        night.setting(ENGRAMLOG_REDIS_URL=primary.url, ENGRAMLOG_MIN_REPLICAS=1, EVENT=an_event("cats"))
        night.setting(REPLICA=second, PRIMARY_HOST="127.0.0.1", PRIMARY_PORT=first)
        night.when()
        night.do()
        night.check()


def test_a_failover_lost_events(night: Night) -> None:
    first, second = free_ports(2)
    night.setting(EVENT=an_event("cats"))
    with (
        redis_of_ones_own(night.folder, "primary", first) as primary,
        redis_of_ones_own(night.folder, "other", second) as other,
    ):
        night.setting(ENGRAMLOG_REDIS_URL=primary.url)
        night.given("systemctl start engramlog", f"engramlog add alice '{TEA}'")
        with other.client() as client:
            client.execute_command("REPLICAOF", "127.0.0.1", str(first))
            night.until(lambda: client.info("replication")["master_link_status"] == "up")
            client.execute_command("REPLICAOF", "NO", "ONE")
        night.given('echo "$EVENT" | engramlog append -', "systemctl stop engramlog")
        primary.kill()
        night.setting(ENGRAMLOG_REDIS_URL=other.url)
        night.given("systemctl start engramlog")
        night.until(night.told("engramlog", '"name": "log_changed"'))
        night.when()
        night.do(1)
        night.until(lambda: night.given("engramlog alarms || true").out.startswith("No active alarms"))
        night.do()
        night.check()
        assert "I have two cats" in night.given("engramlog list alice").out


def test_the_queue_is_lost(night: Night) -> None:
    (port,) = free_ports(1)
    with redis_of_ones_own(night.folder, "queue", port) as queue:
        night.setting(ENGRAMLOG_QUEUE_URL=f"redis://127.0.0.1:{port}", QUEUE_PORT=port, ENGRAMLOG_JOB_WORKERS=1)
        night.given("systemctl start engramlog")
        night.until(night.told("engramlog", "scheduler elected"))
        queue.kill()
        night.until(night.told("engramlog", '"name": "jobs_wait"'))
        night.when()
        try:
            night.do()
            night.check()
        finally:
            with connect(f"redis://127.0.0.1:{port}", timeout=10) as client:
                client.shutdown(nosave=True)


def test_redis_does_not_write_as_it_should(night: Night) -> None:
    (port,) = free_ports(1)
    with redis_of_ones_own(night.folder, port=port) as server:
        with server.client() as client:
            client.config_set("appendonly", "no")
        night.setting(ENGRAMLOG_REDIS_URL=f"redis://127.0.0.1:{port}")
        night.given(f"engramlog add alice '{TEA}'")
        night.when()
        night.do()
        night.check()
