"""Patterns of what was said on several days: made, proposed, followed, and never again where a person would not have them."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from engramlog_server.events.catalogue import FactAsserted, FactRetracted, MemoryCreated
from engramlog_server.projections.lifecycle import Decision, plan
from engramlog_server.projections.lifecycle.patterns import LEAST, MOST_PROPOSED
from engramlog_server.projections.memory.columns import Columns, state_of
from engramlog_server.projections.memory.kind import is_pattern
from engramlog_server.projections.memory.record import DAY, Memory
from engramlog_server.projections.views.query import leaving, pattern_told, seen_at
from engramlog_server.projections.views.view import OwnerView
from tests.given.events import (
    Story,
    Told,
    at,
    brought_back,
    created,
    deleted,
    in_conflict,
    in_session,
    memory,
    mentioned,
    negated,
    rejected,
    set_aside,
)
from tests.given.views import viewed
from tests.rows import each_row

DAYS = (0, 3, 9)


def view_of(story: Story) -> OwnerView:
    return viewed(*story.events)


def planned(story: Story, day: float = 20) -> list[Decision]:
    return plan(view_of(story), at(day), ("abstract",))


def carried_out(story: Story, day: float = 20) -> Story:
    """The story with what the job decides, as the store would take it in: with how far its word goes."""
    decided = planned(story, day)
    days = [day if one.said_at is None else (one.said_at - at(0)) / DAY for one in decided]
    return story.given(
        *(
            Told(one.data, when, "system", {"trust": one.trust} if one.trust else {})
            for one, when in zip(decided, days, strict=True)
        )
    )


def said(
    thing: str, of: str, day: float, *, predicate: str = "went to", subject: str = "Ada", **extra: Any
) -> list[Told]:
    """A memory of the user's and the triple that it backs."""
    text = extra.pop("text", f"{subject} {predicate} {thing} (said on day {day:g})")
    fact = FactAsserted(
        subject=subject,
        predicate=predicate,
        object=thing,
        evidence=(of,),
        negation=extra.pop("negation", False),
        condition=extra.pop("condition", None),
    )
    return [created(text, of, day, **({"category": "fact"} | extra)), Told(fact, day, "judge")]


def told_thrice(thing: str = "the park", **extra: Any) -> Story:
    return memory.given(*(one for n, day in enumerate(DAYS) for one in said(thing, f"m{n}", day, **extra)))


PARK = told_thrice()


def patterns(story: Story) -> list[Memory]:
    return [one for one in view_of(story).columns if is_pattern(one)]


def test_the_same_thing_said_on_three_days_is_a_pattern_with_its_evidence() -> None:
    (one,) = planned(PARK)
    assert (one.action, one.trust, one.data.summarises) == ("abstract", "inferred", ("m0", "m1", "m2"))  # type: ignore[union-attr]
    assert one.data.content == "Ada went to the park: told on 3 days, 2024-01-01 to 2024-01-10"  # type: ignore[union-attr]
    assert one.reason == "3 memories of 3 days say the same"
    (made,) = patterns(carried_out(PARK))
    assert (made.kind, made.source, made.created_at, state_of(made)) == ("pattern", "system", at(9), Columns.LIVE)


@each_row(
    "story",
    [
        memory.given(*said("the park", "a", 0), *said("the park", "b", 3)),
        memory.given(*(one for n in range(5) for one in said("the park", f"m{n}", 0.01 * n))),
        told_thrice(category="identity"),
        told_thrice(source="assistant"),
        told_thrice(sensitivity=2),
        told_thrice(tier="core"),
        memory.given(*said("the park", "a", 0), *said("the lake", "b", 3), *said("the zoo", "c", 9)),
        memory.given(*said("the park", "a", 0), *said("the park", "b", 3, subject="Bob"), *said("the park", "c", 9)),
    ],
    ids=("two", "one day", "identity", "assistant", "sensitive", "core", "other things", "another"),
)
def test_what_is_less_than_that_is_no_pattern(story: Story) -> None:
    assert planned(story) == []


def test_running_again_does_nothing_and_a_later_telling_does_not_make_another() -> None:
    after = carried_out(PARK)
    assert planned(after) == []
    assert planned(after.given(*said("the park", "m3", 12))) == []


def test_things_that_share_a_word_are_proposed_and_shown_in_no_normal_answer() -> None:
    story = memory.given(
        *said("a pottery class", "a", 0), *said("the pottery workshop", "b", 3), *said("a pottery fair", "c", 9)
    )
    (one,) = planned(story)
    assert (one.trust, one.reason) == ("proposed", "3 memories of 3 days share a word: pottery")
    after = carried_out(story)
    (made,) = patterns(after)
    assert (state_of(made), made.trust) == (Columns.PROPOSED, 0)
    view = view_of(after)
    assert not seen_at(view, at(20), "normal").shown[view.columns.row(made.id)]  # type: ignore[index]
    assert planned(after) == []


