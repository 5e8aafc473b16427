"""`engramlog erase`: erase an owner, or the words of single memories."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from rich.markup import escape

from engramlog_server.api.cli.app import Json, app, complain, err, out, print_json, progress, show
from engramlog_server.events.errors import EngramlogError, InputError, NotConfirmed, refused

if TYPE_CHECKING:
    from engramlog_server.ops.erasing.words import WordsCertificate
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
    from engramlog_server.ops.commands.notices import patient
    from engramlog_server.ops.settings import load_settings
    from engramlog_server.ops.store import open_the_store

    if readmit:
        if owner is None or ids or names or again or certificate is not None or ground != "other":
            raise refused("readmit", "more than an owner", "an owner, and --reason")
        _readmit(owner, reason, json)
        return
    asked = _Asked(ground, reason, names or (), yes=yes or again, json=json)
    _refuse(asked, of_words=bool(ids))
    if (owner is None) == (not again):
        raise InputError(
            "owner: got nothing; allowed: an owner, or --again alone"
            if owner is None
            else "owner: got one beside --again; allowed: one of both",
            field="owner",
        )
    if certificate is not None:
        _refuse_path(certificate, again=again)
    settings = load_settings()
    with open_the_store(settings, on_wait=patient(err)) as store:
        acts = _all_left(store, settings, asked) if owner is None else [_act(store, settings, owner, ids or (), asked)]
        done, failed = _each(acts, goes_on=again)
        if again and not failed and all(_exit_code(one) != 1 for one in done):
            store.alarms.cleared("erased_came_back", "")
    if again:
        if failed and json:  # one document on standard output
            from engramlog_server.api.requests.checks import refusal_told

            print_json({"certificates": done, "failed": [dict(refusal_told(one)) for one in failed]})
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
        _write(certificate, done[0])
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


def _refuse(asked: _Asked, *, of_words: bool = False) -> None:
    """Raise InputError for what cannot be carried out, before the store is opened."""
    if asked.ground not in GROUNDS:
        got = asked.ground[:40]
        raise InputError(f"ground: got {got!r}; allowed: {', '.join(GROUNDS)}", field="ground", got=got)
    if (length := len(asked.reason)) > MOST_REASON:
        raise InputError(
            f"reason: got {length:,} characters; allowed: at most {MOST_REASON:,}", field="reason", got=length
        )
    if of_words and asked.names:
        raise InputError(
            "name: got it beside ids; allowed: an owner alone, of whom others may have told",
            field="name",
            got=asked.names[0][:40],
        )


def _act(store: OpenStore, settings: Settings, owner: str, ids: Sequence[str], asked: _Asked) -> _Act:
    """The erasure of an owner, or of the words that are named."""
    if ids:
        return partial(_erase_words, store, settings, owner, ids, asked)
    return partial(_erase_one, store, settings, owner, asked)


def _all_left(store: OpenStore, settings: Settings, asked: _Asked) -> list[_Act]:
    """Every erasure that did not end, or came back."""
    owners = _came_back(store, settings)
    acts = [_act(store, settings, one, (), asked) for one in owners]
    return acts + [
        partial(_erase_words, store, settings, one, named, asked, begun=True)
        for one, named in _words_came_back(store, settings)
        if one not in owners
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
    return int(done["residue"]["exit_code"]) or (3 if done.get("said_meanwhile") else 0)


def _refuse_path(path: Path, *, again: bool) -> None:
    """Raise InputError where no certificate could be written to: once the owner is erased it is too late to say so."""
    if again:
        raise InputError(
            f"certificate: got {str(path)!r} beside --again; allowed: one of both, --json tells all certificates",
            field="certificate",
        )
    if os.path.lexists(path):
        raise InputError(f"certificate: got {str(path)!r}, which is there; allowed: a new file", field="certificate")
    if not os.access(path.parent, os.W_OK | os.X_OK) or not path.parent.is_dir():
        raise InputError(
            f"certificate: got {str(path)!r}, and nothing can be written to that folder; allowed: a new file in one that is there",
            field="certificate",
        )


def _erase_one(store: OpenStore, settings: Settings, owner: str, asked: _Asked) -> dict[str, Any]:
    import msgspec

    from engramlog_server.ops.commands.notices import patient
    from engramlog_server.ops.erasing.owner import ErasurePlan, carry_out, told_beforehand

    told = told_beforehand(store, settings, owner)
    if asked.names:
        told["elsewhere"] = _elsewhere(store, asked.names, owner, asked.json)
    if not asked.json:
        render_plan(told)
    if not asked.yes:
        if asked.json or not sys.stdin.isatty():
            raise NotConfirmed(told)
        if typer.prompt("There is no way back. Type the owner's name to erase it", err=True) != owner:
            raise typer.Exit(1)
    with progress("erase", asked.json, long=0) as advance:
        plan = ErasurePlan(owner, asked.ground, asked.reason)
        done = carry_out(store, settings, plan, on_progress=advance, on_wait=patient(err))
    found: dict[str, Any] = msgspec.to_builtins(done)
    return found


def _erase_words(
    store: OpenStore, settings: Settings, owner: str, ids: Sequence[str], asked: _Asked, *, begun: bool = False
) -> dict[str, Any]:
    from engramlog_server.api.services.deleting import split_ids

    ids = tuple(split_ids(ids))
    wanted = AskedWords(owner, ids, asked.ground, asked.reason, yes=asked.yes, json=asked.json, begun=begun)
    return erase_words(store, settings, wanted)


def _elsewhere(store: OpenStore, names: Sequence[str], owner: str, json: bool) -> dict[str, Any]:
    """Others' memories that have one of the names."""
    from engramlog_server.ops.erasing.elsewhere import elsewhere

    wire = store.wire()
    try:
        with progress("look through others' memories", json, long=0) as advance:
            found = elsewhere(wire, store.identity.tags, names, but=owner, on_progress=advance)
    finally:
        wire.close()
    return {
        "memories": [{"owner": one, "id": memory_id} for one, memory_id in found.found],
        "total": found.total,
        "owners": found.owners,
        "shut": found.shut,
    }


