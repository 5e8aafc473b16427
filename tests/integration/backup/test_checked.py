"""A backup that is damaged, another's, prepared by somebody or of a newer release is refused by the name of its file."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from shutil import copytree

import pytest

from engramlog_server.consumers.backup import RowKind, frame
from engramlog_server.ops.backup import folder as backup_folder
from engramlog_server.ops.backup.folder import ABOUT, BackupUnusable, open_backup
from tests.integration.backup.depot import EVENTS, Depot

FILES = ["manifest.json", "store.rows.gz", "partition-0000.rows.gz", "partition-0001.rows.gz"]


@pytest.fixture
def made(lying_open: Depot) -> Path:
    return lying_open.make()


def refused(depot: Depot, made: Path, match: str) -> None:
    """Check refuses it, and restore does, with nothing written."""
    for words in (["backup", "check", str(made)], ["backup", "restore", str(made), "--yes"]):
        told = depot.cli.json(*words, code=2)
        assert told["error"] == "BackupUnusable"
        assert re.search(match, told["message"]), told["message"]
        assert "Nothing was written" in told["message"]
    assert not (depot.data / "appendonlydir").exists()


def rebound(made: Path, change: Callable[[dict[str, object]], None]) -> None:
    """A manifest that somebody changed, whose own hash fits again."""
    path = made / "manifest.json"
    told = json.loads(path.read_bytes())["manifest"]
    change(told)
    raw = json.dumps(told, separators=(",", ":"), ensure_ascii=False)
    path.write_text(f'{{"sha256":"{sha256(raw.encode()).hexdigest()}","manifest":{raw}}}')


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("damage", ["a bit", "cut", "longer", "missing", "a link", "empty", "a folder"])
def test_damage_of_any_file_is_told_by_its_name(lying_open: Depot, made: Path, name: str, damage: str) -> None:
    path, raw = made / name, bytearray((made / name).read_bytes())
    lying_open.on("new")
    if damage == "a bit":
        for at in {len(raw) // 3, len(raw) // 2, len(raw) - 2}:
            copy = copytree(made, lying_open.folder / f"copy{at}")
            raw[at] ^= 4
            (copy / name).write_bytes(raw)
            raw[at] ^= 4
            refused(lying_open, copy, re.escape(name))
        return
    if damage == "cut":
        path.write_bytes(raw[:-3])
    elif damage == "longer":
        path.write_bytes(raw + b"{}" if name == "manifest.json" else raw + b"more")
    elif damage == "empty":
        path.write_bytes(b"")
    else:
        path.rename(made.parent / "elsewhere")
        if damage == "a link":
            path.symlink_to(made.parent / "elsewhere")
        elif damage == "a folder":
            path.mkdir()
    refused(lying_open, made, re.escape(name))


def test_every_bit_of_a_small_file_counts(lying_open: Depot, made: Path) -> None:
    path = made / "partition-0000.rows.gz"
    raw = path.read_bytes()
    for at in range(len(raw)):
        path.write_bytes(raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :])
        with pytest.raises(BackupUnusable, match="partition-0000"):
            list(open_backup(made).part(0))
    path.write_bytes(raw)
    assert list(open_backup(made).part(0))


def test_a_file_of_another_backup_or_partition_is_told_as_such(lying_open: Depot, made: Path) -> None:
    other = lying_open.make("other")
    mine = json.loads((made / "manifest.json").read_bytes())["manifest"]["backup"]
    swapped = copytree(other, lying_open.folder / "swapped")
    (swapped / "partition-0000.rows.gz").write_bytes((made / "partition-0000.rows.gz").read_bytes())
    lying_open.on("new")
    refused(lying_open, swapped, rf"partition-0000.*is of another backup, store or partition \({mine}")
    turned = copytree(other, lying_open.folder / "turned")

    def turn(told: dict[str, object]) -> None:
        parts = told["parts"]
        assert isinstance(parts, list)
        parts[0]["file"], parts[1]["file"] = parts[1]["file"], parts[0]["file"]

    rebound(turned, turn)
    for number in range(2):
        name = f"partition-000{number}.rows.gz"
        (turned / name).write_bytes((other / f"partition-000{1 - number}.rows.gz").read_bytes())
    refused(lying_open, turned, "is of another backup, store or partition")


def test_a_newer_release_s_is_told_before_anything_else_of_it_is_read(lying_open: Depot, made: Path) -> None:
    rebound(made, lambda told: told.update(format=2, parts="of another shape"))
    lying_open.on("new")
    refused(lying_open, made, "is of format 2, of a newer release")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("store_id", "../../etc/passwd"),
        ("backup", "a/b"),
        ("moment", "tomorrow"),
        ("parts", []),
        ("sealed", 1),
        ("store_id", "another-store"),
        ("parameter_set", "of nobody"),
        ("sealed", True),
        ("log_format", "3"),
    ],
)
def test_a_manifest_that_says_what_cannot_be_is_refused(
    lying_open: Depot, made: Path, field: str, value: object
) -> None:
    rebound(made, lambda told: told.update({field: value}))
    lying_open.on("new")
    refused(lying_open, made, r"manifest\.json|store\.rows\.gz|partition-0000")


@pytest.mark.parametrize("change", ["tag", "twice", "head", "chain", "entries", "newest", "raw"])
def test_a_partition_that_is_told_otherwise_than_its_file_is_refused(
    lying_open: Depot, made: Path, change: str
) -> None:
    def told(manifest: dict[str, object]) -> None:
        parts = manifest["parts"]
        assert isinstance(parts, list)
        one = max(parts, key=lambda part: part["head"])
        if change == "raw":
            one["file"]["raw"] -= 1
        elif change == "twice":
            parts[1]["tag"] = parts[0]["tag"]
        else:
            one[change] = {
                "tag": "e0}:ev",
                "head": one["head"] - 1,
                "chain": "0" * 64,
                "entries": "0" * 64,
                "newest": "0" * 32,
            }[change]

    rebound(made, told)
    lying_open.on("new")
    refused(lying_open, made, r"manifest\.json|partition-000")


def packed(made: Path, *rows: bytes, tell: int | None = None) -> None:
    """A first partition of these rows, with a manifest that fits; `tell`: how many bytes it says come out of the file."""
    manifest = json.loads((made / "manifest.json").read_bytes())["manifest"]
    about = [ABOUT, manifest["backup"].encode(), manifest["store_id"].encode(), manifest["parts"][0]["tag"].encode()]
    inner = frame(RowKind.ABOUT, about) + b"".join(rows)
    raw = gzip.compress(inner, mtime=0)
    (made / "partition-0000.rows.gz").write_bytes(raw)
    told = {"bytes": len(raw), "sha256": sha256(raw).hexdigest(), "raw": len(inner) if tell is None else tell}

    def change(manifest: dict[str, object]) -> None:
        parts = manifest["parts"]
        assert isinstance(parts, list)
        parts[0]["file"] = told

    rebound(made, change)


def test_a_file_that_unpacks_to_more_than_it_tells_is_not_unpacked(lying_open: Depot, made: Path) -> None:
    lying_open.on("new")
    packed(made, frame(RowKind.SECRET, [b"owner", bytes(30 << 20)]), tell=1_000)
    assert (made / "partition-0000.rows.gz").stat().st_size < 100_000
    refused(lying_open, made, "unpacks to more than the 1,000 bytes")
    packed(made, (65 << 20).to_bytes(4, "big") + b"\1")
    refused(lying_open, made, "has a row of 68,157,440 bytes")


@pytest.mark.parametrize(
    ("row", "match"),
    [
        (frame(RowKind.STORE, [b"store_id", b"x"]), "a row that no file of a partition has"),
        (frame(RowKind.ENTRY, [b"12345678"]), "a row that no file of a partition has"),
        (frame(RowKind.ENTRY, [b"1234", *([b"x"] * 20)]), "no line in the table of dedupe"),
        (frame(RowKind.ENTRY, [b"12345678", *([b"x"] * 7)]), "an entry that no append wrote"),
        (b"\0\0\0\1\x0b\x90", "a row that no backup of this format has"),
        (b"\0\0\0\1\x01\xc1", "a row that no backup of this format has"),
        (b"\0\0", "breaks off within a row"),
        (b"\0\0\0\x09\1abc", "breaks off within a row"),
    ],
)
def test_rows_that_no_backup_has_are_refused(lying_open: Depot, made: Path, row: bytes, match: str) -> None:
    packed(made, row)
    lying_open.on("new")
    refused(lying_open, made, match)


def test_rows_are_proved_in_pieces_of_a_bounded_size(
    lying_open: Depot, made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = open_backup(made)
    monkeypatch.setattr(backup_folder, "PAGE_BYTES", 1)
    pages = [len(page) for number in range(2) for page in backup_folder.entries_of(folder, number, lambda _row: None)]
    assert pages == [1] * EVENTS
    monkeypatch.setattr(backup_folder, "MOST_FIELDS", 3)
    lying_open.on("new")
    refused(lying_open, made, "has more, or longer, fields of a store")


def test_what_is_no_backup_is_refused(lying_open: Depot, made: Path) -> None:
    link = lying_open.folder / "link"
    link.symlink_to(made)
    lying_open.on("new")
    refused(lying_open, link, "is no folder, or is a link")
    refused(lying_open, lying_open.folder / "no", "No such file")
    refused(lying_open, lying_open.folder, r"manifest\.json.*cannot be read")
    refused(lying_open, made / "manifest.json", "is no folder")
    (made / "manifest.json").write_bytes(b"[" * 100_000)
    refused(lying_open, made, "is no manifest of a backup")
    (made / "manifest.json").write_bytes(bytes(5 << 20))
    refused(lying_open, made, "has more than 4,194,304 bytes")


def test_what_lies_there_besides_is_left_alone(lying_open: Depot, made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (made / "readme").write_text("mine")
    monkeypatch.setattr(backup_folder, "CHUNK", 16)  # in whatever pieces it is read
    assert lying_open.cli.json("backup", "check", str(made))["events"] == EVENTS
