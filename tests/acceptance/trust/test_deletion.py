"""deletion.* and correction.*: what is deleted or corrected stays so through everything that makes it anew."""

from __future__ import annotations

import json
from pathlib import Path
from shutil import copytree

import pytest

from engramlog_server.events.partitions import partition_of
from tests.acceptance.trust.doors import READERS, Doors, Reads, Refused, doors, rebuilt, silent_about
from tests.given.copies import acknowledged, restore

LISBON, CANOE = "I live in Lisbon.", "I own a canoe."
ASKED = "where is home, and what do I own"


def statement(of: Doors, owner: str, word: str) -> str:
    """The id of the one statement with a word."""
    [found] = [one for one, text in of.memories(owner).items() if word in text and one.startswith("m-")]
    return found


def fed(of: Doors, owner: str, door: str, reader: Reads, *texts: str) -> None:
    """Said again, and read: until it is read a turn is found, for nobody knows yet what it says."""
    of.say(door, owner, *texts)
    of.extract(owner, reader)


@pytest.mark.parametrize("reader", READERS)
def test_deletion_absent_after_reindex_and_restart(tmp_path: Path, reader: Reads) -> None:
    """Written, settled, used in a prompt, deleted; then all that may bring it back, one after the other."""
    folder, export = tmp_path / "store", tmp_path / "before.jsonl"
    with doors(folder) as first:
        owner = first.owner()
        first.say("http", owner, LISBON, CANOE)
        first.extract(owner, reader)
        gone = statement(first, owner, "Lisbon")
        assert "Lisbon" in first.told(owner, ASKED)["http context"], "it was used in a prompt"
        first.command("export", owner, "--out", str(export))
        deleted = first.delete(owner, gone, with_sources=True)
        assert gone in deleted["deleted"]
        steps = {
            "deleted": lambda: None,
            "its source fed again": lambda: fed(first, owner, "client", reader, LISBON, "It rains today."),
            "told in other words around it": lambda: fed(first, owner, "mcp", reader, "You know, I live in Lisbon."),
            "every job": lambda: first.jobs(owner),
            "its export read in": lambda: first.command("import", "records", str(export), "--owner", owner),
        }
        for step, carry_out in steps.items():
            carry_out()
            told = first.told(owner, ASKED)
            assert (step, silent_about(told, ["lisbon"])) == (step, [])
            assert "canoe" in told["http search normal"], f"{step}: a sibling survives"
    assert rebuilt(folder)["memories"] > 0
    with doors(folder) as restarted:
        told = restarted.told(owner, ASKED)
        assert silent_about(told, ["lisbon"]) == []
        assert silent_about(restarted.told(restarted.owner(), ASKED), ["lisbon", "canoe"]) == []
        assert "canoe" in told["mcp search"]
        fed(restarted, owner, "http", reader, LISBON)
        assert silent_about(restarted.told(owner, ASKED), ["lisbon"]) == []
        decisions = {one["decision"] for one in restarted.app.reader.history(owner, gone)["changes"]}
        assert {"create", "delete", "reject"} <= decisions, "the audit has the deletion"


@pytest.mark.parametrize("reader", READERS)
def test_correction_retraction_without_replacement(tmp_path: Path, reader: Reads) -> None:
    """ "I misspoke, I have no sister": gone without a newer fact, also after its source is fed again."""
    with doors(tmp_path / "store") as opened:
        owner = opened.owner()
        opened.say("http", owner, "I have a sister named Maria.", CANOE)
        opened.extract(owner, reader)
        sister = statement(opened, owner, "sister")
        opened.negate(owner, sister, never=True, reason="I misspoke, I have no sister")
        opened.say("http", owner, "I have a sister named Maria.")
        opened.extract(owner, reader)
        opened.jobs(owner)
        shown = [text for one, text in opened.memories(owner).items() if one.startswith("m-")]
        assert not [text for text in shown if "sister" in text]
        assert [text for text in shown if "canoe" in text], "its source's other claims stay"


def test_a_turn_that_says_a_rejected_value_is_found_until_it_is_read_and_stays_where_it_says_more(
    tmp_path: Path,
) -> None:
    with doors(tmp_path / "store") as opened:
        owner = opened.owner()
        fed(opened, owner, "http", "rules", LISBON)
        opened.delete(owner, statement(opened, owner, "Lisbon"), with_sources=True)
        opened.say("http", owner, LISBON)
        leaks = silent_about(opened.told(owner, ASKED), ["lisbon"])
        assert {place.partition(":")[0] for place in leaks} >= {"http search normal", "http context"}, "one probe leaks"
        opened.extract(owner, "rules")
        assert silent_about(opened.told(owner, ASKED), ["lisbon"]) == []
        fed(opened, owner, "http", "rules", f"{LISBON} {CANOE}")
        shown = opened.memories(owner)
        assert f"{LISBON} {CANOE}" in shown.values(), "what else it says is asked for"
        assert "User lives in Lisbon" not in shown.values()


