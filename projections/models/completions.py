"""Requests to an OpenAI-compatible chat endpoint through pydantic-ai, on an event loop of their own.

Importing this takes a second: `projections.models.chat` does so when a model is first asked. Requests carry the
settings' address and key and nothing from the environment: whatever the libraries between read there stops at `_Exchange`,
which sends only bodies.
"""

from __future__ import annotations

import asyncio
import atexit
import os
from concurrent.futures import Future
from contextlib import aclosing
from contextvars import ContextVar
from threading import Thread
from typing import Any, NamedTuple, cast
from urllib.parse import urlsplit

import httpx2
from openai import AsyncOpenAI, OpenAIError
from pydantic import TypeAdapter
from pydantic_ai.direct import model_request
from pydantic_ai.exceptions import AgentRunError, UserError
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from engramlog_server.projections.embedding.endpoint_wire import OPENAI
from engramlog_server.projections.models.chat import (
    TOOL,
    ChatEndpoint,
    Completion,
    ModelUsage,
    Output,
    Trouble,
    Unfit,
    judged,
    unfenced,
)

MOST_ANSWER = 1 << 22
"""Bytes of an answer that are read."""


class RequestOutcome(NamedTuple):
    """What came of one request."""

    response: ModelResponse | None
    trouble: Trouble | None
    usage: ModelUsage


class Dialogue:
    """A question, the answers that did not do, and what was wrong with them."""

    def __init__(self, system: str, prompt: str, schema: dict[str, Any], output: Output) -> None:
        self._output = output
        self._prompt = _sendable(prompt)
        self._system = SystemPromptPart(_sendable(system))
        self.messages: list[ModelMessage] = [ModelRequest(parts=[self._system, UserPromptPart(self._prompt)])]
        if output == "tool":
            tool = ToolDefinition(
                name=TOOL, parameters_json_schema=schema, description="Gives the answer.", kind="output"
            )
            self.parameters = ModelRequestParameters(output_mode="tool", output_tools=[tool], allow_text_output=False)
        else:
            form = OutputObjectDefinition(json_schema=schema, name=TOOL)
            self.parameters = ModelRequestParameters(output_mode=output, output_object=form)

    def said(self, response: ModelResponse | None) -> str:
        """The JSON that is the answer. Raises Unfit where it was not given as asked."""
        if response is None:
            raise Unfit("Your answer could not be read.")
        calls = [part for part in response.parts if isinstance(part, ToolCallPart)]
        text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
        if self._output != "tool":
            if calls or not text.strip():
                raise Unfit("Answer with one JSON object as text; there are no tools.")
            return unfenced(text)
        if len(calls) != 1 or calls[0].tool_name != TOOL:
            raise Unfit(f"Answer by calling the tool `{TOOL}` exactly once; there is no other.")
        given = calls[0].args  # as it came: the library's own reading takes the last of several equal keys
        return given if isinstance(given, str) else calls[0].args_as_json_str()

    def again(self, response: ModelResponse | None, why: str) -> None:
        """Ask once more: the answer that did not do is shown with what is wrong with it, unless it has no shape to show."""
        shown = [part for part in response.parts if isinstance(part, TextPart | ToolCallPart)] if response else []
        calls = [part for part in shown if isinstance(part, ToolCallPart)]
        if response is None or not shown or any(call.tool_name != TOOL for call in calls):
            self.messages = [ModelRequest(parts=[self._system, UserPromptPart(f"{self._prompt}\n\n({why})")])]
        else:
            returned: list[ModelRequestPart] = [
                ToolReturnPart(TOOL, why, tool_call_id=call.tool_call_id) for call in calls
            ]
            self.messages += [response, ModelRequest(parts=returned or [UserPromptPart(why)])]


