"""An answer of `engramlog bench` as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.markup import escape
from rich.table import Table

from api.cli.app import out
from ops.bench.costs.erased import IDS

Rows = dict[str, Any]
_COSTS = {
    "client_us": "client",
    "append_client_us": "append",
    "client_without_rules_us": "no rules",
    "server_us": "Redis",
    "append_server_us": "append",
    "aof_bytes": "file",
    "aof_to_body": "to body",
    "limit_client_us": "limit",
    "limit_server_us": "Redis",
    "ratio": "by CPU",
    "ratio_clock": "by clock",
}
_AUDIT = {
    "what": "question",
    "texts": "texts",
    "events": "events",
    "cpu_milliseconds": "CPU, ms",
    "of_one_fold": "of one fold",
}
_CONSOLE = {
    "what": "question",
    "limit": "against",
    "texts": "texts",
    "ratio": "by CPU",
    "cpu_milliseconds": "CPU, ms",
    "redis_milliseconds": "Redis, ms",
    "limit_cpu_milliseconds": "limit, ms",
    "limit_redis_milliseconds": "Redis, ms",
}
_MEANING = {
    "model": "model",
    "texts": "texts",
    "memories": "memories",
    "whole_ms": "p50",
    "whole_p95_ms": "p95",
    "whole_cpu_ms": "CPU",
    "words_cpu_ms": "words",
    "embed_cpu_ms": "embed",
    "product_cpu_ms": "product",
    "match_cpu_ms": "match",
    "telling_cpu_ms": "telling",
    "ratio": "to parts",
}
_RULES = {"letters": "letters", "rules_us": "rules, us", "level_us": "level, us", "statements_us": "statements, us"}


def render(answer: Rows) -> None:
    """Print what was measured."""
    out.print(f"[dim]{answer['machine']}, load {answer['load'][0]}[/]")
    _render_ratios(answer)
    what = {"texts": "texts", "at_a_time": "live", "owners": "owners", "workers": "workers"}
    told = "microseconds of CPU and bytes of the append-only file; the share of the limit by CPU, client and Redis, and by clock"
    _render_rows(f"folding an event: {told}", answer.get("fold_costs", ()), what | _COSTS)
    what = {"texts": "texts", "way": "from", "at_a_time": "sent"}
    _render_rows(f"appending an event: {told}", answer.get("append_costs", ()), what | _COSTS)
    _render_rows(
        f"rebuilding an event: {told}", answer.get("rebuild_costs", ()), {"texts": "texts", "owners": "owners"} | _COSTS
    )
    for row in answer.get("capacity", ()):
        colour = "green" if row["events_a_second"] >= (row["at_least"] or 0) else "red"
        told = f"{row['texts']}, {row['owners']:,} owners: {row['how']}"
        out.print(f"[{colour}]{row['events_a_second']:,}[/] events a second could one Redis take by its CPU, {told}")
    if held := answer.get("held"):
        few, many = (f"{number:,}" for number in held["owners"])
        colour = "green" if held["times"] <= held["at_most"] else "red"
        told = f"one event live costs the client with {many} owners in memory as with {few} (at most {held['at_most']})"
        out.print(f"[{colour}]{held['times']}[/] times: {told}")
    _render_rows("the door's rules, a text", answer.get("rules", ()), {"texts": "texts"} | _RULES)
    _render_rows("an auditor's questions beside one fold of the owner's log", answer.get("audit", ()), _AUDIT)
    console = answer.get("console", {})
    _render_rows("what the console asks, over HTTP; the limit's CPU to ours", console.get("rows", ()), _CONSOLE)
    _render_goals(console.get("goals", ()))
    for told in answer.get("peers", ()):
        _render_peers(told)
    _render_search(answer.get("search", {}))
    for row in answer.get("search_large", ()):
        p50 = ", ".join(f"{mode} {row[f'{mode}_ms']['p50']} ms" for mode in ("review", "normal"))
        told = f"loaded in {row['load_s']} s, {row['most_mib']:,} MiB at its most; p50 {p50}"
        out.print(f"{row['memories']:,} memories of one owner: {told}", soft_wrap=True)
    for row in answer.get("meaning", ()):
        if "left_out" in row:
            out.print(f"[yellow]{row['model']} is left out: {escape(row['left_out'])}[/]", soft_wrap=True)
    told = "a question with meaning, ms by the clock and of CPU, and its CPU over that of its parts"
    _render_rows(told, [row for row in answer.get("meaning", ()) if "left_out" not in row], _MEANING)
    _render_living(answer.get("living", ()))
    _render_door(answer.get("door", ()))
    _render_sealing(answer.get("sealing"))
    _render_erasing(answer.get("erasing", {}))
    _render_rows(
        "backups: CPU of client and Redis, and how many times that of what it is against; appending by the clock",
        answer.get("backup", ()),
        BACKUPS,
    )
    for name in ("space", "past"):
        for field, value in answer.get(name, {}).items():
            out.print(f"{name}  {field.replace('_', ' ')}: {value}")
    if history := answer.get("history"):
        out.print(f"[dim]{history['compared']}[/]")
        for line in history["told"]:
            out.print(f"[{'red' if line.startswith('worse') else 'green'}]{line}[/]", soft_wrap=True)
    if recorded := answer.get("recorded"):
        out.print(f"{recorded['figures']} figures added to {recorded['file']}", soft_wrap=True)
    for part, share in answer.get("profile", {}).get("shares", {}).items():
        out.print(f"profile  {part}: {share:.1%}")


def _render_sealing(told: Rows | None) -> None:
    if told is None:
        return
    title = "sealing: CPU of client and Redis, and how many times that of an open store a sealed one takes"
    _render_rows(title, told["costs"], SEALING)
    for row in told["bytes"]:
        out.print(f"sealing  bytes an event, {row['texts']}: open {row['open']}, sealed {row['sealed']}")


SEALING = {
    "what": "what",
    "texts": "texts",
    "unit": "each",
    "open_us": "open us",
    "sealed_us": "sealed us",
    "cost": "times",
    "cost_min": "from",
    "cost_max": "to",
}


def _render_erasing(told: Rows) -> None:
    cpu = "CPU of client and Redis, and how many times that of what it is against"
    for part, title in (
        ("erasing", f"erasing in one partition, no files written anew: {cpu}"),
        ("files", "having Redis write its file anew, by the clock, and how many times a rebuild takes"),
        ("appending", f"appending where {IDS:,} ids of each partition are erased: {cpu}"),
        ("reading", f"a log of which some entries have no words any more: {cpu}"),
    ):
        _render_rows(title, told.get(part, ()), ERASING)


BACKUPS = {
    "what": "what",
    "against": "against",
    "texts": "texts",
    "sealed": "sealed",
    "entries": "entries",
    "cpu_ms": "ms",
    "clock_ms": "clock, ms",
    "clock_us": "clock, us",
    "against_cpu_ms": "against, ms",
    "against_clock_us": "against, us",
    "bytes_each": "bytes each",
    "times": "times",
    "times_min": "from",
    "times_max": "to",
}


ERASING = {
    "what": "what",
    "against": "against",
    "texts": "texts",
    "entries": "entries",
    "erased_of": "erased of",
    "wordless": "wordless",
    "cpu_ms": "ms",
    "cpu_us": "us each",
    "clock_ms": "clock, ms",
    "rebuild_clock_ms": "rebuild, ms",
    "against_cpu_ms": "against, ms",
    "against_cpu_us": "against, us",
    "times": "times",
    "times_min": "from",
    "times_max": "to",
}


def _render_ratios(answer: Rows) -> None:
    table = Table(title="ratios: our speed as a share of the limit's", title_justify="left", title_style="dim")
    for name in ("what", "against", "ratio", "from - to", "at least", "us each"):
        table.add_column(name, justify="left" if name in ("what", "against") else "right")
    for name in ("append", "fold", "rebuild", "jobs", "extract"):
        for row in answer.get(name, ()):
            spread = f"{row['ratio_min']} - {row['ratio_max']}"
            each = f"{row['microseconds_each']}"
            least = row["at_least"]
            table.add_row(row["what"], row["limit"], _ratio(row), spread, "-" if least is None else str(least), each)
    if table.row_count:
        out.print(table)


def _ratio(row: Rows) -> str:
    """Green where it is what was asked for, or nothing was."""
    least = row.get("at_least")
    reached = least is None or row["ratio"] >= least
    return f"[{'green' if reached else 'red'}]{row['ratio']}[/]"


def _render_rows(title: str, rows: Sequence[Rows], columns: Mapping[str, str]) -> None:
    if not rows:
        return
    table = Table(title=title, title_justify="left", title_style="dim")
    shown = [field for field in columns if any(field in row for row in rows)]
    for field in shown:
        table.add_column(columns[field], justify="right" if isinstance(rows[0].get(field), int | float) else "left")
    for row in rows:
        told = [_ratio(row) if field == "ratio" else _told(row.get(field)) for field in shown]
        table.add_row(*told)
    out.print(table)


def _told(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _render_peers(told: Rows) -> None:
    title = (
        f"peers: {told['count']:,} texts of {told['texts']}, {told['bytes']:,} bytes each, {told['at_a_time']} at a time;"
        f" microseconds of CPU; counting words in place of an embedder took {told['embedder_us']} of a text's"
    )
    table = Table(title=title, title_justify="left", title_style="dim")
    for name in ("who", "adding a text", "of it Redis", "finding", "first", "found", "bytes a text"):
        table.add_column(name, justify="left" if name == "who" else "right")
    for row in told["rows"]:
        if "left_out" not in row:
            took = (row["add_us"], row["add_server_us"] or "-", row["find_us"], row["first_find_us"])
            table.add_row(
                f"{row['name']} {row['version']}",
                *map(str, took),
                f"{row['found']:.0%}",
                f"{row['bytes_each']:,}" if row["bytes_each"] else "-",
            )
    out.print(table)
    for row in told["rows"]:
        why = (
            f"[yellow]left out[/]: {row['left_out']}" if "left_out" in row else f"{row['does']}; bytes of {row['kept']}"
        )
        out.print(f"{row['name']}: {why}", soft_wrap=True)


def _render_door(rows: Any) -> None:
    for row in rows:
        colour = "green" if row["holds"] else "red"
        out.print(f"[{colour}]{row['found']}[/]  {row['scene']}: {row['what']} (at most {row['at_most']})")


def _render_living(rows: Any) -> None:
    if not rows:
        return
    table = Table(title="a large owner's life", title_justify="left", title_style="dim")
    table.add_column("memories")
    for row in rows:
        table.add_column(f"{row['memories']:,}", justify="right")
    for name in (field for field in rows[0] if field not in ("memories", "within")):
        words, _, unit = name.rpartition("_")
        table.add_row(f"{words.replace('_', ' ')}, {unit}", *(str(row[name]) for row in rows))
    out.print(table)


def _render_search(told: Rows) -> None:
    if not told:
        return
    table = Table(title="search, milliseconds p50 / p95", title_justify="left", title_style="dim")
    names = ("memories", "texts", "events/s", "whole", "first", "text", "weights", "round trip", "parts")
    for name in (*names, "p50, p95 to parts"):
        table.add_column(name, justify="right")
    for row in told["rows"]:
        spreads = [row[f"{name.replace(' ', '_')}_ms"] for name in names[3:]]
        spread = [f"{one['p50']} / {one['p95']}" for one in spreads]
        ratios = f"{row['p50_to_parts']} / {row['p95_to_parts']}"
        table.add_row(f"{row['memories']:,}", row["texts"], f"{row['events_a_second']:,}", *spread, ratios)
    out.print(table)
    _render_goals(told["goals"])


def _render_goals(goals: Sequence[Rows]) -> None:
    for goal in goals:
        colour = "green" if goal["holds"] else "red"
        out.print(f"[{colour}]{goal['found']}[/]  {goal['what']} (at most {goal['at_most']})")
