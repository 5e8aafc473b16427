"""Commands that read: get, list, history, why, provenance, stats, status, replay, schema."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, NamedTuple

import typer
from rich.markup import escape

from api.cli import completing
from api.cli.app import (
    ActorOption,
    AfterOption,
    AsOfOption,
    AtOption,
    Json,
    KnownOption,
    MemoryId,
    Owner,
    app,
    opened,
    out,
    print_json,
    print_pages,
    progress,
    show,
)
from api.cli.show import memories as render
from api.cli.show import store as render_store
from events.errors import refused

ModeOption = Annotated[
    str,
    typer.Option(
        "--mode",
        help="normal (dialogue), review (looking back) or debug (everything).",
        autocompletion=completing.modes,
    ),
]
PageOption = Annotated[
    int | None,
    typer.Option("-k", "--limit", help="A page of so many changes, 1 to 1000; all without.", show_default=False),
]
CursorOption = Annotated[
    str | None, typer.Option("--cursor", help="The next page: what the one before told.", show_default=False)
]
OrderOption = Annotated[str, typer.Option("--order", help="oldest or newest first.")]
AllOption = Annotated[bool, typer.Option("--all", help="Also entries that only name a memory and change nothing.")]
ReasonOption = Annotated[str, typer.Option("--reason", help="With --reveal: why, which is recorded.")]
InspectOption = Annotated[
    bool, typer.Option("--inspect", help="Only look: recorded in any mode and at any time, and no memory gains by it.")
]
TraceOption = Annotated[
    bool,
    typer.Option("--trace", help="Count as an agent's recall: what is shown gains by it. Without it this only looks."),
]
NoTraceOption = Annotated[bool, typer.Option("--no-trace", help="Record nothing, not even that somebody looked.")]
FOLDING = "folding the past"
REPLAYING = "replaying"


class Traced(NamedTuple):
    """What a command records of what it shows, in the words of the reader."""

    trace: bool
    inspect: bool


def traced_as(*, trace: bool, no_trace: bool, inspect: bool, present: bool) -> Traced:
    """What the options ask for. Without one a command only looks: recorded of the present, and no memory gains by it (ADR 0046).

    Raises InputError for `--trace` beside another of them.
    """
    if trace and (no_trace or inspect):
        raise refused("trace", f"--trace with {'--no-trace' if no_trace else '--inspect'}", "one of them")
    return Traced(not no_trace, inspect or (present and not trace))


@app.command(epilog="Example: `engramlog get conv-26 D1:3`")
def get(
    context: typer.Context,
    owner: Owner,
    memory_id: MemoryId,
    reveal: Annotated[bool, typer.Option("--reveal", help="Show the text of a secret memory (sensitivity 3).")] = False,
    as_of: AsOfOption = None,
    known: KnownOption = None,
    at: AtOption = None,
    after: AfterOption = None,
    trace: TraceOption = False,
    no_trace: NoTraceOption = False,
    inspect: InspectOption = False,
    actor: ActorOption = "user",
    reason: ReasonOption = "",
    json: Json = False,
) -> None:
    """Everything about one memory; a secret's text only with --reveal, which is recorded before it is shown."""
    with opened(context) as application, progress(FOLDING, json) as advance:
        present = as_of is None and known is None and at is None
        traced = traced_as(trace=trace, no_trace=no_trace, inspect=inspect, present=present)
        asked: dict[str, Any] = {"as_of": as_of, "known": known, "at": at, "after": after, "trace": traced.trace}
        if reveal:
            from api.revealing import By

            by = By("command", actor, reason)
            answer = application.revealer.get(owner, memory_id, by, **asked, on_progress=advance)
        else:
            answer = application.reader.get(owner, memory_id, **asked, inspect=traced.inspect, on_progress=advance)
    show(answer, json, render.fields)


@app.command("list", epilog="Example: `engramlog list alice --mode review --limit 20`")
def list_(
    context: typer.Context,
    owner: Owner,
    mode: ModeOption = "normal",
    limit: Annotated[int, typer.Option("-k", "--limit", help="How many, 1 to 1000.")] = 50,
    offset: Annotated[int, typer.Option(help="How many to pass over.", min=0)] = 0,
    as_of: AsOfOption = None,
    known: KnownOption = None,
    at: AtOption = None,
    after: AfterOption = None,
    json: Json = False,
) -> None:
    """An owner's memories, newest activation first. Leaves no trace."""
    with opened(context) as application, progress(FOLDING, json) as advance:
        answer = application.reader.list(
            owner,
            mode=mode,
            limit=limit,
            offset=offset,
            as_of=as_of,
            known=known,
            at=at,
            after=after,
            on_progress=advance,
        )
    show(answer, json, render.memories)


@app.command(epilog="Example: `engramlog history alice coffee`")
def history(
    context: typer.Context,
    owner: Owner,
    memory_id: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="A memory; the whole owner without.", show_default=False)
    ] = None,
    limit: PageOption = None,
    cursor: CursorOption = None,
    order: OrderOption = "oldest",
    as_of: AsOfOption = None,
    known: KnownOption = None,
    after: AfterOption = None,
    everything: AllOption = False,
    json: Json = False,
) -> None:
    """The change log: every event, what it decided, the weight before and after. JSON has every entry."""
    from api.services.histories import MOST_CHANGES

    asked: Any = {"order": order, "as_of": as_of, "known": known, "after": after}
    with opened(context) as application, progress(FOLDING, json) as advance:
        reader = application.reader
        if limit is not None or cursor is not None:
            size = MOST_CHANGES if limit is None else limit
            pages = iter([reader.history(owner, memory_id, limit=size, cursor=cursor, on_progress=advance, **asked)])
        else:
            pages = reader.history_pages(owner, memory_id, on_progress=advance, **asked)
        if json:
            print_pages(pages, "changes")
            return
        for number, answer in enumerate(pages):
            title = None if number else f"change log of {escape(memory_id or owner)}, {answer['position']}"
            show(answer, False, partial(_changes, title, everything))
            if limit is not None and answer["next"]:
                out.print(f"[dim]more: --cursor {answer['next']}[/]", soft_wrap=True)


