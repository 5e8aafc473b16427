"""Mentions and accesses: what was said again and what was shown (memory.md, sections 2 and 3)."""

from __future__ import annotations

from itertools import permutations

from engramlog_server.projections.memory.record import MAX_MENTIONS, UserMention
from tests.given.events import (
    accessed,
    at,
    created,
    folded,
    memory,
    mentioned,
    parameters,
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
    memory.given(created(), parameters(frequent_rule="replace"), *earlier).when(last).then(
        decision=decision, mention_boost=boost
    )


def test_what_is_frequent_is_told_by_the_parameters_in_force_at_the_mention() -> None:
    story = memory.given(
        created(),
        parameters(frequent_threshold=2, frequent_window_hours=1.0, frequent_boost=0.2, frequent_rule="replace"),
    )
    story.given(mentioned(day=5)).when(mentioned(day=5 + 0.9 / 24)).then(decision="merge", mention_boost=0.2)
    story.given(mentioned(day=5)).when(mentioned(day=5 + 1 / 24)).then(decision="reinforce", mention_boost=0.5)


def test_of_mentions_out_of_order_only_the_newest_as_it_was_folded_tells_the_boost() -> None:
    """Times and counts do not depend on the order; whether a mention is frequent is decided when it is folded."""
    days = (5.0, 5.1, 5.2)
    found = {
        order: folded(created(), parameters(frequent_rule="replace"), *(mentioned(day=day) for day in order)).memories[
            "m"
        ]
        for order in permutations(days)
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


# --- accesses -------------------------------------------------------------------------------------------------------


def test_an_access_counts_every_hit_and_writes_no_entry() -> None:
    outcome = PAIR.when(accessed("m", "n", day=4, count=3), accessed("m", day=3, count=2, via="injection"))
    outcome.then(access_count=5, last_accessed_at=at(4), last_activated_at=at(0))
    assert (outcome.after.memories["n"].access_count, outcome.log) == (3, [])
