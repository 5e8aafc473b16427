"""Which merges come apart before what goes of them is erased: those that hide something that stays."""

from __future__ import annotations

from engramlog_server.projections.reports.erasure import merges_apart
from tests.given.events import created, merged
from tests.given.views import viewed
from tests.rows import each_row


@each_row(
    ("going", "apart"),
    [
        (["a", "inner", "outer"], ["outer", "inner"]), (["inner", "a", "outer"], ["outer", "inner"]),
        (["c", "outer"], ["outer"]), (["a", "b", "inner", "outer"], ["outer"]), (["a", "b", "c", "inner", "outer"], []),
        (["d"], []),
    ],
)  # fmt: skip
def test_a_merge_that_hides_what_stays_comes_apart_the_outermost_first(going: list[str], apart: list[str]) -> None:
    told = [created(f"the {one} rings", one) for one in "abcd"]
    view = viewed(*told, merged("a", "b", into="inner", day=2), merged("inner", "c", into="outer", day=3))
    assert merges_apart(going, view.get) == apart
