"""A language model at the other end of a wire: any endpoint that answers as OpenAI's `POST /chat/completions` does.

What is asked leaves this machine unless the endpoint is on it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec
from math import isfinite
from threading import RLock
from time import sleep
from typing import TYPE_CHECKING, TypeVar, get_args
from urllib.parse import urlsplit

from pydantic import TypeAdapter

from engramlog_server.events.errors import BadSetting, ModelFailed
from engramlog_server.projections.embedding.endpoint_wire import base_url, checked_key
from engramlog_server.projections.models.chat import ModelUsage, Unfit, fits
from engramlog_server.projections.models.chat_wire import ChatEndpoint, Output, typed

if TYPE_CHECKING:
    from engramlog_server.projections.models.completions import Completions, Dialogue, RequestOutcome

T = TypeVar("T")

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
