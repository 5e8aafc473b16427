"""The agent's side of `engramlog demo`: talk becomes memories, memories become context, and an answer tells what it used."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from api.application import Application
from api.cli.commands.extracting import table
from api.cli.show.generic import answer as used
from api.exchange.importing import ImportOptions, import_turns
from events.envelope import canonical, from_micros, utc_text
from events.log import positions_by_partition

OWNER = "lin"
SAID: Sequence[tuple[float, str, str]] = (
    (-30.0, "user", "My name is Lin and I live in Hangzhou."),
    (-29.9, "assistant", "Nice to meet you, Lin! You must love tea."),
    (-29.8, "user", "我对花生过敏。我喜欢爬山。"),
    (-29.7, "assistant", "记住了。"),
    (-9.0, "user", "Do I like tea? If I lived in Chengdu, I would."),
    (-8.9, "user", "I moved to Shanghai."),
)
"""(days from now, who, what)."""
QUESTION = "周末爬山带花生酱行吗？我对什么过敏？"
REPLY = "不行，你对花生过敏。带香蕉和全麦面包吧。"


class DemoTalk:
    """Tells it on one application, after the story of `ops.commands.demo`."""

    def __init__(self, application: Application, console: Console) -> None:
        self._app = application
        self._out = console
        self._count = 0

    def tell(self) -> None:
        """The whole of it."""
        read = "Turns are kept as they were said. Rules read what people state about themselves, against what is known."
        self._panel("10. Another person talks", read)
        self._import(SAID)
        table(self._app.extractor.rehearse(OWNER)["statements"], self._out)
        self._app.extractor.extract(OWNER)
        told = (
            "questions, suppositions and what the assistant guessed became nothing; the new home replaced the old one"
        )
        self._out.print(Text(told, "dim"))
        self._panel("11. What an agent puts into its prompt", f"Somebody asks: {QUESTION}")
        self._import([(-0.01, "user", QUESTION)])
        turn = f"lin-{self._count}"
        block = self._app.contexts.context(OWNER, QUESTION, turn_id=turn)
        self._out.print(Text(block["block"]), soft_wrap=True)
        self._import([(0.0, "assistant", REPLY)])
        self._panel(
            "12. Which answers used a memory?", "What was put into a prompt is in the log, so that one can ask."
        )
        allergy = next(one for one in block["parts"]["retrieved"] if "过敏" in one["text"])
        used(self._app.uses.uses(OWNER, allergy["id"]), self._out)

    def _panel(self, title: str, text: str) -> None:
        self._out.print()
        self._out.print(Panel(Text(text), title=f"[bold]{title}[/]", title_align="left", border_style="cyan"))

    def _import(self, turns: Sequence[tuple[float, str, str]]) -> None:
        now = from_micros(self._app.log.now())
        lines: list[dict[str, Any]] = []
        for days, who, text in turns:
            self._count += 1
            when = utc_text(now + timedelta(days=days))
            line = {"turn_id": f"lin-{self._count}", "occurred_at": when, "speaker": who, "text": text}
            lines.append(line | {"session": f"{when[:10]}"})
        found = import_turns(self._app.log, map(canonical, lines), ImportOptions(owner=OWNER))
        self._app.writer.settle_positions(positions_by_partition(one for one in found.done.positions if one))
