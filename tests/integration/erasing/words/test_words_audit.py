"""`engramlog erase OWNER ID ... --audit` and what is told at the end of an erasure of words, in a data folder of its own; kept
probes are told by the doctor, and hold an old master key in the file until they are wrapped anew."""

from __future__ import annotations

import os
import tarfile
from pathlib import Path

import pytest

from ops.sealing.key_file import read_key_file
from tests.acceptance.helpers.cli import Cli

CANOE = "I own a canoe and keep it behind the old boathouse"
CHINESE = "我昨天在胡同口遇见了一只会唱歌的斑胸草雀"
SHORT = "我养猫"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], folder: Path) -> Cli:
    monkeypatch.setenv("ENGRAMLOG_REDIS_URL", "")
    monkeypatch.setenv("ENGRAMLOG_DATA", str(folder))
    return Cli(monkeypatch, capfd)


def said(cli: Cli, text: str, owner: str = "ada") -> str:
    """A memory of this text; its id."""
    return str(cli.json("add", owner, text)["id"])


def backed_up(folder: Path, to: Path) -> Path:
    """A copy of the whole folder."""
    with tarfile.open(to, "w:gz") as out:
        out.add(folder, "data", filter=lambda one: None if ".sock" in one.name else one)
    return to


def kept(folder: Path) -> list[str]:
    """Erasures of which something is noted."""
    return [one.name.removesuffix(".probes") for one in sorted((folder / "erasures").glob("*.probes"))]


@pytest.mark.parametrize("text", [CANOE, CHINESE, SHORT])
def test_nothing_is_left_of_a_memory_and_a_backup_of_before_has_all_of_it(
    cli: Cli, folder: Path, tmp_path: Path, text: str
) -> None:
    memory_id, other = said(cli, text), said(cli, "on Sundays I row to the island with my sister")
    backup = backed_up(folder, tmp_path / "before.tar.gz")
    done = cli.json("erase", "ada", memory_id, "--yes")
    assert (done["audit"]["exit_code"], done["audit"]["findings"], done["audit"]["what"]) == (0, [], "words")
    assert kept(folder) == []
    told = cli.json("erase", "ada", memory_id, "--audit", code=2)
    assert told["error"] == "NotFound"
    assert "it was proven before" in told["message"]
    done = cli.json("erase", "ada", other, "--yes", "--backup", str(backup), code=1)
    assert done["audit"]["exit_code"] == 1
    assert {one["what"] for one in done["audit"]["findings"]} == {"salt", "says"}
    assert all(str(backup) in one["where"] for one in done["audit"]["findings"])


def test_the_audit_of_ids_finds_the_erasure_in_which_they_were_named(cli: Cli, folder: Path, tmp_path: Path) -> None:
    first, second, third = said(cli, CANOE), said(cli, CHINESE), said(cli, "the mushrooms grow beside the mill")
    backup = backed_up(folder, tmp_path / "before.tar")
    erasure = cli.json("erase", "ada", first, second, "--yes", "--backup", str(backup), code=1)["erasure"]
    assert kept(folder) == [erasure]
    cli("erase", "ada", third, "--yes")
    for ids in ([first], [second, first], [f"{first},{second}"]):
        told = cli.json("erase", "ada", *ids, "--audit", "--backup", str(backup), code=1)
        assert told["erasure_id"] == erasure
    told = cli.json("erase", "ada", first, third, "--audit", code=2)
    assert told["message"].startswith("ids: got ")
    assert "named together" in told["message"]
    assert cli.json("erase", "nobody", first, "--audit", code=2)["error"] == "NotFound"
    assert "allowed: one who was erased" in cli.json("erase", "ada", "--audit", code=2)["message"]
    assert "ids: got " in cli.json("erase", "ada", ",", "--audit", code=2)["message"]
    assert kept(folder) == [erasure]
    assert cli.json("erase", "ada", first, "--audit")["exit_code"] == 0
    assert kept(folder) == []
    assert cli.json("erase", "ada", first, "--audit", code=2)["error"] == "NotFound"


