"""Commands about the seals' own backup: `engramlog seals save | strip | restore`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from api.cli.app import Json, app, err, out, progress, show
from api.operations.table import entries
from events.errors import InputError, NotConfirmed
from ops.commands.bringing import Alone, Bringing, Yes, bring_over, many, print_others, time_told

if TYPE_CHECKING:
    from ops.settings import Settings

seals_app = typer.Typer(no_args_is_help=True, help=entries()["seals"].help)
app.add_typer(seals_app, name="seals")
SETTING = "ENGRAMLOG_SEALS_BACKUP"


@seals_app.command(
    "save",
    epilog="Example: `engramlog seals save /backup/seals`, or without a file where ENGRAMLOG_SEALS_BACKUP names it, from cron",
)
def save(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help=f"Where they are kept; {SETTING} when left out.", show_default=False),
    ] = None,
    json: Json = False,
) -> None:
    """Write all seals of the store into one private file, in place of the one before. Works while the store is used.

    With it a copy without seals (`seals strip`) can be read again; what was erased before it was written cannot. Without the
    master key it is of no use. What is said later opens from a copy by a later save alone: save as often as you can lose.
    """
    from ops.commands.notices import patient
    from ops.sealing.seals_save import save_seals
    from ops.settings import load_settings
    from ops.store import open_the_store

    settings = load_settings()
    path = file if file is not None else settings.seals_backup
    if path is None:
        raise InputError(f"file: got nothing; allowed: a file, or {SETTING} that names one", field="file")
    with open_the_store(settings, on_wait=patient(err)) as store, progress("seals", json, long=0) as advance:
        done = save_seals(store, settings, path, advance)
    show(done._asdict(), json, _render_saved)


def _render_saved(answer: dict[str, Any]) -> None:
    before = f", in place of those of {answer['replaced']}" if answer["replaced"] else ""
    out.print(
        f"seals of {many(answer['events'], 'event')} and {many(answer['owners'], 'owner')} ({answer['erased']:,} erased) lie in"
        f" {escape(answer['file'])}, {answer['bytes']:,} bytes{before}",
        soft_wrap=True,
    )
    out.print(
        "[dim]Copies without seals: `engramlog seals strip COPY`. Let older copies of this file go.[/]", soft_wrap=True
    )


@seals_app.command(
    "strip",
    epilog="Example: `cp -a data copy`, then `engramlog seals strip copy` tells and asks; with `--yes` from a script",
)
def strip(
    copy: Annotated[
        Path,
        typer.Argument(
            metavar="COPY", help="A copy of a data folder, of a Redis's appendonlydir, or a dump, that nobody uses."
        ),
    ],
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Take everything that opens a body out of a copy of a store. What is left opens nothing, with whatever master key.

    Such a copy can be kept for ever: no erasure has to reach it. `engramlog seals restore` has it read again, folded anew and with
    its vectors computed anew. Killed, run it again.
    """
    from ops.commands.notices import patient
    from ops.sealing.seals_strip import place_of, strip_copy
    from ops.settings import load_settings

    settings = load_settings()
    place_of(settings, copy)
    if not yes:
        if json or not sys.stdin.isatty():
            raise NotConfirmed
        err.print(
            f"All seals are taken out of {escape(str(copy))}. Nobody reads it again without what `engramlog seals save` wrote, and"
            " the master key.",
            soft_wrap=True,
        )
        if not typer.confirm("Do it now?", err=True):
            raise typer.Exit(1)
    done = strip_copy(settings, copy, patient(err))
    show(done._asdict(), json, _render_stripped)


