"""A language model that is asked for a typed answer, at any endpoint that answers as OpenAI's `POST /chat/completions` does.

    POST {base}/chat/completions  {"model": ..., "messages": [...], "tools" or "response_format": ..., ...}
    200  {"choices": [{"message": {"content": ..., "tool_calls": [...]}, "finish_reason": ...}], "usage": {...}}

What is asked leaves this machine unless the endpoint is on it. An answer is judged here before any library reads it, and only its
known fields go on: whatever an endpoint sends, it ends in a `Completion` or a `Trouble`. No words of a trouble hold what was sent
or received.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from math import isfinite
from threading import RLock
from time import sleep
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeVar, get_args
from urllib.parse import urlsplit

import orjson
from pydantic import TypeAdapter, ValidationError

from engramlog_server.events.errors import BadSetting, ModelFailed
from engramlog_server.projections.embedding.endpoint_wire import (
    LATER,
    REFUSES_CONTENT,
    asked_to_wait,
    base_url,
    checked_key,
    trouble_of,
)

if TYPE_CHECKING:
    from engramlog_server.projections.models.completions import Completions, Dialogue, RequestOutcome

T = TypeVar("T")


class ModelUsage(NamedTuple):
    """What asking took, refused answers and repeated requests included."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def plus(self, other: ModelUsage) -> ModelUsage:
        """Both together."""
        return ModelUsage(*(a + b for a, b in zip(self, other, strict=True)))


class Unfit(ValueError):
    """What is wrong with an answer, in words for the model, which is asked again with them."""


def fits(_answer: object) -> None:
    """Every answer of the right shape will do."""


class Chat(Protocol):
    """A model that answers one question at a time. Safe for threads."""

    @property
    def model(self) -> str:
        """Its name, as events tell who decided."""

    def ask(self, system: str, prompt: str, answer: type[T], check: Callable[[T], None] = fits) -> tuple[T, ModelUsage]:
        """An answer of the type (a pydantic model), after `check` raised no Unfit on it. Raises ModelFailed."""


FOR_EXTRACTION, FOR_REVIEW, FOR_SUMMARIES = "extract", "review", "summarise"
FOR_PATTERNS, FOR_EXPANSION = "patterns", "expand"
"""What models are asked for."""


class ModelAsked(NamedTuple):
    """One question to a model, and what it took."""

    model: str
    use: str
    usage: ModelUsage
    failed: bool
    """Without an answer that could be used."""


NoteAsked = Callable[[ModelAsked], None]


class CountedChat:
    """A Chat whose questions are told to `note`. Safe for threads if both are."""

    def __init__(self, chat: Chat, use: str, note: NoteAsked) -> None:
        self._chat = chat
        self._use = use
        self._note = note

    @property
    def model(self) -> str:
        """The other's."""
        return self._chat.model

    def ask(self, system: str, prompt: str, answer: type[T], check: Callable[[T], None] = fits) -> tuple[T, ModelUsage]:
        """The other's answer. Raises ModelFailed."""
        try:
            found, usage = self._chat.ask(system, prompt, answer, check)
        except ModelFailed as error:
            self._note(ModelAsked(self.model, self._use, ModelUsage(*error.usage), failed=True))
            raise
        self._note(ModelAsked(self.model, self._use, usage, failed=False))
        return found, usage


Language = Literal["en", "zh"]


@cache
def prompt(name: str, language: Language) -> str:
    """The text of `projections/models/prompts/NAME.LANGUAGE.md`. Raises FileNotFoundError where there is none."""
    return (
        files("engramlog_server.projections.models")
        .joinpath("prompts", f"{name}.{language}.md")
        .read_text("utf-8")
        .strip()
    )


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


ASKED_AGAIN = 2
"""Times that a model is told what is wrong with its answer, and asked again."""
LONGEST_WAIT = 60.0
"""Seconds between two tries at most; an endpoint that asks for a longer wait is not asked again."""


