"""Models of sentence-transformers, with a library of the same face in its place: torch is not installed for tests."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import pytest

from events.errors import BadSetting, EmbedderFailed
from projections.embedding import sentence as model_sentence
from projections.embedding.sentence import SentenceModel

SECRET_TEXT = "the launch code is 0000"


class Tensor:
    """As much of a tensor as is used."""

    def __init__(self, values: Any) -> None:
        self.values = np.asarray(values, np.float32)

    def float(self) -> Tensor:
        return self

    def cpu(self) -> Tensor:
        return self

    def numpy(self) -> np.ndarray:
        return self.values


class Tokenizer:
    """A token is a letter; marks of begin and end have no characters."""

    is_fast = True

    def __call__(self, text: str, *, truncation: bool, max_length: int, return_offsets_mapping: bool) -> dict[str, Any]:
        assert truncation
        assert return_offsets_mapping
        inner = [(at, at + 1) for at in range(min(len(text), max_length - 2))]
        return {"offset_mapping": [(0, 0), *inner, (0, 0)]}


class SentenceTransformer:
    """A token's vector is (code point, 1, place); padded with two tokens of nothing, on the left."""

    max_seq_length = 12
    default_prompt_name: str | None = None
    loaded: ClassVar[list[str]] = []
    pooling = "mean"
    trouble: Exception | None = None

    def __init__(self, name: str) -> None:
        if name == "unknown":
            raise OSError(f"{name} is not a local folder")
        self.loaded.append(name)
        self.tokenizer = Tokenizer()
        self.prompts: dict[str, str] = {}
        self.prompted: list[tuple[str, str]] = []

    def encode_query(self, texts: Sequence[str], **options: Any) -> list[Any]:
        return self._encode("query", texts, **options)

    def encode_document(self, texts: Sequence[str], **options: Any) -> list[Any]:
        return self._encode("document", texts, **options)

    def _encode(
        self, task: str, texts: Sequence[str], *, output_value: str | None, prompt: str, show_progress_bar: bool
    ) -> list[Any]:
        if self.trouble is not None and texts[0] == SECRET_TEXT:
            raise self.trouble
        self.prompted.append((task, prompt))
        found = [self._one(prompt + text.strip()) for text in texts]
        return found if output_value is None else [one["sentence_embedding"] for one in found]

    def _one(self, text: str) -> dict[str, Tensor]:
        letters = "^" + text[: self.max_seq_length - 2] + "$"
        tokens = np.array([[ord(letter) / 100, 1, at / 10] for at, letter in enumerate(letters)], np.float32)
        whole = {"mean": tokens.mean(axis=0), "first": tokens[0], "wider": np.ones(5), "zero": np.zeros(3)}[
            self.pooling
        ]
        return {
            "token_embeddings": Tensor(np.vstack([np.zeros((2, 3)), tokens])),
            "attention_mask": Tensor([0, 0] + [1] * len(tokens)),
            "sentence_embedding": Tensor(whole),
        }


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> type[SentenceTransformer]:
    module = ModuleType("sentence_transformers")
    module.__spec__ = ModuleSpec("sentence_transformers", None)
    fresh = type("SentenceTransformer", (SentenceTransformer,), {"loaded": []})
    module.SentenceTransformer = fresh  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    return fresh


def of(model: SentenceModel) -> Any:
    assert model._loaded is not None
    return model._loaded[0]


def test_where_the_whole_is_the_mean_of_tokens_pieces_are_the_tokens(library: type[SentenceTransformer]) -> None:
    short, long = SentenceModel("some/model").texts(["猫", "abcdefghijklmnop"])
    assert (short.pieces.shape, long.pieces.shape) == ((1, 3), (10, 3))
    expected = np.array([ord("猫") / 100, 1, 0.1])
    np.testing.assert_allclose(short.pieces[0], expected / np.linalg.norm(expected), atol=1e-5)
    lengths = np.linalg.norm(np.vstack([short.whole, long.whole, short.pieces, long.pieces]), axis=1)
    np.testing.assert_allclose(lengths, 1, atol=1e-5)


