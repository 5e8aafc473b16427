"""The text of a turn as the rules of extraction read it: white space closed up, what is no talk left out, places kept."""

from __future__ import annotations

import re
from typing import NamedTuple

from projections.language.patterns import regex

MOST_READ = 8_000
"""Characters of a turn that are read."""
_GAP = regex(r"\s{2,}")
_NO_TALK = regex(
    r"```.*?(?:```|\Z)|`[^`\n]*\n|\[shared [^\]]*\]|^\s?[>|][^\n]*|https?://\S+"
    r"|^\s?From: [^\n]*\n(?:\s?To: [^\n]*\n)?\s?(?:Sent|Date|Subject|Cc): .*\Z",
    re.DOTALL | re.MULTILINE,
)


_LETTER = regex(
    r"\n\s?(?:Subject:|(?:Hi|Hey|Hello|Dear) (?:[A-Z]\w+|\[[^\]\n]{1,40}\])(?: [A-Z]\w+)?,|(?:亲爱的"
    r"|尊敬的)[^\n，：:]{1,20}[，：:]).*\Z",
    re.DOTALL,
)
_TO_BE_SENT = regex(
    r"\b(?:message|e-?mail|letter|draft|note|text|invite|post|reply|send|write)\b|信|邮件|短信|消息|草稿|回复|发给",
    re.IGNORECASE,
)


class ReadableText(NamedTuple):
    """What is read of a turn, and where it stands there."""

    text: str
    """No white space follows another: the rules take time in proportion to the text only without long gaps."""
    places: tuple[int, ...]
    """Place in the turn's text of each character, and of the end."""

    def span(self, span: tuple[int, int]) -> tuple[int, int]:
        """Start and end in the turn's text of a span of `text`."""
        start, end = span
        return self.places[start], self.places[end - 1] + 1 if end > start else self.places[start]


def talk_of(text: str) -> ReadableText:
    """What is read of a text: its first `MOST_READ` characters without code, quoted lines, tables and addresses."""
    text = text[:MOST_READ]
    left: list[str] = []
    places: list[int] = []
    start = 0
    for gap in [*_GAP.finditer(text), None]:
        end = len(text) if gap is None else gap.start()
        left.append(text[start:end])
        places += range(start, end)
        if gap is not None:
            left.append("\n" if "\n" in gap[0] else gap[0][0])
            places.append(gap.start())
            start = gap.end()
    closed = _NO_TALK.sub(lambda found: "\n" * len(found[0]), "".join(left))
    letter = _LETTER.search(closed)
    if letter is not None and _TO_BE_SENT.search(
        closed, 0, letter.start()
    ):  # a draft: what it says is said to somebody else
        closed = closed[: letter.start()] + "\n" * (len(closed) - letter.start())
    return ReadableText(closed, (*places, len(text)))
