"""What would be without some of a history, for people: of one owner, and of a whole store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from engramlog_server.api import shapes
from engramlog_server.api.cli.app import out
from engramlog_server.api.cli.show.memories import part_of, times_of
from engramlog_server.api.cli.show.tables import Column, figure, ident, number, plain, tabulate, words

SHOWN = 20
"""Struck events, and memories that stay, in a table; JSON has a page of them."""
_SOME = 5
_ALONE = ("weight", "level", "status", "shown", "reason")
"""What is told of a memory that one side alone has."""
BECAUSE = {
    "named": "named: {of}",
    "caused": "caused by {of}",
    "same_turn": "says the turn {of}",
    "of_turn": "for the turn {of}",
    "source_turns": "read in the turn {of}, and in no other",
    "merges": "merges {of}",
    "summarises": "summarises {of}",
}
STAYS = {"other_turns": "the turn {of} says it too", "said_again": "the user said it again at {of}"}


def comparison(answer: shapes.Replayed, console: Console = out) -> None:
    """What a replay changes: memories, and the order of the results of questions."""
    found, total, events = answer["differences"], answer["total"], answer["events"]
    folded = f"{events['replayed']:,} of {events['today']:,} events folded{times_of(answer)}"
    law = f", law {answer['profile']}" if answer["profile"] else ""
    page = part_of(answer["offset"], len(found), total)
    differ = f"memories differ{told_fields(answer.get('changed_fields'))}"
    console.print(Text(f"{page}{total:,} of {answer['owner']}'s {differ}; {folded}{law}, {answer['mode']} mode"))
    struck(answer, console)
    first = "then" if times_of(answer) else "today"
    if found:
        rows = []
        for one in found:
            here, there = _sides(one)
            said = one["memory"] or "(nothing is left to tell)"
            rows.append({"id": one["id"], "memory": said, first: here, "replayed": there})
        tabulate((ident(), words("memory"), words(first), words("replayed")), rows, console)
    for question in answer["questions"]:
        ranks(question, answer["mode"], console, first, "replayed")


def struck(answer: shapes.ClosureTold, console: Console = out) -> None:
    """What is struck and why, first what nobody named; what falls into nothing, and what stays."""
    total = answer["struck_total"]
    if not total:
        return
    because = ", ".join(f"{many:,} {kind.replace('_', ' ')}" for kind, many in answer["struck_because"].items())
    console.print(Text(f"{total:,} {'event is' if total == 1 else 'events are'} struck: {because}"))
    rows = [
        {**one, "because": BECAUSE[one["because"]].format(of=one["of"])}
        for one in sorted(answer["struck"], key=lambda one: one["because"] == "named")[:SHOWN]
    ]
    if rows:
        tabulate((Column("position"), Column("event", if_room=True), ident("memory"), words("because")), rows, console)
    _more(total - len(rows), console)
    for one in answer["stays"][:SHOWN]:
        console.print(Text(f"{one['memory']} stays: {STAYS[one['because']].format(of=one['of'])}"))
    _more(answer["stays_total"] - len(answer["stays"][:SHOWN]), console)
    _counted("falls into nothing", answer["without_effect"], console)
    _counted("stays, decided in its light", answer["in_its_light"], console)


def ranks(question: shapes.QuestionMoved, mode: str, console: Console, first_side: str, second_side: str) -> None:
    """The order of a question's results on both sides."""
    before, after, told = question["before"], question["after"], question["query"]
    ids = list(dict.fromkeys(before + after))
    if not ids:
        nothing = ("Nothing found", "yellow")
        console.print(Text.assemble(nothing, f" on either side for {told} ({mode} mode)"))
        return
    console.print(Text(f"ranks for {told}, {mode} mode: {len(question['moved'])} moved", "dim"))
    rows = []
    for one in ids:
        first, second = (str(side.index(one) + 1) if one in side else "-" for side in (before, after))
        style = "" if first == second else "yellow"
        rows.append({"id": one, first_side: Text(first, style), second_side: Text(second, style)})
    tabulate((ident(), figure(first_side), figure(second_side)), rows, console)


