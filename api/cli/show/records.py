"""What imports, exports and deletions tell people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from api.cli.app import err, out
from api.cli.show import memories as render
from api.cli.show.tables import ident, tabulate, words
from api.shapes import Deleted, Removed, Reported, Restored, RestoredMany, Skipped

SHOWN = 20
"""Rows of what was skipped, and names of anything else; --json has all."""
HOW_TO_INCLUDE = {
    "sensitive": " (--reveal)",
    "purged": " (nothing is left of it)",
    "unknown": " (no memory has the id)",
}


def imported(answer: dict[str, Any]) -> None:
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
    for one in conflicts[:SHOWN]:
        out.print(
            f"[red]line {one['line']}: this record was imported before with other content, at {one['position']}[/];"
            " it stays as it was then"
        )
    for one in answer["duplicates"][:SHOWN]:
        out.print(
            f"[yellow]line {one['line']}: {escape(one['memory_id'])} says something else than line {one['first_line']}[/];"
            " the first holds"
        )
    for one in answer.get("failed", [])[:SHOWN]:
        out.print(f"[yellow]line {one['line']}: {one['status']}[/] {escape(one['error'] or '')}")
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


def deleted_one(answer: Removed) -> None:
    """What deleting a single memory did."""
    if not answer["skipped"] or answer["changes"]:
        render.effects(answer, [name for name in answer if name != "id"])
        _along(answer)
        return
    out.print(Text.assemble(("Nothing changed: ", "yellow"), answer["skipped"][0]["reason"]))


def deleted_many(answer: Deleted, console: Console = out) -> None:
    """What deleting several memories did: those deleted in a line, those left in a table with the reasons."""
    deleted, skipped = answer["deleted"], answer["skipped"]
    told = f": {_named(deleted)}" if deleted else ""
    done = "would be deleted" if answer["dry_run"] else "deleted"
    console.print(Text.assemble(f"{len(deleted):,} {done}", (told, "cyan"), (f"  at {answer['position']}", "dim")))
    _along(answer, console)
    if waiting := answer.get("waiting"):
        console.print(f"[yellow]Written, but not folded yet: {_named(waiting)}[/]")
    if not skipped:
        return
    console.print(f"[yellow]{len(skipped):,} skipped[/]")
    _reasons(skipped, console)


def restored(answer: Restored, console: Console = out) -> None:
    """What restoring a memory did, what came back with it and what did not."""
    render.effects(answer, ("also", "not_restored"))
    if also := answer["also"]:
        console.print(f"{len(also):,} came back with it")
        _reasons(also, console)
    if left := answer["not_restored"]:
        console.print(f"[yellow]{len(left):,} stay deleted[/]")
        _reasons(left, console)


def restored_many(answer: RestoredMany, console: Console = out) -> None:
    """What restoring several memories did: those that came back in a line, what came with them and what stays in tables."""
    back, dry = answer["restored"], answer["dry_run"]
    told = f": {_named(back)}" if back else ""
    done = "would be restored" if dry else "restored"
    console.print(Text.assemble(f"{len(back):,} {done}", (told, "cyan"), (f"  at {answer['position']}", "dim")))
    if also := answer["also"]:
        console.print(f"{len(also):,} {'would come' if dry else 'came'} back with them")
        _reasons(also, console)
    if left := answer["not_restored"]:
        console.print(f"[yellow]{len(left):,} {'would stay' if dry else 'stay'} deleted[/]")
        _reasons(left, console)
    if waiting := answer.get("waiting"):
        console.print(f"[yellow]Written, but not folded yet: {_named(waiting)}[/]")
    if skipped := answer["skipped"]:
        console.print(f"[yellow]{len(skipped):,} skipped[/]")
        _reasons(skipped, console)


def _along(answer: Deleted, console: Console = out) -> None:
    """What goes with what is deleted, what is left alone, and where it is still said."""
    if answer["also"]:
        console.print(f"{len(answer['also']):,} made of it {'would go' if answer['dry_run'] else 'went'} with it")
        _reasons(answer["also"], console)
    if answer["left_alone"]:
        console.print(f"[yellow]{len(answer['left_alone']):,} made of it left alone[/]")
        _reasons(answer["left_alone"], console)
    if hidden := answer.get("hidden_with", []):
        console.print(
            f"{len(hidden):,} merged into it {'would be' if answer['dry_run'] else 'are'} hidden with it: {_named(hidden)}"
        )
    if rejected := answer.get("rejected", []):
        console.print(
            f"{_several(len(rejected), 'value')} rejected: told again, it becomes no memory  [dim](restore)[/]"
        )
    if said := answer["still_said_in"]:
        named = _named(said)
        console.print(f"[yellow]Still said in {_several(len(said), 'turn')}[/]: {named}  [dim](--with-sources)[/]")


def _reasons(told: list[Skipped], console: Console) -> None:
    tabulate((ident(), words("reason")), told[:SHOWN], console)
    if len(told) > SHOWN:
        console.print(f"[dim]and {len(told) - SHOWN:,} more; --json names all[/]")


def _named(ids: list[str]) -> str:
    more = f" and {len(ids) - SHOWN:,} more" if len(ids) > SHOWN else ""
    return escape(", ".join(ids[:SHOWN])) + more


def _several(count: int, one: str, more: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else more or one + 's'}"


def ground_reported(answer: Reported, console: Console = out) -> None:
    """Which memories a digest withheld, and which came back."""
    for name, ids, style in (("withheld", answer["withheld"], "yellow"), ("back", answer["back"], "green")):
        if ids:
            console.print(Text.assemble((f"{name}: ", style), ", ".join(ids)))
    if not answer["withheld"] and not answer["back"]:
        console.print(Text("Nothing changed: no memory rests on it with anything else to know", "dim"))
    if answer["left"]:
        console.print(Text(f"{answer['left']:,} more rest on it: report it again", "yellow"))
    if answer["newer"]:
        console.print(Text(f"of {answer['newer']:,} something newer is known", "dim"))
    console.print(Text(f"position {answer['position']}", "dim"))
