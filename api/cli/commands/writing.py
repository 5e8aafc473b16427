"""Commands that write: append, import, negate, confirm, delete, restore, merge, unmerge. They return once all is folded."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.app import (
    ActorOption,
    Json,
    KeyOption,
    MemoryId,
    OccurredOption,
    Owner,
    ReasonOption,
    app,
    complain,
    opened,
    out,
    progress,
    show,
)
from api.cli.files import LongTurns, again, counting, open_lines, paced, tell_the_rest
from api.cli.show import memories as render
from api.cli.show import records as render_records
from api.cli.show.files import render_turns, tell_failures
from api.exchange.long_texts import LEAVE
from events.errors import EngramlogError, refused

if TYPE_CHECKING:
    from api.application import Application
    from api.exchange.appending import AppendReport
    from api.exchange.importing import ImportReport


File = Annotated[
    str, typer.Argument(metavar="FILE|-", help="A file of JSON Lines, or - for standard input.", show_default=False)
]
import_app = typer.Typer(no_args_is_help=True, help="Import conversations and older records.")
app.add_typer(import_app, name="import")


@app.command(epilog="Example: `engramlog append events.jsonl` or `producer | engramlog append - --json`")
def append(context: typer.Context, file: File, json: Json = False) -> None:
    """Append events from JSON Lines of envelopes. Sending the same file again is always safe."""
    from api.exchange.appending import append_lines

    with (
        open_lines(file) as lines,
        opened(context) as application,
        counting("appending", file, json) as advance,
    ):
        answer = append_lines(paced(application, advance), lines, advance)
        advance(len(answer.positions), "folding")
        fold_appended(application, answer)
    show(answer.as_dict(), json, lambda _: _render_append(answer))
    if answer.error is not None:
        complain(answer.error)
        tell_the_rest(answer.error, answer.appended + answer.already_appended)
    raise typer.Exit(answer.exit_code)


def fold_appended(application: Application, answer: AppendReport) -> None:
    """Wait for the fold; what was written stays said where that fails."""
    from events.log import positions_by_partition

    try:
        application.writer.settle_positions(positions_by_partition(p for p in answer.positions if p))
    except EngramlogError as problem:
        answer.error = answer.error or problem


def has_faded(application: Application, imported: ImportReport) -> bool:
    """Whether normal mode shows nothing of the first owner of an import, and review mode does."""
    owner = next(iter(imported.owners), None)
    if owner is None or imported.done.error is not None:
        return False
    shown, there = (application.reader.list(owner, mode=mode, limit=1)["total"] for mode in ("normal", "review"))
    return bool(there and not shown)


def _render_append(answer: AppendReport) -> None:
    out.print(
        f"{answer.appended:,} appended, {answer.already_appended:,} already there, {len(answer.conflicts)} conflicts"
    )
    tell_failures(answer)


@import_app.command(epilog="Example: `engramlog import turns conversation.jsonl --owner-from conversation`")
def turns(
    context: typer.Context,
    file: File,
    owner_from: Annotated[str, typer.Option("--owner-from", help="The field that names the owner.")] = "conversation",
    owner: Annotated[str | None, typer.Option("--owner", help="One owner for all turns.", show_default=False)] = None,
    kind: Annotated[str, typer.Option(help="Kind of the memories.")] = "episode",
    tier: Annotated[str, typer.Option(help="Tier: fact or episode.")] = "fact",
    category: Annotated[
        str, typer.Option(help="identity, stable_preference, short_term_preference, fact, skill or temporary.")
    ] = "fact",
    turns_only: Annotated[
        bool, typer.Option("--turns-only", help="Record the turns without making memories of them.")
    ] = False,
    long_turns: LongTurns = LEAVE,
    json: Json = False,
) -> None:
    """Import turns: lines of {turn_id, occurred_at, text, speaker?, session?, conversation?}. A second import appends nothing."""
    from api.exchange.importing import ImportOptions, import_turns, look_through
    from api.exchange.long_texts import check_way

    options = ImportOptions(
        owner=owner,
        owner_from=owner_from,
        kind=kind,
        tier=tier,
        category=category,
        memories=not turns_only,
        long_turns=check_way(long_turns),
    )
    with again(file) as lines:
        look_through(lines, options)
    with (
        open_lines(file) as lines,
        opened(context) as application,
        counting("importing", file, json) as advance,
    ):
        answer = import_turns(paced(application, advance), lines, options, advance)
        advance(answer.turns + answer.skipped, "folding")
        fold_appended(application, answer.done)
        faded = not json and has_faded(application, answer)
    show(answer.as_dict(), json, lambda told: render_turns(told, answer.done, faded=faded))
    if answer.done.error is not None:
        complain(answer.done.error)
        tell_the_rest(answer.done.error, answer.done.appended + answer.done.already_appended)
    raise typer.Exit(answer.done.exit_code)


def done(answer: dict[str, Any], as_json: bool) -> None:
    """Print what a verb did; exit code 3 where it was written and waits behind a quarantine."""
    show(answer, as_json, render.effects)
    if "quarantined" in answer:
        raise typer.Exit(3)


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
    reason: ReasonOption = "",
    turn_id: Annotated[
        str | None, typer.Option("--turn-id", help="The turn in which it was said.", show_default=False)
    ] = None,
    actor: ActorOption = "user",
    occurred_at: OccurredOption = None,
    key: KeyOption = None,
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
            key=key,
        )
    done(answer, json)


@app.command(
    epilog='Example: `engramlog delete alice coffee`, `engramlog delete alice "m1, m2" m3` or `... | engramlog delete alice -`'
)
def delete(
    context: typer.Context,
    owner: Owner,
    ids: Annotated[
        list[str],
        typer.Argument(
            metavar="ID|-",
            help="Memories' ids, separated by commas, spaces or newlines in any mixture; - reads them from standard input.",
            show_default=False,
        ),
    ],
    with_sources: Annotated[
        bool, typer.Option("--with-sources", help="Retract the turns that say it too, and all that was made of them.")
    ] = False,
    core: Annotated[
        bool, typer.Option("--core", help="Core and system memories are meant too, where they are named.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Tell what would be deleted and what would go with it; write nothing.")
    ] = False,
    reason: ReasonOption = "",
    actor: ActorOption = "user",
    occurred_at: OccurredOption = None,
    key: KeyOption = None,
    json: Json = False,
) -> None:
    """Soft delete: hidden at once, kept 30 days, restorable. The text stays in the log until contents are sealed.

    What was made only of it goes with it (typed memories of a turn, episodes, merges), and comes back with it. Core and system
    memories are left alone and named unless `--core` is given: exit code 3, also for a single one. Of several ids those that
    cannot be deleted are named with the reason, and the others deleted: 3. Where nothing is deleted: 2 if every id is unknown,
    purged or merged away, else 1.
    """
    from api.services.deleting import split_ids
    from projections.views.query import moment

    wanted = split_ids(_standard_input() if one == "-" else one for one in ids)
    with opened(context) as application, progress("deleting", json) as advance:
        answer = application.deleter.delete_many(
            owner,
            wanted,
            actor=actor,
            occurred_at=occurred_at,
            key=key,
            with_sources=with_sources,
            core=core,
            dry_run=dry_run,
            reason=reason,
            on_progress=advance,
        )
    if len(answer.ids) > 1 or (dry_run and answer.refusal is None):
        show(answer.as_dict(), json, render_records.deleted_many)
    elif answer.refusal is not None:
        raise answer.refusal
    else:
        show(answer.as_effects(), json, render_records.deleted_one)
    if answer.error is not None:
        complain(answer.error)
    if answer.deleted and not json and not dry_run:
        out.print(
            f"[dim]Restorable until {moment(answer.restorable_until)}, then purged."
            " The text itself stays in the log until contents are sealed.[/]"
        )
    raise typer.Exit(answer.exit_code)


def _standard_input() -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise refused("ids", "-", f"ids in UTF-8 on standard input ({error})") from None


@app.command(epilog="Example: `engramlog confirm alice coffee`")
def confirm(
    context: typer.Context,
    owner: Owner,
    memory_id: MemoryId,
    actor: ActorOption = "user",
    occurred_at: OccurredOption = None,
    key: KeyOption = None,
    json: Json = False,
) -> None:
    """It holds, as if just said again: a negated memory comes back, whoever negated it. What had replaced it stays, both flagged.

    Only the user's word brings it back: from another --actor it counts as a mention alone.
    """
    with opened(context) as application:
        answer = application.writer.confirm(owner, memory_id, actor=actor, occurred_at=occurred_at, key=key)
    done(answer, json)


@app.command(epilog="Example: `engramlog restore alice coffee`")
def restore(
    context: typer.Context,
    owner: Owner,
    memory_id: MemoryId,
    reason: ReasonOption = "",
    actor: ActorOption = "user",
    occurred_at: OccurredOption = None,
    key: KeyOption = None,
    json: Json = False,
) -> None:
    """Undo a soft delete: the memory comes back as it was, and with it what its deletion took along."""
    with opened(context) as application:
        answer = application.restorer.restore(
            owner, memory_id, reason=reason, actor=actor, occurred_at=occurred_at, key=key
        )
    show(answer, json, render_records.restored)
    if "quarantined" in answer:
        raise typer.Exit(3)


@app.command(epilog='Example: `engramlog merge alice m1 m2 m3 --summary "Drinks coffee every morning"`')
def merge(
    context: typer.Context,
    owner: Owner,
    sources: Annotated[list[str], typer.Argument(metavar="ID ID...", help="Two memories or more.", show_default=False)],
    summary: Annotated[
        str | None,
        typer.Option(
            help="What the merged memory says; what the newest source says, and others add, if not given.",
            show_default=False,
        ),
    ] = None,
    into: Annotated[
        str | None, typer.Option(help="The new memory's id; made up if not given.", show_default=False)
    ] = None,
    reason: ReasonOption = "",
    actor: ActorOption = "user",
    occurred_at: OccurredOption = None,
    key: KeyOption = None,
    json: Json = False,
) -> None:
    """Several memories become a new one; the sources stay readable, and `unmerge` brings them back."""
    with opened(context) as application:
        answer = application.writer.merge(
            owner, sources, summary=summary, into=into, reason=reason, actor=actor, occurred_at=occurred_at, key=key
        )
    done(answer, json)


@app.command(epilog="Example: `engramlog unmerge alice coffee-habit`")
def unmerge(
    context: typer.Context,
    owner: Owner,
    memory_id: MemoryId,
    reason: ReasonOption = "",
    actor: ActorOption = "user",
    occurred_at: OccurredOption = None,
    key: KeyOption = None,
    json: Json = False,
) -> None:
    """Undo a merge: its sources come back as they were, and the merged memory retires to review mode."""
    with opened(context) as application:
        answer = application.writer.unmerge(
            owner, memory_id, reason=reason, actor=actor, occurred_at=occurred_at, key=key
        )
    done(answer, json)
