"""What appending and importing files did, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape

from api.cli.app import err, out
from api.cli.show.tables import plain

if TYPE_CHECKING:
    from api.exchange.appending import AppendReport


SHOWN = 10
"""So many conflicts, and so many of other things, are told one by one."""


def _place(told: dict[str, Any]) -> str:
    """Where in its file something stands: a line, or a message of a conversation."""
    if "line" in told:
        return f"line {told['line']}"
    return f"conversation {told['conversation']}, message {told['message']}"


def tell_failures(answer: AppendReport) -> None:
    """Print on standard error which events of a file are not in the log, and why: the first ten of each sort and a count."""
    for conflict in answer.conflicts[:SHOWN]:
        where = f" at {conflict['position']}" if conflict["position"] else " in the same request"
        turn = f"turn_id {escape(conflict['turn_id'])}: its " if "turn_id" in conflict else ""
        _complain(
            f"[red]{_place(conflict)}: {turn}id {conflict['event_id']} is taken by other content{where}[/];"
            " nothing of its partition's part of that request was written"
        )
    _rest(len(answer.conflicts), "in conflict")
    not_written = [failure for failure in answer.failed if failure["status"] == "not_written"]
    others = [failure for failure in answer.failed if failure["status"] != "not_written"]
    for failure in others[:SHOWN]:
        _complain(f"[yellow]{_place(failure)}: {failure['status']}[/] {escape(failure['error'] or '')}")
    _rest(len(others), "not written")
    if not_written:
        places = plain(", ".join(list(dict.fromkeys(map(_place, not_written)))[:SHOWN]))
        more = " …" if len(not_written) > SHOWN else ""
        _complain(
            f"[yellow]{len(not_written):,} events beside them were not written ({places}{more}):[/]"
            " mend or take out the lines in conflict, then send the file again whole"
        )


def _rest(count: int, what: str) -> None:
    if count > SHOWN:
        _complain(f"[yellow]and {count - SHOWN:,} more events {what}; `--json` names all of them[/]")


def _complain(words: str) -> None:
    err.print(words, soft_wrap=True)


def render_turns(told: dict[str, Any], done: AppendReport, old: int) -> None:
    """Print what an import of turns did. `old`: how many memories of its first owner age alone withholds."""
    owners = told["owners"]
    skipped = f", {told['skipped']:,} without text skipped" if told["skipped"] else ""
    out.print(
        f"{told['turns']:,} turn{'' if told['turns'] == 1 else 's'} of {len(owners)} owner{'' if len(owners) == 1 else 's'}:"
        f" {told['appended']:,} events appended, {told['already_appended']:,} already there{skipped}"
    )
    for name, count in list(owners.items())[:10]:
        out.print(f"  [cyan]{escape(name)}[/] {count:,}")
    if len(owners) > 10:
        out.print(f"  and {len(owners) - 10} more; `engramlog stats` shows them")
    for count, what in (
        (told["too_long"], "left out (`--long-turns cut` keeps their beginning)"),
        (told["cut"], "cut"),
    ):
        if count:
            out.print(f"[yellow]{count:,} turn{'' if count == 1 else 's'} of more than 64 KiB {what}[/]")
    if ignored := told["ignored_fields"]:
        names = [f"{name} ({count:,})" for name, count in sorted(ignored.items(), key=lambda one: -one[1])]
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        out.print(f"[yellow]fields not read: {escape(', '.join(names[:SHOWN]))}{more}[/]")
    tell_failures(done)
    if old:
        out.print(
            f"[dim]{old:,} of {escape(next(iter(owners)))}'s memories are old; the newest turn is of {told['newest_turn']}. A"
            " search finds them and marks them long ago; --as-of just after it shows what was fresh then.[/]"
        )
