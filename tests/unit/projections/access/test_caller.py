"""What a caller may do: a grant of every layer must let him."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.events.catalogue import Grant
from engramlog_server.events.errors import AccessDenied
from engramlog_server.projections.access.caller import AT_THE_FOLDER, VERBS, Caller, Layer, grants

OWNERS = ("alice", "team/ann", "team/bob", "bob", ":access", "*")
MODES = ("normal", "review", "debug")
ONE = st.builds(
    Grant,
    verbs=st.lists(st.sampled_from(VERBS), min_size=1, max_size=3, unique=True).map(tuple),
    owners=st.lists(st.sampled_from(["alice", "team/*", "*", "bob"]), min_size=1, max_size=2, unique=True).map(tuple),
    modes=st.lists(st.sampled_from(MODES), min_size=1, max_size=2, unique=True).map(tuple),
    sensitivity=st.integers(0, 3),
)
LAYER = st.lists(ONE, max_size=3).map(tuple)


def rights(caller: Caller) -> set[tuple[str, str | None, str]]:
    every = product(VERBS, (*OWNERS, None), MODES)
    return {(verb, owner, mode) for verb, owner, mode in every if caller.may(verb, owner, mode=mode)}


@given(LAYER, LAYER)
def test_a_token_can_never_do_more_than_its_key(key: Layer, token: Layer) -> None:
    whole, narrowed = Caller("k", (key,), "k"), Caller("k", (key, token), "k")
    assert rights(narrowed) == rights(whole) & rights(Caller("k", (token,), "k"))
    for owner in OWNERS:
        assert narrowed.most_sensitive("read", owner) <= whole.most_sensitive("read", owner)


@given(LAYER)
def test_nobody_with_a_key_reaches_what_is_the_stores_own(key: Layer) -> None:
    assert not {owner for _, owner, _ in rights(Caller("k", (key,), "k"))} & {":access"}


@given(LAYER)
def test_what_he_may_one_of_his_grants_says_whole(key: Layer) -> None:
    caller = Caller("k", (key,), "k")
    for verb, owner, mode in rights(caller):
        assert any(grants(one, verb, owner, mode, None) for one in key)  # type: ignore[arg-type]


def test_without_grants_nothing_and_at_the_folder_everything() -> None:
    assert rights(Caller("k", ((),), "k")) == set()
    assert len(rights(AT_THE_FOLDER)) == len(VERBS) * (len(OWNERS) + 1) * len(MODES)


def test_a_refusal_says_what_would_be_needed_and_nothing_of_the_owner() -> None:
    caller = Caller("support", ((Grant(verbs=("read",), owners=("alice",)),),), "k")
    with pytest.raises(AccessDenied, match="needed: a grant of the verb read in mode debug on this owner") as found:
        caller.check("read", "bob", mode="debug")
    assert "bob" not in found.value.message
    assert found.value.status == 403


def test_of_several_grants_the_least_trust_counts() -> None:
    trusted = Grant(verbs=("produce",), owners=("alice",))
    less = Grant(verbs=("produce",), owners=("bob",), trust="inferred")
    assert Caller("k", ((trusted,),), "k").highest == "asserted"
    assert Caller("k", ((trusted, less),), "k").highest == "inferred"
    assert Caller("k", ((trusted,), (less,)), "k").highest == "inferred"


def test_his_own_past_is_that_of_an_owner_who_is_named() -> None:
    named = Caller("k", ((Grant(verbs=("read",), owners=("alice", "team/*")),),), "k")
    assert named.names("alice")
    assert not named.names("team/ann")
