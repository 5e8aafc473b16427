"""`engramlog install`, `uninstall` and `hook`: the memory in clients that have hooks and MCP."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from getpass import getuser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from engramlog_server.api.cli.app import Json, app, err, out, print_json
from engramlog_server.events.errors import InputError, refused
from engramlog_server.ops.clients.table import ADAPTERS, EVENTS, Adapter

if TYPE_CHECKING:
    from engramlog_server.ops.clients.installation import Change, Installed, Place

LIST = "list"
HOOK_GRANT = {"verbs": ["produce", "read"], "actors": ["user", "assistant"], "trust": "asserted"}
"""The hooks' key: records what the user and the assistant said."""
SERVER_GRANT = {"verbs": ["produce", "read", "correct", "delete"], "actors": ["assistant"], "trust": "inferred"}
"""The key in the client's configuration: speaks as the assistant only."""
Client = Annotated[str, typer.Argument(metavar="CLIENT", help=f"{', '.join(ADAPTERS)}.", show_default=False)]
Confirmed = Annotated[bool, typer.Option("--yes", help="Do not ask.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the changes and write nothing.")]


@app.command(epilog="Examples: `engramlog install list`, `engramlog install claude-code`")
def install(
    context: typer.Context,
    client: Annotated[
        str, typer.Argument(metavar="CLIENT|list", help=f"{', '.join(ADAPTERS)}; or list.", show_default=False)
    ],
    owner: Annotated[
        str | None, typer.Option(help="Owner of the memories. [default: your user name]", show_default=False)
    ] = None,
    yes: Confirmed = False,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Install the memory into a client: hooks, MCP server. Shows the change, asks, and keeps a copy.

    Other entries of the client's configuration stay as they are. `engramlog uninstall CLIENT` goes back.
    """
    from engramlog_server.api.checks import check_owner
    from engramlog_server.ops.clients.hook import FOLDER
    from engramlog_server.ops.clients.installation import install_files, plan_install
    from engramlog_server.ops.durable import FileLock

    if client == LIST:
        _list(json)
        return
    place = _place(client)
    known = place.installed()
    whose = check_owner(owner or (known["owner"] if known else getuser()))
    same, key = place.serves(known, whose), known["server_key"] if known is not None else ""
    changes = plan_install(place, whose, key if same else "to be made")
    if same and not any(one.changes for one in changes):
        _told(place, changes, "already installed", json)
        return
    if not _wanted(place, changes, [key], yes=yes, dry_run=dry_run, json=json):
        return
    with FileLock(place.data / FOLDER):
        known = place.installed()  # another installation may have come first, and the client may have written its files
        if known is not None and place.serves(known, whose):
            install_files(place, known, plan_install(place, whose, known["server_key"]), None)
        else:
            plan_install(place, whose, "to be made")
            if known is not None:
                _revoke(context, known)
            hook_key, hook_id = _issue(context, place.adapter, whose, "hooks", HOOK_GRANT)
            server_key, server_id = _issue(context, place.adapter, whose, "mcp", SERVER_GRANT)
            ids = [hook_id, server_id]
            installed: Installed = {"owner": whose, "server_key": server_key, "key_ids": ids, "files": []}
            install_files(place, installed, plan_install(place, whose, server_key), hook_key)
    _told(place, changes, "installed", json)


@app.command(epilog="Example: `engramlog uninstall claude-code`")
def uninstall(
    context: typer.Context, client: Client, yes: Confirmed = False, dry_run: DryRun = False, json: Json = False
) -> None:
    """Take the memory out of a client: its configuration is as before, and its keys open nothing.

    If you changed a file since, only the entries of engramlog are removed, and the command says so.
    """
    from engramlog_server.ops.clients.hook import FOLDER
    from engramlog_server.ops.clients.installation import forget, plan_uninstall, write
    from engramlog_server.ops.durable import FileLock

    place = _place(client)
    installed = place.installed()
    if installed is None:
        raise refused("client", client, "one that is installed in this data folder (`engramlog install list`)")
    changes = plan_uninstall(place, installed)
    if not _wanted(place, changes, [installed["server_key"]], yes=yes, dry_run=dry_run, json=json):
        return
    with FileLock(place.data / FOLDER):
        installed = place.installed() or installed
        changes = plan_uninstall(place, installed)  # the client may have written its files meanwhile
        write(changes)
        _revoke(context, installed)
        forget(place)
    _told(place, changes, "uninstalled", json)


@app.command(
    epilog="Example: clients call `engramlog hook prompt --client claude-code` with their JSON on standard input"
)
def hook(
    event: Annotated[str, typer.Argument(metavar="EVENT", help=f"{', '.join(EVENTS)}.", show_default=False)],
    client: Annotated[str, typer.Option("--client", help=f"{', '.join(ADAPTERS)}.", show_default=False)],
    data: Annotated[
        Path | None, typer.Option("--data", help="Data folder. [default: ENGRAMLOG_DATA]", show_default=False)
    ] = None,
) -> None:
    """Answer an event of a client, as `engramlog install` configures it. Always ends with 0 within a second."""
    from engramlog_server.ops.clients.hook import main

    if event not in EVENTS:
        raise refused("event", event, ", ".join(EVENTS))
    main([event, "--client", client, *(["--data", str(data)] if data else [])])


def _place(client: str) -> Place:
    from engramlog_server.ops.clients.installation import Place
    from engramlog_server.ops.embedded.folder import private_folder
    from engramlog_server.ops.settings import load_settings

    if client not in ADAPTERS:
        raise refused("client", client, f"{', '.join(ADAPTERS)}, or list")
    folder, _ = private_folder(load_settings().data)
    return Place(ADAPTERS[client], folder, os.environ, Path.home())


def _list(json: bool) -> None:
    rows: list[dict[str, Any]] = []
    for name, adapter in ADAPTERS.items():
        place = _place(name)
        installed = place.installed()
        rows.append(
            {
                "client": name,
                "title": adapter.title,
                "found": place.found(),
                "installed": installed is not None,
                "owner": None if installed is None else installed["owner"],
                "written_against": adapter.written_against,
            }
        )
    if json:
        print_json({"clients": rows})
        return
    table = Table("client", "found", "installed for", "written against", box=None)
    for row in rows:
        table.add_row(row["client"], "yes" if row["found"] else "no", row["owner"] or "-", row["written_against"])
    out.print(table)


def _wanted(
    place: Place, changes: Sequence[Change], secrets: Sequence[str], *, yes: bool, dry_run: bool, json: bool
) -> bool:
    """Whether the changes are to be written: they are shown, and the user agreed."""
    if dry_run and json:
        _told(place, changes, "nothing written", json)
        return False
    if not json:
        for change in changes:
            out.print(Text(change.shown(secrets)), soft_wrap=True)
    if dry_run:
        err.print("Nothing was written (--dry-run).")
        return False
    if not yes:
        if json or not sys.stdin.isatty():
            raise InputError("yes: got nothing, and there is nobody to ask; allowed: --yes, or --dry-run", field="yes")
        typer.confirm("Write this?", abort=True, err=True)
    return True


def _told(place: Place, changes: Sequence[Change], what: str, json: bool) -> None:
    adapter = place.adapter
    if json:
        files = [{"path": str(one.path), "changed": one.changes, "remark": one.remark} for one in changes]
        print_json({"client": adapter.name, "result": what, "files": files, "next": adapter.after or None})
        return
    for change in changes:
        if change.remark:
            out.print(Text(f"{change.path}: {change.remark}"), soft_wrap=True)
    out.print(Text(f"{adapter.title}: {what}."), soft_wrap=True)
    if what == "installed" and adapter.after:
        out.print(Text(adapter.after), soft_wrap=True)


def _issue(context: typer.Context, adapter: Adapter, owner: str, what: str, grant: dict[str, Any]) -> tuple[str, str]:
    """A key for the client, and its id."""
    from engramlog_server.api.cli.command import Call
    from engramlog_server.api.operations.access import ISSUE

    given = {
        "principal": f"{adapter.name}-{what}",
        "grants": [{**grant, "owners": [owner]}],
        "expires_at": None,
        "days": None,
        "reason": f"engramlog install {adapter.name}",
        "actor": "user",
    }
    made = Call(context, ISSUE, given, True).answer()
    return made["key"], made["key_id"]


def _revoke(context: typer.Context, installed: Installed) -> None:
    from engramlog_server.api.cli.command import Call
    from engramlog_server.api.operations.access import REVOKE

    for key_id in installed["key_ids"]:
        given = {"key_id": key_id, "reason": "engramlog uninstall", "actor": "user"}
        with suppress(InputError):  # a store that was made anew has no such key
            Call(context, REVOKE, given, True).answer()
