"""Who spoke, in a table: Chinese names take two columns a character, brackets are no markup, and no name is obeyed."""

from __future__ import annotations

import io
from typing import Any

from rich.cells import cell_len

from api.cli.show.sources import named
from api.cli.show.visible import Terminal, visible_in
from tests.rows import each_row

ROW = {
    "by": "session",
    "name": "s1",
    "masked": False,
    "events": 1_200,
    "memories": 3,
    "late": 0,
    "first_happened": "2026-11-20T08:00:00Z",
    "last_happened": "2026-11-22T09:30:00Z",
    "first_recorded": None,
    "last_recorded": None,
    "set_aside": None,
    "partly_aside": 0,
}


def told(*rows: dict[str, Any], width: int = 160, **more: Any) -> list[str]:
    answer = {
        "owner": "lin",
        "sources": [ROW | row for row in rows],
        "total": len(rows),
        "offset": 0,
        "events": 1_300,
        "left_out": {},
        "withheld": 0,
        "hint": None,
        "position": "5:30",
    } | more
    written = io.StringIO()
    named(visible_in(answer), Terminal(file=written, width=width, color_system=None))
    return written.getvalue().splitlines()


def test_columns_stand_below_each_other_whatever_the_script() -> None:
    lines = told({"name": "客户服务会话"}, {"name": "supplier-7", "by": "session"})
    ends = {cell_len(line.partition("1,200")[0]) for line in lines if "1,200" in line}
    assert len(ends) == 1
    assert len([line for line in lines if "1,200" in line]) == 2


def test_a_hostile_name_is_shown_as_it_is_written_and_not_obeyed() -> None:
    text = "\n".join(told({"name": "a\x1b[31m\u202e[bold]x[/bold]"}))
    assert "\\x1b[31m\\u202e[bold]x[/bold]" in text.replace("\n", "")
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_what_is_set_aside_what_is_left_out_and_the_next_page_are_told() -> None:
    aside = {"since": "2026-11-22T09:30:00Z", "set_aside_at": "5:29", "reason": "不是她本人"}
    text = "\n".join(
        told({"set_aside": aside}, {"name": "s2", "partly_aside": 1}, total=9, left_out={"session": 7_000}, withheld=2)
    )
    assert "2026-11-22 09:30 不是她本人" in text
    assert "in part" in text
    assert "7 more: --offset 2" in text
    assert "7,000 events tell further names of a session" in text
    assert "2 events name a URI that may not be told" in text


@each_row("width", [80, 100, 120, 140])
def test_names_and_reasons_have_their_place_at_every_width(width: int) -> None:
    aside = {"since": "2026-11-22T09:30:00Z", "set_aside_at": "5:29", "reason": "it was not Ann 不是她本人"}
    lines = told({"name": "studio-agent-7", "late": 12, "set_aside": aside}, width=width)
    assert max(map(cell_len, lines)) <= width
    text = "\n".join(lines)
    wanted = ("studio", "1,200", "2026-11-22") if width < 100 else ("studio-agent-7", "1,200", "Ann", "不是她本人")
    assert all(word in text for word in wanted), text
