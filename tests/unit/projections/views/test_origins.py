"""Where a memory comes from is told with what each origin says, as far as it is told at all."""

from __future__ import annotations

from typing import Any

from engramlog_server.projections.views.query import LONGEST_CORRECTED, WITHHELD, why
from tests.given.events import Told, at, created, deleted, merged, purged
from tests.given.views import viewed
from tests.rows import each_row

LATTE = "今天喝了拿铁"
LONG = "I like coffee. " * 100


def told(*events: Told, of: str = "m") -> dict[str, Any]:
    """By origin what it says."""
    view = viewed(*events)
    memory = view.get(of)
    assert memory is not None
    return {one["id"]: one.get("memory") for one in why(view, memory, at(50))["provenance"]["nodes"]}


def test_a_merge_s_origins_are_told_in_their_own_words() -> None:
    sources = created(LATTE, "a"), created("I drink coffee", "b")
    assert told(*sources, merged("a", "b", into="m", day=2)) == {"m": None, "a": LATTE, "b": "I drink coffee"}


@each_row(
    ("old", "more", "says"),
    [
        (created(LATTE, "a"), [], LATTE),
        (created(LONG, "a"), [], LONG[: LONGEST_CORRECTED - 1].rstrip() + "…"),
        (created("My PIN is 4711", "a", sensitivity=3), [], WITHHELD),
        (created(LATTE, "a"), [deleted("a", 3)], None),
        (created(LATTE, "a"), [deleted("a", 3), purged("a", 40)], None),
    ],
)
def test_what_is_long_is_clipped_a_secret_withheld_and_nothing_said_of_what_is_gone(old, more, says) -> None:
    assert told(old, created("I like tea", "m", 1, corrects="a"), *more)["a"] == says
