"""Commands about keys: `key narrow` makes a token without a service, `master-key` and `seal` are about a store's encryption.

The other commands about keys of callers are in `api.cli.commands.access`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypedDict

import typer
from rich.markup import escape
from rich.text import Text

from engramlog_server.api.cli.app import Json, app, err, out, print_json, progress, show
from engramlog_server.api.cli.command import text_of, typer_option
from engramlog_server.api.cli.commands.access import NAMES, OPTIONS, GrantAsked, grants_asked, key_app
from engramlog_server.api.cli.output import visible
from engramlog_server.events.errors import BadSetting, InputError, StoreMismatch, refused
from engramlog_server.events.text import many
from engramlog_server.ops.commands.opening import (
    Alone,
    Bringing,
    Yes,
    bring_over,
    duration_text,
    print_copy,
    print_others,
)
from engramlog_server.ops.environment import KEY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engramlog_server.events.keys import MasterKey, Seals
    from engramlog_server.events.redis.wire import Wire
    from engramlog_server.ops.kept.rejections import ValueFile
    from engramlog_server.ops.keys.master import Wraps
    from engramlog_server.ops.settings import Settings


MOST_MINUTES = 527_040
"""366 days."""
MICROS = 1_000_000
_HOW = f"a key as `engramlog key new` printed it, in {KEY}, or in a file (--key-file, - for standard input)"
_BY_NAME = {one.name: typer_option(one) for one in OPTIONS}


class TokenMade(TypedDict):
    """What `--json` prints."""

    token: str
    key_id: str
    subject: str | None
    expires_at: str
    grants: list[GrantAsked]


@key_app.command(
    "narrow",
    epilog="Example: `engramlog key narrow --can read --owners alice --for alice@example.org --minutes 15`",
)
def narrow(
    can: Annotated[list[str] | None, _BY_NAME["can"]] = None,
    owners: Annotated[list[str] | None, _BY_NAME["owners"]] = None,
    mode: Annotated[str | None, _BY_NAME["mode"]] = None,
    sensitivity: Annotated[int | None, _BY_NAME["sensitivity"]] = None,
    speak_as: Annotated[list[str] | None, _BY_NAME["speak_as"]] = None,
    trust: Annotated[str | None, _BY_NAME["trust"]] = None,
    grants: Annotated[Path | None, _BY_NAME["grants"]] = None,
    subject: Annotated[
        str | None, typer.Option("--for", help="The person, as the audit shows it.", show_default=False)
    ] = None,
    minutes: Annotated[
        int, typer.Option(help=f"How long it lives, 1 to {MOST_MINUTES:,}; no longer than its key.")
    ] = 15,
    key_file: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help=f"File with the key, or - for standard input. [default: {KEY}]",
            show_default=False,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Make a narrower token from a key, which ends by itself. Opens no store.

    The service allows what both the token and the key's principal may do at that moment, and nothing once the key is revoked.
    The key is never given on the command line, where others could read it.
    """
    told = dict(
        zip(NAMES, (can, owners, mode, sensitivity, speak_as, trust, grants), strict=True)
    )  # in the order of OPTIONS
    asked = grants_asked({name: [] if value is None and name in _LISTS else value for name, value in told.items()})
    if asked is None:
        raise refused("can", None, "--can with --owners, or --grants FILE: what the token may do")
    if not 1 <= minutes <= MOST_MINUTES:
        raise refused("minutes", minutes, f"1 to {MOST_MINUTES:,}")
    made = _made(_key(key_file), asked, subject, minutes)
    if json:
        print_json(made)
        return
    out.print(Text(made["token"]), soft_wrap=True)
    whose = "" if subject is None else f" for {visible(subject)}"
    err.print(
        Text(
            f"a token of the key {made['key_id']}{whose}, until {made['expires_at']}; it is shown as its key is", "dim"
        ),
        soft_wrap=True,
    )


_LISTS = frozenset({"can", "owners", "speak_as"})


def _made(key: str, asked: list[GrantAsked], subject: str | None, minutes: int) -> TokenMade:
    from engramlog_server.events.envelope import from_micros, utc_text
    from engramlog_server.ops.clock import now_micros
    from engramlog_server.projections.access.caller import told
    from engramlog_server.projections.access.keys import grants_of, id_in, make_token

    now = now_micros() // MICROS
    grants: list[Any] = [told(one) for one in grants_of(asked)]
    token = make_token(key, grants, now=now, seconds=60 * minutes, subject=subject)
    ends = utc_text(from_micros((now + 60 * minutes) * MICROS))
    return {"token": token, "key_id": id_in(key) or "", "subject": subject, "expires_at": ends, "grants": grants}