class ModelChat:
    """A Chat behind HTTP. Safe for threads; connects at first use."""

    def __init__(
        self,
        model: str,
        *,
        url: str | None = None,
        key: str | None = None,
        output: Output = "tool",
        timeout: float = 60.0,
        tries: int = 4,
        max_tokens: int = 4_096,
        asked_again: int = ASKED_AGAIN,
        pause: Callable[[float], None] = sleep,
    ) -> None:
        """`url` is what comes before /chat/completions; with a key alone, OpenAI's own.

        `output` is how typed answers are asked for: as a call of a tool, by `response_format` (native), or in words (prompted).
        `timeout` is seconds for one whole answer, `tries` how often one request is sent, `asked_again` how often a model is told
        what is wrong with its answer. Raises BadSetting where something
        cannot be used, neither URL nor key is given, or pydantic-ai is missing.
        """
        if find_spec("pydantic_ai") is None or find_spec("openai") is None:
            raise BadSetting(
                'a language model needs pydantic-ai, not installed here; install it with: pip install "engramlog[model]"'
            )
        _check("the model's name", model, "not blank", bool(model.strip()))
        _check("the model's output", output, ", ".join(get_args(Output)), output in get_args(Output))
        _check("the model's timeout", timeout, "seconds above 0", isfinite(timeout) and timeout > 0)
        _check("the model's tries", tries, "1 or more", tries >= 1)
        _check("the model's tokens", max_tokens, "1 or more", max_tokens >= 1)
        key = checked_key(key, "model")
        base = base_url(url, key, "model", "/chat/completions", "ENGRAMLOG_MODEL")
        self._place = ChatEndpoint(model, base, key, output, timeout, max_tokens)
        self._host = urlsplit(base).netloc
        self._tries, self._again, self._pause = tries, asked_again, pause
        self._lock = RLock()
        self._open: Completions | None = None
        self._ended = False

    @property
    def model(self) -> str:
        """The endpoint's name of the model; not the endpoint, which may move."""
        return self._place.model

    def ask(self, system: str, prompt: str, answer: type[T], check: Callable[[T], None] = fits) -> tuple[T, ModelUsage]:
        """An answer of the type (a pydantic model), after `check` raised no Unfit on it. Raises ModelFailed.

        An answer that does not do is told what is wrong with it, at most `asked_again` times. Usage counts every request; its
        tokens are those that the endpoint tells, 0 where it tells none.
        """
        kind = TypeAdapter(answer)
        dialogue = self._opened().dialogue(system, prompt, kind)
        usage = ModelUsage()
        for _ in range(1 + self._again):
            sent, usage = self._sent(dialogue, usage)
            try:
                found = typed(dialogue.said(sent.response), kind)
                check(found)
                return found, usage
            except Unfit as unfit:
                why = str(unfit)
            dialogue.again(sent.response, why)
        gave = f"{1 + self._again} answers of which none can" if self._again else "an answer that cannot"
        told = f"gave {gave} be used, asked for as {self._place.output!r}"
        raise self._failed(f"{told}: if it always does, set ENGRAMLOG_MODEL_OUTPUT to another way", usage, down=False)

    def load(self) -> None:
        """Load the client now, which takes seconds of CPU, and not while somebody waits; nothing is sent."""
        self._opened()

    def close(self) -> None:
        """Close the connections; who is being answered gets a ModelFailed, and the next use opens new ones."""
        with self._lock:
            opened, self._open = self._open, None
        if opened is not None:
            opened.close()

    def end(self) -> None:
        """Close the connections for good: who asks afterwards gets a ModelFailed, and nothing is sent."""
        with self._lock:
            self._ended = True
        self.close()

    def _sent(self, dialogue: Dialogue, usage: ModelUsage) -> tuple[RequestOutcome, ModelUsage]:
        """An answer, sent for again where that may help: after 0.5, 1, 2 ... seconds, or when the endpoint says."""
        attempt = 0
        while True:
            attempt += 1
            sent = self._result(dialogue)
            usage, trouble = usage.plus(sent.usage), sent.trouble
            if trouble is None or trouble.malformed:
                return sent, usage
            wait = 2.0 ** (attempt - 2) if trouble.wait is None else trouble.wait
            if not trouble.later or attempt == self._tries or wait > LONGEST_WAIT:
                times = f" ({attempt} times asked)" if attempt > 1 else ""
                asked = f"; it asks to wait {trouble.wait:g} s" if trouble.wait is not None else ""
                raise self._failed(f"{trouble.words}{times}{asked}", usage, down=trouble.down)
            self._pause(wait)

    def _result(self, dialogue: Dialogue) -> RequestOutcome:
        with self._lock:
            future = self._opened().start(dialogue)
        try:
            return future.result()
        except BaseException:  # a job's time is over, or the user's patience
            future.cancel()
            raise

    def _opened(self) -> Completions:
        from engramlog_server.projections.models.completions import Completions  # noqa: PLC0415 - an extra, which takes a second to import

        with self._lock:
            if self._ended:
                raise self._failed("is asked no more: the process ends", ModelUsage(), down=True)
            if (
                self._open is None or self._open.process != os.getpid()
            ):  # a process that was forked has no thread of its parent
                self._open = Completions(self._place)
            return self._open

    def _failed(self, words: str, usage: ModelUsage, *, down: bool) -> ModelFailed:
        return ModelFailed(
            f"the model endpoint {self._host} {words}", down=down, usage=usage, endpoint=self._host, model=self.model
        )


def _check(name: str, got: object, allowed: str, fits_it: bool) -> None:
    if not fits_it:
        raise BadSetting(f"{name}: got {got!r}; allowed: {allowed}")
