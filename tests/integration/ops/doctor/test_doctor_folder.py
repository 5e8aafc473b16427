"""`engramlog doctor` on a data folder: what is made wrong for real is found, nothing is made or changed, a sound one is calm."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from engramlog_server.events.partitions import partition_of
from engramlog_server.events.redis.server import connect
from engramlog_server.events.redis.wire import open_wire
from engramlog_server.ops.clock import now, now_micros
from engramlog_server.ops.doctor.checks import examine
from engramlog_server.ops.embedded import disk
from engramlog_server.ops.embedded.server import open_folder
from engramlog_server.ops.settings import load_settings
from engramlog_server.projections.redis.create import read_identity
from tests.acceptance.helpers.cli import Cli
from tests.given.access.certificates import certificate
from tests.given.client import append_unreadable
from tests.integration.ops.test_up import Up
from tests.patience import PATIENCE

Told = dict[tuple[str, str], dict[str, Any]]
OTHER_USER = 12_345


def found(cli: Cli, *words: str, code: int = 0) -> Told:
    return by_name(cli.json("doctor", *words, code=code))


def by_name(answer: Any) -> Told:
    return {(one["group"], one["check"]): one for one in answer["checks"]}


def lying(folder: Path) -> dict[str, tuple[int, int]]:
    """Names in a folder with their modes and sizes, without Redis's log, which tells of each start."""
    return {
        str(one.relative_to(folder)): (one.lstat().st_mode, one.lstat().st_size)
        for one in sorted(folder.rglob("*"))
        if one.name != "redis.log"
    }


def test_where_there_is_no_store_none_is_made(cli: Cli, folder: Path) -> None:
    told = cli("doctor", code=3).err
    assert "holds no store yet" in told
    assert "`engramlog up`" in told
    assert not folder.exists()
    folder.mkdir(mode=0o700)
    cli("doctor", code=3)
    assert list(folder.iterdir()) == []
    assert cli.json("doctor", code=3)["error"] == "NothingToCheck"


def test_a_sound_folder_gets_a_short_answer_without_anything_wrong(store: Cli) -> None:
    answer = store.json("doctor")
    assert answer["counts"]["wrong"] == 0
    assert [(one["check"], one["result"]) for one in answer["checks"] if one["result"] != "ok"] == [
        ("copy of the key", "advice"),
        ("copies", "unknown"),
    ]
    told = store("doctor").out
    assert "Nothing is wrong; 1 advised; 1 not known." in told
    assert len(told.splitlines()) < 20
    assert "log format 2" not in told
    assert "log format 2" in store("doctor", "--all").out


def test_strict_counts_what_is_advised(store: Cli) -> None:
    store("doctor", "--strict", code=1)


def test_nothing_is_changed_by_looking(store: Cli, folder: Path) -> None:
    before = lying(folder)
    store("doctor")
    assert lying(folder) == before


def test_beside_a_running_service_it_looks_at_the_service(store: Cli, folder: Path) -> None:
    up = Up(folder)
    try:
        up.ready()
        before = set(lying(folder))
        told = found(store)
        assert "1 fold worker at work" in told["processes", "workers"]["found"]
        assert told["permissions", "files"]["result"] == "ok"
        assert not any(one["result"] == "wrong" for one in told.values())
        assert set(lying(folder)) == before
    finally:
        up.process.terminate()
        up.process.wait(PATIENCE)


def test_a_folder_that_others_can_enter_stays_as_it_is_and_is_told(store: Cli, folder: Path) -> None:
    folder.chmod(0o755)
    told = found(store, code=1)
    assert told["permissions", "data folder"]["result"] == "wrong"
    assert told["permissions", "data folder"]["advice"] == f"`chmod 700 {folder}`"
    assert told["store", "format"]["result"] == "ok"
    assert folder.stat().st_mode & 0o777 == 0o755


