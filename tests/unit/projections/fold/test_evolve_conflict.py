"""Negation, reaffirmation, possible conflicts and links (memory.md, section 4)."""

from __future__ import annotations

from itertools import permutations

from engramlog_server.projections.memory.record import FULL, MAX_CONFLICTS, MAX_NEGATIONS, TAG
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


def test_flags_between_sources_do_not_flag_their_merge_and_come_back_with_them() -> None:
    story = FLAGGED.given(merged("m", "tea", day=7))
    story.when().then(of="all", conflicts=())
    outcome = story.when(unmerged(day=8))
    outcome.then(conflicts=("tea",))
    outcome.then(of="tea", conflicts=("m",))
