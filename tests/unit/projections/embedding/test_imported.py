"""An embedder named by an import path: what is taken, what is refused, and that nothing it gives is believed."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Lock
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from engramlog_server.events.errors import BadSetting, EmbedderFailed
from engramlog_server.projections.embedding.embedder import imported_embedder
from engramlog_server.projections.embedding.meaning import Embedded, EmbeddedQuestion, Embedder
from tests.doubles.embedding import WordEmbedder
from tests.rows import each_row

SECRET = "the text is told to nobody"
NOTHING = np.zeros((0, 3), np.float32)


class Given:
    """Gives what it is told to."""

    model = "given-1"

    def __init__(
        self, whole: Any = (3, 0, 4), pieces: Any = (), words: Any = (), error: Exception | None = None
    ) -> None:
        self.whole, self.pieces, self.words, self.error = whole, pieces, words, error

    def texts(self, texts: Sequence[str]) -> list[Embedded]:
        if self.error is not None:
            raise self.error
        return [Embedded(self.whole, self.pieces) for _ in texts]

    def question(self, text: str) -> EmbeddedQuestion:
        if self.error is not None:
            raise self.error
        return EmbeddedQuestion(self.whole, self.pieces, self.words)


@pytest.fixture
def brought() -> Iterator[ModuleType]:
    module = ModuleType("brought_for_a_test")
    sys.modules[module.__name__] = module
    yield module
    del sys.modules[module.__name__]


def named(module: ModuleType, found: Any) -> Embedder:
    module.found = found  # type: ignore[attr-defined]
    return imported_embedder(f"{module.__name__}:found")


@each_row("found", [Given(), Given, partial(Given, (3, 0, 4))], ids=["an embedder", "its class", "a function"])
def test_an_embedder_or_what_makes_one_is_taken(brought: ModuleType, found: Any) -> None:
    embedder = named(brought, found)
    assert embedder.model == "given-1"
    [embedded] = embedder.texts(["a"])
    np.testing.assert_allclose(embedded.whole, [0.6, 0, 0.8], rtol=1e-6)
    assert (embedded.whole.dtype, embedded.pieces.shape) == (np.float32, (0, 3))
    asked = embedder.question("a")
    np.testing.assert_array_equal(asked.whole, embedded.whole)
    assert asked.words == ()


def test_an_object_within_an_object_is_found(brought: ModuleType) -> None:
    brought.inner = SimpleNamespace(made=Given())  # type: ignore[attr-defined]
    assert imported_embedder(f"{brought.__name__}:inner.made").model == "given-1"


def test_its_vectors_are_those_of_the_other() -> None:
    embedder, words = imported_embedder("tests.doubles.embedding:WordEmbedder"), WordEmbedder()
    [one], [other] = embedder.texts(["she drinks tea"]), words.texts(["she drinks tea"])
    np.testing.assert_allclose(one.whole, other.whole, atol=1e-6)
    np.testing.assert_allclose(one.pieces, other.pieces, atol=1e-6)
    assert embedder.question("who drinks tea?").words == words.question("who drinks tea?").words
    assert embedder.texts([]) == []


def failing() -> Any:
    raise RuntimeError(SECRET)


class Unnamed(Given):
    @property
    def model(self) -> str:  # type: ignore[override]
        raise RuntimeError(SECRET)


REFUSED = {
    "a number": (7, "an object of the kind int"),
    "a class of something else": (dict, "an object of the kind dict"),
    "no texts": (SimpleNamespace(model="m", question=len), "an object of the kind SimpleNamespace"),
    "texts that cannot be called": (SimpleNamespace(model="m", question=len, texts=3), "SimpleNamespace"),
    "a function that fails": (failing, "which fails when called .RuntimeError."),
    "a function that wants something": (lambda one: Given(), "which fails when called .TypeError."),
    "a model that fails": (Unnamed(), "Unnamed|model fails"),
    "a model that is no text": (SimpleNamespace(model=3, question=len, texts=len), "an embedder whose model is '3'"),
    "a model without a letter": (SimpleNamespace(model="", question=len, texts=len), "an embedder whose model is ''"),
    "a model of many letters": (SimpleNamespace(model="m" * 121, question=len, texts=len), "whose model is 'mmm"),
    "a model of two lines": (SimpleNamespace(model="a\nb", question=len, texts=len), r"whose model is 'a\\nb'"),
}


@each_row("found, got", REFUSED.values(), ids=REFUSED)
def test_anything_else_is_refused_with_what_was_got_and_what_is_allowed(
    brought: ModuleType, found: Any, got: str
) -> None:
    with pytest.raises(
        BadSetting, match=rf"embedder: got brought_for_a_test:found, .*({got}).*; allowed: an object with model"
    ) as at:
        named(brought, found)
    assert SECRET not in str(at.value)


@each_row("path", ["no_such_package_here:x", "json:no_such_object", "json.nothing:loads"])
def test_what_cannot_be_imported_is_told(path: str) -> None:
    with pytest.raises(BadSetting, match=r"which cannot be imported \((ModuleNotFound|Attribute)Error\)"):
        imported_embedder(path)


WRONG: dict[str, tuple[Any, Any]] = {
    "not finite": ((1.0, float("nan"), 0.0), ()), "infinite": ((1.0, float("inf"), 0.0), ()), "zero": ((0.0, 0.0, 0.0), ()),
    "of two dimensions": (((1.0, 0.0), (0.0, 1.0)), ()), "empty": ((), ()), "a number": (1.0, ()), "a text": ("abc", ()),
    "none": (None, ()), "uneven": ((1.0, (2.0, 3.0)), ()), "too large": (np.ones(70_000), ()),
    "pieces of other dimensions": ((1.0, 0.0, 0.0), ((1.0, 0.0),)), "a zero piece": ((1.0, 0.0, 0.0), ((0.0, 0.0, 0.0),)),
    "a piece that is not finite": ((1.0, 0.0, 0.0), ((0.0, float("nan"), 0.0),)),
    "too many pieces": ((1.0, 0.0, 0.0), np.ones((5_000, 3))),
}  # fmt: skip


@each_row("whole, pieces", WRONG.values(), ids=WRONG)
def test_what_is_no_vector_is_refused(brought: ModuleType, whole: Any, pieces: Any) -> None:
    embedder = named(brought, Given(whole, pieces))
    for ask in (lambda: embedder.texts([SECRET]), lambda: embedder.question(SECRET)):
        with pytest.raises(EmbedderFailed, match="the embedder brought_for_a_test:found gave a vector") as at:
            ask()
        assert at.value.context["down"] is False
        assert SECRET not in str(at.value)


def test_vectors_of_other_dimensions_than_the_first_are_refused(brought: ModuleType) -> None:
    given = Given()
    embedder = named(brought, given)
    embedder.texts(["a"])
    given.whole = (1.0, 2.0)
    with pytest.raises(EmbedderFailed, match=r"of the shape \(2,\), not \(3,\)"):
        embedder.question("a")


def test_very_large_and_very_small_components_are_no_harm(brought: ModuleType) -> None:
    for size in (1e-300, 1e300):
        [embedded] = named(brought, Given((3 * size, 0, 4 * size))).texts(["a"])
        np.testing.assert_allclose(embedded.whole, [0.6, 0, 0.8], rtol=1e-6)


def test_too_few_vectors_are_refused(brought: ModuleType) -> None:
    given = Given()
    given.texts = lambda texts: []  # type: ignore[method-assign]
    with pytest.raises(EmbedderFailed, match="gave 0 vectors for 2 texts"):
        named(brought, given).texts(["a", "b"])


def test_words_that_fit_no_piece_are_refused(brought: ModuleType) -> None:
    for words in (("one",), (1, 2)):
        with pytest.raises(EmbedderFailed, match="words for 2 pieces"):
            named(brought, Given((1, 0, 0), ((1, 0, 0), (0, 1, 0)), words)).question("a")


@each_row(("error", "down"), [(ValueError(SECRET), False), (ConnectionError(SECRET), True), (OSError(), True)])
def test_what_it_raises_becomes_one_failure_that_quotes_nothing(
    brought: ModuleType, error: Exception, *, down: bool
) -> None:
    embedder = named(brought, Given(error=error))
    for ask in (lambda: embedder.texts(["a"]), lambda: embedder.question("a")):
        with pytest.raises(EmbedderFailed, match=rf"failed \({type(error).__name__}\)") as at:
            ask()
        assert at.value.context["down"] is down
        assert SECRET not in str(at.value)


def test_its_own_failure_is_told_as_it_is(brought: ModuleType) -> None:
    mine = EmbedderFailed("my endpoint sleeps", down=True)
    with pytest.raises(EmbedderFailed) as at:
        named(brought, Given(error=mine)).texts(["a"])
    assert at.value is mine


def test_one_thread_at_a_time_is_let_through(brought: ModuleType) -> None:
    busy, met = Lock(), []

    class Alone(Given):
        def question(self, text: str) -> EmbeddedQuestion:
            met.append(busy.acquire(blocking=False))
            asked = super().question(text)
            busy.release()
            return asked

    embedder = named(brought, Alone())
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(embedder.question, ["a"] * 50))
    assert met == [True] * 50