def _key(file: str | None) -> str:
    """The key. Raises InputError where none is told, or what is told is none; it is never shown."""
    from engramlog_server.projections.access.keys import id_in

    if file == "-":
        found = text_of("-", "key_file", _HOW)
    elif file is not None:
        try:
            with Path(file).open("rb") as lines:
                found = lines.read(1024).decode("ascii", "replace")
        except OSError as error:
            raise InputError(f"key_file: {file} cannot be read ({error.strerror})", field="key_file") from None
    else:
        found = os.environ.get(KEY, "")
    found = found.strip()
    if not found:
        raise InputError(f"key: got nothing; allowed: {_HOW}", field="key")
    if id_in(found) is None:
        raise InputError(f"key: got a text that is not a key, or a mistyped key; allowed: {_HOW}", field="key")
    return found


LONG = 1_000
"""Lines from which a bar is shown."""
SETTLED_SECONDS = 60
"""How long after a rotation the key before stays in the file at least: longer than any append takes."""
COPY = "Keep a copy apart from the store and its backups: without it nobody can read the store."


class _Sealed(NamedTuple):
    """A sealed store, and what opens it."""

    wire: Wire
    tags: Sequence[str]
    seals: Seals
    master: MasterKey
    file: Path | None
    """Where the master key lies; None where a key service has it."""
    kept: ValueFile
    """Kept rejections of this machine, which hold secrets wrapped as the store does."""


@contextmanager
def _sealed(settings: Settings) -> Iterator[_Sealed]:
    """The store of these settings, without what reads memories. Raises StoreMismatch where there is none, or it lies open."""
    from engramlog_server.events.redis.server import connect
    from engramlog_server.events.redis.wire import open_wire
    from engramlog_server.ops.commands.opening import patient
    from engramlog_server.ops.kept.rejections import ValueFile, values_path
    from engramlog_server.ops.keys.master import key_in, keys_of, master_of
    from engramlog_server.ops.store import folder_of, reach_the_store
    from engramlog_server.projections.redis.create import known_identity

    with reach_the_store(settings, on_wait=patient(err)) as (url, embedded, _):
        folder = folder_of(embedded)
        client = connect(
            url, timeout=settings.redis_timeout, master=master_of(settings, folder), keys=keys_of(settings)
        )
        wire = open_wire(client)
        try:
            identity = known_identity(wire)
            if identity is None:
                raise StoreMismatch("there is no store here yet: `engramlog up`, or the first write, creates it")
            if identity.sealed is None or client.seals.master is None:
                raise StoreMismatch("this store is not encrypted: it has no master key")
            kept = ValueFile(values_path(settings, identity.store_id), identity.store_id, identity.partitions)
            yield _Sealed(wire, identity.tags, client.seals, client.seals.master, key_in(folder, settings), kept)
        finally:
            wire.close()
            client.close()


def _settings() -> Settings:
    from engramlog_server.ops.settings import load_settings

    return load_settings()


