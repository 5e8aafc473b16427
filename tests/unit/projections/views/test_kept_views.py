"""Views within a bound: who leaves first, who stays, and what a view that was dropped is still good for."""

from __future__ import annotations

from engramlog_server.projections.redis.view import CachedView, KeptViews
from engramlog_server.projections.views.view import OwnerView
from tests.given.events import created
from tests.given.views import asked, viewed

SMALL = 50_000
"""More than a view of one short memory takes, less than two."""


def asked_of(kept: KeptViews, *owners: str, view: OwnerView | None = None) -> list[CachedView]:
    """Ask each owner in turn, as a question does."""
    found = []
    for owner in owners:
        held = kept.hold(owner)
        held.view = held.view or view or viewed(created("I drink tea", "m"))
        kept.make_room(owner, held)
        found.append(held)
    return found


def test_the_least_recently_asked_leaves_first() -> None:
    kept = KeptViews(3 * SMALL)
    asked_of(kept, "a", "b", "c", "a", "d", "e", "f")
    assert "f" in kept
    assert "b" not in kept
    order = [owner for owner in "abcdef" if owner in kept]
    asked_of(kept, order[0], "g")
    assert order[0] in kept
    assert order[1] not in kept


def test_many_owners_stay_within_the_bound_after_every_question() -> None:
    kept = KeptViews(4 * SMALL)
    for number in range(100):
        asked_of(kept, f"owner-{number % 37}")
        assert kept.bytes_used <= 4 * SMALL
    assert 1 < len(kept) < 37


def test_what_questions_make_is_counted() -> None:
    kept = KeptViews(1 << 30)
    view = viewed(*(created(f"I drink tea number {number}", f"m{number}") for number in range(200)))
    [held] = asked_of(kept, "a", view=view)
    before = kept.bytes_used
    asked(view, "tea")
    kept.make_room("a", held)
    assert kept.bytes_used > before


def test_a_view_that_grows_drops_others() -> None:
    kept = KeptViews(10 * SMALL)
    asked_of(kept, "a", "b")
    [held] = asked_of(kept, "c")
    held.view = viewed(*(created(f"I drink tea number {number}", f"m{number}") for number in range(500)))
    kept.make_room("c", held)
    assert [owner for owner in "abc" if owner in kept] == ["c"]


def test_a_view_that_was_dropped_while_it_was_read_is_not_counted_any_more() -> None:
    kept = KeptViews(1)
    [dropped] = asked_of(kept, "a")
    asked_of(kept, "b")
    before = kept.bytes_used
    kept.make_room("a", dropped)
    assert (kept.bytes_used, "a" in kept) == (before, False)
    assert asked(dropped.view, "tea")["results"]  # type: ignore[arg-type]
