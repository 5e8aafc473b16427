"""deletion.* and correction.*: what is deleted or corrected stays so through everything that makes it anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.trust.doors import READERS, Doors, Reads, doors, rebuilt, silent_about

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
