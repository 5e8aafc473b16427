"""Commands that write: append, import, negate, delete, restore, merge, unmerge. They return once their events are folded."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import typer
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from api.appending import append_lines
from api.cli import render
from api.cli.app import ActorOption, Json, MemoryId, OccurredOption, Owner, app, err, opened, out, print_json, show
from api.importing import ImportOptions, import_turns
from events.errors import InputError
from events.log import positions_by_partition

File = Annotated[
    str, typer.Argument(metavar="FILE|-", help="A file of JSON Lines, or - for standard input.", show_default=False)
]
import_app = typer.Typer(no_args_is_help=True, help="Import conversations and older records.")
app.add_typer(import_app, name="import")


@contextmanager
def _reading(file: str) -> Iterator[BinaryIO]:
    if file == "-":
        yield sys.stdin.buffer
        return
    try:
        with Path(file).open("rb") as stream:
            yield stream
    except OSError as error:
        raise InputError(
            f"file: got {file!r}; allowed: a file that can be read, or - ({error.strerror})", field="file", got=file
        ) from None


@app.command(epilog="Example: `engramlog append events.jsonl` or `producer | engramlog append - --json`")
def append(context: typer.Context, file: File, json: Json = False) -> None:
    """Append events from JSON Lines of envelopes. Sending the same file again is always safe."""
    with opened(context) as application, _reading(file) as stream:
        answer = append_lines(application.log, stream)
        application.writer.settle_positions(positions_by_partition(p for p in answer.positions if p))
    if json:
        print_json(answer.as_dict())
    else:
        out.print(
            f"{answer.appended} appended, {answer.already_appended} already there, {len(answer.conflicts)} conflicts"
        )
        for conflict in answer.conflicts:
            out.print(
                f"[red]line {conflict['line']}: id {conflict['event_id']} is taken by other content at {conflict['position']}[/];"
                " nothing of its partition's part of the request was written"
            )
        for failure in answer.failed:
            out.print(f"[yellow]line {failure['line']}: {failure['status']}[/] {escape(failure['error'] or '')}")
    if answer.error is not None:
        err.print(f"[bold red]{type(answer.error).__name__}[/]: {escape(answer.error.message)}")
        err.print(
            f"{answer.appended + answer.already_appended} events before it are in the log; send the mended file again whole."
        )
    raise typer.Exit(answer.exit_code)


@import_app.command(epilog="Example: `engramlog import turns conversation.jsonl --owner-from conversation`")
def turns(
    context: typer.Context,
    file: File,
    owner_from: Annotated[str, typer.Option("--owner-from", help="The field that names the owner.")] = "conversation",
    owner: Annotated[str | None, typer.Option("--owner", help="One owner for all turns.", show_default=False)] = None,
    kind: Annotated[str, typer.Option(help="Kind of the memories.")] = "episode",
    tier: Annotated[str, typer.Option(help="Tier: system, core, fact or episode.")] = "fact",
    category: Annotated[
        str, typer.Option(help="identity, stable_preference, short_term_preference, fact, skill or temporary.")
    ] = "fact",
    turns_only: Annotated[
        bool, typer.Option("--turns-only", help="Record the turns without making memories of them.")
    ] = False,
    json: Json = False,
) -> None:
    """Import turns: lines of {turn_id, occurred_at, text, speaker?, session?, conversation?}. A second import appends nothing."""
    options = ImportOptions(
        owner=owner, owner_from=owner_from, kind=kind, tier=tier, category=category, memories=not turns_only
    )
    total = _lines_of(file)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with opened(context) as application, _reading(file) as stream:
        with Progress(*columns, console=err, transient=True, disable=json or not err.is_terminal) as bar:
            task = bar.add_task("importing", total=total, rate="")

            def advance(done: int) -> None:
                speed = bar.tasks[0].speed
                bar.update(task, completed=done, rate=f"{speed:,.0f} turns/s" if speed else "")

            answer = import_turns(application.log, stream, options, advance)
            bar.update(task, description="folding")
            application.writer.settle_positions(positions_by_partition(p for p in answer.done.positions if p))
    told = answer.as_dict()
    show(told, json, _render_import)
    if answer.done.error is not None:
        err.print(f"[bold red]{type(answer.done.error).__name__}[/]: {escape(answer.done.error.message)}")
    raise typer.Exit(answer.done.exit_code)


def _lines_of(file: str) -> int | None:
    """How many lines a file has; unknown for standard input."""
    if file == "-" or not Path(file).is_file():
        return None
    with Path(file).open("rb") as stream:
        return sum(1 for _ in stream)


def _render_import(told: dict[str, Any]) -> None:
    skipped = f", {told['skipped']} without text skipped" if told["skipped"] else ""
    out.print(
        f"{told['turns']} turns of {len(told['owners'])} owner(s): {told['appended']} events appended, {told['already_appended']} already there{skipped}"
    )
    for name, count in list(told["owners"].items())[:10]:
        out.print(f"  [cyan]{escape(name)}[/] {count} turns")
    if told["newest_turn"]:
        out.print(f"[dim]The newest turn is of {told['newest_turn']}. Old conversations have decayed by now:")
        out.print("ask with --as-of just after it, or with --mode review.[/]")


@app.command(epilog='Example: `engramlog negate alice coffee --correction "I drink tea now" --reason "said so"`')
def negate(
    context: typer.Context,
    owner: Owner,
    memory_id: MemoryId,
    correction: Annotated[
        str | None, typer.Option("--correction", help="What holds instead: becomes a new memory.", show_default=False)
    ] = None,
    replaced_by: Annotated[
        str | None, typer.Option("--replaced-by", help="The id of a memory that holds instead.", show_default=False)
    ] = None,
    resolution: Annotated[
        str | None,
        typer.Option(help="latest_wins, version_keep or weight_balance; by category if not given.", show_default=False),
    ] = None,
    reason: Annotated[str, typer.Option(help="Why, in words.")] = "",
    turn_id: Annotated[
        str | None, typer.Option("--turn-id", help="The turn in which it was said.", show_default=False)
    ] = None,
    actor: ActorOption = "user",
    occurred_at: OccurredOption = None,
    json: Json = False,
) -> None:
    """It is no longer so: demote a memory, keep its history, and optionally say what holds instead."""
    with opened(context) as application:
        answer = application.writer.negate(
            owner,
            memory_id,
            correction=correction,
            replaced_by=replaced_by,
            resolution=resolution,
            reason=reason,
            turn_id=turn_id,
            actor=actor,
            occurred_at=occurred_at,
        )
    show(answer, json, render.effects)


@app.command(epilog="Example: `engramlog delete alice coffee`")
def delete(
    context: typer.Context,
    owner: Owner,
    memory_id: MemoryId,
    actor: ActorOption = "user",
    occurred_at: OccurredOption = None,
    json: Json = False,
) -> None:
    """Soft delete: hidden at once, kept 30 days, restorable. The text stays in the log until contents are sealed."""
    with opened(context) as application:
        answer = application.writer.delete(owner, memory_id, actor=actor, occurred_at=occurred_at)
    show(answer, json, render.effects)
    if not json:
        out.print(
            "[dim]Restorable for 30 days. The text itself remains in the log until contents are sealed (a later release).[/]"
        )


@app.command(epilog="Example: `engramlog restore alice coffee`")
def restore(
    context: typer.Context,
    owner: Owner,
    memory_id: MemoryId,
    actor: ActorOption = "user",
    occurred_at: OccurredOption = None,
    json: Json = False,
) -> None:
    """Undo a soft delete."""
    with opened(context) as application:
        answer = application.writer.restore(owner, memory_id, actor=actor, occurred_at=occurred_at)
    show(answer, json, render.effects)


@app.command(epilog='Example: `engramlog merge alice m1 m2 m3 --summary "Drinks coffee every morning"`')
def merge(
    context: typer.Context,
    owner: Owner,
    sources: Annotated[list[str], typer.Argument(metavar="ID ID...", help="Two memories or more.", show_default=False)],
    summary: Annotated[
        str | None,
        typer.Option(help="What the merged memory says; the newest source's text if not given.", show_default=False),
    ] = None,
    into: Annotated[
        str | None, typer.Option(help="The new memory's id; made up if not given.", show_default=False)
    ] = None,
    actor: ActorOption = "user",
    occurred_at: OccurredOption = None,
    json: Json = False,
) -> None:
    """Several memories become a new one; the sources stay readable, and `unmerge` brings them back."""
    with opened(context) as application:
        answer = application.writer.merge(
            owner, sources, summary=summary, into=into, actor=actor, occurred_at=occurred_at
        )
    show(answer, json, render.effects)


@app.command(epilog="Example: `engramlog unmerge alice coffee-habit`")
def unmerge(
    context: typer.Context,
    owner: Owner,
    memory_id: MemoryId,
    actor: ActorOption = "user",
    occurred_at: OccurredOption = None,
    json: Json = False,
) -> None:
    """Undo a merge: its sources come back as they were."""
    with opened(context) as application:
        answer = application.writer.unmerge(owner, memory_id, actor=actor, occurred_at=occurred_at)
    show(answer, json, render.effects)
