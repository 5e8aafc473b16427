"""Any answer for people: where it stands, its figures in lines, its parts under their names, and its lists as tables.

A renderer of its own is worth its lines only if it says more than this: `why`, `context`, `search`, `diff`, `history`, and the
bars of `health`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from engramlog_server.api.cli.app import out
from engramlog_server.api.cli.show.memories import changes, part_of, times_of, withheld
from engramlog_server.api.cli.show.tables import Column, Row, number, tabulate
from engramlog_server.events.trust import ASSERTED

UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")
OF_THE_FRAME = frozenset({"behind", "quarantined", "log_gap", "next"})
"""What the command line prints with every answer, and what comes last."""
OF_THE_HEAD = frozenset(
    {"owner", "position", "mode", "total", "offset", "limit", "most", "as_of", "known", "known_by"}
)  # fmt: skip
"""Where an answer stands, in one line above it."""
IF_ANY = frozenset(
    {
        "dry_run", "left_out", "withheld", "weaker", "truncated", "appended", "requests", "input_tokens", "output_tokens",
        "left_open", "held_back", "by_model", "refused", "down", "again", "read", "negation", "late", "taken", "alone",
        "checkpoint_age", "stays_total", "folded_together", "masked", "lost", "unfolded_bytes", "struck_total", "undoes_total",
        "remains_total", "owners_quarantined", "owners_behind", "untouched", "left",
        "recorded_twice", "injections_left_out", "outcomes_left_out",
    }
)  # fmt: skip
"""Figures and marks that are printed if they are more than nothing."""
NOTES = ("done", "message", "suggestions", "hint", "warning", "note", "remarks", "failure", "problem")
"""Sentences of an answer, each on a line of its own."""
COLUMNS: Mapping[str, str] = {
    "alarms": "name subject first count text meaning",
    "also": "id reason",
    "answers": "id session injected_at principal memories turn replies",
    "asked": "review id due_at",
    "clusters": "id label",
    "conflicting": "id other reason",
    "conflicts": "line conversation message turn_id memory_id event_id position",
    "decisions": "owner action ids due_at reason",
    "differences": "id memory today then replayed fields",
    "duplicates": "line memory_id first_line",
    "episodes": "at content",
    "evidence": "id snippet confidence relevance",
    "failed": "line conversation message owner id event_id status error message",
    "facts": "subject negation predicate object degree condition asserted_at evidence",
    "injected_memories": "rank id part closeness memory withheld status since",
    "items": "item kind actor at memory would_say",
    "ended": "id memory",
    "events": "position time recorded_at decision weights.* principal key by event reason",
    "kinds": "kind what every_minutes last_done failed next_tick last_tick waiting_since seconds queued running",
    "keys": "principal key_id state issued_at ends grants",
    "laws": "name formula thresholds factors",
    "left_alone": "id reason",
    "memories": "id memory laws.* spread importance due_at days_overdue interval_days scheduler",
    "nodes": "cluster id label weight kind name slots partitions used_bytes fsynced replicas problem",
    "not_restored": "id reason",
    "not_undone": "kind events first why",
    "partitions": "partition head checkpoint lag quarantined checkpoint_age memories holder epoch build state"
    " heads last_agreed read_to appended behind",
    "outcomes": "memory outcome actor principal linked_by at",
    "parameters": "name default allowed help",
    "principals": "principal keys grants",
    "silenced": "word synonym",
    "skipped": "id reason",
    "sources": "by name events memories late set_aside last_happened session principal of_actor reason at",
    "statements": "operation category content turn_id reason",
    "unreadable": "conversation id message reason why",
    "uses": "turn_id session injected_at turn replies",
    "stays": "memory because of",
    "struck": "position event memory because of",
    "undoes": "event memory",
}
"""Fields of a list that a table has, in order; of a list that is not named here all of them."""
ONLY_COUNTED = frozenset({"edges", "times"})
"""Lists of which people read how many there are."""
NEVER = frozenset(
    {
        "unknown_code",
        "event_id",
        "reason_code",
        "reason_values",
        "digest",
        "content_hash",
        "done_code",
        "restorable_until",
    }
)
"""Fields that only programs read."""
NEXT: Mapping[str, str] = {
    "items": "`engramlog inbox OWNER ITEM --accept`, `--reject` or a TEXT answers one",
    "still_said_in": "--with-sources deletes these turns too",
    "waiting": "`engramlog inbox OWNER` lists what waits for a person",
    "rejected": "said again, these values become no memory; `engramlog delete --undo` brings them back",
    "parameters": "`engramlog profile OWNER --set NAME=VALUE` sets one; `engramlog parameters --all` lists every one",
}
"""What to do about a part of an answer."""
COUNTED = {"value", "count"}
TOLD_IF_NONE: Mapping[str, str] = {
    "leader": "none: nothing is scheduled",
    "workers": "none",
    "parameters": "all at their defaults",
}
"""What is missed if there is none."""
SETTABLE = frozenset({"value", "default"})
"""Of a parameter: as `--set` takes it."""
LONGEST_WORD = 30
"""Characters of a value that is wrapped and never cut if it is longer."""
MOST_AN_EVENT = 20_000
"""Bytes that an event can take; beyond it a figure is what the empty store takes, and says nothing of events."""
MOST_FIGURES = 12
"""Of a list of numbers, in a line."""
SIDES = frozenset({"today", "then", "replayed"})
"""How a memory stands on each side of a replay; None where it is not there."""
MOST_ROWS = 200
"""Of a table; --json has all."""
IDS = frozenset({"id", "ids", "memory_id", "owner", "turn_id", "item", "from", "to", "of"})
TEXTS = frozenset(
    {"memory", "text", "content", "reason", "problem", "error", "help", "formula", "withheld", "unknown", "basis",
     "snippet", "would_say", "turn", "replies", "evidence", "grants", "first", "meaning"}
)  # fmt: skip
INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d[^ ]*")


def answer(told: Row, console: Console = out) -> None:
    """Print an answer: where it stands, what has one value, then its parts, and its lists as tables."""
    counted = _head(told, console)
    parts = {name: value for name, value in told.items() if not _is_shown_elsewhere(name, value)}
    if times_of(told):
        parts = {name: _of_then(value) for name, value in parts.items()}
    if "position" in told and isinstance(told.get("at"), str):
        del parts["at"]
    if told.get("content") == told.get("memory"):
        parts.pop("content", None)
    for name in NOTES:
        value = told.get(name)
        for note in value if isinstance(value, list) else [value]:
            if note and isinstance(note, str):
                console.print(Text(note, "yellow"))
                parts.pop(name, None)
    part(parts, console, counted)
    if counted is None and not parts.get("changes"):
        _none(parts, console)
    if isinstance(hidden := told.get("withheld"), list):
        ids = [
            one for one in hidden if isinstance(one, str)
        ]  # of what an answer withholds by itself, whatever the mode
        if ids:
            console.print(Text(f"withheld: {', '.join(ids)}", "dim"), soft_wrap=True)
        else:
            withheld(hidden, console)
    if (following := told.get("next")) is not None:
        console.print(Text(f"more: --{'after' if 'owners' in told else 'cursor'} {following}", "dim"), soft_wrap=True)


def _of_then(value: Any) -> Any:
    """The list with its field `today` named `then`: the answer is about the past."""
    if not isinstance(value, list) or not any(isinstance(one, Mapping) and "today" in one for one in value):
        return value
    return [{"then" if name == "today" else name: one[name] for name in one} for one in value]


def _head(told: Row, console: Console) -> str | None:
    """Print where an answer stands; returns the list whose members it counts."""
    rows = _counted(told) if "total" in told else None
    parts = [part for part in (told.get("owner"), told.get("mode") and f"{told['mode']} mode") if isinstance(part, str)]
    if rows is not None:
        page = part_of(told.get("offset") or 0, len(told[rows]), told["total"])
        name = _words(rows).replace("ies", "y").removesuffix("s") if told["total"] == 1 else _words(rows)
        parts.insert(0, f"{page}{told['total']:,} {name}")
    if told.get("position"):
        parts.append(
            f"position {told['position']}{times_of(told) if isinstance(told.get('known'), str | None) else ''}"
        )
    if parts:
        console.print(Text(", ".join(parts), "dim"))
    if told.get("dry_run") is True:
        console.print("[yellow]A dry run: nothing was written.[/]")
    if (taken := told.get("taken") or 0) and taken >= told["most"]:
        console.print(f"[yellow]Full: {taken:,} of {told['most']:,} places are taken; further items are ignored[/]")
    if "changes" in told and "quarantined" in told:
        would = "It would be written, and not" if told.get("dry_run") else "Written, but not"
        console.print(f"[yellow]{would} folded yet.[/]")
    return rows


def _counted(told: Row) -> str | None:
    """The list of an answer that has pages."""
    lists = [
        name
        for name, value in told.items()
        if isinstance(value, list) and not any(isinstance(one, str) for one in value)
    ]
    return next((name for name in ("memories", "differences") if name in lists), lists[0] if lists else None)


def _is_shown_elsewhere(name: str, value: Any) -> bool:
    """Whether a field is printed by the frame or the head, or says nothing."""
    if name in OF_THE_FRAME and not isinstance(value, list):
        return True
    if name in OF_THE_HEAD and not isinstance(value, list | Mapping):
        return True
    return (name in IF_ANY and not value) or name == "dry_run" or (name == "withheld" and isinstance(value, list))


def _has_sides(part: Row) -> bool:
    """Whether an answer has the same fields before and after."""
    before, after = part.get("before"), part.get("after")
    return isinstance(before, Mapping) and isinstance(after, Mapping) and before.keys() == after.keys()


def _sides(part: Row, console: Console) -> None:
    """Print the fields before and after as one table."""
    before, after = part["before"], part["after"]
    sides = [(name, value_text(name, before[name]), value_text(name, after[name])) for name in before]
    rows = [
        {"": _words(name), "before": first, "after": Text(second, "" if first == second else "bold green")}
        for name, first, second in sides
    ]
    tabulate((Column("", style="dim"), Column("before", right=True), Column("after", right=True)), rows, console)


def part(part: Row, console: Console, counted: str | None = None) -> None:
    """Print the lines of a part, then its own parts and lists; `counted`: the list that a head has named."""
    apart = {"before", "after", "changes"} if _has_sides(part) else {"changes"}
    lines = {
        name: value for name, value in part.items() if (_is_line(value) or name in ONLY_COUNTED) and name not in apart
    }
    _lines(lines, console)
    if "before" in apart:
        _sides(part, console)
    for name, value in part.items():
        if name == "changes":
            _changes(part, console)
        elif name not in lines and name not in apart:
            if name != counted:
                console.print(Text(_words(name), "bold"))
            _below(name, value, console)
        if value and name in NEXT:
            console.print(Text(NEXT[name], "dim"))


def _none(parts: Row, console: Console) -> None:
    """Say what there is none of, if all lists of an answer are empty."""
    lists = [name for name, value in parts.items() if isinstance(value, list) and name != "changes"]
    if lists and not any(parts[name] for name in lists):
        named = next((name for name in lists if name in COLUMNS), lists[0])
        console.print(f"[green]{_words(named)}: none[/]")


def _changes(part: Row, console: Console) -> None:
    """The entries of the change log that a call made, and plainly so if it changed nothing."""
    rows = [one for one in part["changes"] if one["decision"] != "named"]
    unchanged = rows if all(one["decision"] == "ignored" for one in rows) else []
    if unchanged or (not rows and part.get("skipped")):
        console.print(Text.assemble(("Nothing changed: ", "yellow"), (unchanged or part["skipped"])[0]["reason"]))
    elif rows:
        changes(rows, console)
    if any(one["decision"] == "wait" for one in rows):
        console.print(Text.assemble(("Waits for a person: ", "yellow"), NEXT["waiting"]))


def _below(name: str, value: Any, console: Console) -> None:
    if isinstance(value, Mapping):
        rows = [{"": key, **row} for key, row in value.items() if isinstance(row, Mapping)]
        _table("", rows, console) if len(rows) == len(value) else part(value, console)
    elif name == "questions":
        from engramlog_server.api.cli.show.reports import question_moved

        for question in value:
            question_moved(question, console)
    else:
        _table(name, value, console)


def _is_line(value: Any) -> bool:
    """Whether a value fits into a line: counts do, and a few single values; a list of objects does not."""
    if _counts(value) is not None:
        return True
    if isinstance(value, Mapping):
        return value.keys() == {"total", "ids"} or (
            len(value) < 4 and all(not isinstance(one, Mapping | list) for one in value.values())
        )
    return not isinstance(value, list) or not any(isinstance(one, Mapping) for one in value)


def _counts(value: Any) -> dict[str, int] | None:
    """Counts by name, of a mapping or of a list of values or reasons with a count each; None of anything else."""
    if isinstance(value, Mapping) and value.keys() == {"counts", "left_out"}:
        found = _counts(value["counts"])
        return None if found is None else found | {"others": value["left_out"]}
    if isinstance(value, list) and value and all(isinstance(one, Mapping) and one.keys() == COUNTED for one in value):
        return {str(one["value"]): one["count"] for one in value}
    if (
        isinstance(value, list)
        and value
        and all(isinstance(one, Mapping) and {"reason", "count"} <= one.keys() for one in value)
    ):
        return {str(one["reason"]): one["count"] for one in value}
    if isinstance(value, Mapping) and value and all(type(one) is int for one in value.values()):
        return dict(value)
    return None


def _lines(values: Row, console: Console) -> None:
    told = {name: value_text(name, value) for name, value in values.items()}
    if told.get("bytes_an_event") == "-":
        told.pop("events_until_full", None)
    told = {name: TOLD_IF_NONE.get(name, "-") if text == "-" else text for name, text in told.items()}
    told = {name: text for name, text in told.items() if text != "-"}
    if not told:
        return
    told = {
        name: f"{len(values[name]):,}" if name in ONLY_COUNTED else text
        for name, text in told.items()
        if name not in NEVER
    }
    table = Table(show_header=False, box=None, padding=(0, 1))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, text in told.items():
        table.add_row(_words(name), Text(text))
    console.print(table)


def _table(name: str, rows: Sequence[Row], console: Console) -> None:
    if name == "differences":  # a side that lacks a memory is no field without a value
        rows = [{one: "not there" if one in SIDES and row[one] is None else row[one] for one in row} for row in rows]
    every = dict.fromkeys(one for row in rows for one in row if one not in NEVER)
    names = [one for path in COLUMNS.get(name, "").split() or every for one in _each(path, rows)]
    cells = [{name: _field(row, name) for name in names} for row in rows]
    used = [name for name in names if any(row[name] not in (None, [], {}, "") for row in cells)]
    used = [name for name in used if name not in IF_ANY or any(row[name] for row in cells)]
    if not used:
        return
    columns = [_column(name, cells, number) for number, name in enumerate(used)]
    tabulate(
        columns, [{name.replace(".", " "): value for name, value in row.items()} for row in cells[:MOST_ROWS]], console
    )
    if len(rows) > MOST_ROWS:
        console.print(Text(f"and {len(rows) - MOST_ROWS:,} more; --json has all", "dim"))


def _each(path: str, rows: Sequence[Row]) -> list[str]:
    """The path, or with `.*` at its end one for each field that is there."""
    parent, star, _ = path.partition(".*")
    return list(dict.fromkeys(f"{parent}.{name}" for row in rows for name in row.get(parent) or ())) if star else [path]


def _field(row: Row, path: str) -> Any:
    """A field of a row by its path with dots; None if the row has none."""
    value: Any = row
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value[0] if path == "ids" and isinstance(value, list) and len(value) == 1 else value


def _column(path: str, rows: Sequence[Row], number: int) -> Column:
    """How a field is shown, by its name and what it holds; a narrow terminal does without what comes after the sixth."""
    values, name, key = (
        [row[path] for row in rows if row[path] is not None],
        path.rpartition(".")[2],
        path.replace(".", " "),
    )
    figures = bool(values) and all(isinstance(one, int | float) and not isinstance(one, bool) for one in values)
    if not figures and values and all(_is_instant(one) for one in values):
        return Column(_words(path.removesuffix("_at")), key, is_time=True, style="dim", if_room=number >= 6)
    is_text = name in TEXTS or any(len(value_text(name, one)) > LONGEST_WORD for one in values if not figures)
    heading = path.rpartition(".")[2] if path.startswith(("laws.", "weights.")) else key
    return Column(
        _words(heading),
        key,
        lambda value: value_text(name, value),
        right=figures,
        takes_rest=is_text and name not in IDS,
        if_room=number >= 6 and not is_text and heading == key,
        is_id=name in IDS,
    )


def _is_instant(value: Any) -> bool:
    return isinstance(value, str) and INSTANT.fullmatch(value) is not None


def value_text(name: str, value: Any) -> str:
    """A value in words: sizes with their unit, instants to the minute, counts with commas, nothing as a dash."""
    if (counts := _counts(value)) is not None:
        return ", ".join(f"{_words(key)} {value_text(key, many)}" for key, many in counts.items() if many) or "-"
    if isinstance(value, Mapping):
        return _mapping(value)
    if isinstance(value, list | tuple):
        return _several(name, value)
    if isinstance(value, str):
        return f"{value[:16].replace('T', ' ')} UTC" if _is_instant(value) else value or "-"
    return "-" if value is None else _figure(name, value)


def in_words(grant: Row) -> str:
    """A grant in a line: what, of whom, and what is not as it is unless told."""
    parts = [f"{', '.join(grant['verbs'])} of {', '.join(grant['owners'])}"]
    if grant["modes"] != ["normal"]:
        parts.append(f"by {', '.join(grant['modes'])}")
    if grant["sensitivity"] != 2:
        parts.append(f"up to sensitivity {grant['sensitivity']}")
    parts.append(f"as {', '.join(grant['actors']) or 'nobody'}, {grant['trust']} at most")
    return "; ".join(parts)


def _mapping(value: Row) -> str:
    """A memory, a turn or a grant by its words, a figure before and after, else all fields by name."""
    if {"weight", "shown"} <= value.keys():
        standing = (value[name] for name in ("level", "status", "reason") if value.get(name))
        return " ".join((number(value["weight"], 3), *standing, *(("shown",) if value["shown"] else ())))
    if value.keys() == {"before", "after"}:
        before, after = (number(value[side], 3) for side in ("before", "after"))
        return after if before == after else f"{before} > {after}"
    if (words := _in_words(value)) is not None:
        return words
    told = {key: value_text(key, one) for key, one in value.items() if key not in NEVER}
    return ", ".join(f"{_words(key)} {text}" for key, text in told.items() if text != "-") or "-"


def _in_words(value: Row) -> str | None:
    """A memory, a turn or a grant; a dash for a list of none; None for anything else."""
    if {"id", "memory"} <= value.keys():
        trust = value.get("trust", ASSERTED)
        return f"{value['id']}{'' if trust == ASSERTED else f' ({trust})'}: {value['memory']}"
    if {"text", "role"} <= value.keys():
        return str(value["text"])
    if {"verbs", "owners", "trust"} <= value.keys():
        return in_words(value)
    if {"total", "ids"} == value.keys():
        more = ", ..." if value["total"] > len(value["ids"]) else ""
        return f"{value['total']:,} ({', '.join(value['ids'])}{more})" if value["total"] else "-"
    return None


def _several(name: str, values: Sequence[Any]) -> str:
    if len(values) > MOST_FIGURES and all(isinstance(one, int | float) for one in values):
        return f"{len(values):,} figures"
    if len(values) > MOST_FIGURES and isinstance(values[0], str):
        return f"{', '.join(values[:MOST_FIGURES])} and {len(values) - MOST_FIGURES:,} more"
    mark = "; " if any(isinstance(one, Mapping) for one in values) else ", "
    return mark.join(value_text(name, one) for one in values) or "-"


def _figure(name: str, value: float) -> str:
    if isinstance(value, bool):
        return str(value).lower() if name in SETTABLE else "yes" if value else "no"
    if name.endswith("bytes"):
        return size(value)
    if name == "bytes_an_event" and value > MOST_AN_EVENT:
        return "-"
    if name.endswith("share"):
        return f"{value:.1%}"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}" if abs(value) < 1_000 else f"{value:,.0f}"


def size(count: float) -> str:
    """Bytes in a unit that is read at a glance."""
    value, unit = float(count), 0
    while value >= 1_024 and unit < len(UNITS) - 1:
        value, unit = value / 1_024, unit + 1
    return f"{value:,.1f} {UNITS[unit]}" if unit else f"{count:,.0f} bytes"


def _words(name: str) -> str:
    return name.replace("_", " ").replace(".", " ")
