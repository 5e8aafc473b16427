"""Time lines in parts: each event lies in the one part whose instants hold its own, whatever the line's length."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engramlog_server.events.catalogue import EVENT_TYPES
from engramlog_server.events.envelope import lateness
from engramlog_server.projections.past.folding import OwnerEvents, number_of
from engramlog_server.projections.reports.statistics import GROUPS, in_parts, late_among
from tests.examples import examples

QUICK = settings(deadline=None, max_examples=examples(200))
FAR = 253_402_300_799_999_999
"""The last instant of the year 9999."""
instants = st.lists(
    st.integers(-2_208_988_800_000_000, FAR) | st.integers(0, 30) | st.sampled_from([0, 7, FAR]), max_size=40
)


def array(values: list[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(values, np.int64)


def of_type(name: str, many: int) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    return np.full(many, number_of(name), np.uint8)


@QUICK
@given(instants, st.integers(1, 500))
def test_each_instant_lies_in_the_one_part_that_holds_it(found: list[int], count: int) -> None:
    parts = in_parts(array(found), of_type("TurnRecorded", len(found)), None, None, count, by_group=True)
    assert (parts.events, sum(parts.counts), len(parts.counts)) == (len(found), len(found), count)
    assert parts.groups is not None
    assert parts.groups["talk"] == parts.counts
    if not found:
        assert (parts.since, parts.until, parts.seconds) == (None, None, 0)
        return
    first, last = min(found), max(found)
    assert (parts.since, parts.until) == (first, last)
    length, expected = last - first + 1, [0] * count
    for one in found:  # the last part that begins by then
        expected[max(part for part in range(count) if first + part * length // count <= one)] += 1
    assert parts.counts == expected
    assert parts.seconds == pytest.approx(length / count / 1e6)


@QUICK
@given(st.lists(st.tuples(st.integers(0, 1_000), st.sampled_from(sorted(EVENT_TYPES))), min_size=1, max_size=40))
def test_the_groups_together_are_all_that_lies_in_a_part(found: list[tuple[int, str]]) -> None:
    times, types = array([at for at, _ in found]), np.array([number_of(name) for _, name in found], np.uint8)
    parts = in_parts(times, types, 0, 1_000, 9, by_group=True)
    assert parts.groups is not None
    assert list(parts.groups) == list(GROUPS)
    assert [sum(one) for one in zip(*parts.groups.values(), strict=True)] == parts.counts
    assert in_parts(times, types, 0, 1_000, 9, by_group=False) == parts._replace(groups=None)


@QUICK
@given(st.lists(st.tuples(st.integers(0, 10**9), st.integers(1, 10**9)), max_size=20))
def test_late_is_what_the_project_calls_late(found: list[tuple[int, int]]) -> None:
    happened, recorded = array([at for at, _ in found]), array([at for _, at in found])
    events = OwnerEvents(happened, happened, recorded, of_type("TurnRecorded", len(found)))
    assert late_among(events) == sum(lateness(*one) is not None for one in found)
