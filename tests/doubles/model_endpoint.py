"""A scripted chat endpoint on loopback: a model that answers, or misbehaves, as told.

with model_endpoint() as model:
    model.says({"word": "yes"})                                      # once more and for ever, in whatever form is asked for
    model.answers(lambda asked: {"word": asked.said.split()[-1]})    # computed from what is asked
    model.replies = [limited(after=1), completion({"content": "hm"}), cut_short(), SILENT, TRICKLE]
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from tests.doubles.scripted import Asked, Reply, Scripted, serving

TOKENS = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
"""What every answer says it took, unless told otherwise."""
SILENT = Reply(silent=True)
"""No answer, ever."""
TRICKLE = Reply(parts=[b" "] * 600, length=600)
"""An answer of white space, a byte at a time, half a minute long."""


def completion(message: dict[str, Any], *, finish: str = "stop", usage: Any = TOKENS) -> Reply:
    """A chat completion with one message; without a usage where that is None."""
    told = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    body = {"id": "chat-1", "object": "chat.completion", "created": 1, "model": "scripted", "choices": [told]}
    return Reply(body=body if usage is None else {**body, "usage": usage})


def calling(*calls: tuple[str, Any]) -> dict[str, Any]:
    """A message that calls tools, each (name, arguments: text as it is, else as JSON)."""
    made = [
        {
            "id": f"call-{at}",
            "type": "function",
            "function": {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)},
        }
        for at, (name, given) in enumerate(calls)
    ]
    return {"content": None, "tool_calls": made}


def said(asked: Asked, answer: Any, **how: Any) -> Reply:
    """An answer (text as it is, else as JSON) in the form that is asked for: a call of the tool offered, or content."""
    if tools := asked.body.get("tools"):
        return completion(
            calling((tools[0]["function"]["name"], answer)), finish=how.pop("finish", "tool_calls"), **how
        )
    return completion({"content": answer if isinstance(answer, str) else json.dumps(answer)}, **how)


def limited(after: float | str | None = None, status: int = 429) -> Reply:
    """Too many requests, with or without a Retry-After."""
    headers = {} if after is None else {"retry-after": str(after)}
    return Reply(status=status, headers=headers, body={"error": {"code": "rate_limit_exceeded"}})


def cut_short(answer: Any = None) -> Callable[[Asked], Reply]:
    """An answer that ended because its tokens did."""
    return lambda asked: said(asked, "{" if answer is None else answer, finish="length")


def broken_off(asked: Asked) -> Reply:
    """A connection that ends in the middle of a well-formed answer."""
    whole = json.dumps(said(asked, {}).body).encode()
    return Reply(body=whole[: len(whole) // 2], length=len(whole))


class ModelEndpoint(Scripted):
    """The replies are given in turn, the last one for ever; without any, every answer is an empty object."""

    def says(self, *answers: Any) -> None:
        """Answer with these typed answers in turn, after what was told before; the last one for ever."""
        self.replies += [_saying(answer) for answer in answers]

    def answers(self, answer: Callable[[Asked], Any]) -> None:
        """Answer with what the function makes of each request, for ever."""
        self.replies = [lambda asked: said(asked, answer(asked))]

    def usual(self, asked: Asked) -> Reply:
        return said(asked, {})

    @property
    def prompts(self) -> Sequence[str]:
        """Everything that was said in each request."""
        return [asked.said for asked in self.asked]


def _saying(answer: Any) -> Callable[[Asked], Reply]:
    return lambda asked: said(asked, answer)


def model_endpoint() -> AbstractContextManager[ModelEndpoint]:
    """A running endpoint on a free port; `url` is what comes before /chat/completions."""
    return serving(ModelEndpoint())
