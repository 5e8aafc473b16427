"""What `engramlog doctor` makes of what Redis, the clock, the disk and processes tell, and how checks are carried out."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event as Flag
from types import SimpleNamespace
from typing import Any

import pytest

from engramlog_server.events.alarms import KNOWN, Alarm
from engramlog_server.events.errors import OtherFormat, StoreUnavailable
from engramlog_server.events.redis.durability import KEPT_BY
from engramlog_server.events.redis.server import APART_MICROS, release_of
from engramlog_server.ops.doctor import checks, servers
from engramlog_server.ops.doctor.findings import (
    DISK,
    REDIS,
    STORE,
    Check,
    CheckFinding,
    Result,
    exit_code,
    report,
    run_all,
)
from engramlog_server.ops.doctor.servers import without_password
from engramlog_server.ops.embedded.disk import MIB, Disk
from engramlog_server.ops.keys.backup import KeysUnusable
from tests.patience import PATIENCE
from tests.rows import each_row

FOLDER = Path("/data")
NOON = datetime(2026, 11, 27, 12, tzinfo=UTC)
GOOD = {name: "noeviction" if name == "maxmemory-policy" else next(iter(good)) for name, good in KEPT_BY.items()}


def results(found: list[CheckFinding]) -> list[tuple[str, Result]]:
    return [(one.check, one.result) for one in found]


@each_row(
    ("info", "result"),
    [
        ({"redis_version": "7.0.15"}, "ok"),
        ({"redis_version": "6.2.14"}, "wrong"),
        ({"redis_version": "unknown"}, "unknown"),
        ({"redis_version": "7.2.4", "server_name": "valkey", "valkey_version": "9.1.2"}, "ok"),
        ({"redis_version": "7.2.4", "server_name": "valkey", "valkey_version": "7.1.0"}, "wrong"),
        ({}, "unknown"),
    ],
)
def test_the_server_is_new_enough(info: dict[str, str], result: Result) -> None:
    assert servers.version(release_of(info)).result == result


@each_row(
    ("name", "value", "limited", "result"),
    [
        ("appendonly", "no", True, "wrong"),
        ("appendfsync", "no", True, "wrong"),
        ("appendfsync", "everysec", True, "advice"),
        ("no-appendfsync-on-rewrite", "yes", True, "advice"),
        ("aof-load-truncated", "yes", True, "advice"),
        ("maxmemory-policy", "allkeys-lru", True, "wrong"),
        ("maxmemory-policy", "allkeys-lru", False, "advice"),
        ("maxmemory-policy", "volatile-lru", True, "advice"),
    ],
)
def test_a_setting_that_loses_what_was_answered(name: str, value: str, limited: bool, result: Result) -> None:
    assert results(servers.durability(GOOD | {name: value}, limited)) == [(name, result)]


def test_sound_settings_are_one_line_and_settings_that_are_not_told_are_unknown() -> None:
    assert results(servers.durability(GOOD, True)) == [("durability", "ok")]
    (hidden,) = servers.durability(None, True)
    assert (hidden.result, hidden.failed) == ("unknown", False)
    for policy, found in {"noeviction": [], "volatile-lru": ["advice"], "allkeys-lru": ["wrong"]}.items():
        assert [result for _, result in results(servers.durability(None, True, policy))[1:]] == found


def test_writes_that_failed() -> None:
    fine = dict.fromkeys(("append_ok", "rewrite_ok", "save_ok"), True)
    assert servers.writes(**fine).result == "ok"
    for one in fine:
        assert servers.writes(**fine | {one: False}).result == "wrong"


def test_memory_that_is_nearly_full_or_much_fragmented() -> None:
    assert servers.memory(None, 1 << 20, 20 << 20, None).result == "ok"  # a small one always is
    assert servers.memory(None, 1 << 30, 2 << 30, None).result == "advice"
    assert servers.memory("Redis uses 71%", 1, 1, 2) == REDIS.advice(
        "memory", "Redis uses 71%", "raise maxmemory (ENGRAMLOG_REDIS_MAXMEMORY), or `engramlog status --capacity`"
    )


@each_row(
    ("role", "online", "wanted", "result"),
    [
        ("master", 0, 0, "ok"),
        ("master", 1, 0, "ok"),
        ("master", 1, 1, "ok"),
        ("master", 0, 1, "wrong"),
        ("slave", 0, 0, "wrong"),
    ],
)
def test_replicas(role: str, online: int, wanted: int, result: Result) -> None:
    assert servers.replicas(role, online, wanted).result == result


@each_row(
    ("host", "encrypted", "lets_anybody_in", "sealed", "found"),
    [
        ("127.0.0.1", False, True, True, [("password", "advice")]),
        ("127.0.0.1", False, False, True, [("password", "ok")]),
        ("10.0.0.1", False, True, True, [("password", "wrong"), ("tls", "advice")]),
        ("10.0.0.1", False, False, False, [("password", "ok"), ("tls", "wrong")]),
        ("10.0.0.1", True, False, False, [("password", "ok"), ("tls", "ok")]),
        ("10.0.0.1", True, None, False, [("password", "unknown"), ("tls", "ok")]),
    ],
)
def test_the_way_to_a_redis_of_ones_own(
    host: str, encrypted: bool, lets_anybody_in: bool | None, sealed: bool, found: list[tuple[str, Result]]
) -> None:
    assert results(servers.way(host, encrypted=encrypted, lets_anybody_in=lets_anybody_in, sealed=sealed)) == found


@each_row(
    ("url", "bare"),
    [
        ("redis://me:se%40cret@10.0.0.1:6379/3", "redis://10.0.0.1:6379/3"),
        ("rediss://10.0.0.1?password=x&ssl_cert_reqs=none", "rediss://10.0.0.1?ssl_cert_reqs=none"),
        ("redis://[::1]:6379", "redis://[::1]:6379"),
    ],
)
def test_a_redis_is_tried_without_who_one_is(url: str, bare: str) -> None:
    assert without_password(url) == bare


@each_row(
    ("path", "saved", "erased_at", "result", "told"),
    [
        (None, None, None, "ok", "if the key store is lost"),
        (FOLDER, None, None, "wrong", "never saved"),
        (FOLDER, KeysUnusable("could be read by others (0644)"), None, "wrong", "(0644)"),
        (FOLDER, ("another", NOON), None, "wrong", "holds the keys of store another"),
        (FOLDER, ("s", NOON - timedelta(minutes=1)), None, "ok", "1 minute ago"),
        (FOLDER, ("s", NOON - timedelta(hours=47)), None, "ok", "47 hours ago"),
        (FOLDER, ("s", NOON - timedelta(days=3)), None, "ok", "3 days ago"),
        (FOLDER, ("s", NOON), NOON - timedelta(seconds=1), "ok", "0 minutes ago"),
        (FOLDER, ("s", NOON), NOON + timedelta(seconds=1), "wrong", "before the newest erasure"),
    ],
)
def test_the_backup_of_the_keys(
    monkeypatch: pytest.MonkeyPatch,
    path: Path | None,
    saved: tuple[str, datetime] | KeysUnusable | None,
    erased_at: datetime | None,
    result: Result,
    told: str,
) -> None:
    def known(_path: Path) -> Any:
        if isinstance(saved, KeysUnusable):
            raise saved
        return None if saved is None else SimpleNamespace(store_id=saved[0], saved_at=saved[1].isoformat())

    monkeypatch.setattr(checks, "known_keys", known)
    steps: Any = [] if erased_at is None else [SimpleNamespace(at=erased_at.isoformat(), step="ended")]
    (found,) = checks.kept_keys(path, "s", lambda: steps, NOON)
    assert (found.result, told in found.found) == (result, True)


def test_clocks() -> None:
    assert servers.clock(0).result == "ok"
    for sign in (1, -1):
        assert servers.clock(sign * (servers.FAR_MICROS + 1)).result == "advice"
        assert servers.clock(sign * (APART_MICROS + 1)).result == "wrong"


@each_row(("free", "result"), [(4_096, "ok"), (70, "advice"), (20, "wrong")])
def test_disks(monkeypatch: pytest.MonkeyPatch, free: int, result: Result) -> None:
    monkeypatch.setattr(checks, "look", lambda _folder: Disk(free * MIB, 8_192 * MIB, 10 * MIB))
    assert results(checks.disk(FOLDER)) == [("disk", result)]


@each_row(
    ("name", "result", "advice"),
    [
        ("disk_full", "wrong", KNOWN["disk_full"].meaning),
        ("clock_back", "advice", KNOWN["clock_back"].meaning),
        ("of a newer release", "advice", "`engramlog alarms` shows more"),
    ],
)
def test_alarms_are_as_bad_as_they_are_and_say_what_to_do(
    monkeypatch: pytest.MonkeyPatch, name: str, result: Result, advice: str
) -> None:
    book = SimpleNamespace(standing=lambda: [Alarm(name, "", "it happened", 0, 0, 1, "me")], close=lambda: None)
    monkeypatch.setattr(checks, "RedisAlarms", lambda *_told: book)
    reached: Any = SimpleNamespace(reached=None)
    assert checks.alarms(reached) == [CheckFinding("processes", f"alarm {name}", result, "it happened", advice)]


def test_a_store_of_another_format_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def other(_identity: Any) -> None:
        raise OtherFormat("log format 1: use release 0.2, or an empty store")

    reached: Any = SimpleNamespace(known=SimpleNamespace(format="2"))
    monkeypatch.setattr(checks, "check_format", lambda _identity: None)
    assert results(checks.store_format(reached)) == [("format", "ok")]
    monkeypatch.setattr(checks, "check_format", other)
    (found,) = checks.store_format(reached)
    assert (found.result, found.advice) == ("wrong", "use release 0.2, or an empty store")


OK, ADVISED = STORE.ok("a", "."), STORE.advice("a", ".", ".")
WRONG, FAILED, UNSEEN = STORE.wrong("a", ".", "."), STORE.failed("a", "."), STORE.unseen("a", ".", ".")


@each_row(
    ("found", "code", "strict", "worst"),
    [
        ([OK], 0, 0, "ok"),
        ([OK, UNSEEN], 0, 0, "ok"),
        ([OK, ADVISED, UNSEEN], 0, 1, "advice"),
        ([OK, FAILED], 3, 3, "unknown"),
        ([ADVISED, FAILED], 3, 1, "advice"),
        ([WRONG, FAILED], 1, 1, "wrong"),
    ],
)
def test_exit_codes(found: list[CheckFinding], code: int, strict: int, worst: Result) -> None:
    answer = report("s", "now", found)
    assert exit_code(answer) == code
    assert exit_code(answer, strict=True) == strict
    assert answer["result"] == worst


def test_findings_are_told_by_group_and_counted() -> None:
    answer = report(None, "now", [WRONG, DISK.ok("disk", "."), REDIS.ok("version", ".")])
    assert [one["group"] for one in answer["checks"]] == ["redis", "disk", "store"]
    assert answer["counts"] == {"wrong": 1, "advice": 0, "unknown": 0, "ok": 2}


def fails(error: Exception) -> Callable[[], list[CheckFinding]]:
    def look() -> list[CheckFinding]:
        raise error

    return look


def test_a_check_that_fails_is_unknown_and_the_others_go_on() -> None:
    checks = [
        Check(REDIS, "refused", fails(StoreUnavailable("no connection"))),
        Check(REDIS, "no file", fails(FileNotFoundError(2, "No such file"))),
        Check(REDIS, "at fault", fails(KeyError("somebody's words"))),
        Check(STORE, "fine", lambda: [OK]),
    ]
    found = run_all(checks, PATIENCE)
    assert [one.result for one in found] == ["unknown"] * 3 + ["ok"]
    assert all(one.failed for one in found[:3])
    assert "no connection" in found[0].found
    assert "KeyError" in found[2].found
    assert "words" not in found[2].found


def test_a_check_that_hangs_is_not_waited_for() -> None:
    never = Flag()

    def hangs() -> list[CheckFinding]:
        never.wait()
        return [OK]

    (found,) = run_all([Check(REDIS, "hangs", hangs)], 0.05)
    never.set()
    assert found == REDIS.failed("hangs", "no answer within 0.05 s")