class Completions:
    """One endpoint, with its connections. Safe for threads."""

    def __init__(self, place: ChatEndpoint) -> None:
        self.process = os.getpid()
        self._place = place
        self._http = httpx2.AsyncClient(transport=_Exchange(place), trust_env=False)
        self._model = _model(place, self._http)
        self._settings = ModelSettings(max_tokens=place.max_tokens)
        if not self._model.profile.get("openai_supports_reasoning"):  # those refuse a temperature
            self._settings["temperature"] = 0.0
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="engramlog-model", daemon=True)
        self._thread.start()
        atexit.register(self.close)

    def dialogue(self, system: str, prompt: str, kind: TypeAdapter[Any]) -> Dialogue:
        """A question to be answered by the type."""
        return Dialogue(system, prompt, kind.json_schema(), self._place.output)

    def start(self, dialogue: Dialogue) -> Future[RequestOutcome]:
        """One request, begun; cancelling it ends it, and closing these cancels it."""
        return asyncio.run_coroutine_threadsafe(self._send(dialogue), self._loop)

    def close(self) -> None:
        """Cancel what is under way and close the connections. Nothing is to be started afterwards."""
        atexit.unregister(self.close)
        if self.process != os.getpid():
            return  # they are the parent's
        asyncio.run_coroutine_threadsafe(self._shut(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _send(self, dialogue: Dialogue) -> RequestOutcome:
        told = _Told()
        _TOLD.set(told)
        try:
            response = await model_request(
                self._model,
                dialogue.messages,
                model_settings=self._settings,
                model_request_parameters=dialogue.parameters,
                instrument=False,
            )
        except asyncio.CancelledError:  # by `close`, or because who asked has gone
            return RequestOutcome(None, Trouble("was left before it answered"), told.usage)
        except (_Stopped, AgentRunError, UserError, OpenAIError, ValueError) as error:
            unread = Trouble(f"gave an answer that cannot be read ({type(error).__name__})", down=False)
            return RequestOutcome(None, told.trouble or unread, told.usage)
        return RequestOutcome(response, None, told.usage)

    async def _shut(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await self._http.aclose()


class _Told:
    """What an exchange found, past the libraries between it and who asked."""

    trouble: Trouble | None = None
    usage = ModelUsage()


_TOLD: ContextVar[_Told] = ContextVar("_TOLD")


class _Stopped(Exception):
    """There is no answer to be read; what was told says why."""


class _Exchange(httpx2.AsyncBaseTransport):
    """One request and its whole answer, within a time and a size, judged before any library reads it."""

    def __init__(self, place: ChatEndpoint) -> None:
        self._place = place
        self._url = f"{place.url}/chat/completions"
        self._headers = {
            "content-type": "application/json",
            "accept": "application/json",
            "accept-encoding": "identity",
        }
        if place.key is not None:
            self._headers["authorization"] = f"Bearer {place.key}"
        self._wire = httpx2.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send the body alone: address and headers are the settings', whatever the request says."""
        told = _TOLD.get()
        answer = await self._exchange(await request.aread(), told)
        if isinstance(answer, Trouble):
            told.trouble = answer
            raise _Stopped
        return httpx2.Response(200, headers={"content-type": "application/json"}, content=answer.body, request=request)

    async def _exchange(self, body: bytes, told: _Told) -> Completion | Trouble:
        request = httpx2.Request("POST", self._url, headers=self._headers, content=body)
        told.usage = ModelUsage(1)
        try:
            async with (
                asyncio.timeout(self._place.timeout),
                aclosing(await self._wire.handle_async_request(request)) as reply,
            ):
                received = bytearray()
                async for chunk in reply.aiter_raw():
                    received += chunk
                    if len(received) > MOST_ANSWER:
                        return Trouble(f"answers with more than {MOST_ANSWER:,} bytes", down=False)
        except TimeoutError:
            return Trouble(f"gave no whole answer within {self._place.timeout:g} s", later=True)
        except httpx2.TransportError as error:
            return Trouble(f"cannot be reached or broke off ({type(error).__name__})", later=True)
        verdict, told.usage = judged(reply.status_code, reply.headers, bytes(received), self._place.key)
        return verdict

    async def aclose(self) -> None:
        """Close the connections."""
        await self._wire.aclose()


def _model(place: ChatEndpoint, http: httpx2.AsyncClient) -> OpenAIChatModel:
    # The key is the exchange's business; the client takes any, and would look for one in the environment without.
    client = AsyncOpenAI(base_url=place.url, api_key="unused", http_client=http, max_retries=0, timeout=None)
    if urlsplit(place.url).hostname == urlsplit(OPENAI).hostname:
        return OpenAIChatModel(place.model, provider=OpenAIProvider(openai_client=client))
    provider = OpenAICompatibleProvider("openai-compatible", openai_client=client, profile=_compatible(place.model))
    return OpenAIChatModel(place.model, provider=provider)


def _compatible(model: str) -> OpenAIModelProfile:
    """What is asked of endpoints other than OpenAI's: the least that all of them understand."""
    known = cast("OpenAIModelProfile", OpenAICompatibleProvider.model_profile(model) or {})
    return OpenAIModelProfile(
        supports_json_schema_output=True,
        supports_json_object_output=False,  # "prompted" is for endpoints that know no response_format
        openai_supports_strict_tool_definition=False,
        openai_chat_supports_multiple_system_messages=False,
        # The older name of the bound is what all know but OpenAI's models that reason, behind whatever gateway.
        openai_chat_supports_max_completion_tokens=known.get("openai_supports_reasoning", False),
    )


def _sendable(text: str) -> str:
    """Text without halves of characters, which no JSON can hold."""
    return text.encode("utf-8", "replace").decode()
