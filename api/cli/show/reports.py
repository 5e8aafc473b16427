"""What changed between two moments, the context block, and an answer with the blocks of its prompt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from engramlog_server.api.cli.app import err, out
from engramlog_server.api.cli.show import generic
from engramlog_server.api.cli.show.memories import instant_text, part_of, times_of
from engramlog_server.api.cli.show.tables import (
    Cell,
    Column,
    figure,
    has_room,
    ident,
    number,
    plain,
    shortened,
    tabulate,
    when,
    words,
)
from engramlog_server.events.text import late_words, many
from engramlog_server.projections.shapes import (
    AnsweredInFull,
    ContextBlock,
    Diff,
    EventCause,
    Injected,
    MemoryDiffers,
    QuestionMoved,
    RankMoved,
    SideStanding,
)

COLOURS = {"made": "green", "gone": "red", "changed": "yellow", "crossed": "cyan", "weight": "dim"}
WORDS = {
    "made": "made",
    "gone": "gone",
    "changed": "changed",
    "crossed": "crossed a threshold, a level or a rank",
    "weight": "moved in weight alone",
}
SHOWN_CAUSES = 3
"""Of a memory in a table."""


def differences(answer: Diff, console: Console = out) -> None:
    """All of an answer that people read."""
    _sides(answer, console)
    _counts(answer, console)
    _owner(answer, console)
    shown = answer["memories"]
    if not shown:
        console.print("[dim]no memory differs[/]" if not answer["total"] else "[dim]nothing is left of this page[/]")
    for kind, said in WORDS.items():
        rows = [one for one in shown if one["kind"] == kind]
        if rows:
            console.print(Text(f"\n{said}", f"bold {COLOURS[kind]}"))
            _table(rows, console)
    if part := part_of(answer["offset"], len(shown), answer["total"]):
        console.print(f"[dim]{part}{answer['total']:,}; --offset and --limit show others[/]")
    for question in answer["questions"]:
        question_moved(question, console)
    if answer["by_principal"]:
        told = ", ".join(
            f"{one['principal'] or 'nobody is noted'} ({one['actor'] or '?'}) {one['events']:,}"
            for one in answer["by_principal"][:10]
        )
        console.print(Text(f"\nevents, by whom: {told}", "dim"))
    if answer["hint"]:
        console.print(Text(answer["hint"], "yellow"))


def _sides(answer: Diff, console: Console) -> None:
    line = "as was known then" if answer["line"] == "known" else "as had happened, by what is known"
    before, after = answer["before"], answer["after"]
    told = [
        f"{one['asked'] or 'now'} ({many(one['events'], 'event')}, weights at {instant_text(one['instant'], console)})"
        for one in (before, after)
    ]
    where = f"{line}; {answer['mode']} mode, position {answer['position']}{times_of(answer)}"
    console.print(Text(f"{answer['owner']}: {told[0]} to {told[1]}", "bold"))
    console.print(Text(where, "dim"))


def _counts(answer: Diff, console: Console) -> None:
    counts = answer["counts"]
    told = f"{counts['made']:,} made, {counts['gone']:,} gone, {counts['changed']:,} changed, {counts['crossed']:,} crossed"
    names = ("time", "being shown", "the owner's settings", "other memories")
    moved = zip(names, (counts["by_time"], counts["by_access"], counts["by_owner"], counts["by_others"]), strict=True)
    alone = ", ".join(f"{count:,} by {name}" for name, count in moved if count)
    more = "" if any(one["kind"] == "weight" for one in answer["memories"]) else " (--everything lists them)"
    console.print(Text(told + (f"; weight alone moved: {alone}{more}" if alone else "")))


def _owner(answer: Diff, console: Console) -> None:
    changed = answer["owner_changes"]
    if changed["profile"] is not None:
        told = changed["profile"]
        console.print(Text(f"law: {told['before']} to {told['after']}", "yellow"))
    for name, told in changed["parameters"].items():
        console.print(Text(f"{name}: {plain(told['before'])} to {plain(told['after'])}", "yellow"))
    for cause in changed["causes"]:
        console.print(Text.assemble(("of the owner: ", "yellow"), _cause(cause, console)))
    if changed["more_causes"]:
        console.print(f"[dim]and {changed['more_causes']:,} more events about the owner[/]")


def _table(rows: list[MemoryDiffers], console: Console) -> None:
    what = (Column("what"),) if has_room(console) else ()  # where there is no room it stands under the memory's text
    columns = (ident(), words("memory"), figure("weight"), *what, words("cause"))
    tabulate(columns, [_row(one, console) for one in rows], console)


def _row(one: MemoryDiffers, console: Console) -> dict[str, Cell]:
    said = shortened(one["memory"] or "(nothing is left to show)")
    if one["was"] is not None:
        said = Text.assemble(shortened(one["was"]), (" -> ", "yellow"), said)
    if one["deleted_since"]:
        said.append(" (deleted since)", "dim")
    what = Text("\n".join(_what(one)))
    if not has_room(console) and what:
        said = Text.assemble(said, "\n", (what.plain.replace("\n", ", "), "dim"))
    return {"id": one["id"], "memory": said, "weight": _weights(one), "what": what, "cause": _why(one, console)}


def _weights(one: MemoryDiffers) -> str:
    before, after = (None if side is None else side["weight"] for side in (one["before"], one["after"]))
    return number(after, 3) if before == after else f"{number(before, 3)} > {number(after, 3)}"


def _what(one: MemoryDiffers) -> list[str]:
    """What differs but its weight, in words."""
    before, after = one["before"], one["after"]
    told: list[str] = []
    if before is not None and after is not None:
        for name in ("level", "status", "trust", "is_negated", "mention_count"):
            here, there = before[name], after[name]
            if here != there:
                told.append(f"{name.replace('_', ' ')} {plain(here)} > {plain(there)}")
        if (before["shown"], before["reason"]) != (after["shown"], after["reason"]):
            told.append(f"{_shown(before)} > {_shown(after)}")
        told += [f"other {name}" for name in one["fields"] if name != "content" or one["was"] is None]
    elif (side := after or before) is not None and not side["shown"]:
        told.append(_shown(side))
    told += [f"rank in question {r['question'] + 1}: {r['before'] or '-'} > {r['after'] or '-'}" for r in one["ranks"]]
    return told


def _shown(side: SideStanding) -> str:
    return "shown" if side["shown"] else f"withheld ({(side['reason'] or '').replace('_', ' ')})"


_NO_EVENT = {
    "time": "time",
    "owner": "the owner's settings or choices",
    "others": "other memories",
    "access": "it was shown",
    "events": "events that named it",
}


def _why(one: MemoryDiffers, console: Console) -> Text:
    if not one["causes"]:
        return Text(_NO_EVENT[one["cause"]], "dim")
    told = one["causes"][:SHOWN_CAUSES]
    lines = [_cause(cause, console, of=one["id"]) for cause in told]
    if more := len(one["causes"]) - len(told) + one["more_causes"]:
        lines.append(Text(f"and {more:,} more", "dim"))
    return Text("\n").join(lines)


def _cause(cause: EventCause, console: Console, of: str | None = None) -> Text:
    """One event: where, what, when, by whom, and why."""
    whom = cause["principal"] or ""
    by = f"{cause['actor'] or '?'}{f' through {whom}' if whom else ''}"
    name = f" of {cause['memory']}" if cause["memory"] not in (None, of) else ""
    told = Text.assemble(
        (cause["position"], "bold"), f" {cause['decision']}{name}, {when(cause['time'], console)}, {by}"
    )
    if cause["side"] == "before":
        told.append(" (not part of the later side)", "dim")
    if cause["said_reason"]:
        told.append(f'; said: "{cause["said_reason"]}"')
    if cause["because"]:
        told.append(f'; because: "{cause["because"]}"')
    if cause["late_by"] is not None:
        told.append(f"; {late_words(cause['late_by'])}", "yellow")
    return told


def question_moved(question: QuestionMoved, console: Console) -> None:
    """What moved among a question's results; what only made room for it in a line."""
    console.print(Text(f"\n{question['query']}", "bold"))
    if not question["moved"]:
        found = "the same results in the same order" if question["before"] else "nothing found on either side"
        console.print(f"[dim]{found}[/]")
        return
    shifted = _shifted(question["moved"])
    if rows := [one for one in question["moved"] if one["id"] not in shifted]:
        passed = Column("passed", style="dim", if_room=True)
        tabulate((ident(), figure("before"), figure("after"), passed), rows, console)
    for places, count in sorted(Counter(shifted.values()).items()):
        console.print(Text(f"{many(count, 'other')} moved by {many(places, 'place')}", "dim"))