def _render_stripped(answer: dict[str, Any]) -> None:
    out.print(
        f"[bold green]done[/] {many(answer['events'], 'event')} of store {escape(answer['store_id'])} lie in"
        f" {escape(answer['copy'])} without a seal; append-only file: {escape(answer['aof'])}, dump: {escape(answer['dump'])}.",
        soft_wrap=True,
    )
    if answer["files"]:
        out.print(f"removed beside them: {escape(', '.join(answer['files']))}", soft_wrap=True)
    if answer["master_key"]:
        out.print(
            "[yellow]A master key lies in it: it opens nothing of this copy, and the saved seals; keep it elsewhere.[/]"
        )
    for one in answer["not_proven"]:
        out.print(f"[yellow]not proven[/] {escape(one)}", soft_wrap=True)


@seals_app.command(
    "restore",
    epilog="Example: `cp -a copy data`, then `engramlog seals restore /backup/seals` tells and asks; `--yes` from a script",
)
def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `engramlog seals save` wrote last.")],
    yes: Yes = False,
    alone: Alone = False,
    json: Json = False,
) -> None:
    """Bring the seals back into a store that was restored from a copy, and fold it anew. What was erased does not come back.

    Refused while others use the store. Killed anywhere, run it again: it goes on. Exit code 3 where some entries do not open: those
    that are newer than the saved seals, or damaged.
    """
    from ops.sealing import seals_restore

    codes: list[int] = []

    def carry_out(store: Any, **how: Any) -> dict[str, Any]:
        answer = seals_restore.carry_out(store, path, **how)
        found = answer["entries"]
        codes.append(3 if found["not_openable"] or found["locked"] or found["damaged"] else 0)
        return answer

    path = file.expanduser().absolute()
    work = Bringing(
        "seals",
        "Bring them back now?",
        lambda store: seals_restore.told_beforehand(store, path),
        carry_out,
        _render_plan,
        _render_restored,
    )
    bring_over(work, yes=yes, alone=alone, json=json)
    if any(codes):
        raise typer.Exit(3)


def _render_plan(plan: dict[str, Any], _settings: Settings) -> None:
    out.print(
        f"Store {escape(plan['store_id'])}: {many(plan['events'], 'event')} in {many(plan['partitions'], 'partition')},"
        f" {'without seals' if plan['found'] == 'stripped' else 'with seals of its own'}; {escape(plan['file'])} was saved at"
        f" {plan['saved_at']}.",
        soft_wrap=True,
    )
    out.print(
        "  - Every entry that the file covers gets its salt, every owner its key; what was erased until then stays erased, in the"
        " copy or in the file.\n"
        "  - What is read is folded anew, and Redis writes its files anew.\n"
        f"  - {time_told(plan)}. Meanwhile nothing else opens the store. Killed, it goes on when run again.",
        soft_wrap=True,
    )
    if plan["lost"]:
        out.print(f"  - [yellow]The copy lacks {many(plan['lost'], 'event')} that the file knows of: they are lost.[/]")
    if plan["newer_than_seals"]:
        out.print(
            f"  - [yellow]{many(plan['newer_than_seals'], 'event')} of the copy came after the file was saved: they open only"
            " where the copy has their seals itself.[/]",
            soft_wrap=True,
        )
    print_others(plan)


def _render_restored(answer: dict[str, Any]) -> None:
    found = answer["entries"]
    out.print(
        f"[bold green]done[/] {many(found['opens'], 'event')} can be read again, of {found['wordless']:,} more what an erasure"
        f" left; {found['erased']:,} are of owners who were erased ({answer['owners_erased']:,}).",
        soft_wrap=True,
    )
    for name, what in (
        ("not_openable", "are newer than the saved seals, and cannot be opened"),
        ("locked", "are of owners whose keys this master key does not open"),
        ("damaged", "do not open by their own seals: they are damaged"),
    ):
        if found[name]:
            out.print(f"[red]{many(found[name], 'event')}[/] {what}", soft_wrap=True)
    for one in answer["not_proven"]:
        out.print(f"[yellow]not proven[/] {escape(one)}", soft_wrap=True)
    out.print(
        "[dim]Next: `engramlog erase --again`, which ends what was erased since the copy; then `engramlog verify`, `engramlog seals"
        " save`[/]",
        soft_wrap=True,
    )