def test_once_the_owner_is_erased_too_its_audit_looks_for_those_words(cli: Cli, folder: Path, tmp_path: Path) -> None:
    memory_id, _ = said(cli, CANOE), said(cli, CHINESE)
    backup = backed_up(folder, tmp_path / "before.tar")
    cli("erase", "ada", memory_id, "--yes", "--backup", str(backup), code=1)
    (folder / "note.txt").write_text(f"he says that {CANOE}")
    done = cli.json("erase", "ada", "--yes", code=1)
    assert kept(folder) == [done["erasure"]]
    (found,) = done["audit"]["findings"]
    assert (found["what"], Path(found["where"]).name) == ("word", "note.txt")
    told = cli.json("erase", "ada", memory_id, "--audit", code=2)
    assert told["error"] == "NotFound"
    assert "erased as a whole since; allowed: the owner alone" in told["message"]
    (folder / "note.txt").unlink()
    assert cli.json("erase", "ada", "--audit")["exit_code"] == 0
    assert kept(folder) == []


def test_what_is_told_at_the_end_is_true_of_words(cli: Cli, folder: Path, tmp_path: Path) -> None:
    memory_id, owner = said(cli, CANOE), said(cli, CANOE, "bob")
    backup = backed_up(folder, tmp_path / "before.tar")
    told = " ".join(cli("erase", "ada", memory_id, "--yes", "--backup", str(backup), code=1).out.split())
    assert "erased 1 memory and 0 turns: the words of 1 event are gone" in told
    assert "what opens under the owner's key and has a piece of the erased words" in told
    assert "`engramlog erase --audit` of the same owner and ids" in told
    assert "hold these words, sealed, with their salts and the owner's key, wrapped under the master key" in told
    assert "canoe" not in told
    told = " ".join(cli("erase", "bob", "--yes", "--backup", str(backup), code=1).out.split())
    assert owner not in told
    assert "1 event can be read by nobody" in told
    assert "of the same owner[" not in told
    assert told.count("of the same owner and ids") == 0
    assert "hold its key, wrapped under the master key" in told


def test_that_a_short_text_was_not_looked_for_by_its_words_is_told(cli: Cli) -> None:
    told = " ".join(cli("erase", "ada", said(cli, "茶"), "--yes").out.split())
    assert "not looked for by its words 1 text that is too short, or in what stays too" in told
    assert "nothing is left" in told


def test_the_doctor_tells_of_erasures_that_are_not_proven(cli: Cli, folder: Path, tmp_path: Path) -> None:
    def found() -> dict[str, str]:
        (told,) = [one for one in cli.json("doctor")["checks"] if one["check"] == "erasures"]
        return dict(told)

    memory_id = said(cli, CANOE)
    assert found()["result"] == "ok"
    backup = backed_up(folder, tmp_path / "before.tar")
    erasure = cli.json("erase", "ada", memory_id, "--yes", "--backup", str(backup), code=1)["erasure"]
    os.utime(folder / "erasures" / f"{erasure}.probes", (1_795_000_000, 1_795_000_000))
    told = found()
    assert told["result"] == "advice"
    assert told["found"].startswith("of 1 erasure it is not proven")
    assert f"since 2026-11-18: {erasure}" in told["found"]
    assert "engramlog erase OWNER --audit" in told["advice"]
    cli("erase", "ada", memory_id, "--audit")
    assert found()["result"] == "ok"


def test_a_master_key_stays_while_kept_probes_need_it_and_they_are_wrapped_anew(
    cli: Cli, folder: Path, tmp_path: Path
) -> None:
    memory_id = said(cli, CANOE)
    backup = backed_up(folder, tmp_path / "before.tar")
    cli("erase", "ada", memory_id, "--yes", "--backup", str(backup), code=1)
    (path,) = (folder / "erasures").glob("*.probes")
    key = folder / "master-key"
    old = read_key_file(key).name
    cli("master-key", "rotate")
    before, kept_aside = path.stat().st_mtime_ns, path.read_bytes()
    assert cli.json("master-key", "rewrap")["unopened"] == 0
    assert (path.stat().st_mtime_ns, path.stat().st_mode & 0o777) == (before, 0o600)
    fresh = path.read_bytes()
    assert fresh != kept_aside
    path.write_bytes(kept_aside)  # as a run of before has left it
    os.utime(key, (1_000_000_000, 1_000_000_000))
    assert (
        "1 line needs this key still: `engramlog master-key rewrap` first" in cli("master-key", "drop", old, code=2).err
    )
    assert cli.json("master-key", "show")["droppable"] == []
    (told,) = [one for one in cli.json("doctor")["checks"] if one["check"] == "old keys"]
    assert told["advice"] == "`engramlog master-key rewrap`"
    cli("master-key", "rewrap")
    assert cli.json("master-key", "show")["droppable"] == [old]
    cli("master-key", "drop", old)
    assert cli.json("erase", "ada", memory_id, "--audit", "--backup", str(backup), code=1)["findings"]
