"""Laws of deleting and restoring: what stands depends on which turns are deleted, not on the order in which that came about."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.projections.memory.deletion import DeletionCascade
from tests.given.events import Told, created, deleted, restored
from tests.given.views import viewed

TURNS = ("t0", "t1", "t2", "t3")
WORDS = ("tea", "kiln", "harp", "moss")
SOURCES = st.lists(st.sampled_from(TURNS), min_size=1, max_size=3, unique=True)


@st.composite
def stories(draw: st.DrawFn) -> list[Told]:
    """Four turns of a word or two each, and what was made of some of them."""
    story = [
        created(" ".join(draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=2))), turn, kind="episode",
                tier="fact", source_turns=(turn,))
        for turn in TURNS
    ]  # fmt: skip
    for number in range(draw(st.integers(0, 4))):
        kind: dict[str, Any] = draw(st.sampled_from([{}, {"kind": "episode", "tier": "episode"}]))
        source = "system" if kind else "judge"
        turns = tuple(draw(SOURCES))
        story.append(
            created(draw(st.sampled_from(WORDS)), f"m{number}", 1, "judge", source=source, source_turns=turns, **kind)
        )
    return story


class Owner:
    """An owner whose turns are deleted and restored as the verbs do it."""

    def __init__(self, story: list[Told]) -> None:
        self._events = list(story)
        self._along: set[str] = set()

    def toggle(self, turn: str) -> None:
        """Delete the turn, or restore it."""
        view = viewed(*self._events)
        retracting = DeletionCascade(view.columns)
        memory = view.get(turn)
        assert memory is not None
        day = len(self._events)
        if memory.deleted_at is None:
            found = [one.id for one in retracting.take(turn).also]
            self._along.update(found)
            self._events += [deleted(one, day) for one in (turn, *found)]
        else:
            back, _ = retracting.returning(turn, sorted(self._along))
            self._along.difference_update(back)
            self._events += [restored(one, day) for one in (turn, *back)]

    @property
    def standing(self) -> set[str]:
        return {one.id for one in viewed(*self._events).columns if one.deleted_at is None}


@given(stories(), st.lists(st.sampled_from(TURNS), max_size=6))
def test_what_stands_depends_on_the_deleted_turns_alone(story: list[Told], steps: list[str]) -> None:
    owner, anew = Owner(story), Owner(story)
    for turn in steps:
        owner.toggle(turn)
    for turn in TURNS:
        if steps.count(turn) % 2:
            anew.toggle(turn)
    everything = {one.data.memory_id for one in story}
    untold = {one for one in everything if one.startswith("m")} - owner.standing
    assert owner.standing <= everything
    assert {one for one in owner.standing if one in TURNS} == {one for one in anew.standing if one in TURNS}
    assert untold == {one for one in everything if one.startswith("m")} - anew.standing


@given(stories(), st.permutations(TURNS), st.integers(1, 4))
def test_nothing_that_stands_says_a_word_that_only_deleted_turns_say(
    story: list[Told], order: list[str], count: int
) -> None:
    """Of memories that were made of a deleted turn: others never had it from there."""
    owner = Owner(story)
    for turn in order[:count]:
        owner.toggle(turn)
    said = {one.data.memory_id: set(one.data.content.split()) for one in story}
    gone = set(order[:count])
    for one in story:
        turns = set(one.data.source_turns)
        if one.data.memory_id in owner.standing and one.data.memory_id not in TURNS and turns & gone:
            told = set().union(*(said[turn] for turn in turns & gone))
            kept = set().union(*(said[turn] for turn in turns - gone))
            assert not (said[one.data.memory_id] & told) - kept