def looked_at(answer: shapes.Retracted, console: Console = out) -> None:
    """What undoing it would reach, and how to do it."""
    retraction(answer, console)
    if answer["undoes_total"]:
        told = f"to do it: the same again with --reach {answer['reach']}, or with --yes"
        console.print(Text(told, "bold"), soft_wrap=True)


def retraction(answer: shapes.Retracted, console: Console = out) -> None:
    """What undoing it reaches, or reached."""
    total, dry_run = answer["undoes_total"], answer["dry_run"]
    done = (
        "would undo it" if dry_run else "undid it before; nothing more was written" if answer["again"] else "undid it"
    )
    console.print(Text(f"{total:,} {'event' if total == 1 else 'events'} of a person {done}"))
    if answer["again"]:
        console.print(Text(f"position {answer['position']}", "dim"))
        return
    struck(answer, console)
    if rows := answer["undoes"][:SHOWN]:
        tabulate((Column("undone by", "event"), ident("memory")), rows, console)
    _more(total - len(rows), console)
    for name, what in (("goes", "shown no more"), ("comes_back", "shown again"), ("changed", "otherwise")):
        some: shapes.SomeMemories = answer[name]  # type: ignore[literal-required]
        if some["total"]:
            more = ", ..." if some["total"] > _SOME else ""
            names = told_fields(answer.get("changed_fields")) if name == "changed" else ""
            console.print(Text(f"{what}{names}: {some['total']:,} ({', '.join(some['ids'][:_SOME])}{more})"))
    for one in answer["not_undone"]:
        first = f" ({', '.join(one['first'])})" if one["first"] else ""
        console.print(Text(f"{one['events']:,} {one['kind']}{first} {one['why']}", "yellow"))
    for other in answer["remains"][:SHOWN]:
        fields = ", ".join(name.replace("_", " ") for name in other["fields"])
        console.print(Text(f"{other['id']} stands otherwise than without it: {fields}", "yellow"))
    _more(answer["remains_total"] - len(answer["remains"][:SHOWN]), console)
    for question in answer["questions"]:
        ranks(question, answer["mode"], console, "today", "retracted")
    done = f"position {answer['position']}; `engramlog set-aside --undo` or `engramlog delete --undo` undoes it"
    console.print(Text("nothing was written" if dry_run else done, "dim"))


def told_fields(counted: Mapping[str, int] | None) -> str:
    """In what memories stand otherwise, and how many do; nothing where nobody counted."""
    told = ", ".join(f"{name.replace('_', ' ')} {many:,}" for name, many in (counted or {}).items())
    return f" in {told}" if told else ""


def _sides(one: shapes.ReplayedDiffer) -> tuple[Text, Text]:
    """Both sides in the values that differ; a memory that one side lacks in those by which it is known."""
    today, replayed = one["today"], one["replayed"]
    if today is None or replayed is None:
        there = Text(_told(_only(replayed or today or {}, _ALONE)))
        return (Text("-"), there) if today is None else (there, Text("-"))
    names = [name for name in today if today[name] != replayed[name]]  # type: ignore[literal-required]
    first, second = (_told(_only(side, names)) for side in (today, replayed))
    if one["fields"]:
        others = f"other {', '.join(one['fields'])}"
        second = f"{second}, {others}" if names else others
    return Text(first), Text(second)


def _told(side: Mapping[str, Any]) -> str:
    """A standing in words, without a reason that is none."""
    told = {name: number(value) if name == "weight" else value for name, value in side.items()}
    return plain({name.replace("_", " "): value for name, value in told.items() if value is not None})


def _only(side: Mapping[str, Any], names: Iterable[str]) -> Mapping[str, Any]:
    return {name: side[name] for name in names}


def _counted(what: str, told: Sequence[shapes.EventsCounted], console: Console) -> None:
    for one in told:
        more = " ..." if one["events"] > len(one["first"]) else ""
        kind = one["kind"].replace("_", " ")
        console.print(Text(f"{what}: {one['events']:,} {kind} ({', '.join(one['first'])}{more})", "dim"))


def _more(left: int, console: Console) -> None:
    if left > 0:
        console.print(Text(f"and {left:,} more: --json tells them", "dim"))


