"""Producers: each waits for its answer before it goes on, sends again what was not answered, and some things thrice."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from threading import Event as Flag
from threading import Thread

from engramlog_server.events.log import EventLog
from tests.chaos.ledger import Ledger, Line
from tests.chaos.story import OwnerStory

GIVEN_UP = 0.15
"""Chance, after each unanswered sending but a producer's first, that a request is never sent again: its events stay
unknown. The first is always given up, so that no run is without unknown events."""
SURE_AFTER = 40
"""Sendings after which a producer gives up for good, so that no wait is unbounded."""


class Producer(Thread):
    """One producer of some owners, all of them its own."""

    def __init__(self, name: str, log: EventLog, ledger: Ledger, stories: Sequence[OwnerStory], seed: int) -> None:
        super().__init__(name=name, daemon=True)
        self._log = log
        self._ledger = ledger
        self._stories = stories
        self._rng = Random(f"{seed}:{name}")
        self._stop_asked = Flag()
        self._later: list[list[Line]] = []
        self._gave_up = False
        self.failure: BaseException | None = None

    def run(self) -> None:
        """Produce until asked to stop, then deliver what was put off."""
        try:
            while not self._stop_asked.is_set():
                self._deliver(self._compose())
                self._again(at_most=2)
                self._stop_asked.wait(self._rng.uniform(0.0, 0.1))
            self._again(at_most=len(self._later))
        except BaseException as error:
            self.failure = error
            raise

    def end(self, seconds: float = 30.0) -> None:
        """Stop it and wait for its end."""
        self._stop_asked.set()
        self.join(seconds)
        assert not self.is_alive(), f"{self.name} did not end within {seconds:g} s"
        if self.failure is not None:
            raise self.failure

    def _compose(self) -> list[Line]:
        """One request: some of the owners, some consecutive events of each."""
        chosen = self._rng.sample(self._stories, self._rng.randint(1, min(4, len(self._stories))))
        return [
            self._ledger.enter(self.name, story.next())
            for story in chosen
            for _ in range(self._rng.choice((1, 1, 2, 5)))
        ]

    def _deliver(self, lines: list[Line]) -> None:
        """Send until answered or given up; each event one to three times besides."""
        for _ in range(SURE_AFTER):
            if self._ledger.deliver(self._log, lines):
                for _ in range(self._rng.choice((0, 0, 1, 2))):
                    self._later.append(lines)
                return
            if not self._gave_up or self._rng.random() < GIVEN_UP:
                self._gave_up = True
                return
            self._stop_asked.wait(self._rng.uniform(0.02, 0.3))

    def _again(self, at_most: int) -> None:
        """Send some answered requests once more, in any order: nothing may come of it."""
        for _ in range(min(at_most, len(self._later))):
            self._ledger.deliver(self._log, self._later.pop(self._rng.randrange(len(self._later))))
