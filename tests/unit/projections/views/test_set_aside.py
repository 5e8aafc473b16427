"""While a source is set aside nothing of it is told, and what it did to others is undone; brought back, all is as before."""

from __future__ import annotations

from dataclasses import replace

from engramlog_server.projections.memory.columns import triples_of
from engramlog_server.projections.memory.record import MAX_VERSIONS
from engramlog_server.projections.reports.listing import listing
from engramlog_server.projections.views.query import ViewQuery, status
from engramlog_server.projections.views.view import OwnerView
from tests.given.events import (
    Told,
    asserted,
    at,
    brought_back,
    created,
    deleted,
    in_session,
    mentioned,
    merged,
    negated,
    revised,
    set_aside,
)
from tests.given.views import viewed
from tests.rows import each_row

BAD = "s1"
MINE = created("I live in Porto", "mine", 1)


def bad(told: Told) -> Told:
    """The same, said in the session that is set aside."""
    return in_session(told, BAD)


def shown(view: OwnerView, mode: str = "normal") -> dict[str, str]:
    """What a mode shows: id -> words."""
    listed = listing(ViewQuery(view, at(30), mode), 100, 0)  # type: ignore[arg-type]
    return {one["id"]: one["memory"] for one in listed["memories"]}


def turn(of: str, text: str, day: float, session: str | None = BAD) -> Told:
    return in_session(created(text, of, day, source_turns=(of,)), session)


def drawn(of: str, text: str, day: float, *turns: str) -> Told:
    """What a job made of turns."""
    return created(text, of, day, source="judge", source_turns=turns)


def test_what_a_session_said_is_withheld_and_the_others_stay() -> None:
    view = viewed(MINE, bad(created("I live in Rome", "theirs", 2)), set_aside(day=3))
    assert shown(view) == {"mine": "I live in Porto"}
    assert shown(view, "review").keys() == shown(view, "debug").keys() == {"mine", "theirs"}
    told = listing(ViewQuery(view, at(30), "normal"), 10, 0)["withheld"]
    assert told == [{"reason": "set_aside", "count": 1, "shown_by": "review"}]
    theirs = view.get("theirs")
    assert theirs is not None
    assert status(theirs) == "set_aside"


def test_what_it_says_after_it_was_set_aside_is_withheld_too() -> None:
    view = viewed(MINE, set_aside(day=3), bad(created("I live in Rome", "theirs", 9)))
    assert shown(view) == {"mine": "I live in Porto"}


def test_brought_back_all_of_it_stands_again_and_its_idle_time_begins_anew() -> None:
    told = (MINE, bad(created("I live in Rome", "theirs", 2)), set_aside(day=3), brought_back(day=20))
    view = viewed(*told)
    assert shown(view).keys() == {"mine", "theirs"}
    theirs, mine = view.get("theirs"), view.get("mine")
    assert (theirs and theirs.restored_at, mine and mine.restored_at) == (at(20), None)


@each_row(
    ("source", "withheld"),
    [
        ({"session": None, "principal": "agent-7"}, {"theirs"}),
        ({"session": None, "actor": "assistant"}, {"theirs", "spoken"}),
        ({"session": None, "principal": "agent-7", "actor": "user"}, set()),
        ({"session": "s2", "principal": "local"}, {"spoken"}),
    ],
)
def test_a_principal_or_an_actor_is_set_aside_alone_or_with_a_session(
    source: dict[str, str | None], withheld: set[str]
) -> None:
    view = viewed(
        in_session(MINE, "s2", "desk"),
        in_session(created("It rains", "theirs", 2, "assistant"), "s1", "agent-7"),
        in_session(created("It snows", "spoken", 2, "assistant"), "s2", "local"),
        set_aside(day=3, **source),
    )
    assert {"mine", "theirs", "spoken"} - shown(view).keys() == withheld


def test_what_was_drawn_from_its_turns_counts_as_of_it() -> None:
    view = viewed(turn("t1", "I have a cat called Tom", 1), drawn("cat", "User has a cat", 1, "t1"), set_aside(day=3))
    assert shown(view) == {}


def test_what_another_turn_says_too_stands() -> None:
    told = (turn("t1", "I have a cat", 1), turn("t2", "my cat", 2, "s2"), drawn("cat", "User has a cat", 2, "t1", "t2"))
    assert shown(viewed(*told, set_aside(day=3))).keys() == {"t2", "cat"}


def test_what_the_user_says_again_elsewhere_stands() -> None:
    told = (turn("t1", "I have a cat", 1), drawn("cat", "User has a cat", 1, "t1"), turn("t2", "my cat", 2, "s2"))
    again = mentioned("cat", 2, turn_id="t2")
    assert shown(viewed(*told, again, set_aside(day=3))).keys() == {"t2", "cat"}
    assert shown(viewed(*told, again, set_aside("s2", day=3))).keys() == {"t1", "cat"}
    assert shown(viewed(*told, again, set_aside(day=3), set_aside("s2", day=3))) == {}
    by_assistant = mentioned("cat", 2, "assistant", turn_id="t2")
    assert shown(viewed(*told, by_assistant, set_aside(day=3))).keys() == {"t2"}


def test_a_summary_of_several_sources_goes_with_each_of_them() -> None:
    told = (turn("t1", "Rome is lovely", 1), turn("t2", "I bake bread", 2, "s2"))
    summary = created("Rome and bread", "e", 2, "system", source="system", tier="episode", source_turns=("t1", "t2"))
    assert shown(viewed(*told, summary, set_aside(day=3))).keys() == {"t2"}


