"""The command that brings a store over to the format of this release."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape

from api.cli.app import Json, app, out
from ops.commands.bringing import Alone, Bringing, Yes, bring_over, many, print_copy, print_others, time_told

if TYPE_CHECKING:
    from ops.settings import Settings


@app.command(epilog="Example: `engramlog upgrade` tells and asks; `engramlog upgrade --yes --json` from a script")
def upgrade(
    yes: Yes = False,
    alone: Alone = False,
    json: Json = False,
) -> None:
    """Bring a store of release 0.2 over to the log format of this one. Tells first what it does; events stay byte for byte.

    Refused while others use the store. Killed anywhere, run it again: it goes on. Afterwards release 0.2 refuses the store, and
    the way back is a copy made before.
    """
    from ops.bringing.upgrade import carry_out, told_beforehand

    work = Bringing("upgrade", "Bring it over now?", told_beforehand, carry_out, _render_plan, _render_done)
    bring_over(work, yes=yes, alone=alone, json=json)


def _render_plan(plan: dict[str, Any], settings: Settings) -> None:
    """What it will do, and what is wise before."""
    from events.partitions import FORMAT

    going_on = plan["found"] != "1"
    out.print(
        f"Store {escape(plan['store_id'])}: {many(plan['events'], 'event')} in"
        f" {many(plan['partitions'], 'partition')}, of log format {escape(plan['found'])}."
        + (" An upgrade was begun and did not end; this goes on with it." if going_on else "")
    )
    out.print(
        f"  - Its log becomes format {FORMAT}. Every event stays byte for byte; heads noted before still verify.\n"
        "  - Every owner gets a secret, and event ids are written down anew under it; the old list of ids goes.\n"
        "  - What is read is folded anew from the log, as `engramlog rebuild` does. The chain over each owner's change log"
        " (`chain` of `engramlog history`) is another then.\n"
        + (
            f"  - The vectors of {many(plan['vectors'], 'text')} are dropped, for what they are kept"
            " under let a text be guessed; the embedder computes them anew, under `engramlog up` or by `engramlog embed`.\n"
            if plan["vectors"]
            else ""
        )
        + f"  - {time_told(plan)}; meanwhile nothing can be asked or appended. Killed, it goes on"
        " when run again.\n"
        + (
            "  - Release 0.2 refuses the store since its first step. There is no way back but a copy made before that."
            if going_on
            else "  - From its first step on release 0.2 refuses the store. There is no way back but a copy made before:"
        )
    )
    if not going_on:  # a copy of what was begun is no way back
        print_copy(settings, "format-1")
    if plan["reserved_owners"]:
        more = plan["reserved_owners"] - len(plan["reserved_owners_named"])
        named = ", ".join(map(escape, plan["reserved_owners_named"])) + (f" and {more:,} more" if more else "")
        out.print(
            f"  - Owners whose name begins with ':', which is the store's own from now on: {named}. They stay, can be read,"
            " exported and deleted, and jobs carry on for them; nothing new begins under such a name.",
            soft_wrap=True,
        )
    print_others(plan)


def _render_done(answer: dict[str, Any]) -> None:
    if answer["found"] == answer["writes"]:
        out.print(f"Store {escape(answer['store_id'])} is of log format {answer['writes']}: there is nothing to do.")
        return
    begun = sum(1 for one in answer["boundaries"] if one["seq"])
    out.print(
        f"[bold green]done[/] {answer['events']:,} events kept as they were; format {answer['writes']} begins behind them in"
        f" {many(begun, 'partition')} with events."
    )
    out.print("[dim]Next: `engramlog verify`, then `engramlog up`. Old records go after ten minutes of `up`[/]")
