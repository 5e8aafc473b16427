"""`engramlog key narrow`: a token of a key, made without any service. Its neighbours are in `api.cli.commands.access`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any, TypedDict

import typer
from rich.text import Text

from engramlog_server.api.cli.app import Json, err, out, print_json
from engramlog_server.api.cli.command import text_of, told_as
from engramlog_server.api.cli.commands.access import key_app
from engramlog_server.api.cli.grant_options import NAMES, OPTIONS, GrantAsked, grants_asked
from engramlog_server.api.cli.show.visible import visible
from engramlog_server.events.errors import InputError, refused
from engramlog_server.ops.environment import KEY

MOST_MINUTES = 527_040
"""366 days."""
MICROS = 1_000_000
_HOW = f"a key as `engramlog key new` printed it, in {KEY}, or in a file (--key-file, - for standard input)"
_BY_NAME = {one.name: told_as(one) for one in OPTIONS}


class TokenMade(TypedDict):
    """What `--json` prints."""

    token: str
    key_id: str
    subject: str | None
    expires_at: str
    grants: list[GrantAsked]


@key_app.command(
    "narrow",
    epilog="Example: `engramlog key narrow --can read --owners alice --for alice@example.org --minutes 15`",
)
def narrow(
    can: Annotated[list[str] | None, _BY_NAME["can"]] = None,
    owners: Annotated[list[str] | None, _BY_NAME["owners"]] = None,
    mode: Annotated[str | None, _BY_NAME["mode"]] = None,
    sensitivity: Annotated[int | None, _BY_NAME["sensitivity"]] = None,
    speak_as: Annotated[list[str] | None, _BY_NAME["speak_as"]] = None,
    trust: Annotated[str | None, _BY_NAME["trust"]] = None,
    grants: Annotated[Path | None, _BY_NAME["grants"]] = None,
    subject: Annotated[
        str | None, typer.Option("--for", help="The person, as the audit shows it.", show_default=False)
    ] = None,
    minutes: Annotated[
        int, typer.Option(help=f"How long it lives, 1 to {MOST_MINUTES:,}; no longer than its key.")
    ] = 15,
    key_file: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help=f"File with the key, or - for standard input. [default: {KEY}]",
            show_default=False,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Make a narrower token from a key, which ends by itself. Opens no store.

    The service allows what both the token and the key's principal may do at that moment, and nothing once the key is revoked.
    The key is never given on the command line, where others could read it.
    """
    told = dict(
        zip(NAMES, (can, owners, mode, sensitivity, speak_as, trust, grants), strict=True)
    )  # in the order of OPTIONS
    asked = grants_asked({name: [] if value is None and name in _LISTS else value for name, value in told.items()})
    if asked is None:
        raise refused("can", None, "--can with --owners, or --grants FILE: what the token may do")
    if not 1 <= minutes <= MOST_MINUTES:
        raise refused("minutes", minutes, f"1 to {MOST_MINUTES:,}")
    made = _made(_key(key_file), asked, subject, minutes)
    if json:
        print_json(made)
        return
    out.print(Text(made["token"]), soft_wrap=True)
    whose = "" if subject is None else f" for {visible(subject)}"
    err.print(
        Text(
            f"a token of the key {made['key_id']}{whose}, until {made['expires_at']}; it is shown as its key is", "dim"
        ),
        soft_wrap=True,
    )


_LISTS = frozenset({"can", "owners", "speak_as"})


def _made(key: str, asked: list[GrantAsked], subject: str | None, minutes: int) -> TokenMade:
    from engramlog_server.events.envelope import from_micros, utc_text
    from engramlog_server.ops.clock import now_micros
    from engramlog_server.projections.access.book import told
    from engramlog_server.projections.access.keys import grants_of, id_in, make_token

    now = now_micros() // MICROS
    grants: list[Any] = [told(one) for one in grants_of(asked)]
    token = make_token(key, grants, now=now, seconds=60 * minutes, subject=subject)
    ends = utc_text(from_micros((now + 60 * minutes) * MICROS))
    return {"token": token, "key_id": id_in(key) or "", "subject": subject, "expires_at": ends, "grants": grants}


def _key(file: str | None) -> str:
    """The key. Raises InputError where none is told, or what is told is none; it is never shown."""
    from engramlog_server.projections.access.keys import id_in

    if file == "-":
        found = text_of("-", "key_file", _HOW)
    elif file is not None:
        try:
            with Path(file).open("rb") as lines:
                found = lines.read(1024).decode("ascii", "replace")
        except OSError as error:
            raise InputError(f"key_file: {file} cannot be read ({error.strerror})", field="key_file") from None
    else:
        found = os.environ.get(KEY, "")
    found = found.strip()
    if not found:
        raise InputError(f"key: got nothing; allowed: {_HOW}", field="key")
    if id_in(found) is None:
        raise InputError(f"key: got a text that is not a key, or a mistyped key; allowed: {_HOW}", field="key")
    return found
