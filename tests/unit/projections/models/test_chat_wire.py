"""What a model's JSON text is taken for, what its endpoint's errors are called, and where requests go."""

from __future__ import annotations

import re
from typing import Any

import orjson
import pytest
from pydantic import BaseModel, TypeAdapter

from engramlog_server.events.errors import BadSetting
from engramlog_server.projections.embedding.endpoint_wire import OPENAI, base_url
from engramlog_server.projections.models.chat import Completion, Trouble, Unfit, judged, typed, unfenced
from tests.rows import each_row


class Anything(BaseModel):
    """Takes all that JSON can hold."""

    given: Any = None


KIND = TypeAdapter(Anything)
UNFIT = {
    "nothing": ("", "not valid JSON"), "words": ("yes", "not valid JSON"), "two objects": ("{} {}", "not valid JSON"),
    "half an object": ('{"given": 1', "not valid JSON"), "not a number": ('{"given": NaN}', "A number is not finite"),
    "infinity": ('{"given": -Infinity}', "A number is not finite"),
    "a float without end": ('{"given": 1e999}', "A number is not finite"),
    "an integer of 65 bits": ('{"given": 9223372036854775808}', "A number is too large"),
    "an integer of many digits": ('{"given": ' + "9" * 10_000 + "}", "A number is too large"),
    "a key twice": ('{"given": 1, "given": 2}', "An object has the same key twice"),
    "a key twice inside": ('{"given": {"a": 1, "a": 1}}', "An object has the same key twice"),
    "nested without end": ('{"given": ' + "[" * 100_000, "nested too deeply"),
    "nested deeply": ('{"given": ' + "[" * 500 + "]" * 500 + "}", "does not fit the schema"),
    "half a character": ('{"given": "\\ud800"}', "does not fit the schema"),
    "a list": ("[]", "does not fit the schema: the whole: Input should be an object"),
}  # fmt: skip


@each_row(("raw", "why"), UNFIT.values(), ids=UNFIT.keys())
def test_what_is_no_answer_is_told_in_words(raw: str, why: str) -> None:
    with pytest.raises(Unfit, match=re.escape(why)) as raised:
        typed(raw, KIND)
    assert raised.value.__cause__ is None
    assert len(str(raised.value)) < 200


@pytest.mark.parametrize("raw", ['{"given": 9223372036854775807}', '{"given": -9223372036854775808}', '{"given": 1.5}'])
def test_numbers_that_events_can_hold_are_taken(raw: str) -> None:
    assert typed(raw, KIND).given == orjson.loads(raw)["given"]


@each_row(
    ("text", "inside"),
    [
        ("{}", "{}"), ("```json\n{}\n```", "{}"), ("\n```\n{\n}\n```\n\n", "{\n}"), ("``` json \n {} ```", "{}"),
        ("Here: ```json\n{}\n```", "Here: ```json\n{}\n```"), ("```", "```"),
    ],
)  # fmt: skip
def test_a_fence_around_the_whole_is_taken_off(text: str, inside: str) -> None:
    assert unfenced(text) == inside


@each_row(
    ("body", "words", "down"),
    [
        ({"error": {"code": 413}}, "answered 413", False),
        ({"error": {"code": 401}, "choices": []}, "answered 401: the key is missing or not accepted", True),
        ({"error": "no more"}, "answered 500", True),
        ({"error": {"code": 7}}, "answered 500", True),
        ({"error": {"code": True}}, "answered 500", True),
    ],
)
def test_an_error_that_came_with_200_is_read_as_the_status_it_tells(body: Any, words: str, down: bool) -> None:
    trouble, _ = judged(200, {}, orjson.dumps(body), None)
    assert isinstance(trouble, Trouble)
    assert (trouble.words, trouble.down) == (words, down)


def test_an_answer_with_an_empty_error_beside_it_is_an_answer() -> None:
    body = {"error": None, "choices": [{"message": {"content": "{}"}}]}
    assert isinstance(judged(200, {}, orjson.dumps(body), None)[0], Completion)


@each_row(
    ("url", "key", "base"),
    [
        (None, "sk", OPENAI),
        ("http://localhost:1/v1/", None, "http://localhost:1/v1"),
        ("https://host/v1/chat/completions", "sk", "https://host/v1"),
    ],
)
def test_openais_own_is_asked_only_with_a_key_and_without_another_url(
    url: str | None, key: str | None, base: str
) -> None:
    assert base_url(url, key, "model", "/chat/completions", "ENGRAMLOG_MODEL") == base


def test_without_a_url_and_a_key_nothing_is_asked_and_what_is_missing_is_named() -> None:
    with pytest.raises(BadSetting, match=r"set ENGRAMLOG_MODEL_URL to .*, or ENGRAMLOG_MODEL_KEY for OpenAI's own"):
        base_url(None, None, "model", "/chat/completions", "ENGRAMLOG_MODEL")
