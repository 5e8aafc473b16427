"""Options by which a command says what somebody may do, and the grants that they make."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NotRequired, TypedDict

from engramlog_server.api.cli.completion import MODES
from engramlog_server.api.operations.definition import Given, Option, Parameter
from engramlog_server.events.errors import InputError, refused
from engramlog_server.projections.choices import VERBS_OF_ACCESS

VERBS = tuple(VERBS_OF_ACCESS)
SHORT = {"use": ("produce", "read", "correct", "delete", "review"), "everything": VERBS}
"""What stands for several verbs."""
SECRET = 3
MOST_BYTES = 1024 * 1024
"""Of a file of grants."""


class GrantAsked(TypedDict):
    """A grant as the services take it; what is left out is as they have it."""

    verbs: list[str]
    owners: list[str]
    modes: NotRequired[list[str]]
    sensitivity: NotRequired[int]
    actors: NotRequired[list[str]]
    trust: NotRequired[str]


CAN = Parameter("can", list[str], "Verbs, separated by commas.", list, option=Option(metavar="VERBS"))
OWNERS = Parameter(
    "owners",
    list[str],
    "To whose memories: names, beginnings of names before `/*` (`team/*`), or `*` for all; with commas, or as often as needed.",
    list,
    option=Option(metavar="NAMES"),
)
OPTIONS = (
    CAN,
    OWNERS,
    Parameter(
        "mode",
        str | None,
        "Widest mode for reading: normal, review (and normal), debug (and both).",
        None,
        option=Option(completes="modes"),
    ),
    Parameter(
        "sensitivity",
        int | None,
        "Highest sensitivity that this principal may read, 0 to 3. [default: 2; with the verb reveal 3]",
        None,
    ),
    Parameter(
        "speak_as",
        list[str],
        "Actors that this principal may speak as: user, assistant, judge. Producers of users' turns need user."
        " [default: assistant; a token: as its key]",
        list,
        option=Option(metavar="ACTORS"),
    ),
    Parameter(
        "trust",
        str | None,
        "Highest trust of this principal's events: asserted, inferred, imported, proposed. Producers of users' turns need"
        " asserted. [default: inferred; a token: as its key]",
        None,
    ),
    Parameter(
        "grants",
        Path | None,
        "Read all grants from this file instead: a list of JSON objects as `GET /v1/access` returns them.",
        None,
        option=Option(metavar="FILE"),
    ),
)
NAMES = tuple(one.name for one in OPTIONS)
VERBS_TOLD = "\n".join(
    [
        "Verbs:",
        "",
        *(f"- `{verb}`: {does}" for verb, does in VERBS_OF_ACCESS.items()),
        *(f"- `{short}`: {', '.join(stands) if stands != VERBS else 'all of them'}" for short, stands in SHORT.items()),
    ]
)
"""A list for a help text."""


def grants_asked(told: Given) -> list[GrantAsked] | None:
    """What the options say; None where none of them was told. Raises InputError."""
    given = [name for name in NAMES if told.get(name) not in (None, [])]
    if not given:
        return None
    if told["grants"] is not None:
        if given != ["grants"]:
            raise refused(
                "grants", f"a file together with --{given[0].replace('_', '-')}", "either a file, or the other options"
            )
        return _read(told["grants"])
    verbs, owners = _verbs(told["can"]), _split(told["owners"])
    if not verbs:
        raise refused("can", None, f"what the principal may do: {_allowed()}")
    if not owners:
        raise refused("owners", None, "whose memories: names, 'team/*', or '*' for all")
    made: GrantAsked = {"verbs": verbs, "owners": owners}
    if told["mode"] is not None:
        if told["mode"] not in MODES:
            raise refused("mode", told["mode"], ", ".join(MODES))
        made["modes"] = list(MODES[: MODES.index(told["mode"]) + 1])
    if told["sensitivity"] is not None or "reveal" in verbs:
        made["sensitivity"] = SECRET if told["sensitivity"] is None else told["sensitivity"]
    if told["speak_as"]:
        made["actors"] = _split(told["speak_as"])
    if told["trust"] is not None:
        made["trust"] = told["trust"]
    return [made]


def written_out(asked: list[GrantAsked] | None) -> list[GrantAsked] | None:
    """Grants of a key, with what they leave out of speakers and trust: its holder is an assistant unless it is said otherwise."""
    for one in asked or ():
        if isinstance(one, dict):  # a file may hold anything; what is no grant is refused where they are read
            one.setdefault("actors", ["assistant"])
            one.setdefault("trust", "inferred")
    return asked


def _verbs(told: Sequence[str]) -> list[str]:
    """Verbs, each once, in the order of the table."""
    named = set[str]()
    for one in _split(told):
        if one not in VERBS_OF_ACCESS and one not in SHORT:
            raise refused("can", one, _allowed())
        named.update(SHORT.get(one, (one,)))
    return [verb for verb in VERBS if verb in named]


def _allowed() -> str:
    return f"{', '.join(VERBS)}; {' or '.join(SHORT)} for several"


def _split(told: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(one.strip() for words in told for one in words.split(",") if one.strip()))


def _read(path: Path) -> list[GrantAsked]:
    try:
        with path.open("rb") as file:
            read = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"grants: {path} cannot be read ({error.strerror})", field="grants", got=str(path)) from None
    allowed = "a list of grants in JSON, of at most 1 MiB"
    if len(read) > MOST_BYTES:
        raise refused("grants", f"{path}, which is larger", allowed)
    try:
        found = json.loads(read)
    except (ValueError, RecursionError):
        raise refused("grants", f"{path}, which is no JSON", allowed) from None
    if not isinstance(found, list):
        raise refused("grants", f"{path}, which holds no list", allowed)
    return found