def test_a_negation_by_it_hides_nothing_meanwhile() -> None:
    told = (
        MINE,
        bad(created("I live in Rome", "theirs", 2)),
        bad(negated("mine", 2, replaced_by="theirs", resolution="latest_wins")),
    )
    assert shown(viewed(*told)).keys() == {"theirs"}
    assert shown(viewed(*told, set_aside(day=3))) == {"mine": "I live in Porto"}
    assert shown(viewed(*told, set_aside(day=3), brought_back(day=4))).keys() == {"theirs"}


def test_a_negation_that_its_turn_led_to_hides_nothing_either() -> None:
    told = (MINE, turn("t1", "I left Porto", 2), negated("mine", 2, turn_id="t1", resolution="latest_wins"))
    assert "mine" not in shown(viewed(*told))
    assert shown(viewed(*told, set_aside(day=3))).keys() == {"mine"}


def test_a_negation_by_somebody_else_stands() -> None:
    told = (MINE, bad(negated("mine", 2, resolution="latest_wins")), negated("mine", 3, resolution="latest_wins"))
    assert shown(viewed(*told, set_aside(day=4))) == {}


def test_what_it_said_again_undoes_no_negation() -> None:
    told = (MINE, negated("mine", 2, resolution="latest_wins"), bad(mentioned("mine", 3)))
    assert shown(viewed(*told)).keys() == {"mine"}
    assert shown(viewed(*told, set_aside(day=4))) == {}
    twin = (*told, bad(created("I live in Porto", "twin", 3)), created("I live in Porto", "other", 1))
    assert shown(viewed(*twin, set_aside(day=4))) == {}


def test_the_user_s_own_mention_without_a_turn_is_not_lost_behind_a_later_one_by_it() -> None:
    told = (MINE, negated("mine", 2, resolution="latest_wins"), mentioned("mine", 3), bad(mentioned("mine", 4)))
    assert shown(viewed(*told, set_aside(day=5))).keys() == {"mine"}


def test_words_by_it_are_not_told_and_those_of_before_are() -> None:
    told = (MINE, bad(revised("I live in Rome", "mine", 2)), bad(revised("I live in Nice", "mine", 3)))
    assert shown(viewed(*told, set_aside(day=4))) == {"mine": "I live in Porto"}
    later = revised("I live in Braga", "mine", 3.5)
    assert shown(viewed(*told, later, set_aside(day=4))) == {"mine": "I live in Braga"}


def test_a_memory_of_which_only_words_by_it_are_kept_is_withheld() -> None:
    many = [bad(revised(f"I live in Rome {number}", "mine", 2)) for number in range(MAX_VERSIONS + 1)]
    assert shown(viewed(MINE, *many, set_aside(day=4))) == {}


def test_what_somebody_else_put_better_stands() -> None:
    told = (bad(created("I live in Rome", "m", 1)), revised("I live in Porto", "m", 2))
    assert shown(viewed(*told, set_aside(day=3))) == {"m": "I live in Porto"}


def test_a_merge_with_its_words_parts_meanwhile() -> None:
    told = (MINE, bad(created("I live in Rome", "theirs", 2)), merged("mine", "theirs", day=3))
    assert shown(viewed(*told)).keys() == {"all"}
    assert shown(viewed(*told, set_aside(day=4))) == {"mine": "I live in Porto"}
    chain = (*told, created("I like it", "more", 3), merged("all", "more", into="whole", day=4))
    assert shown(viewed(*chain, set_aside(day=5))).keys() == {"mine", "more"}


def test_merges_of_merges_however_many_are_read() -> None:
    told = [bad(created("I live in Rome", "m0", 1))]
    for number in range(1, 400):
        told += [
            created("I bake bread", f"n{number}", 1),
            merged(f"m{number - 1}", f"n{number}", into=f"m{number}", day=2),
        ]
    assert len(shown(viewed(*told, set_aside(day=3)))) == 100  # of 399, as many as a page holds


def test_a_triple_that_it_put_beside_another_s_memory_is_not_told() -> None:
    view = viewed(MINE, bad(asserted("mine", day=2)), set_aside(day=3))
    assert triples_of(view.columns) == []
    assert [one.backing for one in triples_of(viewed(MINE, asserted("mine", day=2), set_aside(day=3)).columns)] == [
        ("mine",)
    ]


def test_what_it_deleted_stays_deleted() -> None:
    view = viewed(MINE, bad(deleted("mine", 2)), set_aside(day=3))
    assert shown(view) == {}
    mine = view.get("mine")
    assert mine is not None
    assert mine.deleted_by is not None
    assert mine.deleted_by.session == BAD


def test_a_record_is_as_it_was_folded_whatever_is_set_aside() -> None:
    told = (bad(created("I live in Rome", "theirs", 2)), MINE, bad(negated("mine", 2)))
    before, view = viewed(*told), viewed(*told, set_aside(day=3))
    assert [view.as_folded(one) for one in view.columns] == list(before.columns)


def test_a_turn_that_comes_after_what_was_drawn_from_it_decides_about_it() -> None:
    told = [set_aside(day=0), drawn("cat", "User has a cat", 1, "t1")]
    view = viewed(*told)
    assert shown(view).keys() == {"cat"}
    later = viewed(*told, turn("t1", "I have a cat", 1))
    view.follow(later.state, [one for one in (later.get("t1"),) if one is not None])
    assert shown(view) == shown(later) == {}


def test_setting_aside_changes_no_record_and_names_no_memory() -> None:
    told = replace(set_aside(day=3), actor="operator")
    view = viewed(MINE, told)
    assert shown(view).keys() == {"mine"}
    assert [one.source.session for one in view.state.asides] == [BAD]
