"""Seals that are brought back, taken out or saved while something goes wrong: a kill, an erasure, somebody else at work."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from consumers.erasing.steps import drop_salts, fence
from consumers.erasing.words import fence_names, wipe_entries
from consumers.verify import scan
from events.partitions import LogKeys
from events.redis.log import entries
from events.redis.secrets import read_cipher
from events.redis.wire import Wire
from events.sealing.cipher import NO_SALT
from events.sealing.seals import is_tombstone
from ops.embedded.binary import find_redis_server
from ops.erasing.scratch import loaded
from ops.sealing import seals_save
from ops.sealing.seals_merge import CopySeals, merged, salt_in
from ops.sealing.seals_save import read_seals
from ops.settings import load_settings
from ops.store import open_the_store
from tests.acceptance.helpers.cli import Cli
from tests.integration.erasing.erased import ADA, Erasing
from tests.integration.sealing.machine import EVENTS, Machine
from tests.patience import PATIENCE
from tests.places import ROOT
from tests.servers import RedisServer

POINTS = [
    "before the mark",
    "after the mark",
    "after a partition",
    "after the list",
    "before a switch",
    "after it was folded anew",
    "before files are rewritten",
    "before the end",
    "after the end",
]
KILLED = """
import sys
from pathlib import Path
from ops.settings import load_settings
from ops.bringing.frame import old_store
from ops.sealing.seals_restore import carry_out
from tests.chaos.fate import DIE, fated
with old_store(load_settings()) as store:
    carry_out(store, Path(sys.argv[2]), probe=fated(DIE, sys.argv[1], 1))