@app.command(
    epilog="Examples: `engramlog master-key --new /etc/engramlog/master-key`; `engramlog master-key --rotate`, then"
    " `engramlog master-key --rewrap` while `engramlog up` is running"
)
def master_key(
    new: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Make a new key in this file, which must not exist.", show_default=False),
    ] = None,
    rotate: Annotated[
        bool, typer.Option("--rotate", help="Add a new key to the file, which wraps from now on; old keys still open.")
    ] = False,
    rewrap: Annotated[
        bool,
        typer.Option("--rewrap", help="Wrap every owner's key under the newest master key, while the store is in use."),
    ] = False,
    drop: Annotated[
        str | None,
        typer.Option(
            metavar="OLD_ID", help="Remove a key from the file that nothing needs any more.", show_default=False
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Show the master keys of a sealed store, and how many owners' keys each wraps; or make, rotate, rewrap or drop one.

    A store that is created while `ENGRAMLOG_SEALED_BY` names a key is sealed under it. A key service rotates its own keys: `bao
    write -f MOUNT/keys/KEY/rotate`. If a rewrap is killed, run it again; exit code 3: some lines do not open. Backups of the
    keys from before a rewrap need the old key: keep a copy.
    """
    asked = [one for one in (new, rotate, rewrap, drop) if one]
    if len(asked) > 1:
        raise refused("master-key", "several options", "one of --new, --rotate, --rewrap, --drop")
    if new is not None:
        _new(new, json)
    elif rotate:
        _rotate(json)
    elif rewrap:
        _rewrap(json)
    elif drop is not None:
        _drop(drop, json)
    else:
        _show(json)


def _new(file: Path, json: bool) -> None:
    """Make a file with a new master key, for this user alone."""
    from engramlog_server.ops.keys.master import make_key_file, read_key_file

    path = file.expanduser().absolute()
    if not (path.parent.is_dir() and os.access(path.parent, os.W_OK | os.X_OK)):
        raise InputError(
            f"file: got {str(path)!r}; allowed: a new name in a writable folder. Nothing was made",
            field="file",
        )
    if not make_key_file(path):
        raise InputError(
            f"file: got {str(path)!r}, which exists; allowed: a new name. `engramlog master-key --rotate` adds a new key"
            " to those of a sealed store",
            field="file",
        )
    show({"file": str(path), "key": read_key_file(path).name}, json, _render_new)


def _render_new(answer: dict[str, Any]) -> None:
    out.print(f"master key {answer['key']} is in {escape(answer['file'])}", soft_wrap=True)
    out.print(f"[yellow]{COPY}[/]", soft_wrap=True)
    out.print(f"[dim]Next: ENGRAMLOG_SEALED_BY={escape(answer['file'])}[/]", soft_wrap=True)


def _show(json: bool) -> None:
    """Which master keys there are, which wraps now, and how many owners' keys each has wrapped. Shows nothing of a key itself."""
    with _sealed(_settings()) as store:
        found = _wraps(store)
        held, current = _held(store)
    keys = [
        {
            "key": key,
            "wraps": key == current,
            "held": key in held if held is not None else None,
            "owners": found.owners[key],
            "needed": bool(found.need(key)) or key == current,
        }
        for key in sorted({*(held or ()), *found.owners, *filter(None, [found.check, current])})
    ]
    droppable = [one["key"] for one in keys if one["held"] and not one["needed"]]
    show(
        {
            "name": store.master.name,
            "keys": keys,
            "erased": found.erased,
            "wrapped_otherwise": found.others,
            "open": found.open,
            "droppable": droppable,
        },
        json,
        _render_keys,
    )


def _wraps(store: _Sealed) -> Wraps:
    """Which keys anything of this store is wrapped under."""
    from engramlog_server.ops.keys.master import wraps_of

    return wraps_of(store.wire, store.tags, store.master)


def _held(store: _Sealed) -> tuple[list[str] | None, str | None]:
    """The keys at hand, where this process has them, and the one that wraps now."""
    if store.file is None:
        (line,) = store.master.wrap([(b"", bytes(32))])
        return None, store.master.wrapped_by(line)
    from engramlog_server.ops.keys.master import read_key_file

    ring = read_key_file(store.file)
    return ring.names, ring.name


def _render_keys(answer: dict[str, Any]) -> None:
    out.print(f"[dim]{escape(answer['name'])}[/]", soft_wrap=True)
    for one in answer["keys"]:
        state = "wraps now" if one["wraps"] else "still needed" if one["needed"] else "needed by nothing"
        lacks = ", and is not at hand" if one["held"] is False else ""
        out.print(f"{one['key']}  {many(one['owners'], 'owner')}, {state}{lacks}")
    if erased := answer["erased"]:
        out.print(f"{erased:,} owner{' was' if erased == 1 else 's were'} erased: no key opens them")
    if others := answer["wrapped_otherwise"]:
        out.print(f"[yellow]{others:,} wrapped by another kind of master key, which this one does not open[/]")
    for key in answer["droppable"]:
        out.print(f"[dim]nothing here needs {key}: `engramlog master-key --drop {key}`; old backups may[/]")


def _rotate(json: bool) -> None:
    """Put a new key into the file of the master key: it wraps from now on, the old ones open what they wrapped.

    Running processes take it by themselves. A key service rotates its keys itself: `bao write -f MOUNT/keys/KEY/rotate`.
    """
    from engramlog_server.ops.keys.master import read_key_file, rotate_key_file

    path = _file("--rotate")
    before = read_key_file(path).name
    made = rotate_key_file(path)
    show({"file": str(path), "key": made, "before": before}, json, _render_rotated)


def _render_rotated(answer: dict[str, Any]) -> None:
    out.print(f"master key {answer['key']} wraps from now on; {answer['before']} opens what it wrapped")
    out.print(f"[yellow]{COPY} The copy that you have is out of date now.[/]", soft_wrap=True)
    out.print("[dim]Next: `engramlog master-key --rewrap`, and `engramlog master-key`[/]")


def _rewrap(json: bool) -> None:
    """Wrap every owner's key anew under the master key that wraps now, while the store is used. No event is touched.

    Killed anywhere, run it again: it goes on. Exit code 3 where some lines do not open; they stay as they are.
    """
    from engramlog_server.ops.kept.rejections import wrap_kept
    from engramlog_server.ops.keys.master import rewrap

    with _sealed(_settings()) as store, progress("rewrap", json, long=LONG) as advance:
        done = rewrap(store.wire, store.tags, store.seals, advance)
        wrap_kept(store.wire, store.tags, store.kept)
    show(
        {
            "rewrapped": done.rewrapped,
            "current": done.current,
            "unopened": done.unopened,
            "named": done.named,
            "why": done.why or None,
        },
        json,
        _render_rewrapped,
    )
    if done.unopened:
        raise typer.Exit(3)


def _render_rewrapped(answer: dict[str, Any]) -> None:
    out.print(f"{answer['rewrapped']:,} wrapped again; {answer['current']:,} are under the current master key")
    if answer["unopened"]:
        named = escape(", ".join(answer["named"]))
        out.print(Text(f"{answer['unopened']:,} do not open and stay: {named}: {answer['why']}", "red"), soft_wrap=True)


def _drop(key: str, json: bool) -> None:
    """Take a key out of the file that nothing in the store needs any more. Backups of before the rewrap need it: keep a copy."""
    from engramlog_server.ops.clock import now
    from engramlog_server.ops.keys.master import drop_key, read_key_file, rotated_seconds

    settings, path = _settings(), _file("--drop")
    ring = read_key_file(path)
    if key not in ring.names or key == ring.name:
        old = (
            ", ".join(one for one in ring.names if one != ring.name)
            or "none, because the file has only the key that wraps"
        )
        raise InputError(f"--drop: got {key[:40]!r}; allowed: an old key of the file: {old}", field="old_id")
    with _sealed(settings) as store:
        needed = _wraps(store).need(key)
        if needed:
            raise InputError(
                f"{needed:,} line{' needs' if needed == 1 else 's need'} this key still: `engramlog master-key --rewrap` first",
                field="old_id",
                needed=needed,
            )
        if (since := rotated_seconds(path, now().timestamp())) < SETTLED_SECONDS:
            raise InputError(
                f"a new key was added {since:.0f} s ago; this one can be dropped {SETTLED_SECONDS} s after that, because"
                " running appends may still use it",
                field="old_id",
            )
        drop_key(path, key)
    show({"file": str(path), "dropped": key, "key": ring.name}, json, _render_dropped)


def _render_dropped(answer: dict[str, Any]) -> None:
    out.print(
        f"master key {answer['dropped']} is out of {escape(answer['file'])}; {answer['key']} wraps", soft_wrap=True
    )


def _file(what: str) -> Path:
    """The file of the master key. Raises BadSetting where there is none."""
    from engramlog_server.ops.keys.master import key_in
    from engramlog_server.ops.settings import service_key

    settings = _settings()
    path = key_in(settings.data.expanduser() if settings.redis_url is None else None, settings)
    if path is not None:
        return path
    place = service_key(settings.sealed_by) if settings.sealed_by is not None else None
    how = (
        "allowed: the whole path of a file that `engramlog master-key --new` made"
        if place is None
        else f"allowed: a file; what a key service has it rotates by itself: `bao write -f {place.mount}/keys/{place.key}/rotate`,"
        " then `engramlog master-key --rewrap`"
    )
    got = "nothing" if settings.sealed_by is None else "a key service"
    raise BadSetting(f"ENGRAMLOG_SEALED_BY: got {got} for `{what}`; {how}", setting="ENGRAMLOG_SEALED_BY")


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
    from engramlog_server.ops.encryption import carry_out, seal_plan

    work = Bringing("seal", "Seal it now?", seal_plan, carry_out, _render_plan, _render_done)
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
        f"  - {duration_text(plan)}; {room['memory']:,} bytes of memory and {room['disk']:,} of disk"
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
