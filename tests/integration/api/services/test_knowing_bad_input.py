"""What searches, assessments, maps and trees refuse, in the words of every face: field, got and allowed."""

from __future__ import annotations

from typing import Any

import pytest

from engramlog_server.api.services.knowing import Knower
from engramlog_server.events.errors import BeyondHead, InputError
from engramlog_server.events.partitions import partition_of
from tests.acceptance.helpers.store import Store
from tests.given.views import potter
from tests.rows import each_row


@each_row(
    ("asked", "field", "allowed"),
    [
        ({"ranking": "best"}, "ranking", "conversation, text, published, overlap, associative"),
        ({"ranking": ""}, "ranking", "conversation, text, published, overlap, associative"),
        ({"feeling": "sad"}, "feeling", "positive, negative, urgent"),
        ({"feeling": ""}, "feeling", "positive, negative, urgent"),
        ({"tags": [""]}, "tags", "tags of 1 to 100 characters"),
        ({"tags": ["late_night", "x" * 101]}, "tags", "late_night"),
        ({"limit": 0}, "limit", "a whole number from 1 to 100"),
        ({"limit": 101}, "limit", "a whole number from 1 to 100"),
        ({"mode": "all"}, "mode", "normal, review, debug"),
    ],
)
def test_a_search_refuses_what_it_does_not_know(store: Store, asked: dict[str, Any], field: str, allowed: str) -> None:
    with pytest.raises(InputError) as refusal:
        store.reader.search("ada", "kiln", **asked)
    refuses(refusal.value, field, allowed)


def refuses(error: InputError, field: str, allowed: str) -> None:
    """An error names the field, what was got, and what is allowed."""
    assert (error.context["field"], set(error.context) >= {"got"}) == (field, True)
    assert allowed in error.context["allowed"]
    assert error.message.startswith(f"{field}: got ")


@pytest.mark.parametrize(
    ("asked", "field", "allowed"),
    [
        ({"topic": ""}, "topic", "some text"),
        ({"topic": " \n"}, "topic", "some text"),
        ({"topic": "x" * 10_001}, "topic", "10,000"),
        ({"topic": "\udcff"}, "topic", "UTF-8"),
        ({"depth": 0}, "depth", "a whole number from 1 to 4"),
        ({"depth": 5}, "depth", "a whole number from 1 to 4"),
        ({"least": -0.1}, "least", "a number from 0 to 1"),
        ({"least": 1.1}, "least", "a number from 0 to 1"),
        ({"least": float("nan")}, "least", "a number from 0 to 1"),
        ({"limit": 0}, "limit", "a whole number from 1 to 1000"),
        ({"limit": 1_001}, "limit", "a whole number from 1 to 1000"),
        ({"mode": "all"}, "mode", "normal, review, debug"),
        ({"as_of": "soon"}, "as_of", "RFC 3339"),
        ({"at": "soon"}, "at", "RFC 3339"),
        ({"owner": "a b"}, "owner", "letters or digits"),
    ],
)
def test_a_map_refuses_what_cannot_be(knower: Knower, asked: dict[str, Any], field: str, allowed: str) -> None:
    with pytest.raises(InputError) as refusal:
        knower.map(**{"owner": "ada", "topic": "kiln", **asked})
    refuses(refusal.value, field, allowed)
    if field in ("topic", "as_of", "at", "owner"):
        with pytest.raises(InputError) as refusal:
            knower.assess(**{"owner": "ada", "topic": "kiln", **asked})
        refuses(refusal.value, field, allowed)


@pytest.mark.parametrize(
    ("asked", "field", "allowed"),
    [
        ({"depth": 0}, "depth", "a whole number from 1 to 4"),
        ({"depth": 5}, "depth", "a whole number from 1 to 4"),
        ({"mode": "all"}, "mode", "normal, review, debug"),
        ({"memory_id": "a b"}, "memory_id", "letters or digits"),
        ({"at": "soon"}, "at", "RFC 3339"),
    ],
)
def test_a_tree_refuses_what_cannot_be(
    store: Store, knower: Knower, asked: dict[str, Any], field: str, allowed: str
) -> None:
    owner = store.owner()
    store.tell(owner, *potter(store.yesterday))
    with pytest.raises(InputError) as refusal:
        knower.associations(**{"owner": owner, "memory_id": "kiln", **asked})
    refuses(refusal.value, field, allowed)


def test_a_position_beyond_the_head_is_refused(store: Store, knower: Knower) -> None:
    owner = store.owner()
    store.tell(owner, *potter(store.yesterday))
    beyond = f"{partition_of(owner, store.app.log.partitions)}:999999"
    for ask in (
        lambda: knower.assess(owner, "kiln", as_of=beyond),
        lambda: knower.map(owner, "kiln", as_of=beyond),
        lambda: knower.associations(owner, "kiln", as_of=beyond),
    ):
        with pytest.raises(BeyondHead, match="does not exist"):
            ask()
