"""What an export holds of an owner whose records lie in a spool: chosen as of a view, without one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from api.exchange.exporting import ExportOptions, allowed_by, reasons, tell_unknown
from projections.checks import Check
from projections.memory.columns import Columns, state_of
from projections.memory.record import SECRET, Memory
from projections.memory.twins import Twins
from projections.redis.spool import Spool, Spooled
from projections.views.quoting import at_least
from projections.views.view import OwnerView
from projections.views.word_levels import WordLevels


class SpooledSelection:
    """Which memories of a spool are exported; they are read, and read beside each other, as their pages are taken."""

    def __init__(self, spool: Spool, view: OwnerView, options: ExportOptions, check: Check) -> None:
        """`view`: the owner's state, without memories. Raises InputError as `selection` does."""
        self._spool, self._view, self._twins = spool, view, Twins(spool.get)
        self.left_out: dict[str, int] = {}
        self.secret: list[str] = []
        """Ids of the secrets among them."""
        allowed, named, rejections = allowed_by(options), options.named(), view.state.rejections
        watched = spool.negated | {one.digest for one in rejections}
        watched |= {turn for one in rejections for turn in one.turn_hashes}
        rejected = [one.id for one in self._beside(list(spool.saying(watched))) if one.rejected_seq is not None]
        self._levels = self._levels_of(spool.deciding(rejected), check)
        states, into = np.zeros(spool.rows, dtype=np.int8), dict[int, str]()
        for rows, page in self._pages(spool.order, check):
            for row, memory in zip(rows, page, strict=True):
                states[row] = state_of(memory)
                if states[row] == Columns.MERGED and memory.merged_into:
                    into[row] = memory.merged_into
        self._follow_merges(states, into)
        chosen, left_out = np.zeros(spool.rows, dtype=np.bool_), Counter[str]()
        for rows, page in self._pages(spool.order, check):
            for row, memory in zip(rows, page, strict=True):
                if named is not None and memory.id not in named:
                    continue
                reason = next((one for one in reasons(memory, int(states[row])) if one not in allowed), None)
                if reason is not None:
                    left_out[reason] += 1
                    continue
                chosen[row] = True
                if memory.sensitivity >= SECRET:
                    self.secret.append(memory.id)
        self.left_out.update(left_out)
        tell_unknown(self.left_out, named, int(chosen.sum()))
        self.ids = Spooled(spool, chosen)
        self._rows: npt.NDArray[np.int64] = spool.order[chosen[spool.order]]

    @property
    def number(self) -> int:
        """How many it holds."""
        return len(self._rows)

    def pages(self) -> Iterator[Sequence[Memory]]:
        """The memories, some at a time, oldest first."""
        return (page for _, page in self._pages(self._rows, lambda _done, _all: None))

    def _pages(self, order: npt.NDArray[np.int64], check: Check) -> Iterator[tuple[list[int], list[Memory]]]:
        done = 0
        for rows, page in self._spool.pages(order):
            check(done, len(order))
            done += len(rows)
            yield rows, self._as_read(page)

    def _as_read(self, page: list[Memory]) -> list[Memory]:
        """How these records read beside those that say the same, and those whose words they have."""
        return [at_least(one, self._levels.get(one.id, 0)) for one in self._beside(page)]

    def _beside(self, page: list[Memory]) -> list[Memory]:
        """The same, but for the words of others."""
        talk = self._view.parameters.talk_reaffirms
        return self._twins.follow(self._view.state.rejections, page, lambda _keys: (), talk=talk)[: len(page)]

    def _levels_of(self, deciding: npt.NDArray[np.bool_], check: Check) -> dict[str, int]:
        """Account -> how sensitive its words are for the sake of others. Only what decides is read, and no record held."""
        words, order = WordLevels(), self._spool.order
        rows, done = order[deciding[order]], 0
        for _, page in self._spool.pages(rows):
            check(done, len(rows))
            done += len(page)
            for one in self._beside(page):
                words.put(one)
        return words.levels()

    def _follow_merges(self, states: npt.NDArray[np.int8], into: dict[int, str]) -> None:
        """As `Columns.standing`: what was merged counts as deleted or rejected where its merge is."""
        found = dict[int, int]()
        for row, memory_id in into.items():
            following = self._spool.row(memory_id)
            while following is not None and states[following] == Columns.MERGED:
                following = self._spool.row(into[following]) if following in into else None
            if following is not None and states[following] >= Columns.REJECTED:
                found[row] = min(int(states[following]), Columns.DELETED)
        for row, state in found.items():
            states[row] = state
