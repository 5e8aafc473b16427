"""Two moments on one time line: the two sides of a question about what changed between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from api.requests.checks import AsOf, parse_as_of
from api.requests.timelines import TimesAsked
from events.envelope import from_micros, utc_text
from events.errors import InputError, refused

KNOWN, HAPPENED = "known", "happened"
LINE_NAMES = (KNOWN, HAPPENED)


def other_line(line: str) -> str:
    """The one that two moments do not stand on."""
    return HAPPENED if line == KNOWN else KNOWN


class SideAsked(NamedTuple):
    """One of the two: the times that it is read at, and which of them is its moment."""

    times: TimesAsked
    moves: str
    """`known` or `as_of`: the field that the moment stands in."""
    name: str
    """`from` or `to`: how it was asked."""

    @contextmanager
    def refusals(self) -> Iterator[None]:
        """A refusal of the moment within is told by the name that it was asked under."""
        try:
            yield
        except InputError as error:
            if error.context.get("field") != self.moves:
                raise
            got, allowed = self.times.get("known" if self.moves == "known" else "as_of"), error.context.get("allowed")
            raise refused(self.name, got, str(allowed)) from None


class TwoMoments(NamedTuple):
    """What is asked about: from one moment to another, along one line, with the other line held where it is told."""

    line: str
    first: SideAsked
    second: SideAsked
    since: str
    until: str | None
    """None: now."""

    def check_order(self, owner: str, partitions: int, zone: str, now: int) -> None:
        """Raises InputError where it ends before it begins, as far as its words tell: of two positions, or two times."""
        begins = parse_as_of(self.since, owner, partitions, "from").by_the_clocks_of(zone)
        ends = AsOf(instant=now)
        if self.until is not None:
            ends = parse_as_of(self.until, owner, partitions, "to").by_the_clocks_of(zone)
        later = begins.instant is not None and ends.instant is not None and begins.instant > ends.instant
        if later or (begins.seq is not None and ends.seq is not None and begins.seq > ends.seq):
            raise self.reversed()

    def reversed(self) -> InputError:
        """That it ends before it begins."""
        ends = f"`to`, {self.until}" if self.until is not None else "`to`, which is now where it is not told"
        return refused("from", self.since, f"a moment that is not after {ends}; a day is its end")


def span_of(
    line: str, since: str, until: str | None, as_of: str | None, known: str | None, now: Callable[[], int]
) -> TwoMoments:
    """The two sides of a question. Raises InputError for an unknown line, and for a time that the line moves itself.

    `now`: microseconds since 1970, asked where the span ends now and what was known is held: then what had happened by now counts.
    """
    if line not in LINE_NAMES:
        raise refused("line", line, " or ".join(LINE_NAMES))
    moved, told = ("known", known) if line == KNOWN else ("as_of", as_of)
    if told is not None:
        other = "as_of" if line == KNOWN else "known"
        raise refused(
            moved, told, f"nothing on the line `{line}`, which `from` and `to` move along; {other} holds the other"
        )
    if line == KNOWN:
        sides = TimesAsked(as_of=as_of, known=since), TimesAsked(as_of=as_of, known=until)
    else:
        ends = until
        if until is None and known is not None:
            ends = utc_text(from_micros(now()))
        sides = TimesAsked(as_of=since, known=known), TimesAsked(as_of=ends, known=known)
    return TwoMoments(line, SideAsked(sides[0], moved, "from"), SideAsked(sides[1], moved, "to"), since, until)
