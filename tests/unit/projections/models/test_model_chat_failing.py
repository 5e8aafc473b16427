"""A model behind HTTP that misbehaves: what is asked again, what is given up, what is said, and what it took."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from engramlog_server.projections.models.chat import ModelChat, ModelUsage
from tests.doubles.model_endpoint import (
    SILENT,
    TRICKLE,
    Asked,
    ModelEndpoint,
    Reply,
    broken_off,
    calling,
    completion,
    cut_short,
    limited,
    model_endpoint,
)
from tests.given.model import KEY, TOLD, Chats, Verdict, chats, failure
from tests.rows import each_row


@pytest.fixture
def server() -> Iterator[ModelEndpoint]:
    with model_endpoint() as running:
        yield running


@pytest.fixture
def opened(server: ModelEndpoint) -> Iterator[Chats]:
    with chats(server) as made:
        yield made


@pytest.fixture
def chat(opened: Chats) -> ModelChat:
    return opened()


MALFORMED: dict[str, Reply | Callable[[Asked], Reply]] = {
    "text instead of a call": completion({"content": TOLD}), "no message content": completion({"content": None}),
    "two calls": completion(calling(("answer", {"word": TOLD}), ("answer", {"word": TOLD}))),
    "thousands of calls": completion(calling(*[("answer", {"word": TOLD})] * 20_000)),
    "a tool that does not exist": completion(calling(("delete_everything", {"word": TOLD}))),
    "arguments that are no JSON": completion(calling(("answer", '{"word": '))),
    "arguments that are a list": completion(calling(("answer", [TOLD]))),
    "arguments of another shape": completion(calling(("answer", {"words": TOLD}))),
    "a value out of its range": completion(calling(("answer", {"word": TOLD, "sure": 7}))),
    "not a number": completion(calling(("answer", '{"word": "x", "sure": NaN}'))),
    "an endless number": completion(calling(("answer", '{"word": "x", "sure": 1e999}'))),
    "a huge integer": completion(calling(("answer", '{"word": "x", "sure": ' + "9" * 5_000 + "}"))),
    "the same key twice": completion(calling(("answer", '{"word": "x", "word": "y"}'))),
    "arguments nested deeply": completion(calling(("answer", "[" * 100_000))),
    "half a character": completion(calling(("answer", '{"word": "\\ud800"}'))), "no choices": Reply(body={"choices": []}),
    "choices that are none": Reply(body={"choices": {"message": TOLD}}),
    "a message that is none": Reply(body={"choices": [{"message": TOLD}]}),
    "calls that are none": completion({"tool_calls": [TOLD]}), "an empty object": Reply(body={}),
    "an object cut in two": Reply(body=b'{"choices": [{"mess'),
    "an object nested deeply": Reply(body=b'{"choices": ' + b"[" * 200_000),
    "invalid UTF-8": Reply(body=b'{"choices": [{"message": {"content": "\xff\xfe"}}]}'),
    "NaN in the envelope": Reply(body=b'{"choices": NaN}'),
}  # fmt: skip


@each_row("reply", MALFORMED.values(), ids=MALFORMED.keys())
def test_a_malformed_answer_is_asked_for_three_times_and_fails(
    server: ModelEndpoint, chat: ModelChat, opened: Chats, reply: Reply
) -> None:
    opened.waits.clear()
    server.anew(reply)
    failed = failure(chat)
    assert (failed.down, failed.usage[0], len(server.asked), opened.waits) == (False, 3, 3, [])
    assert "3 answers of which none can be used, asked for as 'tool'" in failed.message


@each_row("reply", MALFORMED.values(), ids=MALFORMED.keys())
def test_after_a_malformed_answer_a_good_one_is_taken(server: ModelEndpoint, chat: ModelChat, reply: Reply) -> None:
    server.anew(reply)
    server.says({"word": "yes"})
    answer, usage = chat.ask("Judge.", "Is it so?", Verdict)
    assert (answer.word, usage.requests) == ("yes", 2)


REFUSED: dict[str, tuple[Reply | Callable[[Asked], Reply], str]] = {
    "cut off": (cut_short(), "cut its answer off"),
    "cut off after a whole answer": (cut_short({"word": TOLD}), "cut its answer off"),
    "filtered": (completion({"content": TOLD}, finish="content_filter"), "refused to answer"),
    "refused": (completion({"content": None, "refusal": TOLD}), "refused to answer"),
    "bad request": (Reply(status=400, body={"error": {"message": TOLD}}), "answered 400"),
    "too large": (Reply(status=413, body=TOLD), "answered 413"),
    "unprocessable": (Reply(status=422, body={"error": {"code": "too_long"}}), "answered 422 (too_long)"),
    "bad request behind a gateway's 200": (Reply(body={"error": {"code": 400, "message": TOLD}}), "answered 400"),
    "too long a message": (completion({"content": "<think></think>" * 200_000}), "says more than 262,144 bytes"),
    "too many bytes": (Reply(body=b"{" + b" " * (5 << 20)), "more than 4,194,304 bytes"),
}


@each_row("reply, words", REFUSED.values(), ids=REFUSED.keys())
def test_what_is_refused_or_cut_off_fails_at_once_and_the_endpoint_is_up(
    server: ModelEndpoint, chat: ModelChat, reply: Reply, words: str
) -> None:
    server.anew(reply)
    failed = failure(chat)
    assert (failed.down, len(server.asked), failed.usage[0]) == (False, 1, 1)
    assert words in failed.message


@each_row("refused", ["cut off", "cut off after a whole answer", "filtered", "refused"])
def test_the_tokens_of_an_answer_that_is_refused_or_cut_off_are_counted(
    server: ModelEndpoint, chat: ModelChat, refused: str
) -> None:
    server.anew(completion({"content": "no call"}), REFUSED[refused][0])
    assert failure(chat).usage == (2, 22, 14)


WRONG: dict[str, tuple[Reply, str]] = {
    "no key": (Reply(status=401, body={"error": {"message": KEY}}), "answered 401: the key is missing or not accepted"),
    "not allowed": (Reply(status=403), "answered 403: the key is not allowed"),
    "not found": (Reply(status=404), "answered 404: the URL or the model is not known there"),
    "not paid": (Reply(status=402), "answered 402"),
    "moved": (Reply(status=307, headers={"location": "http://127.0.0.1:1/v1"}), "answered 307: it redirects"),
    "a page": (Reply(body=b"<!doctype html><p>Sign in", headers={"content-type": "text/html"}), "else than JSON"),
    "nothing": (Reply(), "else than JSON"),
}


@each_row("reply, words", WRONG.values(), ids=WRONG.keys())
def test_an_endpoint_that_is_set_up_wrongly_is_asked_once_and_down(
    server: ModelEndpoint, chat: ModelChat, reply: Reply, words: str
) -> None:
    server.anew(reply)
    failed = failure(chat)
    assert (failed.down, len(server.asked), failed.usage[0]) == (True, 1, 1)
    assert words in failed.message


LATER: dict[str, tuple[Reply | Callable[[Asked], Reply], list[float], str]] = {
    "busy": (limited(), [0.5, 1, 2], "answered 429 (rate_limit_exceeded) (4 times asked)"),
    "busy for seconds": (limited(7), [7, 7, 7], "(4 times asked); it asks to wait 7 s"),
    "busy for an hour": (limited(3_600), [], "it asks to wait 3600 s"),
    "busy until a day that is none": (limited("Mon, 1 Jan 99999999999 00:00:00 GMT"), [0.5, 1, 2], "answered 429"),
    "timed out": (Reply(status=408), [0.5, 1, 2], "answered 408"),
    "failing": (Reply(status=500), [0.5, 1, 2], "answered 500"),
    "failing behind a gateway's 200": (Reply(body={"error": {"code": 502}}), [0.5, 1, 2], "answered 502"),
    "away": (limited(2, status=503), [2, 2, 2], "answered 503"),
    "broken off": (broken_off, [0.5, 1, 2], "cannot be reached or broke off (RemoteProtocolError)"),
}


@each_row("reply, paused, words", LATER.values(), ids=LATER.keys())
def test_what_may_fare_better_later_is_sent_again_as_the_endpoint_asks(
    server: ModelEndpoint, chat: ModelChat, opened: Chats, reply: Reply, paused: list[float], words: str
) -> None:
    opened.waits.clear()
    server.anew(reply)
    failed = failure(chat)
    assert (failed.down, opened.waits, len(server.asked)) == (True, paused, len(paused) + 1)
    assert failed.usage[0] == len(server.asked)
    assert words in failed.message


def test_a_request_that_succeeds_later_counts_all_its_requests(
    server: ModelEndpoint, chat: ModelChat, opened: Chats
) -> None:
    server.replies = [limited(3), Reply(status=500)]
    server.says({"word": "yes"})
    assert chat.ask("Judge.", "?", Verdict) == (Verdict(word="yes"), ModelUsage(3, 11, 7))
    assert opened.waits == [3, 1]


@pytest.mark.parametrize("reply", [SILENT, TRICKLE], ids=["silent", "trickling"])
def test_an_endpoint_too_slow_for_one_whole_answer_is_down(server: ModelEndpoint, opened: Chats, reply: Reply) -> None:
    server.replies = [reply]
    failed = failure(opened(timeout=0.3, tries=2))
    assert (failed.down, len(server.asked)) == (True, 2)
    assert "gave no whole answer within 0.3 s (2 times asked)" in failed.message


def test_an_endpoint_that_is_not_there_is_down(opened: Chats) -> None:
    failed = failure(opened(url="http://127.0.0.1:1/v1"))
    assert failed.down
    assert "127.0.0.1:1 cannot be reached or broke off (ConnectError)" in failed.message
