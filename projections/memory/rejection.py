"""Values that a person rejected, each known by the keyed digest of its statement: which are refused, and until when. Pure.

What is kept of a value is the newest rejection and the newest readmission by `occurred_at`; ties go to the rejection. So the
order in which they arrive decides nothing. Nothing is ever let go: what does not fit is refused, and told.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from operator import attrgetter

import msgspec

MOST_VALUES = 1_000
"""Values of one owner of which something is kept."""
REJECTED_BY = "rejected by :"
"""What a fold's refusal begins with; the seq follows, and whoever tells it puts the partition before the colon."""
MOST_TURNS = 256
"""Turns kept of one value, the first ones; whoever tells more of them is told so. None of those kept ever comes back."""
TURN_BYTES = 8
_NEVER = -(1 << 62)
_digest_of = attrgetter("digest")


class Rejection(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What is known of one value. Times are microseconds since 1970."""

    digest: bytes
    """16 bytes, keyed with the owner's secret."""
    at: int
    """When it was last rejected."""
    seq: int
    """Position of the event that did."""
    until: int | None
    """Evidence from after it counts again; None: none ever does."""
    readmitted_at: int | None = None
    turns: bytes = b""
    """Turns from which it was drawn since, each as `turn_hash` gives it: they say it, whatever their words."""

    again: bytes = b""
    """Id, 16 bytes, of the event by which the user says it again since, which waits for him: his own before what was read."""

    @property
    def turn_hashes(self) -> tuple[bytes, ...]:
        """The turns, each by its hash."""
        return tuple(self.turns[at : at + TURN_BYTES] for at in range(0, len(self.turns), TURN_BYTES))

    @property
    def stands(self) -> bool:
        """Whether it is rejected, and was not taken up again since."""
        return self.at > _NEVER and (self.readmitted_at is None or self.readmitted_at <= self.at)

    def refuses(self, said_at: int) -> bool:
        """Whether evidence of this time does not count."""
        return self.stands and (self.until is None or said_at <= self.until)


Rejections = tuple[Rejection, ...]
"""Of one owner, by digest, ascending; at most `MOST_VALUES`."""


def known(rejections: Rejections, digest: bytes) -> Rejection | None:
    """What is kept of a value; None for nothing."""
    at = bisect_left(rejections, digest, key=_digest_of)
    return rejections[at] if at < len(rejections) and rejections[at].digest == digest else None


def refusing(rejections: Rejections, digests: Iterable[bytes], said_at: int) -> Rejection | None:
    """The rejection by which evidence of this time for one of these values does not count; None where it does."""
    if rejections:
        for digest in digests:
            found = known(rejections, digest)
            if found is not None and found.refuses(said_at):
                return found
    return None


def rejected(rejections: Rejections, digests: Iterable[bytes], at: int, seq: int, until: int | None) -> Rejections:
    """With these values rejected. Raises ValueError where there is no room for one more."""
    for digest in digests:
        one = known(rejections, digest)
        if one is None:
            new = Rejection(digest, at, seq, until)
        elif (at, _reach(until)) <= (one.at, _reach(one.until)):
            continue
        else:
            new = msgspec.structs.replace(one, at=at, seq=seq, until=until, again=b"")
        rejections = _with(rejections, new)
    return rejections


def readmitted(rejections: Rejections, digests: Iterable[bytes], at: int, seq: int) -> Rejections:
    """With these values taken up again; kept also where no rejection is known yet, for one may come late. Raises as `rejected`."""
    for digest in digests:
        one = known(rejections, digest) or Rejection(digest, _NEVER, seq, None)
        if one.readmitted_at is None or one.readmitted_at < at:
            rejections = _with(rejections, msgspec.structs.replace(one, readmitted_at=at, again=b""))
    return rejections


def drawn_again(rejections: Rejections, digest: bytes, turns: Iterable[str]) -> Rejections:
    """With turns that were read to say a value that is kept here. Raises ValueError where no more of them are kept."""
    one = known(rejections, digest)
    if one is None:
        return rejections
    before = one.turn_hashes
    said = tuple(dict.fromkeys((*before, *map(turn_hash, turns))))
    if len(said) > MOST_TURNS:
        raise ValueError(f"{MOST_TURNS} turns are known to say it already, the most: this one is not withheld")
    return rejections if said == before else _with(rejections, msgspec.structs.replace(one, turns=b"".join(said)))


def waiting_again(rejections: Rejections, digest: bytes, event_id: bytes) -> Rejections:
    """With an event by which the user says a value again that is kept here; empty: none waits any more."""
    one = known(rejections, digest)
    return rejections if one is None else _with(rejections, msgspec.structs.replace(one, again=event_id))


def said_in(rejections: Rejections, digests: Iterable[bytes], hashes: Sequence[bytes]) -> Rejections:
    """With turns that say these values, by their hashes, as far as there is room."""
    for digest in digests if hashes else ():
        one = known(rejections, digest)
        if one is not None:
            turns = b"".join(dict.fromkeys((*one.turn_hashes, *hashes)))[: MOST_TURNS * TURN_BYTES]
            rejections = _with(rejections, msgspec.structs.replace(one, turns=turns))
    return rejections


def turn_hash(turn_id: str) -> bytes:
    """What stands for a turn's id where many are kept, 8 bytes."""
    return blake2b(turn_id.encode(), digest_size=TURN_BYTES).digest()


def _with(rejections: Rejections, new: Rejection) -> Rejections:
    at = bisect_left(rejections, new.digest, key=_digest_of)
    if at < len(rejections) and rejections[at].digest == new.digest:
        return (*rejections[:at], new, *rejections[at + 1 :])
    if len(rejections) >= MOST_VALUES:
        raise ValueError(f"{MOST_VALUES:,} values are rejected or readmitted already, the most of one owner")
    return (*rejections[:at], new, *rejections[at:])


def _reach(until: int | None) -> tuple[bool, int]:
    """How far a rejection reaches, for comparing: for good is farthest."""
    return until is None, until or 0
