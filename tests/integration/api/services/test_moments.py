"""A moment that is asked about: told whole, and kept in bounded room."""

from __future__ import annotations

from typing import Any

import pytest

import engramlog_server.api.snapshots as pasts
from tests.acceptance.helpers.store import Store
from tests.given.events import created, mentioned
from tests.rows import each_row


@each_row("order", ["oldest", "newest"])
def test_a_history_tells_no_change_of_after_its_chain(
    store: Store, monkeypatch: pytest.MonkeyPatch, order: str
) -> None:
    owner = store.owner()
    store.tell(owner, created("green tea", "tea"), mentioned("tea", 1))
    before = store.reader.history(owner, order=order)
    page = store.reader._page

    def later(*asked: Any) -> Any:
        store.tell(owner, mentioned("tea", 2))
        return page(*asked)

    monkeypatch.setattr(store.reader, "_page", later)
    meanwhile = store.reader.history(owner, order=order)
    monkeypatch.undo()
    assert (meanwhile["chain"], meanwhile["position"]) == (before["chain"], before["position"])
    assert meanwhile["changes"] == before["changes"]
    assert len(store.reader.history(owner)["changes"]) == len(before["changes"]) + 1


def test_pasts_are_kept_by_all_that_they_take(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = store.owner()
    many = 30
    places = [store.tell(owner, created("green tea", "tea"))]
    places += [store.tell(owner, mentioned("tea", number)) for number in range(1, many)]
    kept = store.reader._pasts._kept
    kept.clear()
    store.reader.list(owner, as_of=places[-2])
    (one,) = kept.values()
    assert one.bytes_used() >= one.view.bytes_used() + 100 * len(one.entries)
    monkeypatch.setattr(pasts, "PASTS_BYTES", one.view.bytes_used() * 2 + 100 * len(one.entries))
    store.reader.list(owner, as_of=places[-3])
    assert len(kept) == 1, "two views would fit, their change logs do not"
    assert all(len(part) <= 64 for name in kept for part in name if isinstance(part, bytes))
