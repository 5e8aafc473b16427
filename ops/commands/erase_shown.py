"""What `engramlog erase` tells people: what it would do, what it did, and what may be left."""

from __future__ import annotations

from typing import Any

from rich.markup import escape

from api.cli.app import out

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
        "  - Its key is destroyed: nobody can read its words any more, but in copies made before, with the master key."
    )
    for one in told["stays"]:
        out.print(f"  - stays: {escape(one)}", soft_wrap=True)
    if (others := told.get("elsewhere")) is not None:
        out.print(
            f"  - others tell of this person in {_many(others['total'], 'memory', 'memories')} of"
            f" {_many(others['owners'], 'owner')} looked through; they stay, and are theirs to delete:",
            soft_wrap=True,
        )
        for one in others["memories"]:
            out.print(f"    {escape(one['owner'])} {escape(one['id'])}", soft_wrap=True)
        for one in others["shut"]:
            out.print(f"    [yellow]not looked through[/] {escape(one)}: its key cannot be had", soft_wrap=True)
    if told["open_entries"]:
        out.print(
            f"[bold yellow]  - {_many(told['open_entries'], 'entry', 'entries')} of the log lie open and stay readable[/]:"
            " they were put there past Engramlog, see `engramlog verify`",
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
        "[dim]Copies and backups made before hold these words, sealed, with their salts and the owner's key, wrapped under the"
        " master key: let them go (docs/erasure.md)[/]"
        if of_words
        else "[dim]Copies and backups made before hold its key, wrapped under the master key: let them go (docs/erasure.md)[/]",
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
