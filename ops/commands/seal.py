"""The command that seals a store which lies open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape

from engramlog_server.api.cli.app import Json, app, out
from engramlog_server.events.text import many
from engramlog_server.ops.commands.store_replacement import (
    Alone,
    Bringing,
    Yes,
    bring_over,
    print_copy,
    print_others,
    time_told,
)

if TYPE_CHECKING:
    from engramlog_server.ops.settings import Settings


@app.command(
    epilog="Example: `ENGRAMLOG_SEALED_BY=/etc/engramlog/master-key engramlog seal` shows what it will do and asks;"
    " `engramlog seal --yes --json` from a script"
)
def seal(
    yes: Yes = False,
    alone: Alone = False,
    json: Json = False,
) -> None:
    """Encrypt an open store, under the master key of ENGRAMLOG_SEALED_BY or a new one in its folder.

    Shows first what it will do, and asks. Events, ids, positions and heads stay. Refused while others use the store. If it is
    killed, run it again. The only way back is a copy made before.
    """
    from engramlog_server.ops.encryption import carry_out, told_beforehand

    work = Bringing("seal", "Seal it now?", told_beforehand, carry_out, _render_plan, _render_done)
    bring_over(work, yes=yes, alone=alone, json=json)


def _render_plan(plan: dict[str, Any], settings: Settings) -> None:
    """What it will do, and what is wise before."""
    going_on, room = plan["found"] != "open", plan["room"]
    out.print(
        f"Store {escape(plan['store_id'])}: {many(plan['events'], 'event')} of {many(plan['owners'], 'owner')} in"
        f" {many(plan['partitions'], 'partition')}, which lie{'s' if plan['events'] == 1 else ''} open."
        + (" Sealing was begun and did not end; this goes on with it." if going_on else "")
    )
    out.print(
        f"  - It is sealed under a master key: {escape(plan['key'])}. Without that key nobody can read it"
        " afterwards, you neither: keep a copy of the key apart from the store.\n"
        "  - Events, their ids, positions and the chain stay; heads noted before still verify. The log is copied partition by"
        " partition, the copy proved equal, and taken for the log.\n"
        "  - Memories are folded again, sealed; the earlier folded state is deleted at once.\n"
        + (
            f"  - The vectors of {many(plan['vectors'], 'text')} are dropped; the embedder computes them again, under `engramlog"
            " up` or by `engramlog cleanup --all --job embed`.\n"
            if plan["vectors"]
            else ""
        )
        + "  - Redis rewrites its append-only file, and its dump if it makes one; until then they contain words. Copies and"
        " backups made before stay open, as does what replicas keep until they write theirs.\n"
        f"  - {time_told(plan)}; {room['memory']:,} bytes of memory and {room['disk']:,} of disk"
        " at most. Meanwhile nothing can be asked or appended. Killed, it goes on when run again.\n"
        + (
            "  - Nothing else opens the store since its first step."
            if going_on
            else "  - The only way back is a copy made before, which is not encrypted:"
        ),
        soft_wrap=True,
    )
    if not going_on:
        print_copy(settings, "open")
    print_others(plan)


def _render_done(answer: dict[str, Any]) -> None:
    if answer["found"] == "sealed":
        out.print(f"Store {escape(answer['store_id'])} is sealed: there is nothing to do.")
        return
    out.print(
        f"[bold green]done[/] {many(answer['events'], 'event')} of {many(answer['owners'], 'owner')} sealed under master key"
        f" {escape(answer['key'])}; append-only file: {escape(answer['aof'])}, dump: {escape(answer['dump'])}.",
        soft_wrap=True,
    )
    for one in answer["not_proven"]:
        out.print(f"[yellow]not proven[/] {escape(one)}", soft_wrap=True)
    out.print("[dim]Next: `engramlog verify`, then `engramlog up`. Earlier backups are not encrypted: delete them[/]")