def _shifted(moved: Sequence[RankMoved]) -> dict[str, int]:
    """Results that moved only because others came, went or passed them, and by how many places: the most that kept their order."""
    ordered = sorted((one["before"], one["after"], one["id"]) for one in moved if one["before"] and one["after"])
    best: list[list[tuple[int, int, str]]] = []
    for one in ordered:
        before = max((chain for chain in best if chain[-1][1] < one[1]), key=len, default=[])
        best.append([*before, one])
    return {name: abs(was - now) for was, now, name in max(best, key=len, default=[])}


PROOF = {
    True: ("as it was handed out", "green"),
    False: ("not as it was handed out", "red"),
    None: ("unproved", "yellow"),
}


def whole(answer: AnsweredInFull, console: Console = out) -> None:
    """One turn: what was asked and replied, the memories with how they stand today, and each block in a frame."""
    replies = [f"{one['speaker'] or one['role']}: {one['text']}" for one in answer["replies"]]
    asked = "not recorded" if answer["turn"] is None else None
    generic.answer({**answer, "asked": asked, "injected": None, "replies": replies}, console)
    for one in answer["injected"]:
        _block(one, console)


def _block(one: Injected, console: Console) -> None:
    """A block in a frame, headed with whether it is the one that was handed out."""
    block = one["block"]
    word, colour = PROOF[block["as_it_was"]]
    title = Text.assemble(f"{one['position']}, {one['principal'] or '-'}: ", (word, colour))
    console.print(Panel(Text(block["text"] or "-"), title=title, title_align="left", border_style="dim"))
    console.print(Text(f"{block['tokens']:,} tokens; {block['why']}", "dim"), soft_wrap=True)