def _came_back(store: OpenStore, settings: Settings) -> list[str]:
    """Owners who are fenced, and of whom something lies there all the same, and those whose erasure did not end."""
    from engramlog_server.ops.erasing.fence_list import FenceList, list_path, open_erasures
    from engramlog_server.ops.erasing.left import left_behind, unfinished, untold
    from engramlog_server.ops.erasing.owner import ALARM

    store_id, wire, tags = store.identity.store_id, store.wire(), store.identity.tags
    listed = FenceList(list_path(settings, store_id), store_id).read()
    unended = {one.subject for one in store.alarms.standing() if one.name == ALARM} | open_erasures(listed).keys()
    try:
        unended |= untold(wire, tags, listed)
        return sorted({*left_behind(wire, tags, unended), *unfinished(wire, tags, listed)})
    finally:
        wire.close()


def _words_came_back(store: OpenStore, settings: Settings) -> list[tuple[str, Sequence[str]]]:
    """Owners, and what was named, of erasures of words that did not end, or came back."""
    from engramlog_server.ops.erasing.fence_list import FenceList, list_path
    from engramlog_server.ops.erasing.words import ALARM
    from engramlog_server.ops.erasing.words_again import unfinished_words

    store_id, wire = store.identity.store_id, store.wire()
    listed = FenceList(list_path(settings, store_id), store_id).read_words()
    try:
        alarmed = {one.subject for one in store.alarms.standing() if one.name == ALARM}
        found = unfinished_words(wire, store.identity.tags, listed, alarmed)
    finally:
        wire.close()
    return [(owner, going.named) for (owner, _), going in found.items()]


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
    from engramlog_server.ops.commands.notices import patient
    from engramlog_server.ops.erasing.owner import readmit_owner
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
        f"Owner [bold]{escape(told['owner'])}[/]: {_many(told['events'], 'event')},"
        f" {_many(told['memories'], 'memory', 'memories')},"
        f" {_many(told['parked'], 'parked event')}, {_many(told['moments'], 'kept moment')},"
        f" {_many(told['kept_rejections'], 'kept rejection')}."
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
    if (others := told.get("elsewhere")) is not None:
        out.print(
            f"- {_many(others['total'], 'memory', 'memories')} of other owners ({_many(others['owners'], 'owner')}"
            " searched) contain the name; they stay, delete them there:",
            soft_wrap=True,
        )
        for one in others["memories"]:
            out.print(f"    {escape(one['owner'])} {escape(one['id'])}", soft_wrap=True)
        for one in others["shut"]:
            out.print(f"    [yellow]not looked through[/] {escape(one)}: its key cannot be had", soft_wrap=True)
    if told["open_entries"]:
        out.print(
            f"[bold yellow]  - {_many(told['open_entries'], 'entry', 'entries')} of the log are not encrypted and stay"
            " readable[/]: Engramlog did not write them, see `engramlog verify`",
            soft_wrap=True,
        )


