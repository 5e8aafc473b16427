"""Memories, the change log and events as tables and trees. Texts from the store are `Text`: their brackets are no markup."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.text import Text
from rich.tree import Tree

from engramlog_server.api.cli.app import err, out
from engramlog_server.api.cli.show.tables import (
    Cell,
    Column,
    Row,
    figure,
    has_room,
    ident,
    instant,
    number,
    shortened,
    tabulate,
    when,
    words,
)  # fmt: skip
from engramlog_server.events.text import late_words, many
from engramlog_server.events.trust import ASSERTED
from engramlog_server.projections import shapes
from engramlog_server.projections.shapes import (
    Card,
    Change,
    Listing,
    LogEvents,
    LoggedEvent,
    OriginTree,
    Provenance,
    QuestionExpansion,
    RankComparison,
    Why,
    Withheld,
)

COLOURS = {
    "ignored": "yellow",
    "negate": "red",
    "reaffirm": "green",
    "delete": "red",
    "purge": "red",
    "erase": "red",
    "named": "dim",
}
"""By decision of the change log."""


MODELS_DECIDE = frozenset({"abstract", "extract", "merge", "review", "sessions"})
"""Jobs that a language model may decide for."""


def instant_text(instant: str | None, console: Console = out) -> str:
    """The same in a sentence, where no column says by which clock."""
    return "-" if instant is None else f"{when(instant, console)} UTC"


def withheld(found: Sequence[Withheld], console: Console = out) -> None:
    """What the mode left out, and which mode shows it."""
    for item in found:
        reason = item["reason"].replace("_", " ")
        told = item.get("ids")  # where a search tells them
        ids = told if isinstance(told, list) else []
        named = f": {escape(', '.join(ids))}" if ids else ""
        more = " ..." if named and item["count"] > len(ids) else ""
        console.print(f"[dim]withheld: {item['count']:,} {reason} (shown by {item['shown_by']}){named}{more}[/]")


def place(answer: Mapping[str, object]) -> str:
    """Where and when an answer was computed."""
    return f"{answer.get('mode', '')} mode, position {answer['position']}{times_of(answer)}"


def times_of(answer: Mapping[str, object]) -> str:
    """The times that were asked about, each after a comma; nothing of the present."""
    return "".join(
        f", {name.replace('_', ' ')} {_shown_instant(str(answer[name]))}"
        for name in ("as_of", "known", "at")
        if answer.get(name)
    )


def _shown_instant(at: str) -> str:
    """An instant to the minute; a day or a position as it is."""
    return f"{at[:16].replace('T', ' ')} UTC" if at[16:17] == ":" and at.endswith("Z") else at


def part_of(offset: int, shown: int, total: int) -> str:
    """Which of all are shown, in front of their number; nothing where all are, or none."""
    if not 0 < shown < total:
        return ""
    return f"{offset + 1:,} of " if shown == 1 else f"{offset + 1:,} to {offset + shown:,} of "


def memories(answer: Listing, console: Console = out) -> None:
    """A list of memories."""
    shown, total = answer["memories"], answer["total"]
    if not shown:
        past = f", of which {answer['offset']:,} were passed over" if answer["offset"] else ""
        console.print(
            f"[yellow]{many(total, 'memory', 'memories') if total else 'No memories'}[/]{past} [dim]({place(answer)})[/]"
        )
        withheld(answer["withheld"], console)
        return
    part = part_of(answer["offset"], len(shown), total)
    console.print(f"[dim]{part}{many(total, 'memory', 'memories')}, {escape(place(answer))}[/]")
    columns = (
        ident(),
        words("memory"),
        Column("category", if_room=True),
        figure("weight", places=3),
        Column("level"),
        instant("active", "last_activated_at"),
        Column("status", if_room=True),
    )
    tabulate(columns, [{**m, **standing(m, console)} for m in shown], console)
    conflicts(shown, console)
    withheld(answer["withheld"], console)


def conflicts(found: Sequence[Card | Why], console: Console = out) -> None:
    """What of memories no longer holds, and those that may contradict others, both lines of each pair, once."""
    told: set[frozenset[str]] = set()
    for one in found:
        for gone in one.get("corrected") or ():
            was = shortened(gone["was"] or "(deleted)")
            now = shortened(f"{gone['by']} {gone['now']}" if gone["by"] else "nothing is known to hold instead")
            console.print(
                Text.assemble(
                    (f"{one['id']} no longer so: ", "yellow"), was, f" {instant_text(gone['at'], console)} ", now
                )
            )
        if until := one.get("until"):
            console.print(
                Text.assemble((f"{one['id']} says that it holds until ", "yellow"), instant_text(until, console))
            )
        for other in one.get("conflicting") or ():
            pair = frozenset((one["id"], other["id"]))
            if pair not in told:
                told.add(pair)
                console.print(Text("possible conflict, which of these holds?", "yellow"))
                for each in (one, other):
                    console.print(Text.assemble("  ", (each["id"], "bold"), " ", shortened(each["memory"])))


def standing(card: Card, console: Console) -> dict[str, str]:
    """Level and status, trust beside it; in one column where there is no room for two, and then without what is usual."""
    told = unusual("long_ago" if card.get("long_ago") else card["status"], card["trust"])
    if has_room(console):
        return {"level": card["level"], "status": ", ".join(told)}
    if card["level"] != "full" and told in ([], [card["trust"]]):
        told = [card["level"], *told]
    return {"level": "\n".join(told) or card["level"], "status": ""}


def unusual(status: str, trust: str) -> list[str]:
    """Status and trust in words, as far as they are not those of a live memory that the user himself asserted; each once."""
    told = ("" if status == "live" else status, "" if trust == ASSERTED else trust)
    return [word.replace("_", " ") for word in dict.fromkeys(told) if word]


def changes(
    found: Sequence[Change],
    console: Console = out,
    *,
    everything: bool = False,
    title: str | None = "change log",
) -> None:
    """Change-log entries; those that only name a memory and change nothing are counted, not shown, unless asked for."""
    shown = [c for c in found if everything or c["decision"] != "named"]
    if title is not None:
        console.print(f"[dim]{title}[/]")
    columns = [
        Column("position"),
        Column("time", is_time=True),
        Column("event", if_room=True),
        ident("memory"),
        Column("decision", show=lambda decision: Text(decision, COLOURS.get(decision, ""))),
        Column("by", style="dim", if_room=True),
        figure("old", "old_weight", places=4, if_room=True),
        figure("new", "new_weight", places=4),
        figure("delta", show=partial(number, sign="+")),
        words("reason"),
    ]
    one, caused = len({c["memory"] for c in shown}) <= 1, any(c.get("actor") for c in shown)
    left_out = {"memory"} if one else {"old"} if caused else set()  # no room for all
    if not caused:
        left_out.add("by")
    columns = [column for column in columns if column.name not in left_out]
    if shown:
        rows = [{**c, "memory": c["memory"] or "(owner)", "by": _cause(c), "reason": _why(c)} for c in shown]
        tabulate(columns, rows, console)
    else:
        console.print("[dim]no changes[/]")
    if len(shown) < len(found):
        left = many(len(found) - len(shown), "entry", "entries")
        console.print(f"[dim]{left} not shown: a memory is only named; --everything shows all[/]")


def _cause(entry: Change) -> str:
    """Who caused a change: of a language model's decision, which model."""
    job, _, model = (entry.get("correlation_id") or "").partition(":")
    return model if model and job in MODELS_DECIDE else entry.get("actor") or "-"


