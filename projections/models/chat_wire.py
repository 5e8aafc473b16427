"""What an OpenAI-compatible chat endpoint answers, and what that means. Pure.

    POST {base}/chat/completions  {"model": ..., "messages": [...], "tools" or "response_format": ..., ...}
    200  {"choices": [{"message": {"content": ..., "tool_calls": [...]}, "finish_reason": ...}], "usage": {...}}

An answer is judged here before any library reads it, and only its known fields go on: whatever an endpoint sends, it ends in a
`Completion` or a `Trouble`. No words of a trouble hold what was sent or received.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isfinite
from typing import Any, Literal, NamedTuple, TypeVar

import orjson
from pydantic import TypeAdapter, ValidationError

from engramlog_server.projections.embedding.endpoint_wire import LATER, REFUSES_CONTENT, asked_to_wait, trouble_of
from engramlog_server.projections.models.chat import ModelUsage, Unfit

T = TypeVar("T")

Output = Literal["tool", "native", "prompted"]
"""How a typed answer is asked for: as a call of a tool, by `response_format`, or in words alone."""
TOOL = "answer"
"""The one tool a model can call, where answers are tool calls."""
MOST_SAID = 1 << 18
"""Bytes of a message that go on; libraries take minutes over megabytes of tags."""
_MOST_CALLS = 50
_MOST_TOKENS = 10**9
"""A count above is a lie."""
_REASONS = 5
"""Things wrong with an answer that are told to the model at once."""


class ChatEndpoint(NamedTuple):
    """Who is asked, and how."""

    model: str
    url: str
    """What comes before /chat/completions."""
    key: str | None
    output: Output
    timeout: float
    """Seconds for one request: connecting, waiting and the whole answer."""
    max_tokens: int


class Trouble(NamedTuple):
    """Why there is no answer, told about the endpoint: `words` follow its name."""

    words: str
    later: bool = False
    """Whether the same request may fare better."""
    wait: float | None = None
    """Seconds that the endpoint asks for."""
    down: bool = True
    """Whether asking about something else would fare no better."""
    malformed: bool = False
    """Whether it is an answer, which another may replace."""


class Completion(NamedTuple):
    """A well-formed answer: the fields that are read, as the body of a chat completion."""

    body: bytes


def judged(
    status: int, headers: Mapping[str, str], body: bytes, key: str | None
) -> tuple[Completion | Trouble, ModelUsage]:
    """What an answer is, and the tokens it says it took, an unusable one included."""
    try:
        data = orjson.loads(body)
    except ValueError:
        data = None
    usage = ModelUsage(1, _count(data, "prompt_tokens"), _count(data, "completion_tokens"))
    if status == 200 and isinstance(data, dict) and "error" in data and not data.get("choices"):
        status = _told_status(data["error"])
    if status != 200:
        later = status in LATER or status >= 500
        words = trouble_of(status, body, key) + _hint(status)
        wait = asked_to_wait(headers) if later else None
        return Trouble(words, later, wait, down=status not in REFUSES_CONTENT), usage
    if data is None and not body.lstrip().startswith(b"{"):
        return Trouble("answered with something else than JSON; is the URL right?"), usage
    return _completion(data), usage


def _hint(status: int) -> str:
    if 300 <= status < 400:
        return ": it redirects, which is not followed; give the URL that it redirects to"
    return ": where it refuses every question, another output mode may suit it" if status in {400, 422} else ""


def _completion(data: Any) -> Completion | Trouble:
    try:
        [choice] = data["choices"][:1]
        message, finish = choice["message"], choice.get("finish_reason")
        if finish == "length":
            return Trouble("cut its answer off: it needs more tokens than are allowed, or went astray", down=False)
        if finish == "content_filter" or message.get("refusal"):
            return Trouble("refused to answer", down=False)
        said: dict[str, Any] = {"role": "assistant", "content": _text(message.get("content"))}
        said |= {name: message[name] for name in ("reasoning_content", "reasoning") if _is_text(message.get(name))}
        if message.get("tool_calls"):
            said["tool_calls"] = [_call(at, call) for at, call in enumerate(message["tool_calls"][:_MOST_CALLS])]
    except (ValueError, TypeError, KeyError, AttributeError):
        return Trouble("gave what is no chat completion", down=False, malformed=True)
    only = {"index": 0, "finish_reason": "tool_calls" if "tool_calls" in said else "stop", "message": said}
    whole = {"id": "", "object": "chat.completion", "created": 0, "model": "", "choices": [only]}
    wire = orjson.dumps(whole)
    return Completion(wire) if len(wire) <= MOST_SAID else Trouble(f"says more than {MOST_SAID:,} bytes", down=False)


def _call(at: int, call: Any) -> dict[str, Any]:
    name, arguments = call["function"]["name"], call["function"]["arguments"]
    if isinstance(arguments, dict):  # some servers give the object itself
        arguments = orjson.dumps(arguments).decode()
    if not _is_text(name) or not isinstance(arguments, str):
        raise TypeError
    number = call.get("id")
    return {
        "id": number if _is_text(number) else f"call_{at}",
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }


def _text(content: Any) -> str | None:
    """Text as it is told: whole, or in parts."""
    if content is None or isinstance(content, str):
        return content
    return "".join(part["text"] for part in content if part["type"] == "text")


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _count(data: Any, name: str) -> int:
    usage = data.get("usage") if isinstance(data, dict) else None
    count = usage.get(name) if isinstance(usage, dict) else None
    return count if type(count) is int and 0 <= count <= _MOST_TOKENS else 0


def _told_status(error: Any) -> int:
    """The status of an error that came with 200, as some gateways send it; 500 where it tells none."""
    code = error.get("code") if isinstance(error, dict) else None
    return code if type(code) is int and 400 <= code < 600 else 500


def unfenced(text: str) -> str:
    """Text without the Markdown fence that models like to put around JSON."""
    first, line, rest = text.strip().partition("\n")
    fenced = bool(line) and first.startswith("```") and rest.endswith("```")
    return rest.removesuffix("```").strip() if fenced else text


def typed(raw: str, kind: TypeAdapter[T]) -> T:
    """The answer that a JSON text is. Raises Unfit with what is wrong, in words for the model."""
    try:
        json.loads(raw, object_pairs_hook=_unique, parse_float=_finite, parse_int=_small, parse_constant=_finite)
    except RecursionError:
        raise Unfit("Your answer is nested too deeply.") from None
    except ValueError as error:
        why = f" {error}" if isinstance(error, Unfit) else ""
        raise Unfit(f"Your answer is not valid JSON.{why}") from None
    try:
        return kind.validate_json(raw)
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_context=False, include_input=False)
    told = "; ".join(f"{'.'.join(map(str, one['loc'])) or 'the whole'}: {one['msg']}" for one in wrong[:_REASONS])
    raise Unfit(f"Your answer does not fit the schema: {told}.")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Unfit("An object has the same key twice.")
    return found


def _finite(number: str) -> float:
    if not isfinite(value := float(number)):
        raise Unfit("A number is not finite.")
    return value


def _small(number: str) -> int:
    if len(number) > 20 or not -(2**63) <= (value := int(number)) < 2**63:
        raise Unfit("A number is too large.")
    return value