def render_done(done: dict[str, Any]) -> None:
    """What it did."""
    of_words, gone = "turns" in done, _many(done["events"], "event")
    what = f"{gone} can be read by nobody"
    if of_words:  # single memories, of an owner who stays
        memories, turns = _many(done["memories"], "memory", "memories"), _many(done["turns"], "turn")
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
        f"{told[residue['exit_code']]}: searched for {_many(residue['probes'], 'probe')} in"
        f" {_many(residue['keys'], 'key')} of Redis and {_many(residue['files'], 'file')}, {residue['bytes']:,} bytes",
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
        f"[bold]What goes[/] of owner {escape(told['owner'])}: the words of {_many(goes['entries'], 'entry', 'entries')} of the log"
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
        out.print(f"  - and {_many(elsewhere['more'], 'event')} more")
    for one in elsewhere["unread"]:
        out.print(f"  - perhaps the entry at {one}, which cannot be read", soft_wrap=True)
    if not any(elsewhere.values()):
        out.print("  - nothing that could be found")
    out.print("[bold]What stays[/]:")
    for one in told["stays"]:
        out.print(f"  - {escape(one)}", soft_wrap=True)


def _many(number: int, one: str, more: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else more or one + 's'}"


class AskedWords(NamedTuple):
    """What is wanted."""

    owner: str
    ids: tuple[str, ...]
    ground: Any
    reason: str
    yes: bool
    json: bool
    begun: bool = False
    """Whether an erasure of the same was begun before."""


def erase_words(store: OpenStore, settings: Settings, asked: AskedWords) -> dict[str, Any]:
    """Tell what would be done, ask, do it, and search for what may be left; JSON-ready."""
    import msgspec

    from engramlog_server.ops.commands.notices import patient
    from engramlog_server.ops.erasing.words import carry_out_words
    from engramlog_server.ops.erasing.words_told import WordsPlan, words_told_beforehand
    from engramlog_server.ops.wiring import application_on

    plan = WordsPlan(asked.owner, asked.ids, asked.ground, asked.reason, asked.begun)
    with application_on(store, settings, stays=False, on_wait=patient(err)) as application:
        told = words_told_beforehand(application, store, plan)
        if not asked.json:
            render_words_plan(told)
        if not asked.yes:
            plan = plan._replace(ids=_agreed(told, asked))
        with progress("erase", asked.json, long=0) as advance:
            done: WordsCertificate = carry_out_words(
                application, store, settings, plan, on_progress=advance, on_wait=patient(err)
            )
    found: dict[str, Any] = msgspec.to_builtins(done)
    return found


def _agreed(told: dict[str, Any], asked: AskedWords) -> tuple[str, ...]:
    """What a person agrees to have erased: what is named, and of what says it elsewhere that which he names too."""
    if asked.json or not sys.stdin.isatty():
        raise NotConfirmed(told)
    others = _others(told)
    more: tuple[str, ...] = ()
    if others:
        answer = typer.prompt(
            "Ids of those of them that are to go too, with spaces between; nothing for none", default="", err=True
        )
        more = _ids(answer, others)
    if typer.prompt("There is no way back. Type the owner's name to erase these words", err=True) != asked.owner:
        raise typer.Exit(1)
    return tuple(dict.fromkeys((*asked.ids, *more)))


def _others(told: dict[str, Any]) -> list[str]:
    elsewhere = told["elsewhere"]
    too = [one["of"] for one in elsewhere["says_it_too"] if one["of"]]
    return list(dict.fromkeys([*too, *elsewhere["of_the_same_turns"], *elsewhere["corrections"]]))


def _ids(answer: str, others: Sequence[str]) -> tuple[str, ...]:
    ids = answer.replace(",", " ").split()
    if wrong := [one for one in ids if one not in others]:
        raise InputError(
            f"ids: got {wrong[0][:80]!r}; allowed: some of those that were told", field="ids", got=wrong[0][:80]
        )
    return tuple(ids)
