"""scope.*: what is one owner's is never told to another."""

from __future__ import annotations

import pytest

from tests.acceptance.trust.doors import DOORS, READERS, Doors, Reads, silent_about

SAID = "I keep a hedgehog named Zuleika in the red cabin."


@pytest.mark.parametrize("door", DOORS)
def test_scope_cross_tenant_absent(doors: Doors, door: str) -> None:
    """The best match is another owner's: absent, not merely low."""
    theirs, mine, asked = doors.owner(), doors.owner(), "Who keeps a hedgehog in the red cabin?"
    doors.remember(door, theirs, SAID)
    doors.remember(door, mine, "I keep bees")
    assert silent_about(doors.told(mine, asked), ["Zuleika"]) == []
    found = doors.told(theirs, asked)
    assert [place for place, text in found.items() if "Zuleika" not in text] == ["http facts"], "its owner finds it"


@pytest.mark.parametrize("reader", READERS)
def test_scope_background_respects_boundary(doors: Doors, reader: Reads) -> None:
    """Two owners with overlapping texts, every job run, caches warm: nothing that is derived mixes them."""
    one, other = doors.owner(), doors.owner()
    shared = "I live in Faro."
    doors.say("http", one, shared, "I own a canoe.", session="s")
    doors.say("http", other, shared, "I own a tractor.", session="s")
    for _ in range(2):
        for owner in (one, other):
            doors.extract(owner, reader)
            doors.jobs(owner)
            doors.told(owner, "what do I own")
    for owner, own, foreign in ((one, "canoe", "tractor"), (other, "tractor", "canoe")):
        told = doors.told(owner, "what do I own")
        assert silent_about(told, [foreign]) == []
        assert silent_about(told, [own]), "each still has its own"
        assert own in str(doors.memories(owner))
        assert foreign not in str(doors.memories(owner, "debug"))