def block(answer: ContextBlock, console: Console = out, *, split: bool = False) -> None:
    """Print the block to standard output, and to standard error what was left out; `split`: an empty line between its parts."""
    halves = [half for half in (answer["stable"], answer["turn"]) if half]
    console.print(Text("\n\n".join(halves) if split else answer["block"]), soft_wrap=True)
    said = [f"{answer['tokens']:,} of {answer['budget']:,} tokens, position {answer['position']}{times_of(answer)}"]
    if (sizes := answer["sizes"]) is not None:
        parts = f"stable part {sizes['stable']:,}, this turn's {sizes['turn']:,}"
        said.append(f"{parts}, the whole conversation {sizes['conversation']:,}")
    if answer["dropped"]:
        said.append(f"did not fit the budget: {plain(answer['dropped'])}")
    if answer["left_out"]:
        said.append(f"left out: {plain(answer['left_out'])}")
    if answer["searches"] and not answer["parts"]["retrieved"] and (withheld := answer["searches"][0]["withheld"]):
        said.append(f"normal mode withholds matches: {plain(withheld)}")
    looked = answer["recorded"]["status"] == "off" and not times_of(answer)
    if looked and answer["turn_id"] is not None and answer["injected"]:
        said.append(f"not recorded for {answer['turn_id']}: --trace records it, and `engramlog answers` shows it then")
    err.print(Text("; ".join(said), "dim"), soft_wrap=True)
