"""The text of a turn as the rules of extraction read it: white space closed up, what is no talk left out, places kept."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from engramlog_server.events.text import HIDDEN
from engramlog_server.projections.language.normal_letters import IN_LATIN, form_of, like, without_strokes
from engramlog_server.projections.language.patterns import regex

MOST_READ = 8_000
"""Characters of a turn that are read."""
_EMOJI = "\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
_GAP = regex(rf"(?<=\w)\s?(?:[{_EMOJI}]\s?)+(?=\w)|\s{{2,}}|\*\*|(?<!\S)\*(?=\w)|(?<=[\w,.!?])\*(?!\w)")
"""What is read as one space or line break: white space, and emoji between words. Marks of emphasis are left out."""
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
    end_of_text = min(len(text), MOST_READ)
    text, plain_places = _plain(text[:MOST_READ])
    left: list[str] = []
    places: list[int] = []
    start = 0
    for gap in [*_GAP.finditer(text), None]:
        end = len(text) if gap is None else gap.start()
        left.append(text[start:end])
        places += plain_places[start:end]
        if gap is not None and "*" in gap[0]:
            start = gap.end()
        elif gap is not None:
            left.append("\n" if "\n" in gap[0] else " ")
            places.append(plain_places[gap.start()])
            start = gap.end()
    closed = _NO_TALK.sub(lambda found: "\n" * len(found[0]), "".join(left))
    letter = _LETTER.search(closed)
    if letter is not None and _TO_BE_SENT.search(
        closed, 0, letter.start()
    ):  # a draft: what it says is said to somebody else
        closed = closed[: letter.start()] + "\n" * (len(closed) - letter.start())
    return ReadableText(closed, (*places, end_of_text))


def _plain(text: str) -> tuple[str, Sequence[int]]:
    """The text in plain letters, as a rejection compares it, and where each letter stood.

    Full-width and other forms of ASCII letters, digits and spaces are read as these; invisible characters and strokes over letters
    are left out; letters of other alphabets that look Latin are Latin beside Latin ones, where each of that alphabet in the text
    looks so. A text in capitals is read in small letters.
    """
    if text.isascii():
        return (text.lower() if text.isupper() and text.count(" ") > 1 else text), range(len(text))
    latin = any(one.isascii() and one.isalpha() for one in text)
    foreign = {one for one in text if not one.isascii() and one.isalpha() and _script(one) in _ALPHABETS}
    alike = _alike() if latin else {}
    disguised = {_script(one) for one in foreign} - {_script(one) for one in foreign if one not in alike}
    letters, places = list[str](), list[int]()
    for place, one in enumerate(text):
        form = one if one.isascii() else _form(one)
        if one in foreign and _script(one) in disguised:
            form = alike[one]
        letters.append(form)
        places += [place] * len(form)
    return "".join(letters), places


@cache
def _alike() -> dict[str, str]:
    """Each letter of another alphabet that looks Latin, in both cases -> the Latin one."""
    small = {letter: latin for script in _LIKE_LATIN for letter, latin in like()[script].items() if latin.isascii()}
    large = {letter.upper(): latin.upper() for letter, latin in small.items() if len(letter.upper()) == 1}
    return large | {letter: latin.upper() for letter, latin in IN_LATIN.items() if letter.isupper()} | small


_LIKE_LATIN = ("greek", "cyrillic", "armenian")
_ALPHABETS = frozenset(name.upper() for name in _LIKE_LATIN)


@lru_cache(4_096)
def _script(letter: str) -> str:
    return unicodedata.name(letter, "").partition(" ")[0]


@lru_cache(4_096)
def _form(character: str) -> str:
    """One character in its plain form: nothing for an invisible one, ASCII for a form of an ASCII letter, digit or space."""
    if character in "\x85\u2028\u2029\u2800":
        return " " if character == "\u2800" else "\n"
    if HIDDEN.match(character) or not without_strokes(character):
        return ""
    if character in like()["small capitals"]:
        return like()["small capitals"][character]
    plain = unicodedata.normalize("NFKC", character)
    plain = form_of(character) if plain == character and unicodedata.category(character) == "So" else plain
    return plain if plain.isascii() and (plain.isalnum() or plain == " ") else character
