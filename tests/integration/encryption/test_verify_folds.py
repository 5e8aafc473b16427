"""What folds a sealed store: rebuilds in windows, killed and gone on with, and by processes; owners that stand still.
The tests of open stores are asked of sealed ones as well."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from engramlog_server.events.keys import KeyRing
from engramlog_server.ops.keys.master import make_key_file
from tests.acceptance.helpers.store import embedded_store
from tests.given.events import created, mentioned
from tests.integration.consumers.fold import test_rebuild, test_rebuild_left
from tests.integration.consumers.verify import test_verify
from tests.integration.live import live_store
from tests.servers import RedisServer, Servers

MASTER = KeyRing([b"m" * 32])
ALSO: dict[str, Callable[[RedisServer, pytest.MonkeyPatch], Any]] = {
    "a rebuild while producers append": lambda server, _: (
        test_rebuild.test_a_rebuild_while_producers_append_ends_in_the_same_state_under_a_new_name(server)
    ),
    "a rebuild killed within a window": lambda server, _: (
        test_rebuild_left.test_a_rebuild_killed_anywhere_is_gone_on_with_and_ends_in_the_same_state(
            server, "after a commit", 9
        )
    ),
    "owners that stand still, freed after a kill": lambda server, _: (
        test_rebuild_left.test_owners_that_stand_still_and_are_freed_fold_the_same_after_a_kill(server, 9)
    ),
    "windows however they end": test_verify.test_owners_that_stand_still_and_are_freed_are_proven_in_windows_however_they_end,
    "beside producers and workers": lambda server, _: (
        test_verify.test_a_verification_beside_producers_and_workers_blames_nobody(server)
    ),
    "a damaged record": lambda server, _: (
        test_rebuild.test_a_damaged_record_stops_its_partition_with_a_cure_and_a_rebuild_mends_it(server)
    ),
}


@pytest.mark.parametrize("name", ALSO)
def test_what_holds_of_an_open_store_holds_of_a_sealed_one(
    redis_servers: Servers, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    sealed = list[bool]()

    def store(*told: Any, **more: Any) -> Any:
        sealed.append(True)
        return live_store(*told, master=MASTER, **more)

    for module in (test_rebuild, test_rebuild_left, test_verify):
        monkeypatch.setattr(module, "live_store", store)
    monkeypatch.setattr("engramlog_server.consumers.fold.folder.TOGETHER_BYTES", 1)
    ALSO[name](redis_servers.get("valkey"), monkeypatch)
    assert sealed


def test_an_owner_that_stands_still_is_shown_retried_and_freed(tmp_path: Path) -> None:
    make_key_file(tmp_path / "key")
    with embedded_store(tmp_path / "data", sealed_by=str(tmp_path / "key")) as store:
        owner = store.owner()
        store.tell(owner, created("I like green tea", "tea"))
        position = store.poison(owner)
        store.tell(owner, mentioned("tea", 4))
        (listed,) = store.operator.dead()["quarantined"]
        shown = store.operator.dead_show(owner)
        freed = store.operator.dead_retry(owner)["freed"]
        store.operator.dead_discard(owner, position, "of no release")
        held = store.reader.get(owner, "tea", trace=False)
        after = store.operator.dead()["quarantined"]
    assert not freed
    assert "UndecodableEvent" in listed["reason"]
    assert "UndecodableEvent" in str(shown)
    assert next(one["position"] for one in shown["parked"]) == position
    assert ["event_id" in one for one in shown["parked"]] == [False, True]
    assert "sealed" not in str(shown)
    assert (held["content"], after) == ("I like green tea", [])


def test_rebuild_and_verify_by_processes_of_their_own(tmp_path: Path) -> None:
    """As a person runs them: each partition's process is given where the key lies."""
    make_key_file(tmp_path / "key")
    told = {
        **os.environ,
        "ENGRAMLOG_DATA": str(tmp_path / "data"),
        "ENGRAMLOG_SEALED_BY": str(tmp_path / "key"),
        "ENGRAMLOG_PARTITIONS": "2",
    }

    def run(*words: str, **more: str) -> subprocess.CompletedProcess[bytes]:
        command = [
            sys.executable,
            "-P",
            "-c",
            "from engramlog_server.ops.main import main; raise SystemExit(main())",
            *words,
        ]
        return subprocess.run(command, env=told | more, capture_output=True, check=False)

    assert run("add", "lin", "早上喝龙井茶").returncode == 0
    assert run("add", "ada", "I like green tea").returncode == 0
    rebuilt = run("rebuild", "--processes", "2")
    assert rebuilt.returncode == 0, rebuilt.stderr
    verified = run("verify", "--json", "--processes", "2")
    assert verified.returncode == 0, verified.stdout + verified.stderr
    answer = msgspec.json.decode(verified.stdout)
    assert (answer["ok"], answer["events"], answer["differences"]) == (True, 2, [])
    (tmp_path / "other").mkdir()
    make_key_file(tmp_path / "other" / "key")
    refused = run("verify", "--json", ENGRAMLOG_SEALED_BY=str(tmp_path / "other" / "key"))
    assert refused.returncode != 0
    assert b"sealed under another master key" in refused.stdout + refused.stderr
