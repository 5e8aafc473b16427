"""Memory around OpenAI's own libraries, against the running service and a model that is made up here."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any, ClassVar

import httpx2
import pytest

from engramlog import Memory, OwnerMissing
from tests.given.client import Service, new_owner
from tests.given.http import TOKEN

pytest.importorskip("openai", reason="openai is not installed")

from openai import AsyncOpenAI, OpenAI

from engramlog.openai import wrap_openai


class Model:
    """An endpoint that keeps what it is asked and answers `Noted.`; `tool` makes the next answer a call of one."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.tool = False

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        body = json.loads(request.content)
        self.asked.append(body)
        if request.url.path.endswith("/responses"):
            return _events(_response_events()) if body.get("stream") else httpx2.Response(200, json=_response())
        if body.get("stream"):
            return _events([_chunk("Not"), _chunk("ed."), _chunk(None)])
        message: dict[str, Any] = {"role": "assistant", "content": "Noted."}
        if self.tool:
            call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
            message, self.tool = {"role": "assistant", "content": None, "tool_calls": [call]}, False
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        return httpx2.Response(
            200, json={"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
        )


def _chunk(text: str | None) -> dict[str, Any]:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": None if text else "stop"}
    return {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": [choice]}


def _response() -> dict[str, Any]:
    part = {"type": "output_text", "text": "Noted.", "annotations": []}
    message = {"id": "o", "type": "message", "role": "assistant", "status": "completed", "content": [part]}
    rest = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    return {
        "id": "r",
        "object": "response",
        "created_at": 0,
        "model": "m",
        "status": "completed",
        "output": [message],
        **rest,
    }


def _response_events() -> list[dict[str, Any]]:
    place = {"item_id": "o", "output_index": 0, "content_index": 0, "logprobs": []}
    return [
        {"type": "response.output_text.delta", "delta": "Noted.", "sequence_number": 1, **place},
        {"type": "response.completed", "response": _response(), "sequence_number": 2},
    ]


def _events(told: list[dict[str, Any]]) -> httpx2.Response:
    lines = "".join(f"event: {one.get('type', 'chunk')}\ndata: {json.dumps(one)}\n\n" for one in told)
    return httpx2.Response(200, text=f"{lines}data: [DONE]\n\n", headers={"content-type": "text/event-stream"})


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def plain(model: Model) -> OpenAI:
    return OpenAI(
        api_key="none", base_url="http://model/v1", http_client=httpx2.Client(transport=httpx2.MockTransport(model))
    )


@pytest.fixture
def memory(running: Service) -> Iterator[Memory]:
    with Memory(running.url, token=TOKEN) as client:
        owned = client.of(new_owner())
        owned.add("I am allergic to peanuts")
        yield owned


def turns(memory: Memory) -> list[str]:
    """Texts of the turns that were recorded, in their order."""
    found = memory.events(types=["TurnRecorded"], order="oldest").events
    return [str(one.data["text"]) for one in found if one.data]


def say(text: str) -> list[Any]:
    return [{"role": "system", "content": "Be kind."}, {"role": "user", "content": text}]


def test_a_completion_has_the_block_in_its_place_and_both_turns_are_recorded(
    memory: Memory, plain: OpenAI, model: Model
) -> None:
    asked = say("What may I not eat because of my allergy?")
    answer = wrap_openai(plain, memory).chat.completions.create(model="m", messages=asked)
    assert answer.choices[0].message.content == "Noted."
    sent = model.asked[0]["messages"]
    assert sent[0] == asked[0]
    assert sent[-1] == asked[-1]
    assert "peanuts" in "".join(one["content"] for one in sent[1:-1])
    assert asked == say("What may I not eat because of my allergy?")  # the caller's list is the caller's
    assert turns(memory) == ["What may I not eat because of my allergy?", "Noted."]


def test_the_client_that_was_given_stays_as_it_was(memory: Memory, plain: OpenAI, model: Model) -> None:
    wrap_openai(plain, memory)
    plain.chat.completions.create(model="m", messages=say("Hello"))
    assert model.asked[0]["messages"] == say("Hello")
    assert turns(memory) == []


def test_while_tools_answer_the_block_stays_and_nothing_is_recorded_twice(
    memory: Memory, plain: OpenAI, model: Model
) -> None:
    client, messages = wrap_openai(plain, memory), say("I like rye bread. What may I not eat?")
    model.tool = True
    called = client.chat.completions.create(model="m", messages=messages).choices[0].message
    messages += [called, {"role": "tool", "tool_call_id": "c1", "content": "rye"}]
    client.chat.completions.create(model="m", messages=messages)
    client.chat.completions.create(model="m", messages=messages)
    assert turns(memory) == ["I like rye bread. What may I not eat?", "Noted."]
    blocks = [one["messages"][1] for one in model.asked[1:]]
    assert blocks[0] == blocks[1]


def test_a_stream_is_recorded_when_it_ends_also_before_its_end(memory: Memory, plain: OpenAI) -> None:
    client = wrap_openai(plain, memory)
    with client.chat.completions.create(model="m", messages=say("One"), stream=True) as whole:
        assert "".join(one.choices[0].delta.content or "" for one in whole) == "Noted."
    cut = iter(client.chat.completions.create(model="m", messages=say("Two"), stream=True))
    next(cut)
    cut.close()  # type: ignore[attr-defined]
    assert turns(memory) == ["One", "Noted.", "Two", "Not"]


def test_responses_have_memory_too(memory: Memory, plain: OpenAI, model: Model) -> None:
    client = wrap_openai(plain, memory)
    assert client.responses.create(model="m", input="What may I not eat?").output_text == "Noted."
    assert "peanuts" in str(model.asked[0]["input"])
    for _event in client.responses.create(model="m", input="I live in Porto", stream=True):
        pass
    assert turns(memory) == ["What may I not eat?", "Noted.", "I live in Porto", "Noted."]


def test_an_async_client_does_the_same(memory: Memory, model: Model) -> None:
    async def chat() -> None:
        transport = httpx2.MockTransport(model)
        plain = AsyncOpenAI(
            api_key="none", base_url="http://model/v1", http_client=httpx2.AsyncClient(transport=transport)
        )
        client = wrap_openai(plain, memory)
        await client.chat.completions.create(model="m", messages=say("What may I not eat?"))
        async for _event in await client.chat.completions.create(
            model="m", messages=say("I live in Porto"), stream=True
        ):
            pass

    asyncio.run(chat())
    assert "peanuts" in str(model.asked[0]["messages"])
    assert turns(memory) == ["What may I not eat?", "Noted.", "I live in Porto", "Noted."]


def test_a_broken_memory_never_stops_a_call(plain: OpenAI, model: Model, caplog: pytest.LogCaptureFixture) -> None:
    nowhere = Memory("http://127.0.0.1:9", token="none").of("alice")
    asked = say("What may I not eat?")
    assert wrap_openai(plain, nowhere).chat.completions.create(model="m", messages=asked).choices
    assert model.asked[0]["messages"] == asked
    assert "no context block" in caplog.text


def test_raw_and_streaming_responses_are_the_callers_and_what_was_said_is_recorded(
    memory: Memory, plain: OpenAI, model: Model
) -> None:
    client = wrap_openai(plain, memory)
    raw = client.chat.completions.with_raw_response.create(model="m", messages=say("One"))
    assert raw.parse().choices[0].message.content == "Noted."
    assert client.responses.with_raw_response.create(model="m", input="Two").parse().output_text == "Noted."
    with client.chat.completions.with_streaming_response.create(model="m", messages=say("Three")) as body:
        assert b"Noted." in body.read()
    later = client.chat.completions.with_raw_response.create(model="m", messages=say("Four"), stream=True).parse()
    assert "".join(one.choices[0].delta.content or "" for one in later) == "Noted."
    assert turns(memory) == ["One", "Noted.", "Two", "Noted.", "Three", "Four"]
    assert all("peanuts" in str(one.get("messages") or one.get("input")) for one in model.asked)


def test_a_stream_is_taken_event_by_event_and_recorded_when_it_is_left(memory: Memory, plain: OpenAI) -> None:
    client = wrap_openai(plain, memory)
    with client.chat.completions.create(model="m", messages=say("One"), stream=True) as stream:
        assert next(stream).choices[0].delta.content == "Not"
    assert turns(memory) == ["One", "Not"]
    with client.chat.completions.stream(model="m", messages=say("Two")) as helper:
        assert helper.get_final_completion().choices[0].message.content == "Noted."
    assert turns(memory)[2:] == ["Two", "Noted."]


def test_a_copy_with_other_options_has_the_memory_too(memory: Memory, plain: OpenAI, model: Model) -> None:
    copied = wrap_openai(plain, memory).with_options(timeout=5).copy(max_retries=1)
    copied.chat.completions.create(model="m", messages=say("What may I not eat?"))
    assert str(model.asked[0]["messages"]).count("peanuts") == 1
    assert turns(memory) == ["What may I not eat?", "Noted."]


def test_what_needs_no_block_is_sent_as_it_was_given(plain: OpenAI, model: Model) -> None:
    nowhere = Memory("http://127.0.0.1:9", token="none").of("alice")
    client = wrap_openai(plain, nowhere)
    client.responses.create(model="m", prompt={"id": "p"})
    client.responses.create(model="m", input="Hello")
    client.chat.completions.create(model="m", messages=[{"role": "user", "content": 7}])  # type: ignore[typeddict-item]
    assert model.asked[0] == {"model": "m", "prompt": {"id": "p"}}
    assert model.asked[1]["input"] == "Hello"
    assert model.asked[2]["messages"] == [{"role": "user", "content": 7}]
    with pytest.raises(TypeError, match="messages"):
        client.chat.completions.create(model="m")  # type: ignore[call-overload]


def test_objects_of_the_library_are_sent_without_fields_that_they_never_had(
    memory: Memory, plain: OpenAI, model: Model
) -> None:
    client = wrap_openai(plain, memory)
    items: list[Any] = [*plain.responses.create(model="m", input="Hi").output, {"role": "user", "content": "My diet?"}]
    client.responses.create(model="m", input=items)
    plain.responses.create(model="m", input=items)
    assert [one for one in model.asked[1]["input"] if one in model.asked[2]["input"]] == model.asked[2]["input"]
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    asked: Any = {"role": "user", "content": [picture, {"type": "text", "text": "What may I not eat?"}]}
    client.chat.completions.create(model="m", messages=[asked])
    assert model.asked[3]["messages"][-1] == asked
    assert "peanuts" in str(model.asked[3]["messages"][:-1])


def test_a_long_message_gets_a_block_by_its_beginning_and_its_end(memory: Memory, plain: OpenAI, model: Model) -> None:
    text = "What may I not eat? " + "la " * 5_000 + "Think of my allergy."
    wrap_openai(plain, memory).chat.completions.create(model="m", messages=say(text))
    assert "peanuts" in str(model.asked[0]["messages"][:-1])
    assert model.asked[0]["messages"][-1]["content"] == text


def test_a_client_of_that_interface_without_responses_has_memory(memory: Memory) -> None:
    class Answer:
        choices = ()

    class Completions:
        asked: ClassVar[list[Any]] = []

        def create(self, **given: Any) -> Answer:
            self.asked.append(given["messages"])
            return Answer()

    class Chat:
        completions = Completions()

    class Other:
        chat = Chat()

        def with_options(self) -> Other:
            return Other()

    wrap_openai(Other(), memory).chat.completions.create(messages=say("What may I not eat?"))
    assert "peanuts" in str(Completions.asked)


def test_a_client_of_no_owner_is_refused(running: Service, plain: OpenAI) -> None:
    with pytest.raises(OwnerMissing, match="memory: got"):
        wrap_openai(plain, Memory(running.url))


def test_a_question_is_recorded_and_becomes_no_memory(memory: Memory, plain: OpenAI) -> None:
    client = wrap_openai(plain, memory)
    for text in ("What may I not eat?", "My dog is called Rex"):
        client.chat.completions.create(model="m", messages=say(text))
    last = memory.events(order="newest", limit=1).events[0].position
    kept = {one.memory for one in memory.list(after=last).memories if one.kind == "episode"}
    assert "My dog is called Rex" in kept
    assert "What may I not eat?" not in kept


def test_the_agents_sdk_has_memory_in_its_runs(memory: Memory, model: Model) -> None:
    agents = pytest.importorskip("agents", reason="openai-agents is not installed")
    from engramlog.openai_agents import EngramlogSession

    async def run() -> None:
        agents.set_tracing_disabled(True)
        transport = httpx2.MockTransport(model)
        client = AsyncOpenAI(
            api_key="none", base_url="http://model/v1", http_client=httpx2.AsyncClient(transport=transport)
        )
        agent = agents.Agent(
            name="cook",
            instructions="Be kind.",
            model=agents.OpenAIChatCompletionsModel(model="m", openai_client=client),
        )
        session = EngramlogSession(memory, "chat-1")
        config = agents.RunConfig(call_model_input_filter=session.filter)
        for text in ("What may I not eat?", "I live in Porto"):
            result = await agents.Runner.run(agent, text, session=session, run_config=config)
            assert result.final_output == "Noted."
        assert len(await session.get_items()) == 4
        await session.pop_item()
        assert len(await session.get_items()) == 3
        await session.clear_session()
        assert await session.get_items() == []

    asyncio.run(run())
    assert "peanuts" in str(model.asked[0]["messages"])
    assert model.asked[1]["messages"][0] == {"role": "system", "content": "Be kind."}
    assert turns(memory) == ["What may I not eat?", "Noted.", "I live in Porto", "Noted."]
