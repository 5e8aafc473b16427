"""Some of an owner's memories while more and more of its events are taken in: as a view of these events alone has them. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import attrgetter

from engramlog_server.projections.checks import Check, unchecked
from engramlog_server.projections.fold.owner import OwnerState
from engramlog_server.projections.fold.working_set import OwnerSettings
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.past.life import Refold, ToldEvent
from engramlog_server.projections.views.texts import as_hidden_today
from engramlog_server.projections.views.view import OwnerView

_in_order: Callable[[Memory], tuple[int, str]] = attrgetter("created_seq", "id")
"""The order of rows: as memories were created."""


class Moving:
    """A view of memories that hang together, brought forward by events in whatever order they are taken."""

    def __init__(
        self,
        owner: str,
        told: Sequence[ToldEvent],
        hidden: Mapping[str, Memory],
        law: str | None = None,
        check: Check = unchecked,
        most: int = 0,
    ) -> None:
        """`told`: all that may be taken, by number in the order of the log. `hidden`: today's records of what no past may show.
        `law`: by which is read, whatever the owner chose. `check` is told of each evolution, of about `most`."""
        self._owner, self._hidden, self._law = owner, hidden, law
        self._fold = Refold(told, check=check, most=most)
        self._settings = OwnerSettings()
        self._memories: dict[str, Memory] = {}
        self.view = self._made()

    def take(self, numbers: Collection[int]) -> None:
        """Take these events in too, each at its place in the log."""
        if not numbers:
            return
        self._fold.take(numbers)
        settings, moved, gone = self._fold.settings, self._fold.moved(), False
        changed = dict[str, Memory]()
        for name in moved:
            memory = self._fold.memory(name)
            if memory is None:
                gone |= self._memories.pop(name, None) is not None
            else:
                changed[name] = as_hidden_today(memory, self._hidden[name]) if name in self._hidden else memory
        self._memories |= changed
        as_before, self._settings = settings == self._settings, settings
        if gone:  # an event that came late has it that a memory was never made
            self.view = self._made()
        elif changed or not as_before:
            self.view.follow(self._state(), _ordered(changed.values()))

    def _made(self) -> OwnerView:
        return OwnerView(self._owner, self._state(), _ordered(self._memories.values()))

    def _state(self) -> OwnerState:
        chosen = self._settings
        return OwnerState(
            profile=self._law or chosen.profile,
            parameters=chosen.parameters,
            synonyms=chosen.synonyms,
            rejections=chosen.rejections,
            asides=chosen.asides,
        )


def _ordered(memories: Iterable[Memory]) -> list[Memory]:
    return sorted(memories, key=_in_order)
