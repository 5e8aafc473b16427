"""Negation, reaffirmation, possible conflicts and links (memory.md, section 4)."""

from __future__ import annotations

from itertools import permutations

from projections.memory.record import FULL, MAX_CONFLICTS, MAX_NEGATIONS, TAG
from tests.given.events import (
    Told,
    asserted,
    at,
    compressed,
    created,
    deleted,
    folded,
    in_conflict,
    linked,
    memory,
    mentioned,
    merged,
    negated,
    purged,
    reinforced,
    restored,
    revised,
    unmerged,
)
from tests.rows import each_row

COFFEE_THEN_TEA = memory.given(created(), created("I like tea", of="tea", day=5, corrects="m"))


@each_row(
    ("category", "resolution"),
    [
        ("identity", "latest_wins"), ("fact", "latest_wins"), ("temporary", "latest_wins"),
        ("stable_preference", "version_keep"), ("short_term_preference", "version_keep"), ("skill", "version_keep"),
    ],
)  # fmt: skip
def test_the_category_tells_the_resolution_where_the_producer_does_not(category: str, resolution: str) -> None:
    memory.given(created(category=category)).when(negated(day=5)).then(
        resolution=resolution, negated_at=at(5), is_superseded=resolution == "latest_wins", valid_to=at(5)
    )


@each_row("resolution", ["latest_wins", "version_keep", "weight_balance"])
@each_row("category", ["identity", "skill"])
def test_the_producer_may_choose_the_resolution(category: str, resolution: str) -> None:
    memory.given(created(category=category)).when(negated(day=5, resolution=resolution)).then(
        resolution=resolution, is_negated=True, is_superseded=resolution == "latest_wins", decision="negate"
    )


def test_a_negation_leaves_the_old_memory_as_old_as_it_was() -> None:
    COFFEE_THEN_TEA.given(mentioned(day=2), compressed("tag", day=4)).when(negated(day=5, replaced_by="tea")).then(
        created_at=at(0),
        updated_at=at(0),
        last_activated_at=at(2),
        last_mentioned_at=at(2),
        mention_count=2,
        level=TAG,
        content="I like coffee",
    )


def test_the_correction_history_tells_when_why_and_what_instead_and_creates_nothing() -> None:
    outcome = COFFEE_THEN_TEA.when(
        negated(day=5, reason="said so", correction="I like tea", replaced_by="tea", turn_id="t")
    )
    (entry,) = outcome.after.memories["m"].negations
    assert (entry.at, entry.reason, entry.new_preference, entry.replaced_by, entry.turn_id, entry.position) == (
        at(5),
        "said so",
        "I like tea",
        "tea",
        "t",
        3,
    )
    assert (set(outcome.after.memories), outcome.decisions) == ({"m", "tea"}, {"m": "negate", "tea": "named"})


def test_a_memory_cannot_be_replaced_by_itself() -> None:
    memory.given(created()).when(negated(day=5, replaced_by="m")).then(superseded_by=None, is_negated=True)


def test_a_successor_that_is_not_there_yet_is_remembered() -> None:
    outcome = memory.given(created()).when(negated(day=5, replaced_by="later"))
    outcome.then(superseded_by="later")
    assert outcome.decisions == {"m": "negate", "later": "ignored"}


def test_the_newest_negation_by_its_time_holds_in_whatever_order_they_come() -> None:
    events = [
        negated(day=5, resolution="latest_wins", replaced_by="x"),
        negated(day=7, resolution="weight_balance", replaced_by="y"),
        negated(day=6, resolution="version_keep"),
    ]
    found = [folded(created(), *order).memories["m"] for order in permutations(events)]
    assert {(m.negated_at, m.resolution, m.superseded_by) for m in found} == {(at(7), "weight_balance", "y")}
    assert {tuple(n.at for n in m.negations) for m in found} == {(at(5), at(6), at(7))}


def test_the_newest_thirty_two_negations_are_kept_by_their_time() -> None:
    late_first = [negated(day=day) for day in range(50, 0, -1)]
    found = memory.given(created()).when(*late_first).after.memories["m"]
    assert [n.at for n in found.negations] == [at(day) for day in range(51 - MAX_NEGATIONS, 51)]


# --- reaffirmation --------------------------------------------------------------------------------------------------

