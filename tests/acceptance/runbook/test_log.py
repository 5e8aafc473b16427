"""Procedures of the log and of what is folded of it: gaps, quarantine, damage, rebuilds, heads. Each as it stands on the page."""

from __future__ import annotations

import subprocess
from contextlib import closing

from engramlog_server.events.redis.server import connect
from engramlog_server.projections.redis.store import COMMIT
from tests.acceptance.runbook.given import TEA, an_event, private, redis_of_ones_own, told, unreadable
from tests.acceptance.runbook.night import Night
from tests.chaos.held import HeldDoor


def test_an_entry_that_no_append_wrote(night: Night) -> None:
    night.given("systemctl start engramlog", f"engramlog add alice '{TEA}'")
    with connect(private(night), timeout=10) as client:
        (stream,) = (key for key in client.keys("*:ev"))
        client.xadd(stream, {"said": "by hand"})
    tag = stream.decode().partition("}")[0].removeprefix("{")
    night.setting(TAG=tag, PARTITION=1)
    night.until(night.told("engramlog", '"name": "partition_gap"'))
    night.when()
    night.do()
    night.check()


def test_one_owner_stands_still(night: Night) -> None:
    night.setting(ENGRAMLOG_SEALED_BY="none")
    night.given("systemctl start engramlog", "engramlog list alice")
    night.setting(POSITION=unreadable(private(night), "alice"))
    told(private(night), "alice", "it waited behind it")
    night.until(lambda: "alice" in night.given("engramlog dead").out)
    night.when()
    night.do()
    night.check()


def test_stored_state_is_damaged(night: Night) -> None:
    night.given("systemctl start engramlog", f"engramlog add alice '{TEA}'")
    with connect(private(night), timeout=10) as client:
        (records,) = client.keys("*:st:alice")
        (memory,) = client.hkeys(records)
        client.hset(records, memory, b"not a record")
    night.when()
    night.do()
    night.check()


def test_a_rebuild_was_killed(night: Night) -> None:
    with redis_of_ones_own(night.folder) as server:
        night.setting(ENGRAMLOG_REDIS_URL=server.url)
        night.given(f"engramlog add alice '{TEA}'")
        with closing(HeldDoor(server.socket, lambda sent: COMMIT.sha.encode() in sent and b":st:" in sent)) as door:
            there = night.shell.environment | {"ENGRAMLOG_REDIS_URL": door.url}
            rebuild = subprocess.Popen([night.shell.tools / "engramlog", "rebuild", "--processes", "1"], env=there)
            night.until(door.closed.is_set)
            rebuild.kill()
            rebuild.wait()
        night.when()
        night.do()
        night.check()


def test_an_owner_is_too_large(night: Night) -> None:
    night.setting(ENGRAMLOG_VIEW_BYTES=1_048_576)
    (night.folder / "notes.jsonl").write_text("\n".join(an_event(f"note-{number}") for number in range(1_200)))
    night.given("engramlog append notes.jsonl", "systemctl start engramlog")
    night.when()
    night.do()
    night.check()


def test_keep_heads_where_others_hold_them(night: Night) -> None:
    night.setting(SINK=night.folder / "elsewhere" / "heads.jsonl")
    (night.folder / "elsewhere").mkdir()
    night.given(f"engramlog add alice '{TEA}'")
    night.do()
    night.check()
