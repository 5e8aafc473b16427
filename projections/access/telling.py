"""What of an owner's memories the call in hand may be told: by which mode, and up to which sensitivity. Pure."""

from __future__ import annotations

from typing import NamedTuple, get_args

from events.catalogue.access import Verb
from events.vocabulary import Reading
from projections.access.caller import Caller
from projections.access.grants import LEAST_TOLD

MODES: tuple[Reading, ...] = get_args(Reading)
"""From the narrowest."""
HIDES_NOTHING = MODES[-1]


class ToldUpTo(NamedTuple):
    """Up to what a call is told."""

    mode: Reading
    """What this mode does not show is to the caller as if it were not there."""
    most: int
    """The most sensitive memories that are told; a secret's text is another matter (`reveal`)."""

    @property
    def by_mode(self) -> bool:
        """Whether the mode hides anything."""
        return self.mode != HIDES_NOTHING

    @property
    def by_sensitivity(self) -> bool:
        """Whether it withholds more than secrets, which every answer withholds."""
        return self.most < LEAST_TOLD

    @property
    def is_narrow(self) -> bool:
        """Whether anything is kept from the caller that is not kept from everybody."""
        return self.by_mode or self.by_sensitivity


def telling_of(caller: Caller, verb: Verb, owner: str, asked: str | None = None) -> ToldUpTo | None:
    """What a caller is told of an owner by a verb; None: all of it. `asked`: the mode that the call asks for.

    Mode and sensitivity are those of grants that let do both at once: the highest sensitivity that he has in the mode asked, or
    in any where none is, and then the widest mode in which he has as much.
    """
    if caller.is_unlimited:
        return None
    highest = {mode: caller.most_sensitive(verb, owner, mode) for mode in MODES}
    most = highest[asked] if asked in highest else max(highest.values())
    mode = next((one for one in reversed(MODES) if highest[one] >= most), MODES[0])
    found = ToldUpTo(mode, most)
    return found if found.is_narrow else None
