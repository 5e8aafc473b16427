"""Mentions and accesses: what was said again and what was shown (memory.md, sections 2 and 3)."""

from __future__ import annotations

from itertools import permutations

from projections.memory.record import FULL, MAX_MENTIONS, UserMention
from tests.given.events import (
    accessed,
    at,
    compressed,
    created,
    deleted,
    folded,
    memory,
    mentioned,
    merged,
    parameters,
    purged,
    reinforced,
)
from tests.rows import each_row

PAIR = memory.given(created(), created(of="n"))


@each_row(
    ("hours", "decision", "boost"),
    [
        ((0,), "reinforce", 0.5), ((0, 1), "reinforce", 0.5), ((0, 1, 2), "merge", 0.3), ((0, 1, 24 - 1e-9), "merge", 0.3),
        ((0, 1, 24), "reinforce", 0.5), ((0, 1, 2, 3), "merge", 0.3), ((0, 1, 2, 26), "reinforce", 0.5),
        ((0, 0, 0), "merge", 0.3),
    ],
)  # fmt: skip
def test_a_mention_is_frequent_when_it_is_the_third_in_the_day_that_ends_with_it(
    hours: tuple[float, ...], decision: str, boost: float
) -> None:
    *earlier, last = [mentioned(day=5 + hour / 24) for hour in hours]
    memory.given(created(), *earlier).when(last).then(decision=decision, mention_boost=boost)


def test_the_statement_that_made_the_memory_is_no_mention_of_the_day() -> None:
    memory.given(created(day=5), mentioned(day=5.1)).when(mentioned(day=5.2)).then(
        decision="reinforce", mention_count=3
    )


def test_how_much_a_mention_boosts_is_told_by_the_parameters_in_force_at_it() -> None:
    memory.given(
        created(),
        parameters(day=1, semantic_boost=0.7),
        mentioned(day=2),
        parameters(day=3, semantic_boost=0.9, frequent_boost=0.1),
    ).when(reinforced(day=4)).then(mention_boost=0.7)


def test_what_is_frequent_is_told_by_the_parameters_in_force_at_the_mention() -> None:
    story = memory.given(created(), parameters(frequent_threshold=2, frequent_window_hours=1.0, frequent_boost=0.2))
    story.given(mentioned(day=5)).when(mentioned(day=5 + 0.9 / 24)).then(decision="merge", mention_boost=0.2)
    story.given(mentioned(day=5)).when(mentioned(day=5 + 1 / 24)).then(decision="reinforce", mention_boost=0.5)


def test_a_mention_that_comes_late_counts_and_leaves_the_boost_to_the_newest() -> None:
    memory.given(created(), mentioned(day=6), parameters(semantic_boost=0.9)).when(mentioned(day=5)).then(
        mentions=(at(5), at(6)), mention_count=3, mention_boost=0.5, last_mentioned_at=at(6), last_activated_at=at(6)
    )


def test_of_mentions_out_of_order_only_the_newest_as_it_was_folded_tells_the_boost() -> None:
    """Times and counts do not depend on the order; whether a mention is frequent is decided when it is folded."""
    days = (5.0, 5.1, 5.2)
    found = {
        order: folded(created(), *(mentioned(day=day) for day in order)).memories["m"] for order in permutations(days)
    }
    assert {order: m.mention_boost for order, m in found.items()} == {
        order: 0.3 if order[-1] == 5.2 else 0.5 for order in permutations(days)
    }
    assert {(m.mentions, m.mention_count, m.last_activated_at, m.user_mentions) for m in found.values()} == {
        (tuple(map(at, days)), 4, at(5.2), (UserMention(at(5.2), None),))
    }


def test_the_newest_sixty_four_mentions_are_kept_by_their_time_and_all_are_counted() -> None:
    late_first = [mentioned(day=day) for day in range(100, 0, -1)]
    memory.given(created()).when(*late_first).then(
        mentions=tuple(at(day) for day in range(101 - MAX_MENTIONS, 101)), mention_count=101
    )


def test_a_mention_returns_a_compressed_memory_to_full() -> None:
    memory.given(created(), compressed("archive", day=400, content="coffee")).when(mentioned(day=401)).then(
        level=FULL, compressed=None, content="I like coffee"
    )


def test_modalities_are_united_on_one_memory() -> None:
    memory.given(created()).when(
        mentioned(day=1, modality="video"), mentioned(day=2, modality="image"), mentioned(day=3, modality="video")
    ).then(modalities=("image", "text", "video"))


# --- accesses -------------------------------------------------------------------------------------------------------


def test_an_access_counts_every_hit_and_writes_no_entry() -> None:
    outcome = PAIR.when(accessed("m", "n", day=4, count=3), accessed("m", day=3, count=2, via="injection"))
    outcome.then(access_count=5, last_accessed_at=at(4), last_activated_at=at(0))
    assert (outcome.after.memories["n"].access_count, outcome.log) == (3, [])


@each_row("via", ["recall", "association", "detail", "injection"])
def test_every_way_of_access_counts(via: str) -> None:
    PAIR.when(accessed(via=via, day=2)).then(access_count=1)


def test_an_access_to_what_is_gone_changes_nothing_and_writes_no_entry() -> None:
    story = memory.given(
        created(), created(of="n"), created(of="x"), merged("m", "n", day=1), deleted("x", day=1), purged("x", day=40)
    )
    outcome = story.when(accessed("m", "x", "unknown", "all", day=41))
    assert outcome.log == []
    assert {i: m.access_count for i, m in outcome.after.memories.items()} == {"m": 0, "n": 0, "x": 0, "all": 1}
