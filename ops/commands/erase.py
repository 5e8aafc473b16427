"""`engramlog erase`: erase an owner, or the words of single memories."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from rich.markup import escape

from engramlog_server.api.cli.app import Json, app, complain, err, out, print_json, progress, show
from engramlog_server.events.errors import EngramlogError, InputError, NotConfirmed, refused
from engramlog_server.events.text import many

if TYPE_CHECKING:
    from engramlog_server.ops.erasure.plan import ErasurePlan
    from engramlog_server.ops.settings import Settings
    from engramlog_server.ops.store import OpenStore


GROUNDS = (
    "consent_withdrawn",
    "no_longer_needed",
    "objection",
    "unlawful",
    "legal_obligation",
    "child",
    "contract_ended",
    "other",
)
MOST_REASON = 2_000
"""Characters, as `events.vocabulary.Reason` has it."""


@app.command(
    epilog="Example: `engramlog erase alice` shows what it would do and asks; `engramlog erase alice --ground objection"
    " --yes --certificate alice.json` from a script"
)
def erase(
    owner: Annotated[
        str | None, typer.Argument(help="Whose memory is erased, with all that was said.", show_default=False)
    ] = None,
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ID]...",
            help="Single memories or turns of that owner, whose words are erased while the rest stays; none: the whole owner.",
            show_default=False,
        ),
    ] = None,
    ground: Annotated[
        str,
        typer.Option("--ground", metavar="GROUND", help=f"On what ground: {', '.join(GROUNDS)}."),
    ] = "other",
    reason: Annotated[
        str,
        typer.Option(
            "--reason", help="The reason, for the certificate; it stays, so name nobody in it.", show_default=False
        ),
    ] = "",
    names: Annotated[
        list[str] | None,
        typer.Option(
            "--name",
            metavar="NAME",
            help="List other owners' memories that contain this name; they stay. Repeatable.",
            show_default=False,
        ),
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option(
            "--certificate", metavar="FILE", help="Also write the certificate to this new file.", show_default=False
        ),
    ] = None,
    again: Annotated[
        bool,
        typer.Option(
            "--again", help="Finish erasures that did not end, or that an older copy of the store brought back."
        ),
    ] = False,
    readmit: Annotated[
        bool,
        typer.Option("--readmit", help="Accept new events of an erased owner, under a new key; nothing comes back."),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    json: Json = False,
) -> None:
    """Erase an owner, or single memories and turns, for good, and print a certificate. Shows first what would go, and asks.

    Keys are destroyed and everything derived from the words is removed. Order, ids and times stay in the log, and its chain still
    verifies. The store may be in use. If the command is killed, run it again. There is no way back; docs/how-to/erase.md lists what
    it does not reach. Then Redis and the files of this machine are searched. Exit code 0: nothing is left; 1: something is left,
    or the log does not verify; 3: not everything could be searched.
    """
    from engramlog_server.ops.commands.opening import patient
    from engramlog_server.ops.settings import load_settings
    from engramlog_server.ops.store import open_the_store

    if readmit:
        if owner is None or ids or names or again or certificate is not None or ground != "other":
            raise refused("readmit", "more than an owner", "an owner, and --reason")
        _readmit(owner, reason, json)
        return
    asked = _Asked(ground, reason, names or (), yes=yes or again, json=json)
    _refuse(asked)
    if (owner is None) == (not again):
        raise InputError(
            "owner: got nothing; allowed: an owner, or --again alone"
            if owner is None
            else "owner: got an owner and --again; allowed: one of the two",
            field="owner",
        )
    if certificate is not None:
        _refuse_path(certificate, again=again)
    settings = load_settings()
    with open_the_store(settings, on_wait=patient(err)) as store:
        acts = (
            _unfinished(store, settings, asked)
            if owner is None
            else [partial(_erase, store, settings, owner, ids or (), asked)]
        )
        done, failed = _each(acts, goes_on=again)
        if again and not failed and all(_exit_code(one) != 1 for one in done):
            store.alarms.cleared("erased_came_back", "")
    if again:
        if failed and json:  # one document on standard output
            from engramlog_server.api.checks import safe_refusal

            print_json({"certificates": done, "failed": [dict(safe_refusal(one)) for one in failed]})
            for one in failed:
                complain(one)
            raise typer.Exit(failed[0].exit_code)
        if done or not failed:
            show({"certificates": done}, json, render_all)
        if failed:
            raise failed[0]
        codes = {_exit_code(one) for one in done}
        raise typer.Exit(1 if 1 in codes else max(codes, default=0))
    if certificate is not None:
        _write(certificate, {name: value for name, value in done[0].items() if name != "names"})
    show(done[0], json, render_done)
    raise typer.Exit(_exit_code(done[0]))


_Act = Callable[[], dict[str, Any]]
"""An erasure that is to be carried out; what it came to, JSON-ready."""


class _Asked(NamedTuple):
    """What is wanted besides whom."""

    ground: Any
    reason: str
    names: Sequence[str]
    yes: bool
    json: bool


def _refuse(asked: _Asked) -> None:
    """Raise InputError for what cannot be carried out, before the store is opened."""
    if asked.ground not in GROUNDS:
        got = asked.ground[:40]
        raise InputError(f"ground: got {got!r}; allowed: {', '.join(GROUNDS)}", field="ground", got=got)
    if (length := len(asked.reason)) > MOST_REASON:
        raise InputError(
            f"reason: got {length:,} characters; allowed: at most {MOST_REASON:,}", field="reason", got=length
        )


def _unfinished(store: OpenStore, settings: Settings, asked: _Asked) -> list[_Act]:
    """Every erasure that did not end, or came back."""
    from engramlog_server.ops.erasure.machine import unfinished_erasures

    return [
        partial(_erase, store, settings, owner, ids, asked, begun=True)
        for owner, ids in unfinished_erasures(store, settings)
    ]


def _each(acts: Sequence[_Act], *, goes_on: bool) -> tuple[list[dict[str, Any]], list[EngramlogError]]:
    """What each came to, and why some could not be carried out; `goes_on`: that keeps nobody from the others."""
    done, failed = list[dict[str, Any]](), list[EngramlogError]()
    for act in acts:
        try:
            done.append(act())
        except EngramlogError as error:
            if not goes_on:
                raise
            failed.append(error)
    return done, failed


def _exit_code(done: dict[str, Any]) -> int:
    if not done["verified"]:
        return 1
    return int(done["residue"]["exit_code"]) or (3 if done.get("said_meanwhile") or done.get("not_proven") else 0)


def _refuse_path(path: Path, *, again: bool) -> None:
    """Raise InputError where no certificate could be written to: once the owner is erased it is too late to say so."""
    if again:
        raise InputError(
            f"certificate: got {str(path)!r} together with --again; allowed: one of the two; --json prints all certificates",
            field="certificate",
        )
    if os.path.lexists(path):
        raise InputError(f"certificate: got {str(path)!r}, which exists; allowed: a new file", field="certificate")
    if not os.access(path.parent, os.W_OK | os.X_OK) or not path.parent.is_dir():
        raise InputError(
            f"certificate: got {str(path)!r}, in a folder that cannot be written to; allowed: a new file in a writable folder",
            field="certificate",
        )


def _erase(
    store: OpenStore, settings: Settings, owner: str, ids: Sequence[str], asked: _Asked, *, begun: bool = False
) -> dict[str, Any]:
    """Tell what would be done, ask, do it, and search for what may be left; JSON-ready."""
    import msgspec

    from engramlog_server.api.services.deleting import split_ids
    from engramlog_server.ops.commands.opening import patient
    from engramlog_server.ops.erasure.machine import carry_out
    from engramlog_server.ops.erasure.plan import MOST_NAMED, ErasurePlan, owner_plan, words_plan
    from engramlog_server.ops.erasure.residue import names_elsewhere
    from engramlog_server.ops.wiring import application_on

    plan = ErasurePlan(owner, tuple(split_ids(ids)) if ids else (), asked.ground, asked.reason, begun)
    if ids and not plan.ids:
        raise refused("ids", 0, f"1 to {MOST_NAMED:,} ids of memories or turns")
    with ExitStack() as stack:
        application = None
        if plan.ids:
            application = stack.enter_context(application_on(store, settings, stays=False, on_wait=patient(err)))
            told = words_plan(application, store, plan)
        else:
            told = owner_plan(store, settings, owner)
        going = told.pop("seqs", None)
        if not begun:
            with progress("look where else its names are", asked.json, long=0) as advance:
                told["names"] = names_elsewhere(store, settings, plan, going, asked.names, advance)
        if not asked.json:
            (render_words_plan if plan.ids else render_plan)(told)
            render_names(told.get("names"))
        if not asked.yes:
            plan = _agreed(told, plan, asked)
        with progress("erase", asked.json, long=0) as advance:
            done = carry_out(store, settings, plan, application, on_progress=advance, on_wait=patient(err))
    found: dict[str, Any] = msgspec.to_builtins(done)
    return found | ({"names": told["names"]} if "names" in told else {})


def _agreed(told: dict[str, Any], plan: ErasurePlan, asked: _Asked) -> ErasurePlan:
    """What a person agrees to have erased: what is named, and of what says it elsewhere that which he names too."""
    if asked.json or not sys.stdin.isatty():
        raise NotConfirmed(told)
    what, more = "it", tuple[str, ...]()
    if plan.ids:
        what = "these words"
        if others := _others(told):
            answer = typer.prompt(
                "Ids of those of them that are to go too, with spaces between; nothing for none", default="", err=True
            )
            more = _ids(answer, others)
    if typer.prompt(f"There is no way back. Type the owner's name to erase {what}", err=True) != plan.owner:
        raise typer.Exit(1)
    return plan._replace(ids=tuple(dict.fromkeys((*plan.ids, *more))))


def _write(path: Path, told: dict[str, Any]) -> None:
    import msgspec

    from engramlog_server.events.errors import OutputCut

    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(told), indent=2) + b"\n")
    except OSError as error:
        raise OutputCut(
            f"the owner is erased, and the certificate could not be written to {path}: {error.strerror}; `engramlog erase` of the"
            " same owner certifies it again"
        ) from error


def _readmit(owner: str, reason: str, json: bool) -> None:
    from engramlog_server.ops.commands.opening import patient
    from engramlog_server.ops.erasure.machine import readmit_owner
    from engramlog_server.ops.settings import load_settings
    from engramlog_server.ops.store import open_the_store

    settings = load_settings()
    with open_the_store(settings, on_wait=patient(err)) as store:
        answer = readmit_owner(store, settings, owner, reason)
    show(
        answer,
        json,
        lambda told: out.print(
            f"[bold green]readmitted[/] {escape(told['owner'])} at {told['position']}: what is said from here on is remembered;"
            " of before there is nothing",
            soft_wrap=True,
        ),
    )


KINDS = {"word": "a piece of the words", "key": "the owner's key", "salt": "a salt of an entry"}


def render_plan(told: dict[str, Any]) -> None:
    """What an erasure would do, for people."""
    out.print(
        f"Owner [bold]{escape(told['owner'])}[/]: {many(told['events'], 'event')},"
        f" {many(told['memories'], 'memory', 'memories')},"
        f" {many(told['parked'], 'parked event')}, {many(told['moments'], 'kept moment')},"
        f" {many(told['kept_rejections'], 'kept rejection')}."
        + (
            "" if told["erasure"] is None else f" It was erased before ({told['erasure']}); this does it again, wholly."
        ),
        soft_wrap=True,
    )
    out.print(
        "  - Its key is destroyed: nobody can read its words again. Older copies of the key store still open them, with the log and"
        " the master key.",
        soft_wrap=True,
    )
    for one in told["stays"]:
        out.print(f"  - stays: {escape(one)}", soft_wrap=True)
    if told["open_entries"]:
        out.print(
            f"[bold yellow]  - {many(told['open_entries'], 'entry', 'entries')} of the log are not encrypted and stay"
            " readable[/]: Engramlog did not write them, see `engramlog verify`",
            soft_wrap=True,
        )


def render_names(told: dict[str, Any] | None) -> None:
    """Where else rare names of what is to be erased are."""
    if told is None:
        return
    out.print(
        f"[bold]Where else rare names of it are[/]; it stays: {many(told['read'], 'entry', 'entries')} looked through"
        + (f", {many(told['unread'], 'entry', 'entries')} not" if told["unread"] else "")
        + (f"; {many(told['common'], 'name')} in more than {told['rare']} entries" if told["common"] else ""),
        soft_wrap=True,
    )
    for one in told["names"]:
        out.print(f"  - {escape(one['name'])}: {many(one['total'], 'entry', 'entries')}", soft_wrap=True)
        for place in one["places"]:
            of = escape(place["of"]) or "what was asked or answered"
            vector = ", and a vector of it" if place["vector"] else ""
            at = f"{place['type']} at {place['position']}"
            out.print(f"    {escape(place['owner'])} {of} ({at}{vector})", soft_wrap=True)
        if len(one["places"]) < one["total"]:
            out.print(f"    and {one['total'] - len(one['places']):,} more")
        for file, count in one["files"].items():
            out.print(f"    {escape(file)} ({count:,} times)", soft_wrap=True)
    if told["more"]:
        out.print(f"  - and {many(told['more'], 'name')} more")
    if not told["names"]:
        out.print("  - nowhere that was looked through")


def render_done(done: dict[str, Any]) -> None:
    """What it did."""
    of_words, gone = "turns" in done, many(done["events"], "event")
    what = f"{gone} can be read by nobody"
    if of_words:  # single memories, of an owner who stays
        memories, turns = many(done["memories"], "memory", "memories"), many(done["turns"], "turn")
        what = f"{memories} and {turns}: the words of {gone} are gone, and nothing opens them any more"
    out.print(
        f"[bold green]erased[/] {what}; certificate {done['erasure']} at"
        f" {done['position']}, the log up to {done['until']} {'verifies' if done['verified'] else '[bold red]differs[/]'};"
        f" append-only file: {escape(done['aof'])}, dump: {escape(done['dump'])}.",
        soft_wrap=True,
    )
    for one in done["not_proven"]:
        out.print(f"[yellow]not proven[/] {escape(one)}", soft_wrap=True)
    for one in done["differences"]:
        out.print(f"[red]differs[/] {escape(str(one))}", soft_wrap=True)
    _render_residue(done["residue"])
    out.print(
        f"[dim]Older copies of the key store still open {'these words' if of_words else 'its words'}, with the log and the master"
        " key: delete them (docs/how-to/erase.md)[/]",
        soft_wrap=True,
    )


def _render_residue(residue: dict[str, Any]) -> None:
    """What was searched, and whether anything is left."""
    for one in residue["findings"]:
        at = escape(f"{one['where']} {one['place']}".rstrip())
        out.print(
            f"[bold red]left[/] {at}: {KINDS[one['what']]} ({one['count']:,} times)",
            soft_wrap=True,
        )
    for reason in residue["not_reached"]:
        out.print(f"[yellow]not searched[/] {escape(reason)}", soft_wrap=True)
    told = {0: "[bold green]nothing is left[/]", 1: "[bold red]something is left[/]", 3: "[yellow]not proven[/]"}
    out.print(
        f"{told[residue['exit_code']]}: searched for {many(residue['probes'], 'probe')} in"
        f" {many(residue['keys'], 'key')} of Redis and {many(residue['files'], 'file')}, {residue['bytes']:,} bytes",
        soft_wrap=True,
    )


def render_all(told: dict[str, Any]) -> None:
    """What was finished."""
    for one in told["certificates"]:
        render_done(one)
    if not told["certificates"]:
        out.print("Nobody who was erased came back: there is nothing to do.")


def render_words_plan(told: dict[str, Any]) -> None:
    """What erasing single memories would do, for people: what goes, what says it elsewhere, what stays."""
    goes, elsewhere = told["goes"], told["elsewhere"]
    kinds = ", ".join(f"{count:,} {name}" for name, count in goes["by_type"].items())
    out.print(
        f"[bold]What goes[/] of owner {escape(told['owner'])}: the words of {many(goes['entries'], 'entry', 'entries')} of the log"
        f"{f' ({kinds})' if kinds else ''}, and what was made of them: versions, vectors, triples, change log, moments.",
        soft_wrap=True,
    )
    for one in goes["memories"]:
        out.print(f"  - memory {escape(one['id'])}: {escape(one['why'])}", soft_wrap=True)
    for one in goes["turns"]:
        where = f" of session {escape(one['session'])}" if one["session"] else ""
        out.print(f"  - turn {escape(one['id'])}{where}, all that it says: {escape(one['why'])}", soft_wrap=True)
    out.print("[bold]What says it elsewhere[/], and stays unless you name it too:")
    for one in elsewhere["of_the_same_turns"]:
        out.print(
            f"  - memory {escape(one)}: read in a turn that goes; its source is erased, it is not", soft_wrap=True
        )
    for one in elsewhere["corrections"]:
        out.print(f"  - memory {escape(one)}: a correction of it, or corrected by it", soft_wrap=True)
    for one in elsewhere["triples"]:
        out.print(f"  - the triple at {one}: a memory that stays backs it too", soft_wrap=True)
    for one in elsewhere["says_it_too"]:
        how = "states the same" if one["how"] == "statement" else f"has {one['share']:.0%} of its words"
        of = escape(one["of"]) or "what was asked, which cannot be named and stays"
        said = "a secret" if one["text"] is None else f'"{escape(one["text"])}"'
        out.print(f"  - {of} ({one['type']} at {one['position']}) {how}: {said}", soft_wrap=True)
    if elsewhere["more"]:
        out.print(f"  - and {many(elsewhere['more'], 'event')} more")
    for one in elsewhere["unread"]:
        out.print(f"  - perhaps the entry at {one}, which cannot be read", soft_wrap=True)
    if not any(elsewhere.values()):
        out.print("  - nothing that could be found")
    out.print("[bold]What stays[/]:")
    for one in told["stays"]:
        out.print(f"  - {escape(one)}", soft_wrap=True)


def _others(told: dict[str, Any]) -> list[str]:
    elsewhere = told["elsewhere"]
    too = [one["of"] for one in elsewhere["says_it_too"] if one["of"]]
    return list(dict.fromkeys([*too, *elsewhere["of_the_same_turns"], *elsewhere["corrections"]]))


def _ids(answer: str, others: Sequence[str]) -> tuple[str, ...]:
    ids = answer.replace(",", " ").split()
    if wrong := [one for one in ids if one not in others]:
        raise InputError(f"ids: got {wrong[0][:80]!r}; allowed: ids of the lists above", field="ids", got=wrong[0][:80])
    return tuple(ids)
