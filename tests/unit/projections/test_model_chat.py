"""A model behind HTTP, against a scripted endpoint: what is asked, what is understood, what is said when it fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from pydantic import BaseModel, Field

from events.errors import BadSetting, ModelFailed
from projections import model_chat
from projections.chat import Unfit, Usage
from projections.chat_wire import Output
from projections.model_chat import ModelChat
from tests.model_endpoint import (
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

KEY = "sk-not-to-be-told"
SECRET = "the launch code is 0000"
TOLD = "the answer nobody may see"
OUTPUTS: tuple[Output, ...] = ("tool", "native", "prompted")


class Verdict(BaseModel):
    """What the model is asked for here."""

    word: str
    sure: float = Field(1.0, ge=0, le=1)


@pytest.fixture
def server() -> Iterator[ModelEndpoint]:
    with model_endpoint() as running:
        yield running


@pytest.fixture
def waits() -> list[float]:
    """Seconds that the chat wanted to wait, and did not have to."""
    return []


@pytest.fixture
def opened(server: ModelEndpoint, waits: list[float]) -> Iterator[Callable[..., ModelChat]]:
    made: list[ModelChat] = []

    def build(**settings: Any) -> ModelChat:
        given = {"url": server.url, "key": KEY, "pause": waits.append, "timeout": 20.0} | settings
        made.append(ModelChat(given.pop("model", "small"), **given))
        return made[-1]

    yield build
    for chat in made:
        chat.close()


@pytest.fixture
def chat(opened: Callable[..., ModelChat]) -> ModelChat:
    return opened()


def failure(chat: ModelChat, check: Callable[[Verdict], None] = lambda _: None) -> ModelFailed:
    """What is raised, which tells nobody the key, what was sent or what came back."""
    with pytest.raises(ModelFailed) as raised:
        chat.ask("Judge.", SECRET, Verdict, check)
    told = f"{raised.value!r} {raised.value.message} {raised.value.as_dict()}"
    assert not [hidden for hidden in (KEY, SECRET, TOLD) if hidden in told]
    assert (raised.value.__cause__, raised.value.__context__) == (None, None)
    return raised.value


# What is asked


@pytest.mark.parametrize("output", OUTPUTS)
def test_a_typed_answer_comes_back_in_every_output_mode(
    server: ModelEndpoint, opened: Callable[..., ModelChat], output: Output
) -> None:
    server.says({"word": "是", "sure": 0.5})
    answer, usage = opened(output=output).ask("Judge.", "Is it so?", Verdict)
    assert (answer, usage) == (Verdict(word="是", sure=0.5), Usage(1, 11, 7))


def test_a_request_goes_to_the_url_with_the_key_the_model_and_no_chance(server: ModelEndpoint, chat: ModelChat) -> None:
    server.says({"word": "yes"})
    chat.ask("Judge.", "Is it so?", Verdict)
    [asked] = server.asked
    assert (asked.path, asked.headers["authorization"]) == ("/v1/chat/completions", f"Bearer {KEY}")
    assert (asked.body["model"], asked.body["temperature"], asked.body["max_tokens"]) == ("small", 0.0, 4_096)
    assert [(one["role"], one["content"]) for one in asked.body["messages"]] == [
        ("system", "Judge."),
        ("user", "Is it so?"),
    ]
    assert asked.body["tools"][0]["function"]["parameters"]["required"] == ["word"]


def test_what_a_check_refuses_is_asked_again_with_its_reason(server: ModelEndpoint, chat: ModelChat) -> None:
    server.says({"word": "no"}, {"word": "yes"})

    def only_yes(verdict: Verdict) -> None:
        if verdict.word != "yes":
            raise Unfit("Say yes.")

    answer, usage = chat.ask("Judge.", "Is it so?", Verdict, only_yes)
    assert (answer.word, usage, "Say yes." in server.prompts[1]) == ("yes", Usage(2, 22, 14), True)


def test_an_answer_that_never_fits_is_asked_for_three_times(server: ModelEndpoint, chat: ModelChat) -> None:
    server.says({"word": TOLD})

    def never(verdict: Verdict) -> None:
        raise Unfit(f"Not {verdict.word}.")

    failed = failure(chat, never)
    assert (failed.down, failed.usage, len(server.asked)) == (False, Usage(3, 33, 21), 3)


MALFORMED: dict[str, Reply | Callable[[Asked], Reply]] = {
    "text instead of a call": completion({"content": TOLD}),
    "no message content": completion({"content": None}),
    "two calls": completion(calling(("answer", {"word": TOLD}), ("answer", {"word": TOLD}))),
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
    "half a character": completion(calling(("answer", '{"word": "\\ud800"}'))),
    "no choices": Reply(body={"choices": []}),
    "choices that are none": Reply(body={"choices": {"message": TOLD}}),
    "a message that is none": Reply(body={"choices": [{"message": TOLD}]}),
    "calls that are none": completion({"tool_calls": [TOLD]}),
    "an empty object": Reply(body={}),
    "an object cut in two": Reply(body=b'{"choices": [{"mess'),
    "an object nested deeply": Reply(body=b'{"choices": ' + b"[" * 200_000),
    "invalid UTF-8": Reply(body=b'{"choices": [{"message": {"content": "\xff\xfe"}}]}'),
    "NaN in the envelope": Reply(body=b'{"choices": NaN}'),
}


@pytest.mark.parametrize("reply", MALFORMED.values(), ids=MALFORMED.keys())
def test_a_malformed_answer_is_asked_for_three_times_and_fails(
    server: ModelEndpoint, chat: ModelChat, waits: list[float], reply: Reply
) -> None:
    server.replies = [reply]
    failed = failure(chat)
    assert (failed.down, failed.usage[0], len(server.asked), waits) == (False, 3, 3, [])
    assert "3 answers of which none can be used" in failed.message


@pytest.mark.parametrize("reply", MALFORMED.values(), ids=MALFORMED.keys())
def test_after_a_malformed_answer_a_good_one_is_taken(server: ModelEndpoint, chat: ModelChat, reply: Reply) -> None:
    server.replies = [reply]
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
    "too many bytes": (Reply(body=b"{" + b" " * (5 << 20)), "more than 4,194,304 bytes"),
}


@pytest.mark.parametrize(("reply", "words"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_refused_or_cut_off_fails_at_once_and_the_endpoint_is_up(
    server: ModelEndpoint, chat: ModelChat, reply: Reply, words: str
) -> None:
    server.replies = [reply]
    failed = failure(chat)
    assert (failed.down, len(server.asked), failed.usage[0]) == (False, 1, 1)
    assert words in failed.message


WRONG: dict[str, tuple[Reply, str]] = {
    "no key": (Reply(status=401, body={"error": {"message": KEY}}), "answered 401: the key is missing or not accepted"),
    "not allowed": (Reply(status=403), "answered 403: the key is not allowed"),
    "not found": (Reply(status=404), "answered 404: the URL or the model is not known there"),
    "not paid": (Reply(status=402), "answered 402"),
    "moved": (Reply(status=307, headers={"location": "http://127.0.0.1:1/v1"}), "answered 307: it redirects"),
    "a page": (Reply(body=b"<!doctype html><p>Sign in", headers={"content-type": "text/html"}), "else than JSON"),
    "nothing": (Reply(), "else than JSON"),
}


@pytest.mark.parametrize(("reply", "words"), WRONG.values(), ids=WRONG.keys())
def test_an_endpoint_that_is_set_up_wrongly_is_asked_once_and_down(
    server: ModelEndpoint, chat: ModelChat, reply: Reply, words: str
) -> None:
    server.replies = [reply]
    failed = failure(chat)
    assert (failed.down, len(server.asked), failed.usage[0]) == (True, 1, 1)
    assert words in failed.message


LATER: dict[str, tuple[Reply | Callable[[Asked], Reply], list[float], str]] = {
    "busy": (limited(), [0.5, 1, 2], "answered 429 (rate_limit_exceeded) (4 times asked)"),
    "busy for seconds": (limited(7), [7, 7, 7], "(4 times asked); it asks to wait 7 s"),
    "busy for an hour": (limited(3_600), [], "it asks to wait 3600 s"),
    "timed out": (Reply(status=408), [0.5, 1, 2], "answered 408"),
    "failing": (Reply(status=500), [0.5, 1, 2], "answered 500"),
    "failing behind a gateway's 200": (Reply(body={"error": {"code": 502}}), [0.5, 1, 2], "answered 502"),
    "away": (limited(2, status=503), [2, 2, 2], "answered 503"),
    "broken off": (broken_off, [0.5, 1, 2], "cannot be reached or broke off (RemoteProtocolError)"),
}


@pytest.mark.parametrize(("reply", "paused", "words"), LATER.values(), ids=LATER.keys())
def test_what_may_fare_better_later_is_sent_again_as_the_endpoint_asks(
    server: ModelEndpoint, chat: ModelChat, waits: list[float], reply: Reply, paused: list[float], words: str
) -> None:
    server.replies = [reply]
    failed = failure(chat)
    assert (failed.down, waits, len(server.asked)) == (True, paused, len(paused) + 1)
    assert failed.usage[0] == len(server.asked)
    assert words in failed.message


def test_a_request_that_succeeds_later_counts_all_its_requests(
    server: ModelEndpoint, chat: ModelChat, waits: list[float]
) -> None:
    server.replies = [limited(3), Reply(status=500)]
    server.says({"word": "yes"})
    assert chat.ask("Judge.", "?", Verdict) == (Verdict(word="yes"), Usage(3, 11, 7))
    assert waits == [3, 1]


@pytest.mark.parametrize("reply", [SILENT, TRICKLE], ids=["silent", "trickling"])
def test_an_endpoint_too_slow_for_one_whole_answer_is_down(
    server: ModelEndpoint, opened: Callable[..., ModelChat], reply: Reply
) -> None:
    server.replies = [reply]
    failed = failure(opened(timeout=0.3, tries=2))
    assert (failed.down, len(server.asked)) == (True, 2)
    assert "gave no whole answer within 0.3 s (2 times asked)" in failed.message


def test_an_endpoint_that_is_not_there_is_down(opened: Callable[..., ModelChat]) -> None:
    failed = failure(opened(url="http://127.0.0.1:1/v1"))
    assert failed.down
    assert "127.0.0.1:1 cannot be reached or broke off (ConnectError)" in failed.message


def test_threads_are_answered_side_by_side_each_its_own(server: ModelEndpoint, chat: ModelChat) -> None:
    server.answers(lambda asked: {"word": asked.said.split()[-1]})
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda at: chat.ask("Judge.", f"Say {at}", Verdict)[0].word, range(40)))
    assert found == [str(at) for at in range(40)]


def test_a_chat_that_was_closed_opens_again(server: ModelEndpoint, chat: ModelChat) -> None:
    server.says({"word": "yes"})
    chat.ask("Judge.", "?", Verdict)
    chat.close()
    assert chat.ask("Judge.", "?", Verdict)[0].word == "yes"


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "neither url nor key": (
        {"url": None, "key": None},
        "set ENGRAMLOG_MODEL_URL to what comes before /chat/completions",
    ),
    "an empty key is none": ({"url": None, "key": ""}, "or ENGRAMLOG_MODEL_KEY for OpenAI's own"),
    "url with a password": ({"url": f"http://me:{KEY}@host/v1"}, "the URL of the model endpoint cannot be used"),
    "key with white space": ({"key": f"{KEY} "}, "the key of the model endpoint cannot be used"),
    "no name": ({"model": " "}, "the model's name: got ' '; allowed: not blank"),
    "output": ({"output": "xml"}, "the model's output: got 'xml'; allowed: tool, native, prompted"),
    "timeout": ({"timeout": 0.0}, "the model's timeout: got 0.0; allowed: seconds above 0"),
    "endless timeout": ({"timeout": float("inf")}, "the model's timeout: got inf"),
    "tries": ({"tries": 0}, "the model's tries: got 0; allowed: 1 or more"),
    "tokens": ({"max_tokens": 0}, "the model's tokens: got 0; allowed: 1 or more"),
    "pace": ({"requests_per_minute": -1.0}, "the model's requests per minute: got -1.0; allowed: above 0"),
}


@pytest.mark.parametrize(("settings", "words"), BAD.values(), ids=BAD.keys())
def test_a_setting_that_cannot_be_used_says_what_is_allowed(settings: dict[str, Any], words: str) -> None:
    given = {"model": "small", "url": "http://127.0.0.1:1/v1"} | settings
    with pytest.raises(BadSetting) as raised:
        ModelChat(given.pop("model"), **given)
    assert words in raised.value.message
    assert KEY not in raised.value.message


def test_without_pydantic_ai_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_chat, "find_spec", lambda name: None)
    with pytest.raises(BadSetting, match=r'pip install "engramlog\[model\]"'):
        ModelChat("small", url="http://127.0.0.1:1/v1")
