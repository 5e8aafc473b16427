"""rejection.*: what a person rejected is not told again, by whatever way it comes back. Each with its positive control."""

from __future__ import annotations

import pytest

from tests.acceptance.trust.doors import DOORS, READERS, Doors, Reads, Refused, silent_about
from tests.given.http import created, event, mentioned

LISBON, PORTO = "I live in Lisbon.", "I love jazz."


def read(doors: Doors, owner: str, door: str, reader: Reads, *texts: str) -> dict[str, str]:
    """Say it, have it read, and give the statements that normal mode shows: id -> text."""
    doors.say(door, owner, *texts)
    doors.extract(owner, reader)
    return statements(doors, owner)


def statements(doors: Doors, owner: str, mode: str = "normal") -> dict[str, str]:
    found = doors.memories(owner, mode)
    return {one: text for one, text in found.items() if one.startswith("m-")}


def reject(doors: Doors, owner: str, word: str) -> str:
    """A person deletes the one statement with this word, with what says it; its text."""
    [(memory_id, text)] = [(one, text) for one, text in statements(doors, owner).items() if word in text]
    answer = doors.delete(owner, memory_id, with_sources=True)
    assert answer["rejected"] == [memory_id]
    return text


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("reader", READERS)
def test_rejection_reextraction_stays_inactive(doors: Doors, door: str, reader: Reads) -> None:
    owner = doors.owner()
    read(doors, owner, door, reader, f"{LISBON} {PORTO}")
    reject(doors, owner, "Lisbon")
    read(doors, owner, door, reader, f"{LISBON} I own a canoe.")
    said = statements(doors, owner)
    assert not [text for text in said.values() if "Lisbon" in text]
    assert [text for text in said.values() if "canoe" in text], "its other values become memories"


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("reader", READERS)
def test_rejection_no_second_memory_unit(doors: Doors, door: str, reader: Reads) -> None:
    owner = doors.owner()
    read(doors, owner, door, reader, f"{LISBON} {PORTO}")
    text = reject(doors, owner, "Lisbon")
    before = set(statements(doors, owner, "debug"))
    read(doors, owner, door, reader, f"{LISBON} I own a canoe.")
    new = {text for one, text in statements(doors, owner, "debug").items() if one not in before}
    assert text not in new, "collided: no new unit at all"
    assert [one for one in new if "canoe" in one], "what surrounds it is recalled"


@pytest.mark.parametrize("door", DOORS)
def test_rejection_laundering_sequence(doors: Doors, door: str) -> None:
    """Rejected, superseded by another value, restated, corroborated, revised into, merged into: still inactive."""
    owner = doors.owner()
    rejected = doors.remember(door, owner, "I live in Lisbon")
    doors.negate(owner, rejected, never=True, correction="I live in Porto")
    [porto] = [one for one, text in doors.memories(owner).items() if "Porto" in text]
    other = doors.remember(door, owner, "I like the sea in winter")
    doors.negate(owner, porto)
    with pytest.raises(Refused):
        doors.remember(door, owner, "i live in LISBON")
    doors.tell(
        owner,
        created("again", "I live in Lisbon", at="2026-11-20T08:00:00Z"),
        mentioned("again", at="2026-11-20T09:00:00Z"),
        event("MemoryRevised", memory_id=other, content="I live in Lisbon"),
        event("MemoryMerged", sources=[other, porto], into="joined", summary="I live in Lisbon"),
        event("MemoryMentioned", memory_id=rejected, key=2),
    )
    doors.say(door, owner, "I live in Lisbon")
    shown = {**doors.memories(owner), **doors.memories(owner, "review")}
    assert [text for text in shown.values() if "Lisbon" in text] == []
    assert shown[other] == "I like the sea in winter", "a neighbouring value is recalled"
    assert silent_about(doors.told(owner, "where is home"), ["lisbon"]) == []


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    "text",
    [
        "i LIVE in lisbon!!",
        "I  live \t in Lisbon.",
        "I live in L\u0456sbon",
        "\uff29 \uff4cive in Lisbon",
        "I live in Lis\u200bbon",
        "\u2067I live in Lisbon\u2069",
    ],
    ids=["case", "spaces", "look-alike", "width", "invisible", "direction"],
)
def test_rejection_key_normalization_attack(doors: Doors, door: str, text: str) -> None:
    owner = doors.owner()
    doors.delete(owner, doors.remember(door, owner, "I live in Lisbon"))
    with pytest.raises(Refused, match="rejected"):
        doors.remember(door, owner, text)
    assert doors.memories(owner) == {}
    kept = doors.remember(door, owner, "My home is in Lisbon")
    assert set(doors.memories(owner)) == {kept}, "a paraphrase passes, and docs say so"


def test_rejection_survives_ttl_and_prune(doors: Doors) -> None:
    owner = doors.owner()
    doors.tell(
        owner,
        created("lisbon", "I live in Lisbon", at="2024-01-05T08:00:00Z"),
        created("sea", "I like the sea in winter", at="2024-01-05T08:00:00Z"),
    )
    doors.delete(owner, "lisbon", occurred_at="2024-01-06T08:00:00Z")
    doors.jobs(owner)
    doors.tell(owner, created("again", "I live in Lisbon", at="2026-11-20T08:00:00Z"))
    for mode in ("normal", "review"):
        assert not [text for text in doors.memories(owner, mode).values() if "Lisbon" in text]
    assert "sea" in doors.memories(owner, "review"), "one of the same day, unrejected"
    with pytest.raises(Refused):
        doors.remember("http", owner, "I live in Lisbon")
