"""What somebody said, on a terminal: controls are made visible, never obeyed.

An escape sequence in a stored text could recolour, retitle, erase or answer for whoever reads it; bidirectional marks turn what is
read around. Every answer passes `visible_in` before it is laid out, and every console is a `Terminal`, which lets none through.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from engramlog_server.events.text import shown_json, spelled, with_hidden_as


def visible(text: str) -> str:
    """The text with each control and each character that shows nothing spelled out: `\\x1b`, `\\u202e`. Line breaks stay."""
    return with_hidden_as(text, spelled)


def visible_in(answer: Any) -> Any:
    """An answer with every text in it made visible, the names of its fields too."""
    if isinstance(answer, str):
        return visible(answer)
    if isinstance(answer, dict):
        return {visible_in(name): visible_in(value) for name, value in answer.items()}
    if isinstance(answer, list | tuple):
        return [visible_in(one) for one in answer]
    return answer


def exact_json(answer: Any) -> str:
    """The answer as JSON that reads back exactly, with what a terminal would obey written as `\\u`. Chinese stays readable."""
    return shown_json(json.dumps(answer, ensure_ascii=False, indent=2, default=str))


def exact_line(answer: Any) -> str:
    """The same in one line."""
    return shown_json(json.dumps(answer, ensure_ascii=False, default=str))


class Terminal(Console):
    """A console whose texts hold no control characters, whatever was handed to it; what Rich itself writes is none of them."""

    @property
    def encoding(self) -> str:
        """The encoding of the stream that is written to now: tables are drawn in ASCII if it has nothing else."""
        return (getattr(self.file, "encoding", None) or "utf-8").lower()

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments of what is printed, each made visible."""
        for segment in super().render(renderable, options):
            safe = segment.text if segment.control else visible(segment.text)
            yield segment if safe == segment.text else Segment(safe, segment.style)
