"""A rejected value: what states it later becomes no memory, what states it now is withheld, and a person lifts it."""

from __future__ import annotations

from typing import Any

from engramlog_server.events.catalogue import FactAsserted, ValueRejected
from engramlog_server.projections.laws.modes import MODES
from engramlog_server.projections.memory.rejection import MOST_TURNS, MOST_VALUES, turn_hash
from engramlog_server.projections.reports.listing import listing
from engramlog_server.projections.views.query import ViewQuery
from engramlog_server.projections.views.view import OwnerView
from tests.given.events import (
    Told,
    at,
    created,
    deleted,
    folded,
    memory,
    mentioned,
    negated,
    readmitted,
    rejected,
    restored,
    revised,
)
from tests.given.views import viewed
from tests.rows import each_row

LISBON = created("I live in Lisbon", "lisbon", 1, category="identity")
AGAIN = created("I live in Lisbon", "again", 9, category="identity")


def shown(*told: Told, mode: Any = "normal", day: float = 30) -> set[str]:
    return {one["id"] for one in listing(ViewQuery(viewed(*told), at(day), mode), 100, 0)["memories"]}


def withheld(*told: Told, mode: Any = "normal", day: float = 30) -> dict[str, int]:
    found = listing(ViewQuery(viewed(*told), at(day), mode), 100, 0)["withheld"]
    return {one["reason"]: one["count"] for one in found}


def test_a_later_statement_of_a_rejected_value_is_ignored_and_names_where_it_was_rejected() -> None:
    outcome = memory.given(LISBON, deleted("lisbon", 5), rejected("I live in Lisbon", day=5, of="lisbon")).when(AGAIN)
    assert "again" not in outcome.after.memories
    assert [(one["decision"], one["reason"]) for one in outcome.log] == [("ignored", "rejected by 0:3")]


def test_what_states_it_already_is_withheld_with_it_in_normal_and_review_mode_and_told_as_rejected() -> None:
    told = (LISBON, created("i live in lisbon!", "twin", 2), rejected("I live in Lisbon", day=5, of="lisbon"))
    assert (shown(*told), shown(*told, mode="review")) == (set(), set())
    assert withheld(*told) == {"rejected": 2}
    assert shown(*told, mode="debug") == {"lisbon", "twin"}
    found = viewed(*told).get("twin")
    assert found is not None
    assert found.rejected_seq == 3


def test_a_revision_to_a_rejected_value_is_ignored_and_other_changes_of_the_memory_are_not() -> None:
    story = memory.given(created("I live in Porto", day=1), rejected("I live in Lisbon", day=5))
    story.when(revised("I live in Lisbon", day=6)).then(
        content="I live in Porto", decision="ignored", reason="rejected by 0:2"
    )
    story.when(revised("I live in Faro", day=6)).then(content="I live in Faro", decision="revise")


def turn(of: str, text: str, day: float) -> Told:
    return created(text, of, day, kind="episode", tier="fact", source_turns=(of,))


def drawn(of: str, from_turn: str, day: float, text: str = "I live in Lisbon") -> Told:
    return created(text, of, day, actor="judge", source="judge", tier="fact", source_turns=(from_turn,))


def test_a_turn_from_which_it_is_drawn_again_is_withheld_where_nothing_else_that_it_says_stands() -> None:
    told = [rejected("I live in Lisbon", day=5), turn("t1", "You know, Lisbon, that is home.", 9)]
    assert shown(*told) == {"t1"}, "nobody has read it"
    told.append(drawn("m1", "t1", 9))
    assert (shown(*told), shown(*told, mode="review"), withheld(*told)) == (set(), set(), {"rejected": 1})
    more = drawn("m2", "t1", 9, "I own a canoe")
    assert shown(*told, more) == {"t1", "m2"}
    assert shown(*told, more, negated("m2", 10, resolution="latest_wins")) == set()
    assert shown(*told, more, deleted("m2", 10)) == set()
    assert shown(*told, readmitted("I live in Lisbon", day=6)) == {"t1"}


