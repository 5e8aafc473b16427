"""A retraction in so many words, over a real store: gone without a newer value, and its source told again brings nothing back."""

from __future__ import annotations

from typing import Any

from tests.acceptance.helpers.store import Store
from tests.given.events import Told
from tests.given.said import said
from tests.rows import each_row


def fed(store: Store, owner: str, turn_id: str, text: str, day: float) -> None:
    """A turn of yesterday, so many hundredths of a day in, and read by rules."""
    told = said(turn_id, text, session=turn_id)
    store.tell(owner, Told(told.data, store.yesterday + day / 100, told.actor, told.extra))
    store.app.extractor.extract(owner, "rules")


def shown(store: Store, owner: str, query: str) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = store.reader.search(owner, query)["results"]
    return results


@each_row(
    ("source", "retraction", "asks", "gone", "other", "asks_other"),
    [
        ("I have a dog named Rex.", "I misspoke, I do not have a dog.", "do I have a dog?", "Rex", "I love hiking.", "hiking"),
        ("I have a sister.", "I was wrong, I have no sister.", "have I a sister?", "has a sister", "I love hiking.", "hiking"),
        ("我养了一只橘猫。", "我说错了，我没有猫。", "我有猫吗", "橘猫", "我喜欢爬山。", "爬山"),
    ],
)  # fmt: skip
def test_what_was_retracted_in_words_stays_gone_when_its_source_is_told_again(
    store: Store, source: str, retraction: str, asks: str, gone: str, other: str, asks_other: str
) -> None:
    owner = store.owner()
    fed(store, owner, "a:1", f"{source} {other}", 1)
    assert any(gone in one["memory"] for one in shown(store, owner, asks))
    fed(store, owner, "b:1", retraction, 30)
    for conversation in ("c:9", "d:4"):
        assert not any(gone in one["memory"] for one in shown(store, owner, asks))
        assert any(other.strip("。.")[-2:] in one["memory"] for one in shown(store, owner, asks_other))
        fed(store, owner, conversation, source, 2)
    assert not any(gone in one["memory"] for one in shown(store, owner, asks))
    fed(store, owner, "e:1", source, 60)
    assert any(gone in one["memory"] for one in shown(store, owner, asks)), "said later than its retraction it holds"
