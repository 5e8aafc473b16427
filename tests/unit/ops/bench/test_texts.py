"""The made-up texts have the shape of the talk and answers that they stand for: figures counted once, outside of this project."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from random import Random
from statistics import mean, median
from typing import NamedTuple

import pytest

from events.catalogue import MemoryCreated
from ops.bench.sample import prepared, sample
from ops.bench.texts.sets import SETS, Speak
from projections.language.sensitivity.text_level import detect_sensitivity
from projections.language.text import tokens

COUNT = 1_000


class Shape(NamedTuple):
    """Lengths in letters; of 1,000 letters so many; of 1,000 texts so many."""

    p10: float
    p50: float
    mean: float
    p90: float
    not_ascii: float
    digits: float
    newlines: float
    spaces: float
    tokens: float
    """A 1,000 letters: what the word index keeps."""
    asking: float
    """Texts that end with a question."""
    more_than_public: float


def shape(texts: Sequence[str]) -> Shape:
    lengths, whole = sorted(map(len, texts)), "".join(texts)
    letters = len(whole) / 1_000
    return Shape(
        lengths[len(texts) // 10],
        median(lengths),
        mean(lengths),
        lengths[len(texts) * 9 // 10],
        sum(not one.isascii() for one in whole) / letters,
        sum(map(str.isdigit, whole)) / letters,
        whole.count("\n") / letters,
        whole.count(" ") / letters,
        sum(len(tokens(one)) for one in texts) / letters,
        sum(one.endswith(("?", "\uff1f")) for one in texts) / len(texts) * 1_000,
        sum(detect_sensitivity(one) > 0 for one in texts) / len(texts) * 1_000,
    )


REAL = {
    "talk": Shape(55, 127, 142, 253, 0.2, 0.2, 0.1, 177, 117, 240, 3),
    "answers": Shape(2_261, 3_759, 3_836, 5_318, 0, 11.3, 22.8, 157, 107, 223, 75),
    "chinese": Shape(20, 39, 48, 94, 977, 0.5, 0, 0.3, 1_415, 293, 8),
}
BAND = Shape(0.2, 0.2, 0.2, 0.2, 0.02, 0.3, 0.2, 0.12, 0.25, 0.4, 0.5)
"""How far each may be off, as a share of what was counted."""
SLACK = Shape(4, 4, 4, 4, 3, 1, 0.3, 3, 10, 60, 6)
"""And by how much at most where that is little."""


def said(speak: Speak, seed: int = 1) -> list[str]:
    chance = Random(seed)
    return [speak(chance) for _ in range(COUNT)]


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("seed", [1, 2])
def test_a_set_has_the_shape_of_what_people_say(name: str, seed: int) -> None:
    found, real = shape(said(SETS[name].contents[0], seed)), REAL[name]
    off = {
        field: (round(mine, 2), theirs)
        for field, mine, theirs, band, slack in zip(Shape._fields, found, real, BAND, SLACK, strict=True)
        if abs(mine - theirs) > max(band * theirs, slack)
    }
    assert off == {}


@pytest.mark.parametrize("name", SETS)
def test_the_same_seed_says_the_same_and_nothing_is_said_twice_by_chance(name: str) -> None:
    speak = SETS[name].contents[0]
    assert said(speak, 5) == said(speak, 5)
    assert len(set(said(speak))) > COUNT * 0.7


def test_nothing_is_left_of_the_grammar() -> None:
    for name in ("talk", "chinese", "answers"):
        assert not [one for one in said(SETS[name].contents[0]) if "<^" in one or "\\n" in one]


def test_samples_of_the_same_owners_create_nothing_twice_where_their_ids_differ() -> None:
    cached, more = sample(50, 50, only_created=True), sample(200, 50, seed=7, ids="live")
    made = [[one.data.memory_id for one in events if isinstance(one.data, MemoryCreated)] for events in (cached, more)]
    assert {one.owner for one in cached} == {one.owner for one in more}
    assert made[0]
    assert made[1]
    assert not set(made[0]) & set(made[1])


def test_the_sentences_are_those_that_older_releases_were_measured_on() -> None:
    bodies = b"".join(one.body for one in prepared(sample(3_000, 150)))
    assert sha256(bodies).hexdigest() == "52a4111be0e6cb199ced4c141e651b2b2b3913871f45efc7c42895d04e8e601e"
