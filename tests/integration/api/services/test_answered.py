"""From an answer to what stood in its prompt, over a real store: the block as it was, and what may be told of it today."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from events.errors import InputError, NotFound
from tests.acceptance.helpers.store import Store, embedded_store
from tests.given.events import Told, created, deleted, negated, purged, revised
from tests.given.said import found, injected, said

ASKS = "What do I drink in the morning?"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with embedded_store(tmp_path_factory.mktemp("answered")) as opened:
        yield opened


def coffee(**data: Any) -> Told:
    return created("I drink coffee every morning", "coffee", **data)


def known(store: Store, *events: Told, owner: str | None = None) -> str:
    """An owner of whom this was told yesterday, in order."""
    owner = owner or store.owner()
    store.tell(owner, *(Told(one.data, store.yesterday + one.day / 100, one.actor, one.extra) for one in events))
    return owner


def handed(store: Store, owner: str, text: str = ASKS, **wanted: Any) -> dict[str, Any]:
    """The block of a turn, with what was injected folded."""
    answer = store.app.contexts.context(owner, text, **wanted)
    store.flushed()
    return answer


def answer(store: Store, owner: str, turn: str, **times: Any) -> dict[str, Any]:
    return store.app.answers.answer(owner, turn, **times)


def test_first(store: Store) -> None:
    owner = known(store, coffee(), said("t1", ASKS))
    block = handed(store, owner)
    known(store, said("t2", "Coffee.", "assistant", reply_to="t1"), negated("coffee"), owner=owner)
    import json
    print(json.dumps(answer(store, owner, "t1"), indent=1))
    print(json.dumps(store.app.answers.answers(owner), indent=1))
    assert answer(store, owner, "t1")["injected"][0]["block"]["text"] == block["block"]