def test_a_turn_that_was_retracted_with_it_is_withheld_where_it_is_told_again_with_what_sums_it_up() -> None:
    """As in a restored copy, which knows the rejection and not the deletions."""
    story = [turn("t1", "Home is where Lisbon is.", 1), drawn("m1", "t1", 1), turn("t2", "I own a canoe", 1)]
    account = {"kind": "episode", "tier": "episode", "source": "system", "source_turns": ("t1", "t2")}
    story.append(created("Home is Lisbon; a canoe.", "episode-1", 2, **account))
    assert shown(*story) == {"t1", "m1", "t2", "episode-1"}
    gone = rejected("I live in Lisbon", day=5, turns=(turn_hash("t1").hex(),))
    assert (shown(*story, gone), shown(*story, gone, mode="review")) == ({"t2"}, {"t2"})
    assert shown(gone, *story) == {"t2"}, "whichever comes first"
    more = drawn("m2", "t1", 9, "I like the sea")
    assert shown(*story, gone, more) == {"t1", "t2", "m2", "episode-1"}, "it says something else that stands"
    assert shown(*story, gone, readmitted("I live in Lisbon", day=6)) == {"t1", "m1", "t2", "episode-1"}


def test_two_people_may_say_the_same_of_themselves() -> None:
    told = (created("I like tea", "a", 1, speaker="Ann"), created("I like tea", "b", 2, speaker="Bob"))
    assert shown(*told, negated("a", 5, resolution="latest_wins"), day=6) == {"b"}


def test_of_the_turns_that_say_it_none_that_is_kept_comes_back_and_one_more_is_told() -> None:
    said = range(MOST_TURNS + 1)
    told = [rejected("I live in Lisbon", day=5), *(drawn(f"m{number}", f"t{number}", 9) for number in said)]
    done = folded(*told)
    [one] = done.owner.rejections
    assert one.turn_hashes == tuple(turn_hash(f"t{number}") for number in said[:-1])
    assert [entry.reason for entry in done.entries if not entry.memory_id][1:] == [
        "256 turns are known to say it already, the most: this one is not withheld"
    ]


def lives(of: str, day: float, predicate: str = "lives in", place: str = "Lisbon") -> Told:
    return Told(FactAsserted(subject="User", predicate=predicate, object=place, evidence=(of,)), day, "judge")


def test_another_wording_with_the_same_one_triple_is_withheld_with_it() -> None:
    view = viewed(LISBON, lives("lisbon", 1))
    fact = view.columns.memories[0].facts[0]
    values = {"values": (view.columns.memories[0].stated.hex(), fact.stated.hex())}
    gone = Told(ValueRejected(rules=1, memory_id="lisbon", **values), 5)
    told = (LISBON, lives("lisbon", 1), gone, created("Home is Lisbon", "other", 9), lives("other", 9))
    assert shown(*told) == set()
    more = created("Home is Lisbon, work is Faro", "both", 9)
    work = lives("both", 9, "works in", "Faro")
    told = (LISBON, lives("lisbon", 1), gone, more, lives("both", 9), work)
    assert shown(*told) == {"both"}
    found = viewed(*told)
    assert [(one.predicate, one.backing) for one in found.graph.triples] == [("works in", ("both",))]


def test_a_person_takes_it_up_again_and_what_was_withheld_is_there() -> None:
    told = (LISBON, rejected("I live in Lisbon", day=5), readmitted("I live in Lisbon", day=6))
    assert shown(*told) == {"lisbon"}
    assert shown(*told, AGAIN) == {"lisbon", "again"}
    assert shown(LISBON, readmitted("I live in Lisbon", day=4), rejected("I live in Lisbon", day=5)) == set()


def test_a_rejection_that_does_not_fit_is_told_and_changes_nothing() -> None:
    full = [
        rejected(*(f"value {number}" for number in range(start, start + 25))) for start in range(0, MOST_VALUES, 25)
    ]
    outcome = memory.given(created(day=1), *full).when(rejected("I like coffee", day=9, of="m"))
    [entry] = outcome.log
    assert (entry["memory"], entry["decision"]) == ("m", "ignored")
    assert "1,000 values are rejected or readmitted already" in entry["reason"]
    assert outcome.after.memories["m"] == outcome.before.memories["m"]


