"""Suggestions by meaning: what is near is proposed to a person, and nothing is done before he says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from engramlog_server.events.catalogue import MemoriesLinked, MemoryCreated, MemoryDeleted, MemoryMerged, SensitivitySet
from engramlog_server.events.errors import InputError, NotFound
from engramlog_server.projections.decide.merge import done_as_suggested, merge_suggested
from engramlog_server.projections.embedding.meaning import KnownVectors
from engramlog_server.projections.lifecycle import Decision, plan, suggestion
from engramlog_server.projections.lifecycle.suggestion import MOST_NAMED, MOST_WAITING
from engramlog_server.projections.memory.columns import Columns, state_of
from engramlog_server.projections.views.view import OwnerView
from tests.given.events import Story, Told, at, created, deleted, memory, negated, revised
from tests.given.views import viewed
from tests.rows import each_row

PLAIN = ("User likes old maps", "User drives a van", "User reads at night", "User has two cats")
SHORT, FULL = "User is using SQLite", "User is using Python and SQLite"
SIGNED, KEEN = "Ada signed up for a pottery class", "Ada is a big fan of pottery"
Near = Mapping[str, Sequence[float]]


def vectors_of(view: OwnerView, near: Near, floor: float = 0.0) -> KnownVectors:
    """Vectors by content: those that are named, and each other at a right angle to all; all share a part as large as `floor`."""
    rows = list(view.columns)
    wholes = np.zeros((len(rows), len(rows) + 9), np.float32)
    for at_row, one in enumerate(rows):
        wholes[at_row, at_row + 8] = 1.0
        if one.content in near:
            wholes[at_row] = 0.0
            wholes[at_row, : len(near[one.content])] = near[one.content]
    wholes[:, -1] += floor
    wholes /= np.linalg.norm(wholes, axis=1, keepdims=True)
    return KnownVectors(wholes, np.ones(len(rows), dtype=bool))


SAME: Near = {SHORT: (1.0, 0.2), FULL: (1.0, 0.0)}
BESIDE: Near = {SIGNED: (1.0, 0.3), KEEN: (1.0, 0.0)}


def told(*texts: str, **fields: Any) -> Story:
    return memory.given(*(created(text, f"m{n}", n, **fields) for n, text in enumerate((*texts, *PLAIN))))


def view_of(story: Story, near: Near | None = None, floor: float = 0.0) -> OwnerView:
    view = viewed(*story.events)
    view.vectors_today = None if near is None else vectors_of(view, near, floor)
    return view


def planned(story: Story, near: Near | None, day: float = 30, floor: float = 0.0) -> list[Decision]:
    return plan(view_of(story, near, floor), at(day), ("suggest",))


def carried_out(story: Story, near: Near | None, day: float = 30) -> Story:
    """The story with what the job decides, as the store would take it in."""
    told_by_it = (
        Told(one.data, day, "system", {"trust": one.trust} if one.trust else {}) for one in planned(story, near, day)
    )
    return story.given(*told_by_it)


def suggestion_in(story: Story) -> str:
    (found,) = (one.id for one in viewed(*story.events).columns if one.kind == "suggestion")
    return found


@each_row(
    ("a", "b", "kind", "says"),
    [
        (SHORT, FULL, "merge", f'"{SHORT}" and "{FULL}" seem to say the same'),
        (SIGNED, KEEN, "link", f'"{SIGNED}" and "{KEEN}" seem to belong together'),
        ("用户会弹吉他", "用户会弹吉他和钢琴", "merge", "「用户会弹吉他」和「用户会弹吉他和钢琴」说的似乎是同一件事"),
    ],
)
def test_what_is_near_is_proposed_and_named(a: str, b: str, kind: str, says: str) -> None:
    story = told(a, b)
    near = {a: (1.0, 0.2), b: (1.0, 0.0)}
    [one] = planned(story, near)
    assert isinstance(one.data, MemoryCreated)
    assert (one.trust, one.data.content, one.data.summarises) == ("proposed", says, ("m0", "m1"))
    assert one.data.memory_id.startswith(f"suggestion-{kind}.")
    after = viewed(*carried_out(story, near).events)
    known = after.get(one.data.memory_id)
    assert known is not None
    assert state_of(known) == Columns.PROPOSED
    assert all(state_of(after.get(name)) == Columns.LIVE and not after.get(name).waiting for name in ("m0", "m1"))  # type: ignore[arg-type, union-attr]


@each_row("floor", [0.0, 3.0])
def test_a_model_whose_vectors_share_a_large_part_finds_the_same(floor: float) -> None:
    story = told(SHORT, FULL)
    assert [one.ids[1:] for one in planned(story, SAME, floor=floor)] == [("m0", "m1")]


@each_row(
    ("a", "b"),
    [
        pytest.param("User likes tea", "User dislikes tea", id="one denies the other"),
        pytest.param("User has 2 dogs", "User has 3 dogs and a cat", id="numbers differ"),
        pytest.param("User paints", "Ada loves swimming in lakes", id="no word in common"),
        pytest.param("User likes green tea.", "User likes green tea", id="the same by rule"),
        pytest.param("User likes green tea in the evening", "User likes black tea in the evening", id="linked by rule"),
    ],
)
def test_what_is_near_and_no_more_is_not(a: str, b: str) -> None:
    assert planned(told(a, b), {a: (1.0, 0.2), b: (1.0, 0.0)}) == []


@each_row(
    "change",
    [
        pytest.param(created("My password is hunter2-hunter2", "m1", 1), id="a secret"),
        pytest.param(created(FULL, "m1", 1, sensitivity=2), id="sensitive"),
        pytest.param(created(FULL, "m1", 1, source_turns=("m1",), kind="episode"), id="a turn"),
        pytest.param(created(FULL, "m1", 1, project="other"), id="another project, as a merge"),
    ],
)
def test_what_a_person_is_not_asked_about(change: Told) -> None:
    story = memory.given(created(SHORT, "m0", 0), change, *(created(text, f"n{n}", n) for n, text in enumerate(PLAIN)))
    near = {**SAME, getattr(change.data, "content", ""): (1.0, 0.0)}
    assert all(not one.ids[0].startswith("suggestion-merge") for one in planned(story, near))


def test_it_is_made_once_and_not_again_once_a_person_rejected_it() -> None:
    story = carried_out(told(SHORT, FULL), SAME)
    assert planned(story, SAME) == []
    gone = story.given(deleted(suggestion_in(story), 31))
    assert planned(gone, SAME) == []


@each_row("event", [negated("m0", 31), revised("User is using MySQL", "m0", 31)])
def test_it_goes_where_one_of_the_two_no_longer_stands_as_it_was(event: Told) -> None:
    story = carried_out(told(SHORT, FULL), SAME).given(event)
    [gone] = planned(story, None, 32)
    assert isinstance(gone.data, MemoryDeleted)
    assert (gone.data.memory_id, gone.data.policy) == (suggestion_in(story), "auto_cleanup")


def test_twenty_wait_at_most_the_nearest_first() -> None:
    texts = [
        text for n in range(MOST_WAITING + 5) for text in (f"Ada uses tool{n}x", f"Ada uses tool{n}x and glue{n}x")
    ]
    story = memory.given(*(created(text, f"m{n}", n % 9) for n, text in enumerate(texts)))
    view = viewed(*story.events)
    wholes = np.zeros((len(texts), 60), np.float32)
    for n in range(MOST_WAITING + 5):
        wholes[2 * n, n] = wholes[2 * n + 1, n] = 1.0
        wholes[2 * n + 1, 59] = 0.02 * (n + 1)
    wholes /= np.linalg.norm(wholes, axis=1, keepdims=True)
    view.vectors_today = KnownVectors(wholes, np.ones(len(texts), dtype=bool))
    decided = plan(view, at(30), ("suggest",))
    assert len(decided) == MOST_WAITING
    assert [one.ids[1:] for one in decided[:2]] == [("m0", "m1"), ("m2", "m3")]


def test_an_accepted_merge_is_one_by_the_person_and_takes_the_suggestion_away() -> None:
    story = carried_out(told(SHORT, FULL), SAME)
    view = viewed(*story.events)
    said = done_as_suggested(view.get, suggestion_in(story), "yes")
    merged = next(one for one in said if isinstance(one, MemoryMerged))
    assert (set(merged.sources), merged.summary) == ({"m0", "m1"}, FULL)
    assert merge_suggested(view.get, suggestion_in(story)) == FULL
    after = viewed(*story.given(*(Told(one, 33, "user") for one in said)).events)
    assert {one: state_of(after.get(one)) for one in ("m0", "m1", suggestion_in(story), merged.into)} == {  # type: ignore[arg-type]
        "m0": Columns.MERGED,
        "m1": Columns.MERGED,
        suggestion_in(story): Columns.DELETED,
        merged.into: Columns.LIVE,
    }


def test_an_accepted_link_is_an_association_as_strong_as_they_are_near() -> None:
    story = carried_out(told(SIGNED, KEEN), BESIDE)
    view = viewed(*story.events)
    said = done_as_suggested(view.get, suggestion_in(story), "yes")
    link = next(one for one in said if isinstance(one, MemoriesLinked))
    assert (link.a, link.b, link.link) == ("m0", "m1", "semantic")
    assert 0.6 <= link.weight <= 1
    after = viewed(*story.given(*(Told(one, 33, "user") for one in said)).events)
    assert [(edge.to, edge.link) for edge in after.get("m0").edges] == [("m1", "semantic")]  # type: ignore[union-attr]
    with pytest.raises(InputError):
        done_as_suggested(view.get, suggestion_in(story), "", "in words")


def test_one_of_the_two_is_gone_and_it_can_only_be_rejected() -> None:
    story = carried_out(told(SHORT, FULL), SAME).given(negated("m1", 32))
    gone = story.given(deleted("m1", 33))
    with pytest.raises(NotFound):
        done_as_suggested(viewed(*gone.events).get, suggestion_in(story), "")
    assert done_as_suggested(viewed(*gone.events).get, "m0", "") == ()


ASKED = (
    "How can I reset the router at home?",
    "Is there a way to restart the wifi router?",
    "Which button resets my home router?",
)


def asked(*texts: str, source: str = "user") -> Story:
    turns = (
        created(text, f"t{n}", n, source_turns=(f"t{n}",), kind="episode", source=source)
        for n, text in enumerate(texts)
    )
    return memory.given(*turns, *(created(text, f"m{n}", n) for n, text in enumerate(PLAIN)))


ALIKE_ASKED: Near = {text: (1.0, 0.1 * n) for n, text in enumerate(ASKED)}


def test_what_is_asked_three_times_in_other_words_is_proposed_once() -> None:
    story = asked(*ASKED)
    [one] = planned(story, ALIKE_ASKED)
    assert isinstance(one.data, MemoryCreated)
    assert (one.trust, one.data.kind, one.data.summarises) == ("proposed", "question", ("t0", "t1", "t2"))
    assert one.data.content == f"User has asked several times: {ASKED[0]}"
    after = carried_out(story, ALIKE_ASKED)
    assert planned(after, ALIKE_ASKED) == []
    rejected = after.given(deleted(one.data.memory_id, 31))
    assert planned(rejected, ALIKE_ASKED) == []


@each_row(
    "texts",
    [
        pytest.param(ASKED[:2], id="twice"),
        pytest.param((ASKED[0],) * 3, id="in the same words: the judge counts them"),
        pytest.param(
            ("How much iron is in tofu?", "How much salt is in tofu?", "How much iron is in rice?"), id="other things"
        ),
        pytest.param(("豆腐里有多少铁？", "豆腐里有多少蛋白质？", "扁豆里有多少铁？"), id="other things, Chinese"),
        pytest.param(("How are you today?", "How do you do?", "Hey, how is it going?"), id="greetings"),
        pytest.param(tuple(f"{text} " + "I moved house and all is new here. " * 3 for text in ASKED), id="told beside"),
    ],
)
def test_what_was_not_asked_three_times_in_other_words_is_not(texts: tuple[str, ...]) -> None:
    assert planned(asked(*texts), {text: (1.0, 0.1 * n) for n, text in enumerate(texts)}) == []


def test_of_the_questions_that_are_read_the_newest_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suggestion, "MOST_QUESTIONS", 3)
    assert len(planned(asked("Which shop sells wool socks?", *ASKED), ALIKE_ASKED)) == 1
    view = view_of(asked(*ASKED, "I went to town", "Which shop sells wool socks?"), ALIKE_ASKED)
    assert plan(view, at(30), ("suggest",)) == []
    assert view.compared_today is not None
    told_of_turns = view.compared_today.told()["turns"]
    assert told_of_turns == {"compared": 4, "without_vector": 0, "unread": 0, "older": 1}, "the oldest was not reached"


def test_where_as_many_wait_as_may_nothing_is_compared_and_this_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suggestion, "MOST_WAITING", 1)
    view = view_of(told(SHORT, FULL), SAME)
    assert len(plan(view, at(30), ("suggest",))) == 1
    assert view.compared_today is not None
    found = (view.compared_today.full, view.compared_today.told()["statements"]["compared"])
    assert found == (False, 6), "there was room for all that was found"
    view = view_of(
        told(SHORT, FULL, SIGNED, KEEN), {SHORT: (1.0, 0.2), FULL: (1.0,), SIGNED: (0, 0, 1.0, 0.3), KEEN: (0, 0, 1.0)}
    )
    assert len(plan(view, at(30), ("suggest",))) == 1
    assert view.compared_today is not None
    assert view.compared_today.full
    view = view_of(carried_out(told(SHORT, FULL), SAME), SAME)
    assert plan(view, at(31), ("suggest",)) == []
    assert view.compared_today is not None
    assert (view.compared_today.full, view.compared_today.told()["statements"]["compared"]) == (True, 0)


def test_a_merge_with_what_became_secret_says_nothing_and_is_not_done() -> None:
    story = carried_out(told(SHORT, FULL), SAME)
    story = story.given(Told(SensitivitySet(memory_id="m1", level=3, reason="his"), 31, "user"))
    get = viewed(*story.events).get
    assert merge_suggested(get, suggestion_in(story)) is None
    with pytest.raises(NotFound):
        done_as_suggested(get, suggestion_in(story), "yes")


def test_of_many_turns_the_one_whose_words_are_proposed_is_named() -> None:
    [one] = planned(asked(ASKED[0], *(ASKED[1 + n % 2] for n in range(MOST_NAMED + 5))), ALIKE_ASKED)
    assert isinstance(one.data, MemoryCreated)
    assert one.data.content.endswith(ASKED[0])
    assert (one.data.summarises[0], len(one.data.summarises)) == ("t0", MOST_NAMED)


@each_row("event", [deleted("t1", 31), negated("t1", 31)])
def test_what_somebody_keeps_asking_goes_with_a_turn_that_no_longer_stands(event: Told) -> None:
    story = carried_out(asked(*ASKED), ALIKE_ASKED)
    assert planned(story, None, 32) == []
    [gone] = planned(story.given(event), None, 32)
    assert isinstance(gone.data, MemoryDeleted)
    assert gone.data.memory_id.startswith("asked-")
