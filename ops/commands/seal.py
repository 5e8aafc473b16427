"""The command that seals a store which lies open."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from api.cli.app import Json, app, err, out, progress, show
from events.errors import InputError

if TYPE_CHECKING:
    from ops.settings import Settings


@app.command(
    epilog="Example: `ENGRAMLOG_SEALED_BY=/etc/engramlog/master-key engramlog seal` tells and asks; `engramlog seal --yes --json`"
    " from a script"
)
def seal(
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
    """Seal a store that lies open, under the master key of ENGRAMLOG_SEALED_BY, else a new one in its folder. Tells first.

    Events, ids, positions and heads stay; what Redis keeps of words is encrypted then, in memory and in its files. Refused while
    others use the store. Killed anywhere, run it again: it goes on. There is no way back but a copy made before.
    """
    from ops.commands.notices import patient
    from ops.sealing.seal import carry_out, told_beforehand
    from ops.settings import load_settings
    from ops.upgrade import old_store, refuse_others

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
        if not typer.confirm("Seal it now?", err=True):
            raise typer.Exit(1)
    with old_store(settings, on_wait=waiting) as store:
        plan = told_beforehand(store)
        if yes and not json and not plan["done"]:
            _render_plan(plan, settings)
        with progress("seal", json, long=0) as advance:
            answer = carry_out(store, alone=alone, on_progress=advance, on_wait=waiting)
    show(answer, json, _render_done)


def _render_plan(plan: dict[str, Any], settings: Settings) -> None:
    """What it will do, and what is wise before."""
    going_on, minutes, room = plan["found"] != "open", max(1, round(plan["about_seconds"] / 60)), plan["room"]
    out.print(
        f"Store {escape(plan['store_id'])}: {_many(plan['events'], 'event')} of {_many(plan['owners'], 'owner')} in"
        f" {_many(plan['partitions'], 'partition')}, which lie{'s' if plan['events'] == 1 else ''} open."
        + (" Sealing was begun and did not end; this goes on with it." if going_on else "")
    )
    out.print(
        f"  - It is sealed under a master key: {escape(plan['key'])}. Whoever lacks that key can read nothing of it afterwards, you"
        " neither: keep a copy of the key apart from the store.\n"
        "  - Events, their ids, positions and the chain stay; heads noted before still verify. The log is copied partition by"
        " partition, the copy proved equal, and taken for the log.\n"
        "  - What is read is folded anew, sealed; what was folded before goes at once.\n"
        + (
            f"  - The vectors of {_many(plan['vectors'], 'text')} are dropped; the embedder computes them anew, under `engramlog"
            " up` or by `engramlog embed`.\n"
            if plan["vectors"]
            else ""
        )
        + "  - Redis writes its append-only file anew, and its dump where it makes one: until then they hold words. Copies and"
        " backups made before stay open, as does what replicas keep until they write theirs.\n"
        f"  - About {minutes} minute{'' if minutes == 1 else 's'}; {room['memory']:,} bytes of memory and {room['disk']:,} of disk"
        " at most. Meanwhile nothing can be asked or appended. Killed, it goes on when run again.\n"
        + (
            "  - Nothing else opens the store since its first step."
            if going_on
            else "  - There is no way back but a copy made before, which lies open:"
        ),
        soft_wrap=True,
    )
    if not going_on:
        data = escape(str(settings.data.expanduser()))
        copy = (
            "    copy your Redis's own files (or its backup) while nothing writes"
            if settings.redis_url
            else f"    cp -a {data} {data}-open"
        )
        out.print(copy, highlight=False, soft_wrap=True)
    for one in plan["others"]:
        out.print(
            f"  - connected now: {escape(one['what'])} {escape(one['name'])} ({escape(one['told'])})", soft_wrap=True
        )


def _render_done(answer: dict[str, Any]) -> None:
    if answer["found"] == "sealed":
        out.print(f"Store {escape(answer['store_id'])} is sealed: there is nothing to do.")
        return
    out.print(
        f"[bold green]done[/] {_many(answer['events'], 'event')} of {_many(answer['owners'], 'owner')} sealed under master key"
        f" {escape(answer['key'])}; append-only file: {escape(answer['aof'])}, dump: {escape(answer['dump'])}.",
        soft_wrap=True,
    )
    for one in answer["not_proven"]:
        out.print(f"[yellow]not proven[/] {escape(one)}", soft_wrap=True)
    out.print("[dim]Next: `engramlog verify`, then `engramlog up`. Backups made before lie open: let them go[/]")


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
