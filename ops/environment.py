"""Settings by the names of the environment; a name that looks like one and is none would be ignored without a word."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from engramlog_server.events.errors import BadSetting

PREFIX = "ENGRAMLOG_"
OF_CLIENTS = frozenset({"ENGRAMLOG_KEY", "ENGRAMLOG_URL"})
"""What only clients read: the service neither checks nor refuses it."""
KEY = "ENGRAMLOG_KEY"
"""A key, of which `engramlog key narrow` makes tokens: read by it alone, told to no service, and no setting."""
LIKENESS = 0.6
"""How like a known name another must be to be suggested, from 0 to 1."""


def told_by(environment: Mapping[str, str], known: Collection[str]) -> dict[str, str]:
    """What the environment says of the settings in `known`, whatever the case of its names; an empty value says nothing."""
    told = {name.upper(): value for name, value in environment.items() if value}
    names = {name: f"{PREFIX}{name.upper()}" for name in known}
    return {name: told[written] for name, written in names.items() if written in told}


def unknown_settings(environment: Mapping[str, str], known: Collection[str]) -> Iterator[BadSetting]:
    """A refusal of each name that is no setting, with the one it may be meant for; values are never shown.

    `known` has the names without their prefix, in lower case. A name without a value means nothing, and is left alone.
    """
    for name in sorted(environment):
        rest = name.upper().removeprefix(PREFIX).lower()
        written = name.upper()
        if not written.startswith(PREFIX) or rest in known or written in OF_CLIENTS or not environment[name]:
            continue
        from difflib import get_close_matches  # noqa: PLC0415 - where all are known nothing is looked up

        near = get_close_matches(rest, sorted(known), n=1, cutoff=LIKENESS)
        meant = f"{PREFIX}{near[0].upper()}" if near else None
        yield BadSetting(
            f"{name}: there is no such setting{f', but there is {meant}' if meant else ''};"
            " docs/operating.md lists them all; unset it, or call it otherwise",
            setting=name,
            suggestion=meant,
        )


def settings_given(environment: Mapping[str, str]) -> dict[str, str]:
    """Everything that the environment says under our prefix but a key, by names in upper case; an empty value says nothing."""
    said = {name.upper(): told for name, told in environment.items() if told and name.upper().startswith(PREFIX)}
    return {name: told for name, told in said.items() if name != KEY}


def data_folder(environment: Mapping[str, str]) -> Path:
    """The data folder that the environment names, or the platform's own."""
    named = told_by(environment, ["data"]).get("data")
    if named:
        return Path(named)
    from platformdirs import user_data_path  # noqa: PLC0415 - a folder that is named needs it not

    return user_data_path("engramlog")