def _changes(title: str | None, everything: bool, answer: dict[str, Any]) -> None:
    render.changes(answer["changes"], everything=everything, title=title)


@app.command(epilog="Example: `engramlog why alice coffee --as-of 2024-03-01T00:00:00Z`")
def why(
    context: typer.Context,
    owner: Owner,
    memory_id: MemoryId,
    as_of: AsOfOption = None,
    known: KnownOption = None,
    at: AtOption = None,
    after: AfterOption = None,
    limit: PageOption = None,
    cursor: CursorOption = None,
    order: OrderOption = "oldest",
    everything: AllOption = False,
    json: Json = False,
) -> None:
    """Why a memory weighs what it weighs: every factor, every change, where it comes from. Leaves no trace."""
    from api.services.histories import MOST_CHANGES

    if cursor is not None and limit is None:
        limit = MOST_CHANGES
    with opened(context) as application, progress(FOLDING, json) as advance:
        answer = application.reader.why(
            owner,
            memory_id,
            as_of=as_of,
            known=known,
            at=at,
            after=after,
            limit=limit,
            cursor=cursor,
            order=order,
            on_progress=advance,
        )
    show(answer, json, lambda told: render.reasons(told, everything=everything))
    if not json and answer["next"]:
        out.print(f"[dim]more: --cursor {answer['next']}[/]", soft_wrap=True)


@app.command(epilog="Example: `engramlog provenance alice coffee-habit`")
def provenance(
    context: typer.Context,
    owner: Owner,
    memory_id: MemoryId,
    as_of: AsOfOption = None,
    known: KnownOption = None,
    after: AfterOption = None,
    json: Json = False,
) -> None:
    """Where a memory comes from: turns, memories it was merged or corrected from, events; as a tree."""
    with opened(context) as application, progress(FOLDING, json) as advance:
        answer = application.reader.provenance(
            owner, memory_id, as_of=as_of, known=known, after=after, on_progress=advance
        )
    show(answer, json, lambda told: render.origins(told["provenance"]))


@app.command(epilog="Example: `engramlog stats` or `engramlog stats conv-26`")
def stats(
    context: typer.Context,
    owner: Annotated[
        str | None, typer.Argument(metavar="[OWNER]", help="One owner; the whole store without.", show_default=False)
    ] = None,
    as_of: AsOfOption = None,
    known: KnownOption = None,
    at: AtOption = None,
    after: AfterOption = None,
    json: Json = False,
) -> None:
    """Counts: of the store and its largest owners, or of one owner's memories by category, level and state."""
    with opened(context) as application, progress(FOLDING, json) as advance:
        answer = application.operator.stats(owner, as_of=as_of, known=known, at=at, after=after, on_progress=advance)
    show(answer, json, render_store.statistics)


@app.command(epilog="Example: `engramlog status --json | jq '.lag'`")
def status(context: typer.Context, json: Json = False) -> None:
    """Partitions with head, checkpoint, lag, lease and quarantine; workers; memory."""
    with opened(context) as application:
        answer = application.operator.status()
    show(answer, json, render_store.partitions)


@app.command(epilog="Example: `engramlog replay alice --set user_factor=1.3 --query coffee`")
def replay(
    context: typer.Context,
    owner: Owner,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="A parameter, name=value; as often as needed.", show_default=False)
    ] = None,
    without: Annotated[
        list[str] | None, typer.Option("--without", help="Leave out this event id.", show_default=False)
    ] = None,
    without_actor: Annotated[
        list[str] | None,
        typer.Option("--without-actor", help="Leave out all events of this actor.", show_default=False),
    ] = None,
    query: Annotated[
        str | None, typer.Option("--query", help="Compare the order of this query's results too.", show_default=False)
    ] = None,
    mode: ModeOption = "review",
    limit: Annotated[int, typer.Option("-k", "--limit", help="How many results of the query.")] = 10,
    as_of: AsOfOption = None,
    known: KnownOption = None,
    at: AtOption = None,
    after: AfterOption = None,
    json: Json = False,
) -> None:
    """Fold an owner's events under other parameters, or without some of them, and show what differs. Writes nothing."""
    from api.services.replaying import parse_settings

    with opened(context) as application, progress(REPLAYING, json) as advance:
        answer = application.replayer.replay(
            owner,
            parameters=parse_settings(set_ or ()),
            without=without or (),
            without_actors=without_actor or (),
            query=query,
            mode=mode,
            limit=limit,
            as_of=as_of,
            known=known,
            at=at,
            after=after,
            on_progress=advance,
        )
    show(answer, json, render_store.comparison)


@app.command(epilog="Example: `engramlog schema MemoryCreated`")
def schema(
    event: Annotated[
        str | None, typer.Argument(metavar="[EVENT]", help="One event type; all without.", show_default=False)
    ] = None,
    json: Json = False,  # noqa: ARG001 - it is JSON either way
) -> None:
    """JSON Schema of every event's envelope, by type. Opens no store."""
    from events.schema import json_schemas

    schemas = json_schemas()
    if event is not None and event not in schemas:
        raise refused("event", event, ", ".join(schemas))
    print_json(schemas if event is None else schemas[event])
