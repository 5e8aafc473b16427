"""Views kept within a bound of bytes: when all together take more, the least recently asked owners' leave first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from threading import Lock

from engramlog_server.projections.checks import Check
from engramlog_server.projections.fold.builds import FIRST_BUILD
from engramlog_server.projections.views.view import OwnerView

_WAIT_SECONDS = 0.1
"""How often whoever waits for a view asks whether to go on waiting."""
_LOOKED_AT = 1_000
"""Views that are looked at after one question: more than one is dropped only where a large one came."""


class CachedView:
    """One owner's view with its lock and what validates it."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.view: OwnerView | None = None
        self.token = b""
        self.build = FIRST_BUILD
        self.found = "nothing"
        """Where the view was found that the question in hand is asked of."""
        self.bytes = 0
        """As last counted."""
        self.epoch = 0
        self.estimated = 0
        """How many bytes it was thought to take before it was loaded last."""
        self.heavier = 1.0
        """How many times that it took, where it was refused once it was loaded."""

    @contextmanager
    def alone(self, check: Check) -> Iterator[None]:
        """With the view to oneself. `check` is asked while somebody else has it."""
        while not self.lock.acquire(timeout=_WAIT_SECONDS):
            check(0, 0)
        try:
            yield
        finally:
            self.lock.release()


class KeptViews:
    """What is held of each owner. Safe for threads; a view itself is guarded by its own lock."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._held: OrderedDict[str, CachedView] = OrderedDict()
        """The least recently asked first."""
        self._bytes = 0
        self._lock = Lock()

    @property
    def bytes_used(self) -> int:
        """About how much all views take together, as last counted."""
        return self._bytes

    def __len__(self) -> int:
        return len(self._held)

    def __contains__(self, owner: object) -> bool:
        return owner in self._held

    def all(self) -> list[tuple[str, CachedView]]:
        """What is held now."""
        with self._lock:
            return list(self._held.items())

    def hold(self, owner: str) -> CachedView:
        """What is held of an owner, empty where nothing is; it is now the most recently asked."""
        with self._lock:
            held = self._held.get(owner)
            if held is None:
                held = self._held[owner] = CachedView()
            self._held.move_to_end(owner)
            return held

    def let_go(self, owner: str) -> None:
        """Drop what is held of an owner. Whoever still reads it goes on with it; it is not counted any more."""
        with self._lock:
            held = self._held.pop(owner, None)
            if held is not None:
                self._bytes -= held.bytes

    def make_room(self, owner: str, held: CachedView) -> None:
        """Count what an owner's view takes now, and drop others while all take too much; the one just asked stays.

        To be called under the view's lock. Whoever still reads a view that was dropped, or waits for it, goes on with it, since
        it is validated at each question; it is not counted any more.
        """
        taken = held.view.bytes_used() if held.view is not None else 0
        with self._lock:
            if self._held.get(owner) is not held:
                return
            self._bytes += taken - held.bytes
            held.bytes = taken
            oldest = list(islice(self._held, _LOOKED_AT)) if self._bytes > self._most else []
            for name in oldest:
                if name != owner:
                    left = self._held.pop(name)
                    self._bytes -= left.bytes
                if self._bytes <= self._most:
                    break
