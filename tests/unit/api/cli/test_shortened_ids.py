"""Ids that a narrow table cuts stay apart, and nothing takes a cut one for an id."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.api.cli.app import CUT
from engramlog_server.api.cli.show.tables import LEAST_SHOWN, LONG_ID, handles_of, shortened_ids
from engramlog_server.projections.memory.record import handle_of

IDS = st.lists(st.text("ab-", min_size=1, max_size=45), min_size=1, max_size=12, unique=True)


@given(IDS)
def test_no_two_ids_look_alike_and_each_begins_with_what_is_shown(ids: list[str]) -> None:
    cut = shortened_ids(ids)
    for one, shown in cut.items():
        begun = shown.removesuffix(CUT)
        assert len(begun) >= LEAST_SHOWN
        assert [other for other in ids if other.startswith(begun)] == [one]


def test_only_long_ids_are_cut() -> None:
    generated = "m-01a206a6-8654-74fe-bb89-9179da178cae"
    assert shortened_ids(["coffee", "x" * LONG_ID, generated]) == {generated: f"{generated[:LEAST_SHOWN]}{CUT}"}


def test_memories_are_shown_by_handles_and_whole_where_two_share_one(monkeypatch: pytest.MonkeyPatch) -> None:
    generated, other = "m-01a206a6-8654-74fe-bb89-9179da178cae", "m-01a206a6-8654-74fe-bb89-9179da178caf"
    assert handles_of(["coffee", generated]) == {generated: handle_of(generated)}
    monkeypatch.setattr("engramlog_server.projections.memory.record.handle_of", lambda _: "shared")
    assert handles_of([generated, other]) == {}
