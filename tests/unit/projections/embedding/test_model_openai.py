"""An embedder behind HTTP, against a scripted endpoint: what is asked, what is understood, what is said when it fails."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from engramlog_server.events.errors import BadSetting, EmbedderFailed
from engramlog_server.projections.embedding import openai as model_openai
from engramlog_server.projections.embedding.openai import MOST_BYTES, MOST_INPUTS, EndpointPatience, OpenAI
from tests.doubles.embeddings_endpoint import Endpoint, Reply, endpoint, vectors
from tests.rows import each_row

KEY = "sk-not-to-be-told"
SECRET_TEXT = "the launch code is 0000"


@pytest.fixture
def server() -> Iterator[Endpoint]:
    with endpoint() as running:
        yield running


@pytest.fixture
def waits() -> list[float]:
    """Seconds that the embedder wanted to wait, and did not have to."""
    return []


@pytest.fixture
def openai(server: Endpoint, waits: list[float]) -> Iterator[OpenAI]:
    embedder = OpenAI("small", url=server.url, key=KEY, pause=waits.append)
    yield embedder
    embedder.close()


def failure(openai: OpenAI) -> EmbedderFailed:
    with pytest.raises(EmbedderFailed) as raised:
        openai.texts([SECRET_TEXT])
    told = f"{raised.value.message} {raised.value.as_dict()}"
    assert KEY not in told
    assert SECRET_TEXT not in told
    return raised.value


def test_a_request_names_the_model_the_texts_and_the_key(server: Endpoint, openai: OpenAI) -> None:
    openai.texts(["one", "二"])
    [asked] = server.asked
    assert asked.path == "/v1/embeddings"
    assert asked.body == {"model": "small", "input": ["one", "二"], "encoding_format": "float"}
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.headers["content-type"] == "application/json"


def test_without_a_key_none_is_sent(server: Endpoint) -> None:
    embedder = OpenAI("small", url=server.url)
    embedder.texts(["one"])
    embedder.close()
    assert "authorization" not in server.asked[0].headers


@each_row("key", [None, ""])
def test_without_a_url_and_a_key_nothing_is_sent_to_anybody(key: str | None) -> None:
    with pytest.raises(
        BadSetting, match=r"set ENGRAMLOG_EMBEDDER_URL to .*, or ENGRAMLOG_EMBEDDER_KEY for OpenAI's own"
    ):
        OpenAI("small", key=key)


def test_vectors_have_length_one_and_no_pieces(server: Endpoint, openai: OpenAI) -> None:
    server.replies = [Reply(body=vectors([3, 4], [0, -2]))]
    first, second = openai.texts(["one", "two"])
    np.testing.assert_allclose([first.whole, second.whole], [[0.6, 0.8], [0, -1]], atol=1e-6)
    assert first.whole.dtype == np.float32
    assert first.pieces.shape == (0, 2)


def test_a_question_is_embedded_as_a_text(openai: OpenAI) -> None:
    asked, [told] = openai.question("who?"), openai.texts(["who?"])
    np.testing.assert_array_equal(asked.whole, told.whole)
    assert (asked.pieces.shape, asked.words) == ((0, 3), ())


def test_vectors_are_put_in_the_order_of_their_numbers(server: Endpoint, openai: OpenAI) -> None:
    answer = {"data": [{"index": 1, "embedding": [0, 1]}, {"index": 0, "embedding": [1, 0]}]}
    server.replies = [Reply(body=answer)]
    np.testing.assert_array_equal([one.whole for one in openai.texts(["a", "b"])], [[1, 0], [0, 1]])


def test_many_texts_are_sent_in_several_requests_and_stay_in_order(server: Endpoint, openai: OpenAI) -> None:
    texts = ["x" * (1 + at % 7) for at in range(MOST_INPUTS + 5)]
    wholes = [embedded.whole for embedded in openai.texts(texts)]
    assert [len(asked.inputs) for asked in server.asked] == [MOST_INPUTS, 5]
    assert [round(float(whole[0] / whole[1])) for whole in wholes] == [len(text) for text in texts]


def test_long_texts_are_sent_a_few_at_a_time_and_only_their_beginning(server: Endpoint, openai: OpenAI) -> None:
    openai.texts(["长" * 9_000] * 20)
    assert [len(asked.inputs) for asked in server.asked] == [12, 8]
    assert set(server.inputs) == {"长" * (MOST_BYTES // 3)}


@each_row("text", ["", " ", "\n\t\u3000", "\ud800"])
def test_an_empty_text_is_never_sent_and_has_a_vector(server: Endpoint, openai: OpenAI, text: str) -> None:
    [embedded] = openai.texts([text])
    assert np.isfinite(embedded.whole).all()
    assert all(sent.strip() for sent in server.inputs)


def test_no_texts_are_not_sent(server: Endpoint, openai: OpenAI) -> None:
    assert openai.texts([]) == []
    assert server.asked == []


def test_an_answer_that_is_not_usable_fails_at_once(server: Endpoint, openai: OpenAI) -> None:
    server.replies = [Reply(body=b'{"data": [{"index": 0, "embedding": [0.1, 0')]
    failed = failure(openai)
    assert "not usable: it is no JSON object" in failed.message
    assert not failed.context["down"]
    assert len(server.asked) == 1


def test_vectors_of_other_dimensions_than_before_fail(server: Endpoint, openai: OpenAI) -> None:
    openai.texts(["a"])
    server.replies = [Reply(body=vectors([1, 2]))]
    assert "2 dimensions, not 3" in failure(openai).message


def test_too_many_requests_are_sent_again_when_the_endpoint_says(
    server: Endpoint, openai: OpenAI, waits: list[float]
) -> None:
    later = {"retry-after": "7"}
    dated = {"retry-after": "Wed, 01 Jan 2025 00:00:05 GMT", "date": "Wed, 01 Jan 2025 00:00:02 GMT"}
    ok = Reply(body=vectors([1, 0]))
    server.replies = [
        Reply(429, headers=later),
        Reply(503, headers=dated),
        Reply(429, headers={"retry-after": "soon"}),
        ok,
    ]
    assert len(openai.texts(["a"])) == 1
    assert waits == [7.0, 3.0, 2.0]
    assert len(server.asked) == 4


def test_an_endpoint_that_asks_for_a_long_wait_is_not_asked_again(
    server: Endpoint, openai: OpenAI, waits: list[float]
) -> None:
    server.replies = [Reply(429, headers={"retry-after": "3600"})]
    assert "asks to wait 3600 s" in failure(openai).message
    assert (len(server.asked), waits) == (1, [])


def test_an_endpoint_that_always_fails_is_asked_four_times(
    server: Endpoint, openai: OpenAI, waits: list[float]
) -> None:
    server.replies = [Reply(500)]
    failed = failure(openai)
    assert "answered 500 (4 times asked)" in failed.message
    assert failed.context["down"]
    assert (len(server.asked), waits) == (4, [0.5, 1.0, 2.0])


def test_a_question_is_asked_twice_at_most(server: Endpoint, openai: OpenAI, waits: list[float]) -> None:
    server.replies = [Reply(500)]
    with pytest.raises(EmbedderFailed):
        openai.question("who?")
    assert (len(server.asked), waits) == (2, [0.5])


REFUSALS = [
    (400, "answered 400", False), (401, "the key is missing or not accepted", True), (403, "not allowed", True),
    (404, "the URL or the model is not known", True), (413, "answered 413", False), (302, "answered 302", True),
]  # fmt: skip


@each_row("status, why, down", REFUSALS, ids=[str(row[0]) for row in REFUSALS])
def test_a_refusal_is_not_asked_again_and_tells_nothing_of_what_was_sent(
    server: Endpoint, openai: OpenAI, status: int, why: str, down: bool
) -> None:
    told = {"message": f"{SECRET_TEXT} with {KEY}", "code": KEY, "type": SECRET_TEXT}
    server.anew(Reply(status, {"error": told}))
    failed = failure(openai)
    assert why in failed.message
    assert failed.context["down"] is down
    assert len(server.asked) == 1


def test_the_name_that_an_endpoint_gives_its_error_is_told(server: Endpoint, openai: OpenAI) -> None:
    server.replies = [Reply(400, {"error": {"code": "context_length_exceeded"}})]
    assert "answered 400 (context_length_exceeded)" in failure(openai).message


@each_row("body", [b"", b"[]", b"{", b'{"error": "text"}', b'{"error": {"code": 7, "type": null}}'])
def test_a_refusal_without_a_name_is_told_by_its_status(server: Endpoint, openai: OpenAI, body: bytes) -> None:
    server.anew(Reply(400, body))
    assert failure(openai).message.endswith("answered 400")


def test_an_answer_that_breaks_off_is_asked_for_again(server: Endpoint, openai: OpenAI, waits: list[float]) -> None:
    server.replies = [Reply(body=b'{"data": [', length=500), Reply(body=vectors([1]))]
    assert len(openai.texts(["a"])) == 1
    assert waits == [0.5]


def impatient(server: Endpoint) -> OpenAI:
    patience = EndpointPatience(tries=2, timeout=0.2, longest_wait=1)
    return OpenAI("small", url=server.url, key=KEY, for_texts=patience, pause=lambda _: None)


def test_an_endpoint_that_does_not_answer_is_given_up(server: Endpoint) -> None:
    server.replies = [Reply(silent=True)]
    openai = impatient(server)
    assert "gave no answer within 0.2 s (2 times asked)" in failure(openai).message
    openai.close()


def test_an_endpoint_that_answers_drop_by_drop_is_given_up(server: Endpoint) -> None:
    server.replies = [Reply(parts=[b" "] * 20, length=20)]
    openai = impatient(server)
    assert "gave no whole answer within 0.2 s" in failure(openai).message
    openai.close()


def test_an_answer_without_end_is_given_up(server: Endpoint, openai: OpenAI, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_openai, "MOST_ANSWER", 1_000)
    server.replies = [Reply(body=b" " * 5_000)]
    assert "more than 1,000 bytes" in failure(openai).message


def test_where_nobody_listens_it_is_said_which_host(waits: list[float]) -> None:
    with endpoint() as gone:
        url = gone.url
    openai = OpenAI("small", url=url, key=KEY, pause=waits.append)
    failed = failure(openai)
    assert f"{url.removeprefix('http://').removesuffix('/v1')} cannot be reached" in failed.message
    assert (failed.context["down"], waits) == (True, [0.5, 1.0, 2.0])
    openai.close()


def test_it_connects_anew_after_it_was_closed(server: Endpoint, openai: OpenAI) -> None:
    openai.texts(["a"])
    openai.close()
    openai.texts(["b"])
    assert server.inputs == ["a", "b"]


@each_row(
    "url",
    [
        "a/v1", "ftp://a", "https://", "https://u:pw@a/v1", "https://a/v1?x=1", "https://a:x", "https://a b", "https://[a",
    ],
)  # fmt: skip
def test_a_url_that_cannot_be_used_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(BadSetting, match="allowed: http") as raised:
        OpenAI("small", url=url)
    assert "pw" not in raised.value.message


def test_without_its_client_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_openai, "find_spec", lambda name: None)
    with pytest.raises(BadSetting, match=r'pip install "engramlog\[openai\]"'):
        OpenAI("small")