def store_moved(answer: Mapping[str, Any], console: Console = out) -> None:
    """How normal mode and the order of memories change over a whole store."""
    differ = f"{answer['changes']:,} of {answer['memories']:,} memories differ{told_fields(answer['changed_fields'])}"
    seen = f"{answer['changed']:,} of {_owners(answer['owners'])} would be read otherwise: {differ}"
    console.print(Text(f"{seen}{times_of(answer)}, {answer['mode']} mode"))
    if answer["struck"]:
        console.print(Text(f"{answer['struck']:,} of {answer['events']:,} events are struck"))
    if answer["untouched"]:
        console.print(Text(f"of {_owners(answer['untouched'])} nothing is struck: they have nothing of what is named"))
    _standing(answer, console)
    _shown(answer, console)
    if answer["heavier"] or answer["lighter"]:
        weights = f"{answer['heavier']:,} weigh more, {answer['lighter']:,} less"
        console.print(Text(f"{weights}; the largest change is {answer['largest_change']:+.3f}"))
    _orders(answer, console)
    _most(answer, console)
    count = answer["processes"]
    by = "Dask workers" if count is None else f"{count} process{'' if count == 1 else 'es'}"
    console.print(Text(f"{answer['seconds']:.1f} s by {by}; nothing was written to the store", "dim"))


def _owners(many: int) -> str:
    """So many owners."""
    return f"{many:,} owner{'' if many == 1 else 's'}"


def _standing(answer: Mapping[str, Any], console: Console) -> None:
    """Who is in no figure, or not whole."""
    if answer["quarantined"]:
        stuck = f"{_owners(answer['quarantined'])} looked at as of before an event that could not be folded"
        console.print(Text(f"{stuck} (`engramlog dead`)", "bold yellow"))
    if answer["behind"]:
        newer = f"{_owners(answer['behind'])} looked at as far as they are folded: newer events wait"
        console.print(Text(f"{newer} (`engramlog status` tells the lag)", "yellow"))
    for kind, many in sorted(answer["left_out"].items()):
        console.print(Text(f"{_owners(many)} could not be looked at, and in no other figure: {kind}", "bold yellow"))


def _shown(answer: Mapping[str, Any], console: Console) -> None:
    """What is there, and what of it the mode shows."""
    there = answer["memories"] + answer["appear"] - answer["vanish"]
    sides = (
        ("there", "memories", there, "appear", "vanish"),
        (f"shown in {answer['mode']} mode", "shown_today", answer["shown_then"], "came", "went"),
    )
    rows = [
        {"memories": what, "today": answer[today], "replayed": replayed, "in": answer[came], "out": answer[went]}
        for what, today, replayed, came, went in sides
    ]
    first = figure("then" if times_of(answer) else "today", "today")
    tabulate((Column("memories"), first, figure("replayed"), figure("in"), figure("out")), rows, console)
    for what, told in (("come in that are", answer["why_came"]), ("go out as", answer["why_went"])):
        if told:
            console.print(Text(f"{what}: " + ", ".join(f"{why.replace('_', ' ')} {many:,}" for why, many in _by(told))))
    if answer["levels"]:
        told_at = ", ".join(f"{pair.replace('>', ' to ')} {many:,}" for pair, many in _by(answer["levels"]))
        console.print(Text(f"told at another level: {told_at}"))


def _orders(answer: Mapping[str, Any], console: Console) -> None:
    """Of how many owners the order of results is another one."""
    every = [("the heaviest ten", answer["by_weight"]), *answer["questions"].items()]
    counts = (figure("owners", "orders"), figure("another", "changed"), figure("another first", "first"))
    rows = [{**one, "order": name} for name, one in every]
    tabulate((words("order"), *counts, figure("in", "came"), figure("out", "went")), rows, console)


def _most(answer: Mapping[str, Any], console: Console) -> None:
    """The owners of whom most changes."""
    if not answer["most"]:
        return
    columns = (ident("most of", "owner"), figure("memories", "changes"), figure("in", "came"), figure("out", "went"))
    tabulate(columns, answer["most"], console)


def _by(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """The most first."""
    return sorted(counts.items(), key=lambda one: (-one[1], one[0]))