def test_at_most_twenty_proposals_wait() -> None:
    names = [f"{a}{b}ling" for a in "bdfghklmnprst" for b in "aeiou"][: MOST_PROPOSED + 5]
    things = [(name, n, kind) for name in names for n, kind in enumerate(("club", "match", "school"))]
    story = memory.given(*(one for name, n, kind in things for one in said(f"a {name} {kind}", f"{name}{n}", DAYS[n])))
    assert sum(one.trust == "proposed" for one in planned(story)) == MOST_PROPOSED
    assert planned(carried_out(story)) == []


def test_wishes_and_what_somebody_is_share_no_word_that_counts() -> None:
    for predicate in ("wants to", "is trying to", "is"):
        story = memory.given(
            *said("visit a pottery class", "a", 0, predicate=predicate),
            *said("open a pottery shop", "b", 3, predicate=predicate),
            *said("join a pottery fair", "c", 9, predicate=predicate),
        )
        assert planned(story) == []


def test_a_taking_back_hides_it_at_once_and_the_next_run_takes_it_away() -> None:
    after = carried_out(PARK).given(negated("m1", day=15, resolution="latest_wins"))
    view = view_of(after)
    (made,) = patterns(after)
    row = view.columns.row(made.id)
    assert row is not None
    assert leaving(view, [row]).tolist() == [row]
    assert not seen_at(view, at(20), "normal").shown[row]
    assert seen_at(view, at(20), "review").shown[row]
    (gone,) = planned(after)
    assert (gone.action, gone.ids, gone.reason) == ("delete", (made.id,), "3 of 3 pieces of evidence no longer stand")
    assert planned(carried_out(after)) == []  # what was said before it was taken back makes no new one


def test_the_reverse_said_later_ends_what_was_said_before() -> None:
    denied = said("the park", "no", 12, negation=True)
    assert planned(PARK.given(*denied)) == []
    assert len(planned(PARK.given(*said("the park", "no", -3, negation=True)))) == 1


def test_a_retracted_triple_takes_it_away_too() -> None:
    gone = Told(FactRetracted(subject="Ada", predicate="went to", object="the park", evidence=("m1",)), 15, "judge")
    after = carried_out(PARK).given(gone)
    assert [one.action for one in planned(after)] == ["delete"]
    assert planned(carried_out(after)) == []


def test_what_a_person_would_not_have_is_not_made_again() -> None:
    after = carried_out(PARK)
    (made,) = patterns(after)
    for no in (deleted(made.id, day=15), negated(made.id, day=15), rejected(made.content, day=15, of=made.id)):
        assert planned(after.given(no, *said("the park", "m3", 16))) == []


def test_words_that_were_rejected_are_not_made_a_pattern() -> None:
    (one,) = planned(PARK)
    content = one.data.content  # type: ignore[union-attr]
    assert planned(PARK.given(rejected(content, day=15))) == []


def test_what_a_person_accepted_is_his_and_no_job_takes_it_away() -> None:
    after = carried_out(PARK)
    (made,) = patterns(after)
    after = after.given(mentioned(made.id, day=12), negated("m1", day=15, resolution="latest_wins"))
    assert [one.trust for one in patterns(after)] == [3]
    assert planned(after) == []


def test_it_is_set_aside_with_a_piece_and_comes_back_with_it() -> None:
    events = [in_session(one, "s9") if one.day == 3 else one for one in PARK.events]
    after = carried_out(memory.given(*events))
    (made,) = patterns(after.given(set_aside("s9", day=15)))
    assert state_of(made) == Columns.SET_ASIDE
    assert planned(after.given(set_aside("s9", day=15))) == []
    (back,) = patterns(after.given(set_aside("s9", day=15), brought_back("s9", day=16)))
    assert state_of(back) == Columns.LIVE


def test_the_page_of_a_pattern_tells_its_evidence_and_that_of_a_piece_its_patterns() -> None:
    after = carried_out(PARK)
    (made,) = patterns(after)
    view = view_of(after)
    told = pattern_told(view, made)
    assert [one["id"] for one in told["evidence"]] == ["m0", "m1", "m2"]
    assert told["evidence"][0]["memory"] == "Ada went to the park (said on day 0)"
    piece = view.get("m1")
    assert piece is not None
    assert pattern_told(view, piece)["patterns"] == [
        {"id": made.id, "memory": made.content, "status": "live", "created_at": "2024-01-10T08:00:00Z"}
    ]
    assert pattern_told(view_of(PARK), piece) == {}