def test_the_memory_that_was_meant_is_told_and_without_one_the_owner_is() -> None:
    outcome = memory.given(created(day=1)).when(rejected("I like coffee", day=2, of="m"), rejected("Cats purr", day=2))
    assert [(one["memory"], one["decision"]) for one in outcome.log] == [("m", "reject"), (None, "reject")]
    assert outcome.after.memories["m"] == outcome.before.memories["m"]


# --- twins: what was negated is not told by another that says the same


def test_a_twin_names_what_holds_now_and_is_what_it_was_once_the_user_says_it_again() -> None:
    told = (LISBON, created("I live in Lisbon", "twin", 2, category="identity"))
    told = (
        *told,
        created("I live in Porto", "porto", 5, category="identity"),
        negated("lisbon", 5, replaced_by="porto"),
    )
    twin = viewed(*told).get("twin")
    assert twin is not None
    assert (twin.negated_at, twin.resolution, twin.superseded_by) == (at(5), "latest_wins", "porto")
    assert shown(*told) == {"porto"}
    again = (*told, mentioned("lisbon", 9))
    back = viewed(*again).get("twin")
    assert back is not None
    assert back == folded(*again).memories["twin"]


@each_row("mode", MODES)
def test_a_view_that_follows_reads_as_one_that_is_loaded(mode: Any) -> None:
    events = [
        LISBON,
        created("I live in lisbon", "twin", 2, category="identity"),
        lives("lisbon", 2),
        created("I live in Porto", "porto", 4, category="identity"),
        negated("lisbon", 5, replaced_by="porto"),
        created("Home is Lisbon", "home", 3),
        lives("home", 3),
        rejected("I live in Porto", day=6),
        revised("I live in Faro", of="porto", day=7),
        mentioned("twin", 8),
        readmitted("I live in Porto", day=9),
        rejected("I live in Faro", day=10),
        deleted("porto", 11),
        restored("porto", 12),
    ]
    following: OwnerView | None = None
    for count in range(1, len(events) + 1):
        now = folded(*events[:count])
        if following is None:
            following = OwnerView.of_history("ada", now)
        else:
            before = folded(*events[: count - 1]).memories
            following.follow(now.owner, [one for name, one in now.memories.items() if before.get(name) != one])
        loaded = OwnerView.of_history("ada", now)
        assert {one.id: one for one in following.columns} == {one.id: one for one in loaded.columns}
        asked = [ViewQuery(view, at(13), mode) for view in (following, loaded)]
        assert listing(asked[0], 100, 0) == listing(asked[1], 100, 0)


def test_what_he_said_before_a_newer_rejection_waits_no_more() -> None:
    again = created("I live in Lisbon", "again", 6)
    first = rejected("I live in Lisbon", day=5)
    assert folded(LISBON, first, again).owner.waiting == 1
    assert folded(LISBON, first, again, rejected("I live in Lisbon", day=7)).owner.waiting == 0
    lifted = (readmitted("I live in Lisbon", day=7), rejected("I live in Lisbon", day=8))
    assert folded(LISBON, first, again, *lifted).owner.waiting == 0


def test_of_what_was_read_the_first_waits_and_his_own_word_takes_its_place() -> None:
    first = rejected("I live in Lisbon", day=5)
    read = [
        created("I live in Lisbon", f"r{n}", 6 + n, actor="judge", source="judge", source_turns=(f"t{n}",))
        for n in range(2)
    ]
    one = folded(LISBON, first, *read[:1]).owner.rejections
    assert folded(LISBON, first, *read).owner.rejections[0].again == one[0].again
    own = folded(LISBON, first, *read, created("I live in Lisbon", "own", 9)).owner.rejections
    assert own[0].again not in (b"", one[0].again)
