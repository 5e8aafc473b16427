"""How commands open a store: what they print while they wait, and the frame of those that bring a whole store over.

That frame shows the plan, asks, refuses while others use the store, does the work and prints its answer.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from rich.console import Console
from rich.markup import escape

from engramlog_server.api.cli.app import err, out, progress, show
from engramlog_server.events.errors import NotConfirmed
from engramlog_server.events.text import many

if TYPE_CHECKING:
    from engramlog_server.ops.settings import Settings
    from engramlog_server.ops.store_replacement import OldStore

PATIENCE_SECONDS = 1.5
AGAIN_SECONDS = 2.0


def patient(console: Console) -> Callable[[str], None]:
    """`on_wait` for opening a store: silent for 1.5 s, then a line at most every two seconds."""
    next_at = monotonic() + PATIENCE_SECONDS

    def tell(message: str) -> None:
        nonlocal next_at
        if monotonic() >= next_at:
            next_at = monotonic() + AGAIN_SECONDS
            console.print(f"[dim]{escape(message)}[/]", soft_wrap=True)

    return tell


Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]
Alone = Annotated[
    bool,
    typer.Option(
        "--alone",
        help="The listed connections to your own Redis are other programs: you vouch for it.",
    ),
]


class Bringing(NamedTuple):
    """What one of these commands does."""

    name: str
    """Of the command, as its bar tells it."""
    question: str
    """What a person at a terminal is asked."""
    seal_plan: Callable[[OldStore], dict[str, Any]]
    carry_out: Callable[..., dict[str, Any]]
    render_plan: Callable[[dict[str, Any], Settings], None]
    render_done: Callable[[dict[str, Any]], None]


def bring_over(work: Bringing, *, yes: bool, alone: bool, json: bool) -> None:
    """Tell, ask unless `yes`, refuse while others use the store, do it, and tell. What is asked about is looked at anew once it is
    answered: others may have come meanwhile. Raises NotConfirmed without an answer, with the `plan`."""
    from engramlog_server.ops.settings import load_settings
    from engramlog_server.ops.store_replacement import old_store, refuse_others

    settings, waiting = load_settings(), patient(err)
    if not yes:
        with old_store(settings, on_wait=waiting) as store:
            plan = work.seal_plan(store)
            if not plan["done"]:
                if not json:
                    work.render_plan(plan, settings)
                refuse_others(store, alone=alone, on_wait=waiting)
        if plan["done"]:
            show(plan, json, work.render_done)
            return
        if json or not sys.stdin.isatty():
            raise NotConfirmed(plan)
        if not typer.confirm(work.question, err=True):
            raise typer.Exit(1)
    with old_store(settings, on_wait=waiting) as store:
        if yes and not json and not (plan := work.seal_plan(store))["done"]:
            work.render_plan(plan, settings)
        with progress(work.name, json, long=0) as advance:
            answer = work.carry_out(store, alone=alone, on_progress=advance, on_wait=waiting)
    show(answer, json, work.render_done)


def duration_text(plan: Mapping[str, Any]) -> str:
    """How long it takes, as a sentence begins."""
    minutes = round(plan["about_seconds"] / 60)
    return f"About {many(minutes, 'minute')}" if minutes else "Less than a minute"


def print_copy(settings: Settings, ending: str) -> None:
    """How a copy is made before: the only way back."""
    data = escape(str(settings.data.expanduser()))
    copy = (
        "    copy your Redis's own files (or its backup) while nothing writes"
        if settings.redis_url
        else f"    cp -a {data} {data}-{ending}"
    )
    out.print(copy, highlight=False, soft_wrap=True)


def print_others(plan: Mapping[str, Any]) -> None:
    """Who is connected now, a line each."""
    for one in plan["others"]:
        out.print(
            f"  - connected now: {escape(one['what'])} {escape(one['name'])} ({escape(one['told'])})", soft_wrap=True
        )
