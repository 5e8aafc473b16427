"""Commands about backups of a store: `engramlog backup make | keys | check | restore | take-over`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from engramlog_server.api.cli.app import Json, app, err, out, progress, show
from engramlog_server.api.cli.parser import Registry
from engramlog_server.events.errors import InputError, NotConfirmed
from engramlog_server.events.text import many
from engramlog_server.ops.commands.opening import Alone, Yes

if TYPE_CHECKING:
    from engramlog_server.ops.backup.folder import BackupFolder
    from engramlog_server.ops.settings import Settings

backup_app = Registry(
    no_args_is_help=True,
    help="Make, check and restore backups of the store and of its keys.",
)
app.add_typer(backup_app, name="backup")
MOST_REASON = 500
KEYS_BACKUP = "ENGRAMLOG_KEYS_BACKUP"
PLACE = f"Save the keys of a sealed store in this file. [default: {KEYS_BACKUP}]"
WRITTEN = f"The file that `engramlog backup keys` wrote last. [default: {KEYS_BACKUP}]"
Place = Annotated[Path | None, typer.Option("--keys", metavar="FILE", help=PLACE, show_default=False)]
KeysFile = Annotated[Path | None, typer.Option("--keys", metavar="FILE", help=WRITTEN, show_default=False)]
Without = Annotated[bool, typer.Option("--without-keys", help="Save no keys: nobody can open the backup without them.")]
Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="What `engramlog backup make` wrote.")]


@backup_app.command(
    "make",
    epilog="Example: `engramlog backup make /backup/before-the-upgrade --keys /keys/keys-backup`, or from a timer"
    " `engramlog backup make /backup --keep 14`, while `engramlog up` runs",
)
def make(
    destination: Annotated[
        Path,
        typer.Argument(
            metavar="DEST",
            help="A folder outside the data folder that does not exist yet; with --keep the folder of the backups.",
        ),
    ],
    keep: Annotated[
        int | None,
        typer.Option(
            "--keep",
            min=1,
            max=1_000,
            help="Make it inside DEST, named by its second, and keep this many; remove the oldest.",
            show_default=False,
        ),
    ] = None,
    keys: Place = None,
    without_keys: Without = False,
    json: Json = False,
) -> None:
    """Write a proved backup of the store into a private folder, while the store is in use.

    It is complete or not there. The keys of a sealed store are saved in a file of their own: keep it apart from the backup, and
    the master key apart from both. With `--keep` old backups are removed after the new one is proved and contains all that they
    contain; backups of other stores and other files stay. Exit code 3: a backup had to stay; each is listed with the reason.
    """
    from engramlog_server.ops.backup.make import keys_asked, make_backup, rotate_backups
    from engramlog_server.ops.commands.opening import patient
    from engramlog_server.ops.settings import load_settings
    from engramlog_server.ops.store import open_the_store

    settings = load_settings()
    with open_the_store(settings, on_wait=patient(err)) as store, progress("backup", json, long=0) as advance:
        place = keys_asked(store, settings, keys, without=without_keys)
        if keep is None:
            made = make_backup(store, settings, destination, keys=place, on_progress=advance)
            show(made._asdict(), json, _render_made)
            return
        done = rotate_backups(store, settings, destination, keep, keys=place, on_progress=advance)
    show(done._asdict() | {"made": done.made._asdict()}, json, _render_rotated)
    if done.left:
        raise typer.Exit(3)


def _render_rotated(answer: dict[str, Any]) -> None:
    _render_made(answer["made"])
    removed = answer["removed"]
    out.print(
        f"{many(len(answer['kept']), 'backup')} of this store kept there"
        + (f"; removed: {', '.join(removed)}" if removed else ""),
        soft_wrap=True,
    )
    for one in answer["left"]:
        out.print(f"[yellow]{escape(one['name'])}[/] stays: {escape(one['why'])}", soft_wrap=True)


def _render_made(answer: dict[str, Any]) -> None:
    out.print(
        f"[bold green]done[/] {many(answer['events'], 'event')} up to {answer['moment']} lie in {escape(answer['folder'])},"
        f" proved: {answer['bytes']:,} bytes, backup {answer['backup']}",
        soft_wrap=True,
    )
    if answer["keys"]:
        out.print(
            f"its keys lie in {escape(answer['keys']['file'])} [dim](keep them apart from it, and the master key apart from"
            " both)[/]",
            soft_wrap=True,
        )
    elif answer["sealed"]:
        out.print(
            "[yellow]It is incomplete: nobody opens it without its keys.[/] `engramlog backup keys FILE` saves them.",
            soft_wrap=True,
        )
    else:
        out.print("[yellow]Not encrypted: anyone with this backup can read it.[/]", soft_wrap=True)


@backup_app.command(
    "keys",
    epilog="Example: `engramlog backup keys /keys/keys-backup`, or without a file where ENGRAMLOG_KEYS_BACKUP names it, from cron",
)
def keys_(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help=f"The file of the keys. [default: {KEYS_BACKUP}]", show_default=False),
    ] = None,
    json: Json = False,
) -> None:
    """Save all keys of the store in one private file, which replaces the one before. The store may be in use.

    With it and the master key a backup of a sealed store can be read, except for what was erased before it was written. Later
    events need a later save: save as often as you can afford to lose events.
    """
    from engramlog_server.ops.commands.opening import patient
    from engramlog_server.ops.keys.backup import save_keys
    from engramlog_server.ops.settings import load_settings
    from engramlog_server.ops.store import open_the_store

    settings = load_settings()
    path = file if file is not None else settings.keys_backup
    if path is None:
        raise InputError(f"file: got nothing; allowed: a file, or {KEYS_BACKUP} that names one", field="file")
    with open_the_store(settings, on_wait=patient(err)) as store, progress("keys", json, long=0) as advance:
        done = save_keys(store, settings, path, advance)
    show(done._asdict(), json, _render_saved)


def _render_saved(answer: dict[str, Any]) -> None:
    before = f", in place of those of {answer['replaced']}" if answer["replaced"] else ""
    out.print(
        f"keys of {many(answer['events'], 'event')} and {many(answer['owners'], 'owner')} are in"
        f" {escape(answer['file'])}, {answer['bytes']:,} bytes{before}",
        soft_wrap=True,
    )
    out.print("[dim]Let older copies of this file go.[/]")


@backup_app.command(
    "check", epilog="Example: `engramlog backup check /backup/2026-11-27`, on any machine, with no store"
)
def check(
    folder: Folder,
    keys: KeysFile = None,
    json: Json = False,
) -> None:
    """Check a backup: hashes, entries, commitments, chains. Needs no store.

    Exit code 3: it is incomplete, because the keys of a sealed store are missing or do not open all of it.
    """
    from engramlog_server.ops.backup.folder import check_backup, held, open_backup
    from engramlog_server.ops.settings import load_settings

    path = keys.expanduser().absolute() if keys is not None else load_settings().keys_backup
    with held(open_backup(folder)) as found, progress("check", json, long=0) as advance:
        done = check_backup(found, advance, path)
    show(done._asdict(), json, _render_checked)
    if done.incomplete:
        raise typer.Exit(3)


def _render_checked(answer: dict[str, Any]) -> None:
    outcome = "[bold yellow]incomplete[/]" if answer["incomplete"] else "[bold green]ok[/]"
    out.print(
        f"{outcome} backup {answer['backup']} of store {escape(answer['store_id'])}: {many(answer['events'], 'event')}"
        f" up to {answer['moment']}, {'sealed' if answer['sealed'] else 'lying open'}, {answer['bytes']:,} bytes",
        soft_wrap=True,
    )
    if answer["incomplete"]:
        out.print(escape(answer["incomplete"]), soft_wrap=True)
    if answer["open_to_others"]:
        out.print("[yellow]Others of this machine could read it: make its folder 0700.[/]")


@backup_app.command(
    "restore",
    epilog="Example: `ENGRAMLOG_DATA=/srv/new engramlog backup restore /backup/2026-11-27 --keys /keys/keys-backup`",
)
def restore(
    folder: Folder,
    keys: KeysFile = None,
    yes: Yes = False,
    alone: Alone = False,
    json: Json = False,
) -> None:
    """Restore a backup into an empty store: a new data folder or an empty Redis.

    Kept rejections and erasures are recorded again before it answers. The store is a copy and refuses new events until
    `engramlog backup take-over`. If the command is killed, run it again. Exit code 3: some entries do not open.
    """
    from engramlog_server.ops.backup.folder import held, open_backup
    from engramlog_server.ops.backup.restore import restore_backup
    from engramlog_server.ops.commands.opening import patient
    from engramlog_server.ops.settings import load_settings

    settings, found = load_settings(), open_backup(folder)
    path = keys.expanduser().absolute() if keys is not None else settings.keys_backup
    if not json:
        _render_plan(found, settings)
    _confirm(yes, json, "Restore it now?", {"backup": found.manifest.backup, "events": found.manifest.events})
    with held(found), progress("restore", json, long=0) as advance:
        done = restore_backup(settings, found, path, alone=alone, on_progress=advance, on_wait=patient(err))
    answer = done._asdict() | _asked_what_is_kept(settings)
    show(answer, json, _render_restored)
    if (answer["keys"] or {}).get("newer_than_keys"):
        raise typer.Exit(3)


def _render_plan(found: BackupFolder, settings: Settings) -> None:
    told = found.manifest
    where = "the Redis of ENGRAMLOG_REDIS_URL" if settings.redis_url else str(settings.data.expanduser())
    err.print(
        f"Backup {told.backup} of store {escape(told.store_id)}: {many(told.events, 'event')} up to {told.moment}, into"
        f" {escape(where)}, which must be empty. Later events are not in it.",
        soft_wrap=True,
    )
    if found.open_to_others:
        err.print("[yellow]Others of this machine could read the backup, or have changed it: make its folder 0700.[/]")


def _confirm(yes: bool, json: bool, question: str, plan: Mapping[str, Any]) -> None:
    """Ask whoever looks on. Raises NotConfirmed where nobody does."""
    if yes:
        return
    if json or not sys.stdin.isatty():
        raise NotConfirmed(plan)
    if not typer.confirm(question, err=True):
        raise typer.Exit(1)


def _asked_what_is_kept(settings: Settings) -> dict[str, Any]:
    """Open the store as whoever uses it does: erasures and rejections that it lacks are said again, and folded."""
    from engramlog_server.ops.catch_up import FoldCatchUp
    from engramlog_server.ops.clock import silent
    from engramlog_server.ops.commands.opening import patient
    from engramlog_server.ops.store import open_the_store
    from engramlog_server.ops.wiring import ask_kept_values

    with open_the_store(settings, on_wait=patient(err)) as store:
        catch_up = FoldCatchUp(store, silent)
        try:
            said = ask_kept_values(store, catch_up, silent)
        finally:
            catch_up.end()
        standing = [{"name": one.name, "subject": one.subject, "text": one.text} for one in store.alarms.standing()]
        restored = store.identity.restored
    return {"rejections": said, "alarms": standing, "restored": None if restored is None else restored.told}


def _render_restored(answer: dict[str, Any]) -> None:
    out.print(
        f"[bold green]done[/] {many(answer['events'], 'event')} of store {escape(answer['store_id'])} are back, up to"
        f" {answer['moment']}: proved equal to the backup, and folded.",
        soft_wrap=True,
    )
    if number := (answer["keys"] or {}).get("newer_than_keys"):
        out.print(
            f"[red]{many(number, 'event')}[/] are newer than the saved keys, and cannot be opened", soft_wrap=True
        )
    for alarm in answer["alarms"]:
        out.print(f"[yellow]{escape(alarm['name'])}[/] {escape(alarm['text'])}", soft_wrap=True)
    out.print(
        "[dim]Next: `engramlog verify`; then, once nobody uses the original any more, `engramlog backup take-over`, and of a sealed"
        " store `engramlog erase --again` and `engramlog backup keys`[/]",
        soft_wrap=True,
    )


@backup_app.command(
    "take-over",
    epilog='Example: `engramlog backup take-over --reason "the machine burnt" --yes`, on the machine that goes on',
)
def take_over(
    reason: Annotated[
        str | None,
        typer.Option("--reason", help="The reason, kept for good; up to 500 characters.", show_default=False),
    ] = None,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Let a restored store replace the original: it accepts new events from then on.

    Nothing may use the original any more. Later events of the original are given up: kept heads and receipts of this machine
    about them are accepted as lost, and `verify` reports that for good.
    """
    from engramlog_server.ops.backup.restore import left_behind, take_store_over
    from engramlog_server.ops.commands.opening import patient
    from engramlog_server.ops.settings import load_settings
    from engramlog_server.ops.store import open_the_store

    if reason is not None and not (1 <= len(reason) <= MOST_REASON and reason.isprintable()):
        raise InputError(
            f"reason: got {len(reason)} characters; allowed: 1 to {MOST_REASON} that can be printed, in one line",
            field="reason",
        )
    settings = load_settings()
    with open_the_store(settings, on_wait=patient(err)) as store:
        plan = left_behind(store, settings).told
        if not plan["done"]:
            if not json:
                _render_given_up(plan)
            _confirm(yes, json, "Does nobody use the original any more, and is this to take its place?", plan)
        answer = take_store_over(store, settings, reason)
    show(answer, json, _render_taken_over)


def _render_given_up(plan: dict[str, Any]) -> None:
    told = plan["restored"]
    err.print(
        f"This store was restored from backup {told['backup']}, up to {told['moment']} ({many(told['events'], 'event')})."
        " Later events of the original are given up. Two stores that both accept new events can never be joined.",
        soft_wrap=True,
    )
    for name, what in (
        ("heads", "kept heads that it does not meet"),
        ("receipts", "acknowledged events that are gone"),
    ):
        if plan[name]:
            err.print(f"  - {what}: {', '.join(plan[name][:8])}{' ...' if len(plan[name]) > 8 else ''}", soft_wrap=True)


def _render_taken_over(answer: dict[str, Any]) -> None:
    out.print(
        f"[bold green]done[/] this store takes what is new, since {answer['restored']['taken_over']}", soft_wrap=True
    )
