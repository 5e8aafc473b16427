"""An expander whose time, threads, timers and log are a test's: nothing waits for a time to pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from events.errors import ModelFailed
from projections.models.expander import (
    Expander,
    ExpansionBounds,
    ExpansionFound,
)
from tests.doubles.scripted_chat import ScriptedChat

QUESTION = "When did Caroline move house?"


TERMS = ("relocated to a new flat", "removal van")


SAID = {"terms": list(TERMS)}


NOT_LONG = 0.02


"""Seconds for which a question waits here where nothing comes."""


class Scene:
    """An expander whose time, threads and timers are the test's."""

    def __init__(
        self,
        says: Callable[[dict[str, Any]], dict[str, Any]] = lambda _asked: SAID,
        *,
        per_minute: int = 100,
        stays: bool = True,
    ) -> None:
        self.now = 0.0
        self.chat = ScriptedChat(says)
        self.waiting: list[Callable[[], None]] = []
        self.timers: list[tuple[float, Callable[[], None]]] = []
        self.told: list[tuple[str, dict[str, Any]]] = []
        self.at_once = True
        self.threadless = self.timerless = self.mute = False
        self.expander = Expander(
            "scripted-1",
            lambda: self.chat,
            ExpansionBounds(NOT_LONG, per_minute),
            self.tell,
            clock=lambda: self.now,
            beside=self.beside,
            later=self.later,
            stays=stays,
        )

    def beside(self, work: Callable[[], None]) -> None:
        if self.threadless:
            raise RuntimeError("can't start new thread")
        work() if self.at_once else self.waiting.append(work)

    def later(self, seconds: float, work: Callable[[], None]) -> Callable[[], None]:
        if self.timerless:
            raise RuntimeError("can't start new thread")
        timer = (self.now + seconds, work)
        self.timers.append(timer)
        return lambda: self.timers.remove(timer)

    def tell(self, fact: str, **facts: Any) -> None:
        if self.mute:
            raise OSError("the log is full")
        self.told.append((fact, facts))

    def ask(self, query: str = QUESTION, owner: str = "ann") -> ExpansionFound:
        return self.expander.expand(owner, query)

    def pass_time(self, seconds: float) -> None:
        self.now += seconds
        due, self.timers = (
            [one for one in self.timers if one[0] <= self.now],
            [one for one in self.timers if one[0] > self.now],
        )
        for _, work in due:
            work()

    def answer(self) -> None:
        """What is asked beside is answered now."""
        waiting, self.waiting = self.waiting, []
        for work in waiting:
            work()


def failing(down: bool) -> Callable[[dict[str, Any]], dict[str, Any]]:
    def says(_asked: dict[str, Any]) -> dict[str, Any]:
        raise ModelFailed("the model endpoint x cannot be reached", down=down, usage=(1, 0, 0))

    return says
