"""The verb `context` against the running service, of both kinds of client."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.given.client import KINDS, Service, connected, new_owner, proxy
from tests.rows import each_row

COFFEE, ASKS = "I drink coffee every morning", "What do I drink in the morning?"


@pytest.fixture(params=KINDS)
def memory(request: pytest.FixtureRequest, running: Service) -> Iterator[Any]:
    """A client of an owner of its own."""
    with connected(request.param, running.url) as client:
        yield client.of(new_owner())


@each_row("kind", KINDS)
def test_sent_again_after_a_lost_answer_it_is_recorded_once(kind: str, running: Service) -> None:
    owner = new_owner()
    with proxy(running.url) as between, connected(kind, between.url, owner=owner) as memory:
        added = memory.add(COFFEE)
        between.fates = ["lose"]
        told = memory.context(ASKS, trace=True)
    assert (told.injected, told.recorded.status) == ([added.id], "already")
    uses = running.http.application.answers.uses(owner, added.id, after=told.recorded.position)
    assert len(uses["uses"]) == 1
