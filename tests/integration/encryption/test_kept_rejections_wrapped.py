"""Kept rejections hold owners' secrets: they are wrapped as soon as the store is sealed, and follow the key that wraps."""

from __future__ import annotations

import os
from pathlib import Path
from shutil import copytree

import orjson

from engramlog_server.events.partitions import LogKeys, partition_of
from engramlog_server.ops.encryption import carry_out
from engramlog_server.ops.keys.master import NAME
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.store import open_the_store
from engramlog_server.ops.store_replacement import old_store
from engramlog_server.ops.wiring import open_application
from tests.acceptance.helpers.cli import run
from tests.given.copies import restore
from tests.integration.ops.test_kept_rejections import CANOE, LISBON, alarms, contents, opened, rejected, remembered


def kept(folder: Path) -> list[str]:
    """The secrets in the file."""
    lines = [orjson.loads(line) for line in (folder / "rejections.jsonl").read_bytes().splitlines()]
    return [one["secret"] for one in lines if one["kind"] == "value"]


def line(folder: Path, owner: str = "ann") -> str:
    """The owner's line in the store."""
    with open_the_store(Settings(data=folder)) as store:
        tag = store.identity.tags[partition_of(owner, store.identity.partitions)]
        held: bytes | None = store.client.hget(LogKeys(tag).secrets, owner)
    assert held is not None
    return held.hex()


def test_what_was_kept_while_a_store_lay_open_is_wrapped_with_it_and_still_said_again(tmp_path: Path) -> None:
    folder, copy = tmp_path / "store", tmp_path / "copy"
    with open_application(Settings(data=folder, partitions=2, sealed_by="none")) as lies_open:
        lisbon, canoe = remembered(lies_open, LISBON, CANOE)
        rejected(lies_open, lisbon)
    (secret,) = kept(folder)
    assert len(secret) == 64
    with old_store(Settings(data=folder)) as store:
        assert carry_out(store)["done"]
    assert secret not in (folder / "rejections.jsonl").read_text()
    assert kept(folder) == [line(folder)]
    assert (folder / "rejections.jsonl").stat().st_mode & 0o777 == 0o600
    copytree(folder, copy)
    with opened(folder) as sealed:
        rejected(sealed, canoe)
    restore(folder, copy)
    with opened(folder) as restored:
        assert contents(restored) == []
        assert "1 rejection of 1 owner" in alarms(restored)["rejections_restored"]
        assert "rejections_lost" not in alarms(restored)


def test_a_secret_that_was_put_there_open_is_wrapped_by_whoever_looks_next(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    with opened(folder) as sealed:
        lisbon, _ = remembered(sealed, LISBON, CANOE)
        rejected(sealed, lisbon)
        secret = sealed.log.secrets_of(["ann"])["ann"].hex()
    file = folder / "rejections.jsonl"
    (wrapped,) = kept(folder)
    torn = b'{"kind":"value","store":"'
    file.write_bytes(file.read_bytes().replace(wrapped.encode(), secret.encode()) + b"no line\n" + torn)
    with opened(folder) as again:
        assert contents(again) == [CANOE]
    assert file.read_bytes().endswith(b"no line\n" + torn), "what cannot be read stays as it is"
    assert secret.encode() not in file.read_bytes()
    assert line(folder).encode() in file.read_bytes()


def test_they_name_the_owner_s_key_so_a_rotation_changes_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    with opened(folder) as sealed:
        lisbon, _ = remembered(sealed, LISBON, CANOE)
        rejected(sealed, lisbon)
    before = kept(folder)
    told = os.environ | {"ENGRAMLOG_DATA": str(folder), "ENGRAMLOG_SEALED_BY": str(folder / NAME)}
    for word in ("--rotate", "--rewrap"):
        done = run(["master-key", word, "--json"], told)
        assert done.code == 0, done.err
    assert kept(folder) == [line(folder)] == before
