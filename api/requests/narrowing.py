"""What the call in hand may see of an owner's view.

What a mode hides is looked up as it is asked for. What a low ceiling leaves out makes a view of its own, which is kept while the
owner's stands still: its making takes as long as reading the owner's memories.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import NamedTuple

from api.work.patience import current_check, weigh
from projections.access.telling import ToldUpTo
from projections.fold.owner import OwnerState
from projections.views.narrowed import shown_by, up_to
from projections.views.view import OwnerView

MOST_KEPT = 8
"""Views up to a ceiling that are kept; the one asked for longest ago goes first."""
MOST_BYTES = 64 * 1024 * 1024
"""What they take together at the most; one that takes more by itself is made for each question."""


class _Kept(NamedTuple):
    whole: OwnerView
    state: OwnerState
    view: OwnerView


class Narrowing:
    """Narrows views to what the caller in hand is told. Safe for threads; a view is asked by one question at a time."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: OrderedDict[tuple[str, int], _Kept] = OrderedDict()

    def view(self, view: OwnerView, present: OwnerView, now: int, telling: ToldUpTo) -> OwnerView:
        """The view of an owner at an instant as far as it is told; `present`: the owner's view today."""
        if telling.by_sensitivity:
            view = self._up_to(view, present, telling.most)
        return shown_by(view, now, telling.mode) if telling.by_mode else view

    def _up_to(self, view: OwnerView, present: OwnerView, most: int) -> OwnerView:
        of_today, place = view is present, (view.owner, most)
        with self._lock:
            found = self._kept.get(place)
            if of_today and found is not None and found.whole is view and found.state == view.state:
                self._kept.move_to_end(place)
                return found.view
        weigh(len(view) // 2)
        made = up_to(view, most, present, current_check())
        if of_today:
            self._keep(place, _Kept(view, view.state, made))
        return made

    def _keep(self, place: tuple[str, int], made: _Kept) -> None:
        with self._lock:
            self._kept[place] = made
            self._kept.move_to_end(place)
            while len(self._kept) > MOST_KEPT or sum(one.view.bytes_used() for one in self._kept.values()) > MOST_BYTES:
                self._kept.popitem(last=False)