def _why(entry: Change) -> Text:
    """What the fold says, what was said by whoever sent the event, and that it came late, where it did."""
    told = Text(entry["reason"])
    if said := entry.get("said_reason"):
        told.append(f'; said: "{said}"')
    if because := entry.get("because"):
        told.append(f'; because: "{because}"')
    if (late := entry.get("late_by")) is not None:
        told.append(f"; {late_words(late)}", "yellow")
    if (weighed := entry.get("weighed_at")) is not None:
        told.append(f"; weights at {instant_text(weighed, out)}", "yellow")
    return told


def reasons(answer: Why, *, everything: bool = False) -> None:
    """Why a memory weighs what it weighs; if it is compared with another, only how both rank."""
    if answer["above"] is not None:
        rank_comparison(answer["above"], f"position {answer['position']}{times_of(answer)}")
        return
    out.print(Text.assemble((answer["id"], "bold cyan"), " ", answer["memory"]))
    weight = f"[bold green]{answer['weight']:.4f}[/]"
    if abs(answer["weight"] - answer["unclipped_weight"]) > 1e-6:
        weight += f" (unclipped {answer['unclipped_weight']:.6f})"
    joint = " x " if answer["law"] == "weighted" else ", "
    factors = joint.join(f"{name} {value:.4f}" for name, value in answer["factors"].items())
    out.print(f"weight {weight} under the {answer['law']} law {'=' if joint == ' x ' else 'from'} {factors}")
    others = ", ".join(f"{name} {value:.4f}" for name, value in answer["laws"].items() if name != answer["law"])
    out.print(f"[dim]under the others: {others} (`engramlog compare` draws them)[/]")
    state = "negated" if answer["is_negated"] else "not negated"
    said = f"{answer['mention_count']} statement{'s' if answer['mention_count'] != 1 else ''}"
    status = answer["status"].replace("_", " ")
    out.print(
        f"level {answer['level']}, {status}, {state}, {answer['trust']}, {said}, position {answer['position']}{times_of(answer)}"
    )

    aside(answer.get("aside"))
    conflicts([answer])
    changes(answer["changes"], everything=everything)
    origins(answer["provenance"])


