"""A log for whoever appends much at once: it waits for the folding, so that a store takes what it can also answer about."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from engramlog_server.events.errors import NotYetFolded, StoreFull
from engramlog_server.events.log import Appendable, AppendReceipt, EventLog, positions_by_partition
from engramlog_server.projections.checks import Check, unchecked

HALF = 5_000
"""Events after which those before them must be folded: no more than twice as many of one import wait at any time."""
_TRIES = 3
"""How often a request is sent again after a full store has folded all it holds; others may fill it meanwhile."""

OnFold = Callable[[bool], None]


def _untold(_begins: bool) -> None:
    """Tells nobody."""


class PacedLog:
    """An `EventLog` whose `append` keeps its own lag below 10,000 events and lets a full store fold before it gives up.

    `settle` waits until positions (partition -> seq) are folded, or folds where no worker does; `on_fold` is told when such a
    wait begins and when it ends, `check` is asked before each request whether to go on. Not for two threads at once.
    """

    def __init__(
        self,
        log: EventLog,
        settle: Callable[[Mapping[int, int]], None],
        on_fold: OnFold = _untold,
        check: Check = unchecked,
    ) -> None:
        self._log = log
        self._settle = settle
        self._on_fold = on_fold
        self._check = check
        self._done = 0
        self._since = 0
        self._newest: dict[int, int] = {}
        self._marked: dict[int, int] = {}

    def __getattr__(self, name: str) -> Any:
        """All else is the log's own."""
        return getattr(self._log, name)

    def append(
        self,
        events: Sequence[Appendable],
        *,
        expected_heads: Mapping[str, int] | None = None,
        principal: str | None = None,
    ) -> list[AppendReceipt]:
        """See `EventLog.append`. Raises StoreFull only once all that is in the log is folded, or nobody folds it.

        Raises NotYetFolded, before anything of the request is appended, where what was appended before is not folded.
        """
        self._check(self._done, 0)
        if self._since >= HALF:
            self._fold(self._marked)
            self._since, self._marked = 0, dict(self._newest)
        receipts = self._append(events, expected_heads, principal)
        self._since += len(receipts)
        self._done += len(receipts)
        self._newest |= positions_by_partition(one.position for one in receipts if one.position and one.written)
        return receipts

    def _append(
        self, events: Sequence[Appendable], expected_heads: Mapping[str, int] | None, principal: str | None
    ) -> list[AppendReceipt]:
        for _ in range(_TRIES):
            try:
                receipts = self._log.append(events, expected_heads=expected_heads, principal=principal)
            except StoreFull as full:
                if not full.context.get("unfolded"):
                    raise
                try:
                    self._fold_all()
                except NotYetFolded:
                    raise full from None
                continue
            if not any(one.status == "failed" for one in receipts):
                return receipts
            try:  # a node of a Cluster may be full of what is not folded; what is written is known by its id
                self._fold_all()
            except NotYetFolded:
                return receipts
        return self._log.append(events, expected_heads=expected_heads, principal=principal)

    def _fold_all(self) -> None:
        self._fold({partition: self._log.head(partition) for partition in range(self._log.partitions)})

    def _fold(self, until: Mapping[int, int]) -> None:
        if until:
            self._on_fold(True)
            self._settle(until)
            self._on_fold(False)


def paced(
    log: EventLog, settle: Callable[[Mapping[int, int]], None], on_fold: OnFold = _untold, check: Check = unchecked
) -> EventLog:
    """The same log, paced: see `PacedLog`."""
    return cast("EventLog", PacedLog(log, settle, on_fold, check))