def test_no_word_of_what_does_not_stand_is_told_on_the_page() -> None:
    after = carried_out(PARK).given(deleted("m1", day=15))
    (made,) = patterns(after)
    told = pattern_told(view_of(after), made)["evidence"]
    assert [(one["memory"] is None, one["status"]) for one in told] == [
        (False, "live"),
        (True, "deleted"),
        (False, "live"),
    ]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(("the park", "a zoo", "公园")), st.integers(0, 12), st.booleans()), max_size=14),
    st.randoms(use_true_random=False),
)
def test_whatever_was_said_in_whatever_order_a_pattern_has_its_days_and_is_made_once(
    tellings: list[tuple[str, int, bool]], random: Any
) -> None:
    things = [said(thing, f"m{n}", day, negation=no) for n, (thing, day, no) in enumerate(tellings)]
    story = memory.given(*(one for each in things for one in each))
    random.shuffle(things)
    other = memory.given(*(one for each in things for one in each))
    made = [one for one in planned(story) if one.action == "abstract"]
    for one in made:
        data = one.data
        assert isinstance(data, MemoryCreated)
        days = {tellings[int(piece[1:])][1] for piece in data.summarises}
        assert len(data.summarises) >= LEAST
        assert len(days) >= LEAST
    assert {frozenset(one.ids) for one in made} == {frozenset(one.ids) for one in planned(other)}
    assert planned(carried_out(story)) == []


def test_evidence_that_went_with_it_makes_a_smaller_one_where_that_is_enough() -> None:
    four = PARK.given(*said("the park", "m3", 12))
    (made,) = patterns(carried_out(four))
    after = carried_out(four).given(deleted("m0", day=15), deleted(made.id, day=15))
    (one,) = planned(after)
    assert one.data.summarises == ("m1", "m2", "m3")  # type: ignore[union-attr]


POTS = ("I just signed up for a pottery class", "I'm a big fan of pottery", "We took a pottery workshop last week")
POTS_CHINESE = ("我最近在学陶艺", "我很喜欢陶艺", "周末做了一个陶艺碗")


def turns(texts: tuple[str, ...], days: tuple[int, ...] = DAYS, **fields: Any) -> Story:
    told = ((f"t{n}", text, day) for n, (text, day) in enumerate(zip(texts, days, strict=True)))
    return memory.given(
        *(created(text, name, day, source_turns=(name,), kind="episode", **fields) for name, text, day in told)
    )


@each_row(
    ("texts", "says"),
    [
        (
            POTS,
            "Ada and pottery: told on 3 days, 2024-01-01 to 2024-01-10: signed up for a pottery class; fan of pottery",
        ),
        (POTS_CHINESE, "Ada与陶艺：3天里说到（2024-01-01至2024-01-10）：学陶艺；喜欢陶艺；做了一个陶艺碗"),
    ],
)
def test_what_turns_say_that_somebody_does_whichever_way_is_proposed(texts, says) -> None:
    [one] = planned(turns(texts, speaker="Ada"))
    assert isinstance(one.data, MemoryCreated)
    assert one.data.content == says
    assert (one.trust, one.data.summarises) == ("proposed", ("t0", "t1", "t2"))
    again = carried_out(turns(texts, speaker="Ada"))
    assert planned(again) == []
    assert [decision.action for decision in planned(again.given(deleted("t1", 15)))] == ["delete"]


def test_turns_and_triples_that_share_one_word_are_proposed_once() -> None:
    likes = [
        one
        for n, thing in enumerate(("pottery", "Greek pottery", "pottery from Delft"))
        for one in said(thing, f"m{n}", 4.0 + n, predicate="likes")
    ]
    [one] = planned(turns((*POTS, "I love pottery"), (0, 3, 9, 10), speaker="Ada").given(*likes))
    assert one.data.summarises == ("t0", "t1", "t2", "t3")  # type: ignore[union-attr]
    likes = [
        one
        for n, thing in enumerate(("陶艺", "希腊陶艺", "日本陶艺"))
        for one in said(thing, f"m{n}", 4.0 + n, predicate="喜欢", subject="用户", text=f"用户喜欢{thing}")
    ]
    [one] = planned(turns((*POTS_CHINESE, "我喜欢陶艺"), (0, 3, 9, 10)).given(*likes))
    assert one.data.summarises == ("t0", "t1", "t2", "t3")  # type: ignore[union-attr]


@each_row(
    ("story",),
    [
        (turns(POTS, (0, 0, 0), speaker="Ada"),),
        (turns((*POTS[:2], "Do I like pottery?"), speaker="Ada"),),
        (turns(POTS, source="assistant"),),
        (turns(tuple(f"I met Ada on a trip, {one}" for one in ("one", "two", "three")), speaker="Ada"),),
    ],
    ids=("one day", "two", "assistant", "her own name"),
)
def test_of_turns_too_less_is_no_pattern(story: Story) -> None:
    assert planned(story) == []


def test_what_may_contradict_another_is_proposed_and_never_made_at_once() -> None:
    doubted = [in_conflict(one, "other", 10) for one in ("a", "b", "c")]
    other = created("other", "other", 9, category="fact")
    went = [
        event
        for thing, of, day in zip(("a concert", "the concert hall", "concert nights"), "abc", DAYS, strict=True)
        for event in said(thing, of, day)
    ]
    same = [
        event for of, day in zip("abc", DAYS, strict=True) for event in said("long walks", of, day, predicate="likes")
    ]
    for story in (went, same):
        assert [one.trust for one in planned(memory.given(*story, other, *doubted))] == ["proposed"]
    assert [one.trust for one in planned(memory.given(*same, other))] == ["inferred"]
