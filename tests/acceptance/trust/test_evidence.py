"""evidence.*: what is told can be followed to what was said, goes with it, and comes back from it alone."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from engramlog_server.projections.memory.record import handle_of
from tests.acceptance.trust.doors import READERS, Doors, Reads, doors, rebuilt, silent_about
from tests.given.client import connected

ASKED = "where is home, what do I own, and what do I love"


@pytest.mark.parametrize("reader", READERS)
def test_evidence_claim_resolves_to_source(doors: Doors, reader: Reads) -> None:
    """All that reaches a prompt's block is followed to a turn or an event that is stored: no orphans."""
    owner = doors.owner()
    doors.say("http", owner, "I live in Lisbon. I love jazz.", "I own a canoe.", session="s")
    doors.extract(owner, reader)
    doors.jobs(owner)
    doors.remember("http", owner, "I like tea")
    with connected("sync", doors.running.url, owner=owner) as memory:
        asked = "do I live in Lisbon, own a canoe, and like tea"
        block = memory.context(asked, threshold=0.1, trace=False)
        assert len(block.injected) >= 3, "claims reached it"
        profile = [one.id for one in block.parts.profile]
        assert profile, "claims reached the stable part too"
        assert all(f"- [{handle_of(one)}] " in block.stable for one in profile)
        for one in block.injected:
            stored = [event for event in memory.history(one).changes if event.memory == one]
            assert stored, f"{one} is of no event"
            for turn in memory.get(one).source_turns:
                assert memory.get(turn).memory, f"{one} names turn {turn}, which is not there"
            origins = {node.id: node.events for node in memory.provenance(one).provenance.nodes}
            assert origins.get(one), f"{one} comes from no event"


@pytest.mark.parametrize("reader", READERS)
def test_evidence_source_delete_reaches_derived(doors: Doors, reader: Reads) -> None:
    """A source with all that was made of it is deleted: each kind is looked at by itself, and a sibling keeps all of its."""
    owner = doors.owner()
    doors.say("http", owner, "I live in Lisbon.", "I own a canoe.", "I love jazz.", session="s")
    doors.extract(owner, reader)
    doors.jobs(owner)
    [turn] = [one for one, text in doors.memories(owner).items() if text == "I live in Lisbon."]
    doors.delete(owner, turn)
    places = doors.told(owner, ASKED)
    assert silent_about(places, ["lisbon"]) == []
    memories = doors.memories(owner)
    assert [text for text in memories.values() if "canoe" in text]
    kept = {name: text for name, text in places.items() if "canoe" in text}
    assert {"http search normal", "http context", "mcp search"} <= set(kept), "a sibling keeps its own"
    if reader == "rules":
        assert "jazz" in places["http facts"], "its triples too"


def test_evidence_rebuild_from_retained(tmp_path: Path) -> None:
    """Facts of random tokens; every projection is dropped and made anew: the block holds the tokens."""
    chance = Random(14)
    tokens = ["".join(chance.choices("bcdfghjklmnprstvz", k=9)) for _ in range(4)]
    with doors(tmp_path / "store") as opened:
        owner = opened.owner()
        for token in tokens[:2]:
            opened.remember("http", owner, f"The code name of the project is {token}")
        opened.say("http", owner, *(f"The code name of the boat is {token}." for token in tokens[2:]))
        asked = "what is the code name of the project and of the boat"
        before = opened.told(owner, asked)
    assert rebuilt(tmp_path / "store")["memories"] == 4
    with doors(tmp_path / "store") as restarted:
        for told in (before, restarted.told(owner, asked)):
            assert [token for token in tokens if token not in told["http context"]] == []