@pytest.mark.parametrize("reader", READERS)
def test_deletion_absent_from_shared_copies_restored_from_a_backup(tmp_path: Path, reader: Reads) -> None:
    """The store is put back as it was before the deletion: what was deleted stays out, and operators are told."""
    folder, copy = tmp_path / "store", tmp_path / "copy"
    with doors(folder) as first:
        owner, other = first.owner(), first.owner()
        first.say("http", owner, LISBON)
        first.say("http", owner, CANOE)
        first.say("http", other, LISBON)
        for one in (owner, other):
            first.extract(one, reader)
            first.jobs(one)
        assert "episode" in str(first.memories(owner).keys()), "and summed up"
    copytree(folder, copy)
    with doors(folder) as second:
        second.delete(owner, statement(second, owner, "Lisbon"), with_sources=True)
        assert silent_about(second.told(owner, ASKED), ["lisbon"]) == []
    restore(folder, copy)
    with doors(folder) as restored:
        told = restored.told(owner, ASKED)
        assert silent_about(told, ["lisbon"]) == []
        assert silent_about(told, ["canoe"]), "a sibling survives"
        assert silent_about(restored.told(other, ASKED), ["lisbon"]), "an unrelated copy stays"
        alarms = {one["name"] for one in restored.app.operator.alarms()["alarms"]}
        assert "rejections_restored" in alarms, "not silently"
        assert "reject" in {one["decision"] for one in restored.app.reader.history(owner)["changes"]}
        acknowledged(restored.app)
        fed(restored, owner, "http", reader, LISBON)
        restored.jobs(owner)
        assert silent_about(restored.told(owner, ASKED), ["lisbon"]) == []
    assert rebuilt(folder)["memories"] > 0
    with doors(folder) as anew:
        assert silent_about(anew.told(owner, ASKED), ["lisbon"]) == []
        assert silent_about(anew.told(other, ASKED), ["lisbon"])


def talk(folder: Path) -> Path:
    """A file of two chats."""
    chats = [
        {"id": str(number), "created_at": "2026-11-20T08:00:00Z", "messages": [{"role": "user", "content": text}]}
        for number, text in enumerate((LISBON, CANOE))
    ]
    (folder / "chats.json").write_text(json.dumps(chats))
    return folder / "chats.json"


def export(of: Doors, owner: str, file: Path, shape: str) -> None:
    """What somebody has of an owner, in one of the shapes that are read in again."""
    if shape == "records":
        of.command("export", owner, "--out", str(file))
    elif shape == "chats":
        file.write_bytes(talk(file.parent).read_bytes())
    else:
        partition = partition_of(owner, of.app.log.partitions)
        bodies = [one.body for one in of.app.log.read(partition, 0) if one.owner == owner]
        file.write_bytes(b"\n".join(bodies))


def read_in(of: Doors, owner: str, file: Path, shape: str) -> None:
    """The way in that fits the shape."""
    if shape == "records":
        of.command("import", "records", str(file), "--owner", owner)
    elif shape == "chats":
        of.command("import", "turns", "--shape", "auto", str(file), "--owner", owner)
    else:
        of.command("append", str(file))


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("shape", ["records", "chats", "events"])
def test_deletion_absent_from_shared_copies_read_in_from_an_export(tmp_path: Path, reader: Reads, shape: str) -> None:
    """An export of before is read in where it came from, and in another store that has the rejections from a later one."""
    before, later = tmp_path / f"before-{shape}.jsonl", tmp_path / "later.jsonl"
    with doors(tmp_path / "one") as one, doors(tmp_path / "other") as other:
        owner, untouched = one.owner(), one.owner()
        one.command("import", "turns", "--shape", "auto", str(talk(tmp_path)), "--owner", owner)
        one.extract(owner, reader)
        export(one, owner, before, shape)
        one.delete(owner, statement(one, owner, "Lisbon"), with_sources=True)
        one.command("export", owner, "--include", "rejections", "--out", str(later))
        other.command("import", "records", str(later), "--owner", owner)
        for of in (one, other):
            read_in(of, owner, before, shape)
            of.extract(owner, reader)
            told = of.told(owner, ASKED)
            assert silent_about(told, ["lisbon"]) == []
            assert silent_about(told, ["canoe"]), "a sibling survives"
            fed(of, owner, "client", reader, LISBON)
            assert silent_about(of.told(owner, ASKED), ["lisbon"]) == []
        fed(other, untouched, "http", reader, LISBON)
        assert silent_about(other.told(untouched, ASKED), ["lisbon"]), "nobody else's"


@pytest.mark.xfail(strict=True, raises=Refused, reason="nothing is archived yet")
def test_deletion_absent_from_shared_copies_brought_back_from_the_archive(tmp_path: Path) -> None:
    """An archive of before the deletion is brought back."""
    with doors(tmp_path / "store") as of:
        owner = of.owner()
        fed(of, owner, "http", "rules", LISBON, CANOE)
        of.command("archive", owner, "--out", str(tmp_path / "archive"))
        of.delete(owner, statement(of, owner, "Lisbon"), with_sources=True)
        of.command("archive", owner, "--bring-back", str(tmp_path / "archive"))
        told = of.told(owner, ASKED)
        assert silent_about(told, ["lisbon"]) == []
        assert silent_about(told, ["canoe"]), "a sibling survives"
