"""What a grant covers, and which grants can be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.events.catalogue import EVENT_TYPES, Grant
from engramlog_server.events.errors import InputError
from engramlog_server.projections.access.caller import (
    VERBS,
    VERBS_OF_TYPES,
    check_grant,
    check_pattern,
    covers,
    grants,
    is_named,
    told,
)
from engramlog_server.projections.access.keys import as_grant
from engramlog_server.projections.choices import VERBS_OF_ACCESS
from tests.rows import each_row


@each_row(
    ("pattern", "owner", "covered"),
    [
        ("alice", "alice", True), ("alice", "alice2", False), ("alice", "Alice", False), ("team/*", "team/ann", True),
        ("team/*", "team/sub/ann", True), ("team/*", "team/", True), ("team/*", "team", False),
        ("team/*", "teams/ann", False), ("团队/*", "团队/α", True), ("*", "alice", True), ("*", ":access", False),
        (":access", ":access", False), (":/*", ":/x", False), ("al.ce", "alice", False), ("a*", "alice", False),
    ],
)  # fmt: skip
def test_a_pattern_covers_names_as_they_are(pattern: str, owner: str, covered: bool) -> None:
    assert covers(pattern, owner) is covered


@given(st.text(min_size=1, max_size=20), st.text(min_size=1, max_size=20))
def test_an_exact_name_covers_itself_alone(one: str, other: str) -> None:
    if one == "*" or one.endswith("/*") or one.startswith(":"):
        return
    assert covers(one, other) is (one == other)


@each_row("pattern", ["", ":access", ":/*", "a b", "a\u200bb", "**", "team/**", "*/x", "a" * 129, "/*"])
def test_what_is_no_pattern_is_refused_by_field(pattern: str) -> None:
    with pytest.raises(InputError, match="owners"):
        check_pattern(pattern)


def test_all_of_it_must_fit_one_grant() -> None:
    one = Grant(verbs=("read",), owners=("alice",), modes=("normal",), actors=("user",))
    assert grants(one, "read", "alice", "normal", "user")
    assert not grants(one, "read", "alice", "review", None)
    assert not grants(one, "delete", "alice", None, None)
    assert not grants(one, "read", "bob", None, None)
    assert not grants(one, "read", "alice", None, "assistant")
    assert not grants(one, "read", None, None, None), "the store is no owner of his"
    assert grants(Grant(verbs=("operate",), owners=("*",)), "operate", None, None, None)


@each_row(
    ("grant", "field"),
    [
        (Grant(verbs=("admin",), owners=("alice",)), "owners"), (Grant(verbs=("admin",), owners=("*", "alice")), "owners"),
        (Grant(verbs=("read", "audit"), owners=("a",), sensitivity=1), "sensitivity"),
        (Grant(verbs=("read",), owners=("a",), sensitivity=3), "sensitivity"),
        (Grant(verbs=("read", "read"), owners=("a",)), "verbs"), (Grant(verbs=("read",), owners=("a", "a")), "owners"),
        (Grant(verbs=("read",), owners=(":access",)), "owners"),
    ],
)  # fmt: skip
def test_what_no_grant_can_be_is_refused_by_field(grant: Grant, field: str) -> None:
    with pytest.raises(InputError, match=f"grants.{field}"):
        check_grant(grant)


def test_a_grant_is_read_as_it_is_told() -> None:
    one = Grant(
        verbs=("read", "produce"), owners=("team/*",), modes=("normal", "review"), sensitivity=1, trust="inferred"
    )
    assert as_grant(told(one)) == one


def test_only_who_is_named_himself_is_named() -> None:
    one = Grant(verbs=("read",), owners=("alice", "team/*", "*"))
    assert is_named(one, "alice")
    assert not is_named(one, "team/ann")
    assert not is_named(one, "*")


def test_every_verb_is_described_and_every_event_type_needs_one() -> None:
    assert set(VERBS_OF_ACCESS) == set(VERBS)
    assert set(VERBS_OF_TYPES) == set(EVENT_TYPES)
