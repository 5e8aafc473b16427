"""Words that a person should look at before they count, where they are not his own: rules that decide once, at the door. Pure.

Looked at is what a memory is to say: standing instructions, orders to whoever reads it, and what an assistant concluded about the
user. What the user says himself is never asked about, and a turn is kept as it was said.
"""

from __future__ import annotations

import re
from functools import cache
from re import Pattern

from engramlog_server.events.catalogue import MemoryCreated, MemoryRevised
from engramlog_server.events.envelope import AnyEvent
from engramlog_server.projections.language.extraction.instructing import INSTRUCTION
from engramlog_server.projections.language.extraction.rules import extract
from engramlog_server.projections.language.extraction.shape import TurnText
from engramlog_server.projections.language.lexicon import either, rows

ABOUT_THE_USER = frozenset({"identity", "stable_preference", "short_term_preference"})
_MARKUP = r"<\s*/?\s*(?:tool_call|function_call|system|memory|instructions?)\b|<\||^\s*system\s*:"
"""What only somebody writes who would be taken for the prompt itself."""


@cache
def _orders() -> Pattern[str]:
    def role(name: str, language: str) -> str:
        return either(word for row in rows("orders") if name in row["role"] for word in row[language])

    of_people = r"(?<!who )(?<!that )(?<!not )(?<!n't )"
    english = rf"{of_people}\b(?:{role('drop', 'english')})\b(?:\W+\w+){{0,4}}\W+(?:{role('rules', 'english')})\b"
    chinese = rf"(?:{role('drop', 'chinese')})[^，。！？\n]{{0,12}}(?:{role('rules', 'chinese')})"
    said = rf"\b(?:{role('phrase', 'english')})\b|{role('phrase', 'chinese')}"
    return re.compile("|".join((english, chinese, said, _MARKUP)), re.IGNORECASE | re.MULTILINE)


def is_doubtful(event: AnyEvent) -> bool:
    """Whether what an event would have a memory say is for a person to look at, unless he said it himself."""
    data = event.data
    if isinstance(data, MemoryCreated):
        if data.summarises or data.source_turns == (data.memory_id,):  # a summary, or a turn
            return False
        concluded = data.source == "assistant" and data.category in ABOUT_THE_USER
        return concluded or data.kind == INSTRUCTION or sounds_like_an_order(data.content)
    return isinstance(data, MemoryRevised) and sounds_like_an_order(data.content)


def overrides_rules(text: str) -> bool:
    """Whether a text speaks to a model over the user's head: it tells it to drop its rules, or imitates the prompt."""
    return _orders().search(text) is not None


def sounds_like_an_order(text: str) -> bool:
    """Whether a text asks its reader to do something from then on, or speaks to a model over the user's head."""
    if overrides_rules(text):
        return True
    return any(one.kind == INSTRUCTION and one.asserted for one in extract(TurnText("", text, "user", None)))
