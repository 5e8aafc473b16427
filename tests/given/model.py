"""Chats with a scripted model, and what is never to be told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from pydantic import BaseModel, Field

from engramlog_server.events.errors import ModelFailed
from engramlog_server.projections.models.chat import ModelChat
from tests.doubles.model_endpoint import ModelEndpoint

KEY = "sk-not-to-be-told"
SECRET = "the launch code is 0000"
"""Asked."""
TOLD = "the answer nobody may see"
"""Answered."""


class Verdict(BaseModel):
    """What the model is asked for."""

    word: str
    sure: float = Field(1.0, ge=0, le=1)


class Chats:
    """Opens chats with one endpoint; `waits` are the seconds that they wanted to wait, and did not have to."""

    def __init__(self, server: ModelEndpoint) -> None:
        self._server = server
        self._made: list[ModelChat] = []
        self.waits: list[float] = []

    def __call__(self, model: str = "small", **settings: Any) -> ModelChat:
        given = {"url": self._server.url, "key": KEY, "pause": self.waits.append, "timeout": 20.0} | settings
        self._made.append(ModelChat(model, **given))
        return self._made[-1]

    def close(self) -> None:
        for chat in self._made:
            chat.close()


@contextmanager
def chats(server: ModelEndpoint) -> Iterator[Chats]:
    """What opens chats, and closes them."""
    opened = Chats(server)
    try:
        yield opened
    finally:
        opened.close()


def asked(chat: ModelChat) -> str:
    """The word that the model answers with."""
    return chat.ask("Judge.", SECRET, Verdict)[0].word


def failure(chat: ModelChat, check: Callable[[Verdict], None] = lambda _: None) -> ModelFailed:
    """What is raised, which tells nobody the key, what was sent or what came back."""
    with pytest.raises(ModelFailed) as raised:
        chat.ask("Judge.", SECRET, Verdict, check)
    told = f"{raised.value!r} {raised.value.message} {raised.value.as_dict()}"
    assert not [hidden for hidden in (KEY, SECRET, TOLD) if hidden in told]
    assert (raised.value.__cause__, raised.value.__context__) == (None, None)
    return raised.value
