"""What events would do to an owner, were they folded now: the fold itself, on what a view holds. Pure; the view stays as it is."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping

from engramlog_server.events.envelope import Stored
from engramlog_server.events.parameters import DEFAULTS, Parameters
from engramlog_server.projections.fold.changelog import Entry
from engramlog_server.projections.fold.owner import fold_on
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.views.view import OwnerView


class _Folded(Mapping[str, Memory]):
    """The records of a view as their own events made them, each read when it is asked for."""

    def __init__(self, view: OwnerView) -> None:
        self._view = view

    def __getitem__(self, memory_id: str) -> Memory:
        found = self._view.get(memory_id)
        if found is None:
            raise KeyError(memory_id)
        return self._view.as_folded(found)

    def __iter__(self) -> Iterator[str]:
        return (memory.id for memory in self._view.columns)

    def __len__(self) -> int:
        return len(self._view)


def would_change(
    view: OwnerView, stored: Iterable[Stored], base: Parameters = DEFAULTS, secret: bytes = b""
) -> list[Entry]:
    """The change-log entries that the fold would write of these events, in order, if they came next.

    `base`: the parameters of an owner that set none. `secret`: the owner's, which keys the hashes of contents.
    """
    memories = ChainMap[str, Memory]({}, _Folded(view))  # type: ignore[arg-type]
    steps = fold_on(view.state, memories, stored, lambda _stored, _event: True, base=base, secret=secret)
    return [entry for _, step in steps for entry in step.entries]
