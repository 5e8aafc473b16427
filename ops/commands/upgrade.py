"""The command that brings a store over to the format of this release."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from api.cli.app import Json, app, err, out, progress, show
from events.errors import InputError

if TYPE_CHECKING:
    from ops.settings import Settings


@app.command(epilog="Example: `engramlog upgrade` tells and asks; `engramlog upgrade --yes --json` from a script")
def upgrade(
    yes: Annotated[bool, typer.Option("--yes", help="Do it without asking.")] = False,
    alone: Annotated[
        bool,
        typer.Option(
            "--alone",
            help="Connections to your own Redis that it lists, or does not list, are none of Engramlog's: you answer for it.",
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Bring a store of release 0.2 over to the log format of this one. Tells first what it does; events stay byte for byte.

    Refused while others use the store. Killed anywhere, run it again: it goes on. Afterwards release 0.2 refuses the store, and
    the way back is a copy made before.
    """
    from ops.commands.notices import patient
    from ops.settings import load_settings
    from ops.upgrade import carry_out, old_store, refuse_others, told_beforehand

    settings, waiting = load_settings(), patient(err)
    if not yes:
        with old_store(settings, on_wait=waiting) as store:
            plan = told_beforehand(store)
            if not plan["done"]:
                if not json:
                    _render_plan(plan, settings)
                refuse_others(store, alone=alone, on_wait=waiting)
        if plan["done"]:
            show(plan, json, _render_done)
            return
        if json or not sys.stdin.isatty():
            raise InputError(
                "yes: got nothing; allowed: --yes, once you have read what it does", field="yes", plan=plan
            )
        if not typer.confirm("Bring it over now?", err=True):
            raise typer.Exit(1)
    with old_store(settings, on_wait=waiting) as store:
        plan = told_beforehand(store)
        if yes and not json and not plan["done"]:
            _render_plan(plan, settings)
        with progress("upgrade", json, long=0) as advance:
            answer = carry_out(store, alone=alone, on_progress=advance, on_wait=waiting)
    show(answer, json, _render_done)


def _render_plan(plan: dict[str, Any], settings: Settings) -> None:
    """What it will do, and what is wise before."""
    from events.partitions import FORMAT

    going_on = plan["found"] != "1"
    minutes = max(1, round(plan["about_seconds"] / 60))
    out.print(
        f"Store {escape(plan['store_id'])}: {plan['events']:,} event{'' if plan['events'] == 1 else 's'} in"
        f" {plan['partitions']} partition{'' if plan['partitions'] == 1 else 's'}, of log format {escape(plan['found'])}."
        + (" An upgrade was begun and did not end; this goes on with it." if going_on else "")
    )
    out.print(
        f"  - Its log becomes format {FORMAT}. Every event stays byte for byte; heads noted before still verify.\n"
        "  - Every owner gets a secret, and event ids are written down anew under it; the old list of ids goes.\n"
        "  - What is read is folded anew from the log, as `engramlog rebuild` does. The chain over each owner's change log"
        " (`chain` of `engramlog history`) is another then.\n"
        + (
            f"  - The vectors of {plan['vectors']:,} text{'' if plan['vectors'] == 1 else 's'} are dropped, for what they are kept"
            " under let a text be guessed; the embedder computes them anew, under `engramlog up` or by `engramlog embed`.\n"
            if plan["vectors"]
            else ""
        )
        + f"  - About {minutes} minute{'' if minutes == 1 else 's'}; meanwhile nothing can be asked or appended. Killed, it goes on"
        " when run again.\n"
        + (
            "  - Release 0.2 refuses the store since its first step. There is no way back but a copy made before that."
            if going_on
            else "  - From its first step on release 0.2 refuses the store. There is no way back but a copy made before:"
        )
    )
    if not going_on:  # a copy of what was begun is no way back
        copy = (
            "    copy your Redis's own files (or its backup) while nothing writes"
            if settings.redis_url
            else f"    cp -a {escape(str(settings.data.expanduser()))} {escape(str(settings.data.expanduser()))}-format-1"
        )
        out.print(copy, highlight=False, soft_wrap=True)
    if plan["reserved_owners"]:
        more = plan["reserved_owners"] - len(plan["reserved_owners_named"])
        named = ", ".join(map(escape, plan["reserved_owners_named"])) + (f" and {more:,} more" if more else "")
        out.print(
            f"  - Owners whose name begins with ':', which is the store's own from now on: {named}. They stay, can be read,"
            " exported and deleted, and jobs carry on for them; nothing new begins under such a name.",
            soft_wrap=True,
        )
    for one in plan["others"]:
        out.print(
            f"  - connected now: {escape(one['what'])} {escape(one['name'])} ({escape(one['told'])})", soft_wrap=True
        )


def _render_done(answer: dict[str, Any]) -> None:
    if answer["found"] == answer["writes"]:
        out.print(f"Store {escape(answer['store_id'])} is of log format {answer['writes']}: there is nothing to do.")
        return
    begun = sum(1 for one in answer["boundaries"] if one["seq"])
    out.print(
        f"[bold green]done[/] {answer['events']:,} events kept as they were; format {answer['writes']} begins behind them in"
        f" {begun} partition{'' if begun == 1 else 's'} with events."
    )
    out.print("[dim]Next: `engramlog verify`, then `engramlog up`. Old records go after ten minutes of `up`[/]")