SAID: list[tuple[str, list[Told], int | None]] = [
    ("said again later", [negated(day=5), mentioned(day=9)], None),
    ("said before", [negated(day=5), mentioned(day=4)], 5),
    ("said at the same instant", [negated(day=5), mentioned(day=5)], 5),
    ("said later in the turn that negates", [negated(day=5, turn_id="t"), mentioned(day=9, turn_id="t")], 5),
    ("said later in another turn", [negated(day=5, turn_id="t"), mentioned(day=9, turn_id="u")], None),
    ("said later in no known turn", [negated(day=5, turn_id="t"), mentioned(day=9)], None),
    ("said by the assistant", [negated(day=5), mentioned(day=9, actor="assistant")], 5),
    ("said by the judge", [negated(day=5), mentioned(day=9, actor="judge")], 5),
    ("said by the system", [negated(day=5), mentioned(day=9, actor="system")], 5),
    ("said by an operator", [negated(day=5), mentioned(day=9, actor="operator")], 5),
    ("said again and negated again", [negated(day=5), mentioned(day=9), negated(day=11)], 11),
    ("said between two negations", [negated(day=5), mentioned(day=9), negated(day=9)], 9),
    (
        "said in a turn, negated in the next",
        [mentioned(day=4, turn_id="t"), negated(day=5, turn_id="u"), mentioned(day=5.5, turn_id="u")],
        5,
    ),
    (
        "said in the turn of an older negation",
        [negated(day=5, turn_id="t"), negated(day=3, turn_id="u"), mentioned(day=9, turn_id="u")],
        5,
    ),
    (
        "said again, and then often in the turn that negated",
        [negated(day=5, turn_id="t"), mentioned(day=6), *(mentioned(day=7 + n, turn_id="t") for n in range(2))],
        None,
    ),
]


@each_row(("events", "since"), [said[1:] for said in SAID], ids=[said[0] for said in SAID])
def test_a_memory_is_negated_iff_its_newest_negation_is_newer_than_what_the_user_says(
    events: list[Told], since: int | None
) -> None:
    found = {folded(created(), *order).memories["m"].negated_at for order in permutations(events)}
    assert found == {None if since is None else at(since)}


def test_what_the_user_says_again_is_not_forgotten_behind_many_mentions_of_the_turn_that_negated() -> None:
    same_turn = [mentioned(day=7 + n / 100, turn_id="t") for n in range(20)]
    memory.given(created(), negated(day=5, turn_id="t"), mentioned(day=6, turn_id="u")).when(*same_turn).then(
        negated_at=None
    )


def test_when_the_user_says_it_again_level_and_validity_come_back_and_both_are_flagged() -> None:
    outcome = COFFEE_THEN_TEA.given(negated(day=5, replaced_by="tea"), compressed("tag", day=6)).when(mentioned(day=9))
    outcome.then(
        negated_at=None,
        resolution=None,
        superseded_by=None,
        valid_to=None,
        level=FULL,
        last_activated_at=at(9),
        conflicts=("tea",),
        decision="reaffirm",
        reason="the user said it again",
    )
    outcome.then(of="tea", conflicts=("m",), changed={"conflicts"})
    assert outcome.decisions == {"m": "reaffirm"}
    assert "conflicts" in outcome.log[0]["fields"]


def test_the_correction_history_stays_when_the_user_says_it_again() -> None:
    found = memory.given(created(), negated(day=5)).when(mentioned(day=9)).after.memories["m"]
    assert [n.at for n in found.negations] == [at(5)]


def test_saying_it_once_more_is_no_second_reaffirmation() -> None:
    memory.given(created(), negated(day=5), mentioned(day=9)).when(mentioned(day=12)).then(decision="reinforce")


def test_nothing_is_flagged_where_nothing_had_replaced_it() -> None:
    COFFEE_THEN_TEA.given(negated(day=5)).when(mentioned(day=9)).then(conflicts=(), decision="reaffirm")


@each_row(
    "gone",
    [
        [negated("tea", day=7)], [deleted("tea", day=7)], [deleted("tea", day=7), purged("tea", day=40)],
    ],
    ids=["negated itself", "deleted", "purged"],
)  # fmt: skip
def test_a_successor_that_holds_no_more_contradicts_nothing(gone: list[Told]) -> None:
    outcome = COFFEE_THEN_TEA.given(negated(day=5, replaced_by="tea"), *gone).when(mentioned(day=50))
    outcome.then(conflicts=(), decision="reaffirm")
    outcome.then(of="tea", changed=set())


def test_the_merge_of_a_successor_stands_for_it() -> None:
    outcome = COFFEE_THEN_TEA.given(
        negated(day=5, replaced_by="tea"), created(of="chai", day=5), merged("tea", "chai", day=6)
    ).when(mentioned(day=9))
    outcome.then(conflicts=("all",))
    outcome.then(of="all", conflicts=("m",))
    outcome.then(of="tea", changed=set())


@each_row("order", list(permutations(range(3))))
def test_negation_and_mention_give_one_state_in_whatever_order_they_come(order: tuple[int, ...]) -> None:
    """The negation's turn also mentions it, the user says it again on day 9."""
    events = [negated(day=5, replaced_by="tea", turn_id="t"), mentioned(day=5, turn_id="t"), mentioned(day=9)]
    COFFEE_THEN_TEA.when(*(events[n] for n in order)).then(
        negated_at=None,
        resolution=None,
        superseded_by=None,
        conflicts=("tea",),
        last_activated_at=at(9),
        mentions=(at(5), at(9)),
        mention_count=3,
    )