def test_nothing_is_started_in_a_folder_that_others_could_write_to(store: Cli, folder: Path) -> None:
    folder.chmod(0o777)
    before = lying(folder)
    told = found(store, code=1)
    assert told["permissions", "data folder"]["result"] == "wrong"
    assert "nothing in it was opened" in told["redis", "answers"]["found"]
    assert ("store", "format") not in told
    assert lying(folder) == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_what_belongs_to_another_user_is_told(store: Cli, folder: Path) -> None:
    os.chown(folder / "heads.jsonl", OTHER_USER, OTHER_USER)
    assert "heads.jsonl" in found(store, code=1)["permissions", "files"]["found"]
    os.chown(folder, OTHER_USER, OTHER_USER)
    told = found(store, code=1)["permissions", "data folder"]
    assert f"belongs to user {OTHER_USER}" in told["found"]
    assert "sudo -u" in told["advice"]


def test_a_token_that_others_could_have_read_is_wrong(store: Cli, folder: Path) -> None:
    store("token")
    (folder / "token").chmod(0o640)
    told = found(store, code=1)["permissions", "token"]
    assert told["result"] == "wrong"
    assert "token --rotate" in told["advice"]


def test_a_master_key_that_others_can_read_is_wrong_and_opens_nothing(store: Cli, folder: Path) -> None:
    (folder / "master-key").chmod(0o644)
    told = found(store, code=1)
    assert told["sealing", "master key"]["result"] == "wrong"
    assert "0644" in told["sealing", "master key"]["found"]
    assert told["access", "keys"]["failed"]
    assert told["redis", "durability"]["result"] == "ok"


def test_a_master_key_that_is_gone_is_wrong_and_none_is_made(store: Cli, folder: Path) -> None:
    (folder / "master-key").rename(folder.parent / "elsewhere")
    assert found(store, code=1)["sealing", "master key"]["result"] == "wrong"
    assert not (folder / "master-key").exists()


