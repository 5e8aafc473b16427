"""What `append`, `import` and `export` did, printed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.text import Text

from engramlog_server.api.cli.app import err, out
from engramlog_server.api.cli.show import memories as render
from engramlog_server.api.cli.show.tables import plain
from engramlog_server.api.shapes import FilePlace, RecordsImported

if TYPE_CHECKING:
    from engramlog_server.api.exchange.append_events import AppendReport


SHOWN = 20
"""Rows of what was skipped, and names of anything else; --json has all."""
HOW_TO_INCLUDE = {
    "sensitive": " (--reveal)",
    "purged": " (nothing is left of it)",
    "unknown": " (no memory has the id)",
}


def imported(answer: RecordsImported) -> None:
    """What an import of records did."""
    shapes = ", ".join(f"{count:,} {name}" for name, count in answer["shapes"].items())
    told = _several(answer["records"], "record") + (f" ({shapes})" if shapes else "")
    counts = f"{answer['appended']:,} imported, {answer['already_appended']:,} already there"
    parts = [f"{told} of {answer['owner']}: {counts}"]
    if answer["repeated"]:
        parts.append(f"{answer['repeated']:,} repeated")
    parts += [f"{count:,} skipped ({reason})" for reason, count in sorted(answer["skipped"].items())]
    if conflicts := answer["conflicts"]:
        parts.append(f"{_several(len(conflicts), 'conflict')}")
    out.print(Text(", ".join(parts)))
    for conflict in conflicts[:SHOWN]:
        out.print(
            f"[red]{_place(conflict)}: this record was imported before with other content, at {conflict['position']}[/];"
            " it stays as it was then"
        )
    for duplicate in answer["duplicates"][:SHOWN]:
        out.print(
            f"[yellow]line {duplicate['line']}: {escape(duplicate['memory_id'])} says something else than line"
            f" {duplicate['first_line']}[/];"
            " the first holds"
        )
    for failure in (answer.get("failed") or [])[:SHOWN]:
        out.print(f"[yellow]{_place(failure)}: {failure['status']}[/] {escape(failure['error'] or '')}")
    if taken := answer["ids_taken"]:
        out.print(f"[yellow]{_named(taken)}: there was a memory of this id already, and it stays as it is[/]")
    _carried(answer)
    _of_everything(answer)
    if ignored := answer["ignored_fields"]:
        told = ", ".join(f"{name} ({count:,})" for name, count in list(ignored.items())[:SHOWN])
        out.print(Text(f"fields that no memory has a place for: {told}", "dim"))
    if flagged := answer["flagged"]:
        out.print(f"[yellow]{flagged:,} possible conflicts:[/] both lines stand, and `engramlog list` shows which")
        for one in answer["conflicting"][:5]:
            out.print(f"  {escape(one['id'])} / {escape(one['other'])}: {escape(one['reason'])}")
    if ordinary := answer["made_ordinary"]:
        told = ", ".join(f"{count:,} of tier {tier}" for tier, count in sorted(ordinary.items()))
        out.print(f"[yellow]{told}: ordinary memories now, for only an operator has one stand in every prompt[/]")
        out.print("[dim]`engramlog edit OWNER ID --tier core` does so; `import records --core` for a whole file.[/]")
    if left_out := answer["associations_left_out"]:
        out.print(f"[dim]{left_out:,} associations beyond the strongest 32 of their record were left out[/]")
    if answer["newest_record"]:
        out.print(f"[dim]The newest record is of {answer['newest_record']}; older ones have decayed since.[/]")


def _of_everything(answer: Mapping[str, Any]) -> None:
    """What an export of everything holds beside memories."""
    if said := answer["said"]:
        out.print(f"{_several(said, 'turn or tool result', 'turns and tool results')} said again")
    if withheld := answer["said_withheld"]:
        out.print(f"[yellow]{_several(withheld, 'turn')} without words: they were withheld from the export[/]")
    if passed := answer["of_the_log"]:
        told = ", ".join(f"{name} ({count:,})" for name, count in passed.items())
        out.print(Text(f"of the log that it comes from, and passed over: {told}", "dim"))


def _carried(answer: Mapping[str, Any]) -> None:
    """What of it was rejected, here or where it comes from."""
    if rejected := answer["rejected"]:
        out.print(f"[yellow]{_named(rejected)}: what they say was rejected, so they became no memories[/]")
    if carried := answer["rejections"]:
        out.print(f"{_several(carried, 'rejected value')} carried over: told again, it becomes no memory")
    for reason, count in answer["rejections_left_out"].items():
        out.print(f"[yellow]{_several(count, 'rejected value')} not carried over, {escape(reason)}: reject it here[/]")


def exported(answer: Mapping[str, Any], file: str | None) -> None:
    """On standard error: how much was exported, and what was left out, with the way to have it."""
    told = f"{_several(answer['count'], 'memory', 'memories')} of {answer['owner']} at {answer['position']}"
    told += render.times_of(answer)
    told += f" written to {file}" if file is not None else ""
    left_out = [
        f"{count:,} {reason}{HOW_TO_INCLUDE.get(reason, f' (--include {reason})')}"
        for reason, count in sorted(answer["left_out"].items())
    ]
    told += f"; left out: {', '.join(left_out)}" if left_out else ""
    err.print(Text(told, "dim"), soft_wrap=True)
    if stuck := answer.get("quarantined"):
        err.print(
            f"[yellow]This owner is quarantined at {stuck['position']}: what follows there is not in it"
            " (`engramlog dead`)[/]",
            soft_wrap=True,
        )


def _named(ids: list[str]) -> str:
    more = f" and {len(ids) - SHOWN:,} more" if len(ids) > SHOWN else ""
    return escape(", ".join(ids[:SHOWN])) + more


def _several(count: int, one: str, more: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else more or one + 's'}"


SHOWN_PLACES = 10
"""So many conflicts, and so many of other things, are told one by one."""


def _place(told: FilePlace) -> str:
    """Where in its file something stands: a line, or a message of a conversation."""
    if "line" in told:
        return f"line {told['line']}"
    return f"conversation {told['conversation']}, message {told['message']}"


def tell_failures(answer: AppendReport) -> None:
    """Print on standard error which events of a file are not in the log, and why: the first ten of each sort and a count."""
    for conflict in answer.conflicts[:SHOWN_PLACES]:
        where = f" at {conflict['position']}" if conflict["position"] else " in the same request"
        turn_id = conflict.get("turn_id")
        turn = f"turn_id {escape(turn_id)}: its " if turn_id else ""
        _complain(
            f"[red]{_place(conflict)}: {turn}id {conflict['event_id']} is taken by other content{where}[/];"
            " nothing of its partition's part of that request was written"
        )
    _rest(len(answer.conflicts), "in conflict")
    not_written = [failure for failure in answer.failed if failure["status"] == "not_written"]
    others = [failure for failure in answer.failed if failure["status"] != "not_written"]
    for failure in others[:SHOWN_PLACES]:
        _complain(f"[yellow]{_place(failure)}: {failure['status']}[/] {escape(failure['error'] or '')}")
    _rest(len(others), "not written")
    if not_written:
        places = plain(", ".join(list(dict.fromkeys(map(_place, not_written)))[:SHOWN_PLACES]))
        more = " …" if len(not_written) > SHOWN_PLACES else ""
        _complain(
            f"[yellow]{len(not_written):,} events beside them were not written ({places}{more}):[/]"
            " mend or take out the lines in conflict, then send the file again whole"
        )


def _rest(count: int, what: str) -> None:
    if count > SHOWN_PLACES:
        _complain(f"[yellow]and {count - SHOWN_PLACES:,} more events {what}; `--json` names all of them[/]")


def _complain(words: str) -> None:
    err.print(words, soft_wrap=True)


def render_turns(told: Mapping[str, Any], done: AppendReport, old: int) -> None:
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
        more = f" and {len(names) - SHOWN_PLACES} more" if len(names) > SHOWN_PLACES else ""
        out.print(f"[yellow]fields not read: {escape(', '.join(names[:SHOWN_PLACES]))}{more}[/]")
    tell_failures(done)
    if old:
        out.print(
            f"[dim]{old:,} of {escape(next(iter(owners)))}'s memories are old; the newest turn is of {told['newest_turn']}. A"
            " search finds them and marks them long ago; --as-of just after it shows what was fresh then.[/]"
        )