def test_a_negation_older_than_what_the_user_says_is_kept_and_demotes_nothing() -> None:
    memory.given(created(), mentioned(day=9)).when(negated(day=5)).then(
        negated_at=None,
        decision="negate",
        reason="negated earlier than the user last said it",
        fields=["negations"],
    )


# --- possible conflicts ---------------------------------------------------------------------------------------------

FLAGGED = COFFEE_THEN_TEA.given(in_conflict("m", "tea", day=6))


def test_a_possible_conflict_flags_both_and_is_no_edge() -> None:
    outcome = COFFEE_THEN_TEA.when(in_conflict("m", "tea", day=6))
    outcome.then(conflicts=("tea",), edges=(), changed={"conflicts"})
    outcome.then(of="tea", conflicts=("m",), edges=(), changed={"conflicts"})


@each_row("of", ["m", "tea"])
@each_row("event", [negated, deleted, lambda of, day: revised(of=of, day=day)], ids=["-", "d", "r"])
def test_a_flag_lasts_until_one_of_both_is_negated_revised_or_deleted(event: object, of: str) -> None:
    outcome = FLAGGED.when(event(of, day=8))
    outcome.then(of="m", conflicts=())
    outcome.then(of="tea", conflicts=())
    assert [(one["memory"], "conflicts" in one["fields"]) for one in outcome.log] == [(of, True)]


@each_row(
    "event",
    [
        mentioned(day=8), reinforced(day=8), compressed(day=8), asserted("m", day=8), linked("m", "tea", day=8),
        restored(day=8), in_conflict("tea", "m", day=8),
    ],
    ids=lambda told: type(told.data).__name__,
)  # fmt: skip
def test_nothing_else_settles_a_flag(event: Told) -> None:
    outcome = FLAGGED.when(event)
    outcome.then(conflicts=("tea",))
    outcome.then(of="tea", conflicts=("m",))


def test_a_negation_that_demotes_nothing_settles_nothing() -> None:
    FLAGGED.given(mentioned(day=9)).when(negated(day=5)).then(conflicts=("tea",), negated_at=None)


def test_only_the_flags_of_what_was_settled_go() -> None:
    outcome = FLAGGED.given(created(of="n"), in_conflict("tea", "n", day=7)).when(negated(day=8))
    outcome.then(of="tea", conflicts=("n",))
    outcome.then(of="n", conflicts=("tea",))


def test_a_restored_memory_does_not_bring_its_flags_back() -> None:
    FLAGGED.given(deleted(day=8)).when(restored(day=9)).then(conflicts=())


def test_the_newest_sixteen_flags_are_kept() -> None:
    others = [created(of=f"n{n}") for n in range(30)]
    flags = [in_conflict("m", f"n{n}") for n in range(30)]
    memory.given(created(), *others).when(*flags).then(conflicts=tuple(f"n{n}" for n in range(30 - MAX_CONFLICTS, 30)))


def test_the_merge_of_a_flagged_memory_is_flagged_until_either_side_is_settled() -> None:
    story = FLAGGED.given(created(of="n"), merged("m", "n", day=7))
    story.when().then(of="all", conflicts=("tea",))
    assert "all" in story.when().after.memories["tea"].conflicts
    story.when(negated("tea", day=8)).then(of="all", conflicts=())
    assert "all" not in story.when(negated("all", day=8)).after.memories["tea"].conflicts


def test_a_merge_that_was_taken_apart_is_flagged_no_more_and_its_sources_are() -> None:
    outcome = FLAGGED.given(created(of="n"), merged("m", "n", day=7)).when(unmerged(day=8))
    outcome.then(of="all", conflicts=())
    outcome.then(of="m", conflicts=("tea",))
    outcome.then(of="tea", conflicts=("m",))


def test_a_negation_that_comes_late_flags_its_successor_only_where_it_is_the_newest() -> None:
    story = COFFEE_THEN_TEA.given(negated(day=6), mentioned(day=9))
    story.when(negated(day=5, replaced_by="tea")).then(conflicts=())
    story.when(negated(day=7, replaced_by="tea")).then(conflicts=("tea",))


def test_flags_between_sources_do_not_flag_their_merge_and_come_back_with_them() -> None:
    story = FLAGGED.given(merged("m", "tea", day=7))
    story.when().then(of="all", conflicts=())
    outcome = story.when(unmerged(day=8))
    outcome.then(conflicts=("tea",))
    outcome.then(of="tea", conflicts=("m",))


def test_a_purge_leaves_no_flag_behind_on_others() -> None:
    story = FLAGGED.given(created(of="n"), merged("m", "n", day=7), deleted("all", day=8), purged("all", day=38))
    story.when().then(of="tea", conflicts=())
