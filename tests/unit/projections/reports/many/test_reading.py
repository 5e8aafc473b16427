"""What reading the turns of many owners came to: the answers of each, added up in any order."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from projections.reports.many.reading import MOST_OWNERS, OwnerRead, TurnsRead

some = st.integers(0, 5)
answers = st.fixed_dictionaries(
    {"counts": st.dictionaries(st.sampled_from(["add", "boost", "skip", "gone"]), st.integers(1, 5))},
    optional={
        "read": some,
        "left": some,
        "appended": some,
        "by_rules": st.lists(st.text(max_size=2), max_size=3),
        "usage": st.fixed_dictionaries({"requests": some, "input_tokens": some, "output_tokens": some}),
        "trouble": st.none() | st.just("it is down"),
        "behind": some,
        "quarantined": st.just({"position": "0:1"}),
    },
)


def taken(owners: Iterable[tuple[str, dict[str, Any]]]) -> TurnsRead:
    found = TurnsRead()
    for owner, answer in owners:
        found.take(owner, answer)
    return found


def summed(of: Iterable[TurnsRead]) -> TurnsRead:
    found = TurnsRead()
    for one in of:
        found.add(msgspec.json.decode(msgspec.json.encode(one), type=TurnsRead))
    return found


@given(st.lists(answers, max_size=8), st.data())
def test_the_sum_depends_on_no_order_and_no_parting(told: list[dict[str, Any]], data: st.DataObject) -> None:
    of = [(f"o{number}", answer) for number, answer in enumerate(told)]
    mixed = data.draw(st.permutations(of))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(of)), max_size=3)))
    cut = [mixed[one:other] for one, other in zip([0, *cuts], [*cuts, len(of)], strict=True)]
    assert summed(map(taken, cut)) == taken(of)


@given(st.lists(answers, max_size=8))
def test_each_figure_is_the_sum_of_what_was_answered(told: list[dict[str, Any]]) -> None:
    found = taken((f"o{number}", answer) for number, answer in enumerate(told))
    assert found.owners == len(told)
    for name in ("read", "left", "appended"):
        assert getattr(found, name) == sum(one.get(name, 0) for one in told)
    assert found.by_rules == sum(len(one.get("by_rules", ())) for one in told)
    assert found.requests == sum(one.get("usage", {}).get("requests", 0) for one in told)
    assert found.troubled == sum(one.get("trouble") is not None for one in told)
    assert sum(found.counts.values()) == sum(sum(one["counts"].values()) for one in told)
    assert found.changed == sum(any(name != "skip" for name in one["counts"]) for one in told)


def test_those_of_whom_most_comes_are_named_and_no_more_than_twenty() -> None:
    owners = [OwnerRead(f"o{n:02}", n % 3, n % 2) for n in range(30)]
    named = summed(TurnsRead(most=[one]) for one in owners).most
    assert named == sorted(owners, key=lambda one: (-one.changes, -one.left, one.owner))[:MOST_OWNERS]


def test_what_is_known_and_no_more_names_nobody() -> None:
    assert taken([("ada", {"counts": {"skip": 3}})]).most == []
    assert taken([("ada", {"counts": {}, "left": 2})]).most == [OwnerRead("ada", 0, 2)]
