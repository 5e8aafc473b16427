"""Whatever a chat endpoint sends, it ends in an answer or in words, never in another exception."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engramlog_server.events.errors import ModelFailed
from engramlog_server.projections.models.chat import Completion, ModelChat, Output, Trouble, judged
from tests.doubles.model_endpoint import ModelEndpoint, Reply, model_endpoint
from tests.examples import examples
from tests.given.model import Verdict, chats

OUTPUTS: tuple[Output, ...] = ("tool", "native", "prompted")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=5), inside, max_size=3),
    max_leaves=6,
)


def mostly(value: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Mostly what it should be."""
    return st.integers(0, 15).flatmap(lambda drawn: value if drawn else JSON)


ARGUMENTS = mostly(st.sampled_from(['{"word": "yes"}', '{"word": 1}', "{", "[]", '{"word": "<|im_end|>"}', ""]))
CALL = st.fixed_dictionaries(
    {
        "function": mostly(
            st.fixed_dictionaries({"name": mostly(st.sampled_from(["answer", "rm", ""])), "arguments": ARGUMENTS})
        )
    },
    optional={"id": JSON, "type": JSON, "index": JSON},
)
PART = st.fixed_dictionaries({"type": mostly(st.just("text"))}, optional={"text": mostly(st.text(max_size=9))})
MESSAGE = st.fixed_dictionaries(
    {},
    optional={
        "role": JSON, "content": mostly(ARGUMENTS | st.lists(PART, max_size=2)),
        "tool_calls": mostly(st.lists(CALL, max_size=2) | st.lists(CALL, min_size=1, max_size=1)),
        "reasoning_content": JSON, "reasoning": JSON, "refusal": mostly(st.none()), "annotations": JSON,
    },
)  # fmt: skip
CHOICE = st.fixed_dictionaries(
    {"message": mostly(MESSAGE)},
    optional={
        "finish_reason": mostly(st.sampled_from(["stop", "stop", "tool_calls", None, "length"])),
        "logprobs": JSON,
    },
)
ANSWER = st.fixed_dictionaries(
    {"choices": mostly(st.lists(mostly(CHOICE), min_size=1, max_size=2))},
    optional={
        "usage": JSON, "error": mostly(st.none()), "id": JSON, "model": JSON, "created": JSON, "service_tier": JSON,
    },
)  # fmt: skip


@given(st.integers(100, 599), st.binary(max_size=40) | mostly(ANSWER).map(orjson.dumps))
def test_every_answer_is_a_completion_or_a_trouble(status: int, body: bytes) -> None:
    verdict, usage = judged(status, {}, body, "sk")
    assert isinstance(verdict, Trouble) or (isinstance(verdict, Completion) and status == 200)
    assert usage.requests == 1
    assert min(usage) >= 0


@pytest.fixture(scope="module")
def server() -> Iterator[ModelEndpoint]:
    with model_endpoint() as running:
        yield running


@pytest.fixture(scope="module", params=OUTPUTS)
def chat(server: ModelEndpoint, request: pytest.FixtureRequest) -> Iterator[ModelChat]:
    with chats(server) as opened:
        yield opened(output=request.param, tries=1)


@given(body=ANSWER)
@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_an_endpoint_answers_ends_in_an_answer_or_in_model_failed(
    server: ModelEndpoint, chat: ModelChat, body: Any
) -> None:
    server.replies = [Reply(body=orjson.dumps(body))]
    try:
        answer, usage = chat.ask("Judge.", "Is it so?", Verdict)
    except ModelFailed as failed:
        assert 1 <= failed.usage[0] <= 3
    else:
        assert isinstance(answer, Verdict)
        assert usage.requests == 1