def test_a_store_that_lies_open_is_advised_about_unless_it_was_chosen(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENGRAMLOG_SEALED_BY", "none")
    cli("add", "ada", "Ada likes coffee")
    assert found(cli)["sealing", "contents"]["result"] == "ok"
    monkeypatch.delenv("ENGRAMLOG_SEALED_BY")
    assert "engramlog seal" in found(cli)["sealing", "contents"]["advice"]
    cli("master-key", "--new", str(folder / "master-key"))
    assert "a master key is set" in found(cli)["sealing", "contents"]["found"]


def test_keys_that_end_soon_and_keys_without_an_end(store: Cli) -> None:
    store("key", "new", "sound", "--can", "use", "--owners", "*", "--days", "90")
    assert found(store)["access", "keys"]["result"] == "ok"
    store("key", "new", "short", "--can", "use", "--owners", "ada", "--days", "3")
    store("key", "new", "endless", "--can", "admin", "--owners", "*")
    told = found(store)
    assert "of short" in told["access", "keys that end"]["found"]
    assert "of endless" in told["access", "keys without an end"]["found"]


def test_a_service_that_would_be_open_without_a_key_or_tls_is_wrong(
    store: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENGRAMLOG_HOST", "0.0.0.0")
    told = found(store, code=1)["access", "listening"]
    assert "ENGRAMLOG_HOST" in told["found"]
    monkeypatch.setenv("ENGRAMLOG_TRUSTED_PROXIES", "10.0.0.1")
    monkeypatch.setenv("ENGRAMLOG_PUBLIC_NAMES", "memory.example.org")
    told_of = found(store, code=1)
    assert told_of["access", "listening"]["result"] == "ok"
    assert "engramlog key new" in told_of["access", "first key"]["advice"]
    assert "ENGRAMLOG_HEAD_SINKS" in told_of["backups", "kept heads"]["advice"]
    monkeypatch.setenv("ENGRAMLOG_HEAD_SINKS", "/elsewhere/heads.jsonl")
    assert found(store, code=1)["backups", "kept heads"]["result"] == "ok"


def test_a_setting_that_cannot_be_right_is_bad_input(store: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGRAMLOG_PORT", "eighty")
    store("doctor", code=2)


def test_a_log_that_does_not_meet_its_kept_heads_is_wrong(store: Cli, folder: Path) -> None:
    file = folder / "heads.jsonl"
    line = json.loads(file.read_text().splitlines()[0])
    partition, seq, chain = line["heads"][0]
    line["heads"] = [[partition, seq, "0" * len(chain)]]
    file.write_text(json.dumps(line, separators=(",", ":")) + "\n")
    assert found(store, code=1)["backups", "kept heads"]["result"] == "wrong"


def test_the_clock_of_redis_against_this_machines(store: Cli) -> None:
    for seconds, result in ((400, "wrong"), (-400, "wrong"), (30, "advice"), (0, "ok")):
        told = by_name(examine(load_settings(), own=lambda apart=seconds: now_micros() + apart * 1_000_000))
        assert told["clock", "redis clock"]["result"] == result


def test_the_last_backup_is_told_with_its_age(store: Cli, tmp_path: Path) -> None:
    store("backup", "make", str(tmp_path / "copy"), "--keys", str(tmp_path / "keys"))
    for days, result in ((0, "ok"), (6, "ok"), (8, "advice")):
        told = by_name(examine(load_settings(), own=lambda days=days: now_micros() + days * 86_400_000_000))
        assert told["backups", "copies"]["result"] == result
        assert "the last backup was made" in told["backups", "copies"]["found"]


def test_a_disk_without_room(store: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "engramlog_server.ops.doctor.checks.look", lambda _folder: disk.Disk(10 * disk.MIB, 8_192 * disk.MIB, 0)
    )
    assert found(store, code=1)["disk", "disk"]["result"] == "wrong"


@pytest.fixture
def served(store: Cli, folder: Path) -> Iterator[Any]:
    """The private Redis, held open as a service holds it, and what speaks to it."""
    with open_folder(folder, "shared") as embedded:
        embedded._set_ready()
        with connect(f"unix://{embedded.socket_path}") as client:
            yield client


@pytest.mark.parametrize(
    ("setting", "value", "result"),
    [
        ("appendfsync", "no", "wrong"),
        ("appendfsync", "everysec", "advice"),
        ("maxmemory-policy", "allkeys-lru", "wrong"),
    ],
)
def test_a_private_redis_that_was_set_otherwise(served: Any, store: Cli, setting: str, value: str, result: str) -> None:
    served.config_set(setting, value)
    assert found(store, code=int(result == "wrong"))["redis", setting]["result"] == result


def test_an_owner_that_stands_still(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGRAMLOG_SEALED_BY", "none")
    cli("add", "ada", "Ada likes coffee")
    with open_folder(folder, "command") as embedded, connect(f"unix://{embedded.socket_path}") as client:
        wire = open_wire(client)
        identity = read_identity(wire)
        assert identity is not None
        append_unreadable(wire, identity.tags[partition_of("ada", identity.partitions)], "ada")
        wire.close()
    assert "1 event waits to be folded" in found(cli)["processes", "workers"]["found"]  # and looking folds nothing
    assert "1 event waits to be folded" in found(cli)["processes", "workers"]["found"]
    cli("stats")
    told = found(cli, code=1)["processes", "quarantined owners"]
    assert "1 owner stopped" in told["found"]
    assert "ada" in told["found"]
    assert "engramlog dead" in told["advice"]


def test_a_certificate_that_ends_soon_and_one_whose_key_others_read(
    store: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = certificate(tmp_path, "memory.example.org", begins=now() - timedelta(days=1), ends=now() + timedelta(days=3))
    store("key", "new", "first", "--can", "use", "--owners", "*", "--days", "90")
    monkeypatch.setenv("ENGRAMLOG_TLS_CERT_FILE", str(pair.chain))
    monkeypatch.setenv("ENGRAMLOG_TLS_KEY_FILE", str(pair.key))
    told = found(store)["access", "listening"]
    assert told["result"] == "advice"
    assert "renew it" in told["advice"]
    pair.key.chmod(0o644)
    assert found(store, code=1)["access", "listening"]["result"] == "wrong"


def test_a_damaged_folder_is_told_with_its_cure(store: Cli, folder: Path) -> None:
    (folder / "store.json").write_text("{")
    told = found(store, code=1)["redis", "answers"]
    assert "store.json" in told["found"]


def test_the_advice_to_make_a_backup_works_as_it_is_written(store: Cli, tmp_path: Path) -> None:
    cure = found(store)["backups", "copies"]["advice"]
    make, check = re.findall(r"`engramlog ([^`]+)`", cure)
    for command in (make, check):
        words = command.replace("DEST", str(tmp_path / "copy")).replace("FILE", str(tmp_path / "keys")).split()
        store(*words)
    assert found(store)["backups", "copies"]["result"] == "ok"