"""
HELD = "import sys; file = open(sys.argv[1]); print('open', flush=True); sys.stdin.read()"


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Machine:
    return Machine(Cli(monkeypatch, capsys), tmp_path, monkeypatch, capsys)


@pytest.fixture
def erasing(redis_server: RedisServer, tmp_path: Path) -> Erasing:
    return Erasing(redis_server, tmp_path)


@pytest.mark.parametrize("strip", [True, False], ids=["stripped", "whole"])
def test_killed_anywhere_it_is_done_by_the_next_run(machine: Machine, strip: bool) -> None:
    copy = machine.copy(strip=strip)
    machine.erase("ada")
    kept = machine.answers("lin-yue", "团队")
    for point in POINTS:
        machine.lose(copy)
        killed = subprocess.run(
            [sys.executable, "-P", "-c", KILLED, point, str(machine.seals)],
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            capture_output=True,
            timeout=4 * PATIENCE,
            check=False,
        )
        assert killed.returncode == -signal.SIGKILL, (point, killed.stderr)
        if point in POINTS[1:-1]:
            assert "engramlog seals restore FILE" in machine.cli("status", code=1).err, point
        assert machine.restore()["entries"]["opens"] == EVENTS - 4
        assert machine.answers("lin-yue", "团队") == kept, point
        assert machine.cli.json("list", "ada", code=1)["error"] == "OwnerErased"
        assert machine.tables(machine.data) == {"keys", "salts"}


def test_an_erasure_of_words_while_its_partition_is_read_leaves_no_salt_of_them(
    erasing: Erasing, monkeypatch: pytest.MonkeyPatch
) -> None:
    tag = erasing.tag()
    with erasing.wire() as wire:
        keys = LogKeys(tag)
        head = int(wire.call("HGET", keys.meta, "head"))
        cipher = read_cipher(wire, keys, ADA)
        assert cipher is not None
        first = read_seals(wire, tag, head)
        assert salt_in(first.salts, 1) != NO_SALT

        def wipes(of: Wire, key: str) -> Iterator[tuple[bytes, bytes]]:
            if key == keys.wordless:  # salts were read by now
                fence_names(wire, tag, cipher.secret, ["m0"], [])
                assert wipe_entries(wire, tag, ADA, cipher, _seqs(wire, tag)[:1], "e" * 36) == 1
            yield from scan.pairs(of, key)

        monkeypatch.setattr(seals_save, "pairs", wipes)
        found = read_seals(wire, tag, head)
    (seq,) = found.wordless
    assert salt_in(found.salts, seq) == NO_SALT
    assert salt_in(first.salts, seq) != NO_SALT


def test_an_owner_who_is_erased_while_its_partition_is_read_is_erased_in_what_was_read(
    erasing: Erasing, monkeypatch: pytest.MonkeyPatch
) -> None:
    tag = erasing.tag()
    with erasing.wire() as wire:
        keys = LogKeys(tag)
        head = int(wire.call("HGET", keys.meta, "head"))

        def fences(of: Wire, key: str) -> Iterator[tuple[bytes, bytes]]:
            if key == keys.secrets:  # salts were read by now
                fence(wire, tag, ADA, "e" * 36)
                drop_salts(wire, tag, ADA)
            yield from scan.pairs(of, key)

        monkeypatch.setattr(seals_save, "pairs", fences)
        found = read_seals(wire, tag, head)
    assert is_tombstone(found.lines[ADA.encode()])
    counts = merged(found, CopySeals({}, {}, {}, frozenset()), head)
    assert all(counts.is_shut(ADA.encode(), seq) for seq in range(1, head + 1))


def _seqs(wire: Wire, tag: str) -> list[int]:
    rows = wire.call("XRANGE", LogKeys(tag).stream, "-", "+")
    return [one.seq for one in entries(rows, tag) if one.owner == ADA]


def test_what_is_used_or_is_the_store_itself_is_not_stripped(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = machine.copy(strip=False)
    assert (
        "the data folder of the store itself" in machine.cli("seals", "strip", str(machine.data), "--yes", code=2).err
    )
    assert "or holds it" in machine.cli("seals", "strip", str(machine.folder), "--yes", code=2).err
    link = machine.folder / "link"
    link.symlink_to(copy)
    assert "is a link" in machine.cli("seals", "strip", str(link), "--yes", code=2).err
    assert "not there" in machine.cli("seals", "strip", str(machine.folder / "no"), "--yes", code=2).err
    (machine.folder / "empty").mkdir()
    assert "no files of Redis" in machine.cli("seals", "strip", str(machine.folder / "empty"), "--yes", code=2).err
    assert "neither a folder nor a dump" in machine.cli("seals", "strip", str(machine.key), "--yes", code=2).err
    assert "--yes" in machine.cli("seals", "strip", str(copy), code=2).err
    used = next((copy / "appendonlydir").glob("*.incr.aof"))
    holder = subprocess.Popen([sys.executable, "-c", HELD, str(used)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holder.stdout is not None
    holder.stdout.readline()
    try:
        assert f"process {holder.pid} has files" in machine.cli("seals", "strip", str(copy), "--yes", code=1).err
    finally:
        holder.communicate()
    assert machine.tables(copy) == {"keys", "salts"}
    monkeypatch.setenv("ENGRAMLOG_SEALED_BY", "none")
    monkeypatch.setenv("ENGRAMLOG_DATA", str(machine.folder / "open"))
    machine.say(range(1))
    monkeypatch.setenv("ENGRAMLOG_DATA", str(machine.data))
    assert "lies open" in machine.cli("seals", "strip", str(machine.folder / "open"), "--yes", code=1).err


def test_a_dump_and_the_folder_of_an_append_only_file_are_stripped_too(machine: Machine) -> None:
    with open_the_store(load_settings()) as store:
        wire = store.wire()
        wire.call("SAVE")
        tags = store.identity.tags
        wire.close()
    copy = machine.copy(strip=False)
    dump = machine.folder / "dump.rdb"
    (copy / "dump.rdb").rename(dump)
    told = machine.cli.json("seals", "strip", str(dump), "--yes")
    assert (told["events"], told["dump"], told["aof"]) == (EVENTS, "written", "off")
    with loaded(dump, dump.stat().st_size, find_redis_server()) as scratch, scratch.client() as client:
        wire = Wire(client)
        assert wire.call("HGET", "engramlog:store", "format") == b"2>stripped"
        assert not any(wire.call("EXISTS", f"{{{tag}}}:{name}") for tag in tags for name in ("keys", "salts"))
        assert sum(wire.call("XLEN", LogKeys(tag).stream) for tag in tags) == EVENTS
        wire.close()
    assert machine.cli.json("seals", "strip", str(copy / "appendonlydir"), "--yes")["aof"] == "rewritten"
    assert machine.tables(copy) == set()


def test_the_doctor_tells_whether_the_seals_are_kept_and_how_old_they_are(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def told(code: int = 0) -> tuple[str, str]:
        (found,) = [one for one in machine.cli.json("doctor", code=code)["checks"] if one["check"] == "seals"]
        return found["result"], found["found"]

    assert told(1)[1].endswith("the seals were never saved")
    machine.cli.json("seals", "save")
    assert told()[0] == "ok"
    with monkeypatch.context() as without:
        without.delenv("ENGRAMLOG_SEALS_BACKUP")
        machine.erase("ada")
        assert told() == (
            "ok",
            "no backup of the seals is kept apart (ENGRAMLOG_SEALS_BACKUP): each copy holds its own",
        )
    assert "before the newest erasure" in told(1)[1]
    machine.cli.json("seals", "save")
    assert told()[0] == "ok"
    machine.seals.chmod(0o644)
    assert "could be read by others" in told(1)[1]