@pytest.mark.parametrize("pooling", ["first", "wider"])
def test_other_models_give_wholes_only(library: type[SentenceTransformer], pooling: str) -> None:
    library.pooling = pooling
    model = SentenceModel("some/model")
    [embedded], asked = model.texts(["abc"]), model.question("abc")
    assert embedded.pieces.shape == asked.pieces.shape == (0, embedded.whole.size)
    assert asked.words == ()


def test_a_model_whose_tokenizer_tells_no_offsets_gives_wholes_only(
    library: type[SentenceTransformer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Tokenizer, "is_fast", False)
    assert SentenceModel("some/model").texts(["abc"])[0].pieces.shape == (0, 3)


def test_the_pieces_of_a_question_stand_for_its_words(library: type[SentenceTransformer]) -> None:
    asked = SentenceModel("some/model").question("  it is 猫?")
    assert asked.words == ("it", "it", "", "is", "is", "", "猫", "?")
    assert asked.pieces.shape == (8, 3)


def test_a_models_own_prompts_are_put_before_texts_and_are_no_pieces(library: type[SentenceTransformer]) -> None:
    model = SentenceModel("some/model")
    model.texts(["warm up"])
    of(model).prompts = {"query": "Q: ", "passage": "P: "}
    asked, [told] = model.question("ab"), model.texts(["abc"])
    assert of(model).prompted[-2:] == [("query", "Q: "), ("document", "P: ")]
    assert (asked.words, len(told.pieces)) == (("ab", "ab"), 3)


def test_the_default_prompt_stands_in_for_the_others(library: type[SentenceTransformer]) -> None:
    model = SentenceModel("some/model")
    model.texts(["warm up"])
    of(model).prompts, of(model).default_prompt_name = {"all": "A: "}, "all"
    model.question("ab")
    assert of(model).prompted[-1] == ("query", "A: ")


@pytest.mark.parametrize("text", ["", "   ", "\ud800"])
def test_any_text_has_finite_vectors(library: type[SentenceTransformer], text: str) -> None:
    [embedded] = SentenceModel("some/model").texts([text])
    assert np.isfinite(embedded.whole).all()
    assert embedded.pieces.shape[1] == 3


def test_the_model_is_loaded_once_and_at_first_use(library: type[SentenceTransformer]) -> None:
    model = SentenceModel("some/model")
    assert library.loaded == []
    model.texts([])
    model.question("a")
    assert (library.loaded, model.model) == (["some/model"], "sentence:some/model")


def test_a_model_that_cannot_be_loaded_is_named(library: type[SentenceTransformer]) -> None:
    with pytest.raises(EmbedderFailed, match=r"unknown cannot be loaded \(OSError\)") as raised:
        SentenceModel("unknown").texts(["a"])
    assert raised.value.context["down"]


def test_a_text_on_which_the_model_fails_is_not_repeated(library: type[SentenceTransformer]) -> None:
    library.trouble = RuntimeError(f"cannot allocate for {SECRET_TEXT}")
    with pytest.raises(EmbedderFailed, match=r"some/model failed \(RuntimeError\)") as raised:
        SentenceModel("some/model").texts([SECRET_TEXT])
    assert SECRET_TEXT not in raised.value.message
    assert not raised.value.context["down"]


def test_a_zero_vector_is_a_failure(library: type[SentenceTransformer]) -> None:
    library.pooling = "zero"
    with pytest.raises(EmbedderFailed, match="not finite, or zero"):
        SentenceModel("some/model").texts(["a"])


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_sentence, "find_spec", lambda name: None)
    with pytest.raises(BadSetting, match=r'pip install "engramlog\[sentence\]"'):
        SentenceModel("some/model")
