"""Leases in virtual time, by the rules of the script `projections.redis.scripts.LEASE`; a test holds both to the same answers."""

from __future__ import annotations

from dataclasses import dataclass, field

from consumers.fold.sharing import is_free


@dataclass(slots=True)
class HeldLease:
    """One partition's lease as its checkpoint has it; times in seconds."""

    holder: str | None = None
    until: float = 0.0
    epoch: int = 0

    def take(self, who: str, now: float, lasts: float) -> int | None:
        """The epoch under which it is now `who`'s; None while another holds it."""
        if not is_free(self.holder, self.until, who, now, lasts):
            return None
        self.epoch += 1
        self.holder, self.until = who, now + lasts
        return self.epoch

    def renew(self, who: str, epoch: int, now: float, lasts: float) -> bool:
        """Whether it is still that of `who` and this epoch; it then lasts so long from now."""
        if self.holder != who or self.epoch != epoch:
            return False
        self.until = now + lasts
        return True

    def release(self, who: str, epoch: int) -> bool:
        """Whether it was theirs, and is nobody's now."""
        if self.holder != who or self.epoch != epoch:
            return False
        self.holder, self.until = None, 0.0
        return True


@dataclass(slots=True)
class Tries:
    """How often workers tried to take leases, by second of the simulation; and how it ended."""

    by_second: dict[int, int] = field(default_factory=dict)
    taken: int = 0
    in_vain: int = 0

    def count(self, now: float, *, taken: bool) -> None:
        """One more."""
        second = int(now)
        self.by_second[second] = self.by_second.get(second, 0) + 1
        self.taken += taken
        self.in_vain += not taken

    def most(self, start: float, end: float) -> int:
        """The most in one second of a span."""
        return max((many for second, many in self.by_second.items() if start <= second + 1 and second < end), default=0)