def rank_comparison(answer: RankComparison, at: str, console: Console = out) -> None:
    """Why one memory ranks above another, at a place: the sentence, both memories, and each part of both scores."""
    console.print(Text(answer["sentence"], "bold"))
    console.print(Text(f"{answer['ranking']} ranking, {answer['search_mode']}, {answer['mode']} mode, {at}", "dim"))
    if answer["meaning"] is not None:
        console.print(Text(f"matched by keyword only: {answer['meaning']}", "yellow"))
    reworded(answer.get("expansion"), console)
    sides = (answer["first"], answer["second"])
    columns = (
        ident(),
        words("memory", show=lambda memory: memory or "(nothing is left to show)"),
        figure("rank"),
        figure("score", places=3, style="green"),
        Column("holds", if_room=True),
        Column("lacks"),
    )
    tabulate(columns, sides, console)
    rows: list[Row] = [*answer["terms"]]
    if answer["difference"] is not None:
        whole = {side: answer[side]["score"] for side in ("first", "second")}
        rows.append({"term": Text("score", "bold"), **whole, "difference": answer["difference"]})
    if rows:
        figures = (figure("first", places=6), figure("second", places=6))
        difference = figure("difference", show=partial(number, places=6, sign="+"))
        tabulate((Column("part", "term"), *figures, difference), rows, console)
    for rule in answer["rules"]:
        others = f": {', '.join(rule['others'])}" if rule["others"] else ""
        alone = "_alone" if rule["rule"] == "corrected" and not others else ""
        console.print(Text(f"{rule['of']}: {_RULES[rule['rule'] + alone]}{others}", "yellow"))


def reworded(expansion: QuestionExpansion | None, console: Console) -> None:
    """How else a model put the question, if one was asked."""
    if expansion is not None:
        asked = " | ".join(expansion["terms"]) or expansion["status"]
        console.print(Text(f"reworded by {expansion['model']}: {asked}", "dim"))


_RULES = {
    "current_first": "current memories rank above those that they replaced",
    "corrected": "what it says, or a part of it, was corrected by",
    "corrected_alone": "what it says, or a part of it, holds no longer",
    "for_a_time": "it holds now, in place of what it interrupts or what is over",
    "associated": "associations brought it in",
}


def provenance(answer: Provenance) -> None:
    """Where a memory comes from."""
    origins(answer["provenance"])


IN_A_TREE = 60
"""Characters of an origin's text."""


def origins(told: OriginTree, console: Console = out) -> None:
    """The provenance tree."""
    trees: dict[str, Tree] = {}
    root = None
    for node in told["nodes"]:
        events = ", ".join(f"{e['event']} {e['position']}" for e in node["events"][:6])
        turns = node.get("source_turns") or []
        heard = f"  turns {', '.join(turns[:8])}{' …' if len(turns) > 8 else ''}" if turns else ""
        text = node.get("memory") or ""
        said = f"  {escape(text if len(text) <= IN_A_TREE else text[:IN_A_TREE] + '…')}" if text else ""
        relation = "" if node["relation"] == "root" else node["relation"].replace("_", " ") + " "
        unknown = "  [yellow]unknown here[/]" if node.get("unknown") else ""
        aside = "  [yellow]set aside[/]" if node.get("set_aside") else ""
        erased = "  [yellow]source erased[/]" if node.get("source_erased") else ""
        label = (
            f"{relation}[cyan]{escape(node['id'])}[/]{escape(heard)}  [dim]{events}[/]{unknown}{aside}{erased}{said}"
        )
        if node["parent"] is None:
            root = trees[node["id"]] = Tree(label)
        else:
            trees[node["id"]] = trees[node["parent"]].add(label)
    console.print("[dim]provenance[/]")
    if root is not None:
        console.print(root)


def aside(told: shapes.AsideTold | None, console: Console = out) -> None:
    """By whose setting aside a memory is withheld; nothing where it is not."""
    if told is None:
        return
    named = (("session", told["session"]), ("principal", told["principal"]), ("actor", told["of_actor"]))
    source = ", ".join(f"{name} {value}" for name, value in named if value is not None)
    said = f"{source} is set aside since {instant_text(told['since'], console)} by {_by(told)}"
    console.print(Text(f"{said}: {told['reason']}" if told["reason"] else said, "yellow"), soft_wrap=True)


