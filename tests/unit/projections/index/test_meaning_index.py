"""Rows and their vectors: shared by content, forgotten with it, never had by what is purged or secret."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np

from engramlog_server.events.envelope import digest
from engramlog_server.projections.embedding.meaning import KEY_BYTES, NO_SECRET, content_key
from engramlog_server.projections.index.meaning_index import MeaningIndex
from engramlog_server.projections.memory.record import Memory, with_changes
from engramlog_server.projections.views.view import OwnerView
from tests.doubles.embedding import DIMENSIONS, WordEmbedder
from tests.given.associated import memory
from tests.given.events import Told, created, deleted, folded, purged, revised, secret_of

EMBEDDER = WordEmbedder()
SECRET = secret_of("ada")


def said(memory_id: str, content: str, **fields: Any) -> Memory:
    return with_changes(memory(memory_id), content=content, **fields)


def index_of(*contents: str) -> MeaningIndex:
    index = MeaningIndex("words/1", SECRET)
    for row, content in enumerate(contents):
        index.put(row, said(f"m{row}", content))
    return index


def vectors(*contents: str) -> dict[bytes, Any]:
    return {content_key(SECRET, text): EMBEDDER.texts([text])[0].whole for text in contents}


def keys(*contents: str) -> list[bytes]:
    return [content_key(SECRET, text) for text in contents]


def test_rows_are_known_once_their_vectors_are_taken() -> None:
    index = index_of("tea", "咖啡", "bus")
    assert (index.wholes.shape, index.known.tolist(), index.wanted) == ((3, 0), [False] * 3, 3)
    index.take(vectors("咖啡", "tea", "nobody's"))
    assert (index.wholes.shape, index.known.tolist()) == ((3, DIMENSIONS), [True, True, False])
    np.testing.assert_array_equal(index.wholes[1], vectors("咖啡")[content_key(SECRET, "咖啡")])
    assert not index.wholes[2].any()
    assert index.missing() == keys("bus")


def test_rows_of_one_content_share_its_vector_whenever_they_come() -> None:
    index = index_of("tea", "tea")
    assert index.missing() == keys("tea")
    index.take(vectors("tea"))
    index.put(2, said("m2", "tea"))
    assert (index.known.tolist(), index.missing()) == ([True] * 3, [])
    np.testing.assert_array_equal(index.wholes[0], index.wholes[2])


def test_a_row_forgets_its_vector_with_its_content_and_the_others_keep_theirs() -> None:
    index = index_of("tea", "tea")
    index.take(vectors("tea"))
    index.put(0, said("m0", "coffee"))
    assert (index.known.tolist(), index.wholes[0].any(), index.missing()) == ([False, True], False, keys("coffee"))
    index.put(1, said("m1", "coffee"))
    index.put(2, said("m2", "tea"))
    assert index.known.tolist() == [False] * 3  # nobody held it meanwhile


def test_what_is_secret_or_purged_wants_no_vector() -> None:
    index = index_of("tea", "bus")
    index.take(vectors("tea", "bus"))
    index.put(0, said("m0", "tea", sensitivity=3))
    index.put(1, said("m1", "", purged_at=1))
    assert (index.wanted, index.known.any(), index.wholes.any(), index.missing()) == (0, False, False, [])
    assert index.key(0) == b""
    index.put(0, said("m0", "tea"))
    assert index.missing() == keys("tea")


def test_it_grows_without_losing_anything() -> None:
    contents = [f"thing {n}" for n in range(300)]
    index = MeaningIndex("words/1", SECRET)
    for row, content in enumerate(contents):
        index.put(row, said(f"m{row}", content))
        index.take(vectors(content))
    assert (index.known.all(), index.wholes.shape, len(index)) == (True, (300, DIMENSIONS), 300)
    np.testing.assert_array_equal(index.wholes[17], vectors("thing 17")[content_key(SECRET, "thing 17")])
    assert index.bytes_used() > 300 * DIMENSIONS * 4


def test_the_store_is_asked_again_only_when_it_has_changed_and_else_for_what_is_new() -> None:
    index = index_of("tea", "bus")
    assert index.to_ask(0) == keys("tea", "bus")
    assert index.to_ask(0) == keys("tea", "bus")  # not answered yet: the store may have been away
    index.answered(0, index.to_ask(0), vectors("tea"))
    assert index.to_ask(0) == []
    index.put(2, said("m2", "rain"))
    assert index.to_ask(0) == keys("rain")
    index.answered(0, keys("rain"), {})
    assert (index.to_ask(0), index.to_ask(1)) == ([], keys("bus", "rain"))


def test_vectors_of_other_dimensions_are_no_vectors_of_this_model() -> None:
    index = index_of("tea", "bus")
    index.take(vectors("tea"))
    index.take({content_key(SECRET, "bus"): np.ones(5, np.float32)})
    assert index.known.tolist() == [True, False]
    index.answered(4, [], {})
    index.fit(5)
    assert (index.known.any(), index.wholes.shape, index.to_ask(4)) == (False, (2, 5), keys("tea", "bus"))
    index.take({content_key(SECRET, "bus"): np.ones(5, np.float32)})
    assert index.known.tolist() == [False, True]


def view_after(view: OwnerView | None, *events: Told) -> OwnerView:
    history = folded(*events)
    if view is None:
        return OwnerView.of_history("ada", history)
    view.follow(history.owner, history.memories.values())
    return view


def test_a_view_keeps_the_index_of_each_model_level_with_its_rows() -> None:
    told = [created("tea", "a"), created("bus", "b")]
    view = view_after(None, *told)
    index, other = view.meaning("words/1", SECRET), view.meaning("words/2", SECRET)
    assert view.meaning("words/1", SECRET) is index is not other
    before = view.bytes_used()
    index.take(vectors("tea", "bus"))
    assert view.bytes_used() > before
    view_after(view, *told, created("rain", "c"), revised("coffee", "a", 1), deleted("b", day=2), purged("b", 40))
    assert (index.known.tolist(), index.missing(), index.wanted) == ([False] * 3, keys("coffee", "rain"), 2)
    assert other.missing() == keys("coffee", "rain")


def test_the_name_of_a_text_confirms_no_guess_and_is_another_for_another_owner() -> None:
    mine, theirs = (content_key(secret_of(owner), "I like tea") for owner in ("ada", "bob"))
    made_by_others = (
        blake2b(b"I like tea", digest_size=KEY_BYTES).digest(),
        blake2b(b"I like tea", digest_size=KEY_BYTES, person=b"vector").digest(),
        digest(secret_of("ada"), b"I like tea"),
        content_key(NO_SECRET, "I like tea"),
        theirs,
    )
    assert (len(mine), mine in made_by_others) == (KEY_BYTES, False)
