"""Keys and grants: `engramlog key new | revoke`, `grant` and `access`, their options, and what they print."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from rich.console import Console
from rich.text import Text

from engramlog_server.api.cli.app import app, err, out
from engramlog_server.api.cli.command import Call, command, plain
from engramlog_server.api.cli.completion import MODES
from engramlog_server.api.cli.parser import Registry
from engramlog_server.api.cli.show import generic
from engramlog_server.api.cli.show.generic import in_words
from engramlog_server.api.cli.show.memories import instant_text
from engramlog_server.api.operations.access import ACCESS, ISSUE, READS, REVOKE, SET_GRANTS
from engramlog_server.api.operations.definition import Given, Option, Parameter, without
from engramlog_server.events.errors import InputError, refused
from engramlog_server.projections import shapes
from engramlog_server.projections.choices import VERBS_OF_ACCESS

VERBS = tuple(VERBS_OF_ACCESS)
SHORT = {"use": ("produce", "read", "correct", "delete", "review"), "everything": VERBS}
"""Each of these words means several verbs."""
SECRET = 3
MOST_BYTES = 1024 * 1024
"""The largest file of grants that is read, in bytes."""


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
    """Grants that the options name; None without such an option. Raises InputError."""
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


def made(answer: shapes.KeyMade, console: Console = out, aside: Console = err) -> None:
    """The key alone, once, and aside what to do with it: `key new NAME > FILE` leaves a file that holds a key."""
    name = answer["principal"]
    console.print(Text(answer["key"], "bold"), soft_wrap=True)
    ends = "" if answer["expires_at"] is None else f" It ends {instant_text(answer['expires_at'], aside)}."
    aside.print(
        Text(
            f"The key of {name}, {answer['key_id']}. It is shown only once: send it over a private channel.{ends}\nUse it"
            " as `Authorization: Bearer ...`, as ENGRAMLOG_TOKEN of the client, or make narrower tokens from it:"
            " `engramlog key narrow`."
        ),
        soft_wrap=True,
    )
    _may(name, answer["grants"], aside)
    if not answer["grants"]:
        aside.print(Text(f"Give it some: engramlog grant {name} --can read --owners NAME", "dim"), soft_wrap=True)


def granted(answer: shapes.GrantsTold, console: Console = out) -> None:
    """Print the grants that a principal has now."""
    if answer["position"] is None:
        console.print(Text("So it was already.", "dim"))
    _may(answer["principal"], answer["grants"], console)


def _may(name: str, grants: Sequence[shapes.GrantHeld], console: Console) -> None:
    if not grants:
        console.print(Text(f"{name} has no grants.", "yellow"), soft_wrap=True)
        return
    console.print(Text(f"{name} may, from the next request on:"), soft_wrap=True)
    for one in grants:
        console.print(Text(f"  {in_words(one)}"), soft_wrap=True)


key_app = Registry(
    no_args_is_help=True, help="Keys by which others open this store: new, revoke, and tokens of them that do less."
)
app.add_typer(key_app, name="key")
FIRST = "Example: `engramlog key new support --can use --owners 'team/*' --speak-as user,assistant --days 90`"


@command(
    ISSUE.but(
        question=without(ISSUE.question, "grants"),
        help="Make a key for a principal, optionally with grants. The key is printed only once.",
        more="Without options for grants, the grants stay as they are. A principal has at most two active keys: the one in"
        f" use, and its replacement.\n\n{VERBS_TOLD}",
        example=FIRST,
    ),
    more=OPTIONS,
    on=key_app,
    name="new",
)
def new(call: Call) -> None:
    """What the options say is set with it."""
    call.print(call.answer(ISSUE, grants=_asked(call)), made)


command(
    REVOKE.but(example="Example: `engramlog key revoke k7m2p9qa --reason 'lost laptop'`"), on=key_app, name="revoke"
)(plain)


@command(
    SET_GRANTS.but(
        question=without(SET_GRANTS.question, "grants"),
        more=f"A call must fit one grant completely. Several grants come from a file (--grants).\n\n{VERBS_TOLD}",
        example="Example: `engramlog grant support --can read,review --owners 'team/*' --mode review`",
    ),
    more=(*OPTIONS, Parameter("none", bool, "Remove all grants; the keys stay.", False)),
)
def grant(call: Call) -> None:
    """All of them are said anew."""
    (none,) = call.take("none")
    if none and any(call.given[name] for name in NAMES):
        raise refused("none", "--none together with other grants", "one of the two")
    asked = _asked(call)
    if not none and asked is None:
        raise refused("grants", None, "--can with --owners, --grants FILE, or --none for nothing")
    call.print(call.answer(SET_GRANTS, grants=asked or []), granted)


@command(
    ACCESS,
    READS,
    more=(
        Parameter("keys", bool, "List by key: whose, whether it lives, when it ends.", False),
        Parameter("reads", bool, "Show who looked at what with a key, newest first.", False),
    ),
)
def access(call: Call) -> None:
    """By principal, by key, or what was looked at."""
    by_key, reads = call.take("keys", "reads")
    if not by_key:
        call.turn_to(READS if reads else ACCESS, "--reads" if reads else "keys and grants")
        return
    call.given = {name: call.given[name] for name in ("as_of", "principal")}
    call.print(call.answer(), _by_key)


def _by_key(answer: Mapping[str, Any]) -> None:
    """A row for each key, with the earlier of both instants that may end it; one for a principal without a key."""
    rows = []
    for one in answer["principals"]:
        for key in one["keys"] or [{"key_id": None, "state": "no key", "issued_at": None}]:
            ends = min((key[name] for name in ("revoked_at", "expires_at") if key.get(name)), default=None)
            rows.append({**one, **key, "ends": ends})
    generic.answer({"keys": rows})


def _asked(call: Call) -> object:
    return written_out(grants_asked(dict(zip(NAMES, call.take(*NAMES), strict=True))))