def _by(told: shapes.AsideTold) -> str:
    """Who set it aside, as far as the log tells."""
    actor, principal = told.get("by_actor"), told.get("by_principal")
    return f"{actor} ({principal})" if principal else actor or "-"


def associated(answer: shapes.AssociationTree) -> None:
    """What a memory is associated with, as a tree."""
    tree = Tree(Text.assemble((answer["id"], "bold cyan"), " ", answer["memory"]))
    _branches(tree, answer["associations"])
    out.print(tree)
    if not answer["associations"]:
        out.print("[dim]no associations in this mode[/]")
    for triple in answer["triples"]:
        no = "not " if triple["negation"] else ""
        out.print(Text(f"backs: {triple['subject']} {no}{triple['predicate']} {triple['object']}", "dim"))


def _branches(tree: Tree, links: list[shapes.Branch]) -> None:
    for link in links:
        boost = f" + {link['boost']:.2f}" if link["boost"] else ""
        told = (f" {link['link']} {link['weight']:.2f} ({link['base']:.2f}{boost})", "green")
        _branches(tree.add(Text.assemble((link["id"], "cyan"), told, f"  {link['memory']}")), link["associations"])


WORDS = 160
"""Characters of an event's words at the most."""
_TOLD_FIRST = ("text", "content", "summary", "correction", "reason", "because", "query", "subject", "keyword", "ground")
_ABOUT = ("memory_id", "into", "turn_id", "profile", "position", "step")


def events(answer: LogEvents) -> None:
    """A page of events."""
    rows(answer["events"], whose=answer["owner"] is None)
    if answer["next"] is not None:
        looked = f"looked at {answer['looked']:,} events up to {answer['looked_to']}; more: --cursor {answer['next']}"
        out.print(f"[dim]{looked}[/]", soft_wrap=True)


def rows(found: Sequence[LoggedEvent], *, whose: bool) -> None:
    """Events as a table; `whose`: with their owners."""
    if not found:
        out.print("[dim]no events[/]")
        return
    columns = [
        Column("position"),
        Column("happened", is_time=True),
        Column("late", style="yellow"),
        ident("owner"),
        Column("type"),
        Column("who", style="dim", if_room=True),
        Column("session", style="dim", if_room=True),
        Column("about", is_id=True, if_room=True),
        words("words"),
    ]
    late = any(one["late_by"] is not None for one in found)
    left_out = {*(() if whose else ("owner",)), *(() if late else ("late",))}
    tabulate([column for column in columns if column.name not in left_out], [_row(one) for one in found])


def line(event: LoggedEvent, *, whose: bool) -> Text:
    """An event that came just now, in one line."""
    cells = _row(event)
    names = ("position", "happened", *(("owner",) if whose else ()), "late", "type", "who", "session", "about", "words")
    told = (str(cells[name]) for name in names)
    return Text("  ".join(one for one in told if one and one != "-"))


def waiting(answer: LogEvents) -> None:
    """That more is waited for, where people look on."""
    if err.is_terminal:
        err.print(f"[dim]following from {answer['head']}, times are UTC; Ctrl-C ends[/]")


def _row(event: LoggedEvent) -> dict[str, Cell]:
    data = event["data"] or {}
    who = "/".join(one for one in (event["actor"], event["principal"], event["model"]) if one)
    about = next((str(data[name]) for name in _ABOUT if data.get(name)), "-")
    return {
        "position": event["position"],
        "happened": Text("-") if event["occurred_at"] is None else when(event["occurred_at"], out),
        "late": "-" if event["late_by"] is None else late_words(event["late_by"]),
        "owner": Text(event["owner"]),
        "type": Text(event["type"], "" if event["folded"] is not False else "yellow"),
        "who": Text(who or "-"),
        "session": Text(event["session_id"] or "-"),
        "about": Text(about),
        "words": Text(_words(event, data)),
    }


def _words(event: LoggedEvent, data: Mapping[str, Any]) -> str:
    if event["problem"] is not None:
        return f"[undecodable, {event['bytes']:,} bytes: {event['problem']}]"
    told = [data[name] for name in _TOLD_FIRST if isinstance(data.get(name), str) and data[name].strip()]
    first = " ".join(told[0].split()) if told else ""
    waits = "" if event["folded"] is not False else "(not folded) "
    return waits + (first if len(first) <= WORDS else f"{first[: WORDS - 1]}…")
