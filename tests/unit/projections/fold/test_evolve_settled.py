"""Edges that the specification leaves open, and how they are settled."""

from __future__ import annotations

from tests.given.events import accessed, at, compressed, created, memory, mentioned, merged, negated


def test_a_further_negation_that_names_no_successor_forgets_none() -> None:
    memory.given(created(), negated(day=5, replaced_by="tea")).when(negated(day=9)).then(
        superseded_by="tea", negated_at=at(9)
    )


def test_a_successor_of_before_a_reaffirmation_does_not_come_back() -> None:
    story = memory.given(created(), negated(day=5, replaced_by="tea"), mentioned(day=7))
    story.when(negated(day=9)).then(superseded_by=None, negated_at=at(9))


def test_a_secret_that_only_a_merge_s_summary_tells_makes_the_merge_secret() -> None:
    story = memory.given(created(of="a"), created(of="b"))
    story.when(merged("a", "b", into="ab", summary="My locker PIN is 4821")).then(of="ab", sensitivity=3)


def test_a_secret_that_only_a_shortened_text_tells_makes_the_memory_secret() -> None:
    memory.given(created()).when(compressed(day=40, level="tag", content="password: hunter2!")).then(sensitivity=3)


def test_an_access_is_never_later_than_the_event_that_tells_it() -> None:
    memory.given(created()).when(accessed(day=4, last_day=9)).then(last_accessed_at=at(4))
