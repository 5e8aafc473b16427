"""Settings by the names of the environment; a name that looks like one and is none would be ignored without a word."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from difflib import get_close_matches

from events.errors import BadSetting

PREFIX = "ENGRAMLOG_"
LIKENESS = 0.6
"""How like a known name another must be to be suggested, from 0 to 1."""


def told_by(environment: Mapping[str, str], known: Collection[str]) -> dict[str, str]:
    """What the environment says of the settings in `known`, whatever the case of its names; an empty value says nothing."""
    told = {name.upper(): value for name, value in environment.items() if value}
    names = {name: f"{PREFIX}{name.upper()}" for name in known}
    return {name: told[written] for name, written in names.items() if written in told}


def refuse_unknown(environment: Mapping[str, str], known: Collection[str]) -> None:
    """Raise BadSetting for the first name that is no setting, with the one it may be meant for; values are never shown.

    `known` has the names without their prefix, in lower case. A name without a value means nothing, and is left alone.
    """
    for name in sorted(environment):
        rest = name.upper().removeprefix(PREFIX).lower()
        if not name.upper().startswith(PREFIX) or rest in known or not environment[name]:
            continue
        near = get_close_matches(rest, sorted(known), n=1, cutoff=LIKENESS)
        meant = f"{PREFIX}{near[0].upper()}" if near else None
        raise BadSetting(
            f"{name}: there is no such setting{f', but there is {meant}' if meant else ''};"
            " docs/operating.md lists them all; unset it, or call it otherwise",
            setting=name,
            suggestion=meant,
        )
