"""Commands of access: `engramlog key new | revoke`, `grant`, `access`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engramlog_server.api.cli.app import app
from engramlog_server.api.cli.command import Call, command, plain
from engramlog_server.api.cli.grant_options import OPTIONS, VERBS_TOLD, grants_asked, written_out
from engramlog_server.api.cli.parser import Registry
from engramlog_server.api.cli.show import generic
from engramlog_server.api.operations.access import ACCESS, ISSUE, READS, REVOKE, SET_GRANTS
from engramlog_server.api.operations.definition import Parameter, without
from engramlog_server.events.errors import refused

NAMES = tuple(one.name for one in OPTIONS)
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
    call.print(call.answer(ISSUE, grants=_asked(call)))


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
    call.print(call.answer(SET_GRANTS, grants=asked or []))


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
