"""The letters of a text as a reader takes them, whatever characters they were written with. Pure, linear in time.

Steps, in this order: what shows nothing goes and each run of white space is one space; each character is read as the plainest that
says the same (NFKC, digits of every script, dashes and quotes, simplified Han: `sensitivity.fold.read_as`); accents join their
letters; letters of other scripts are Latin ones where they look so (`lexicon/look_alikes.tsv`); case goes; marks laid over letters
go.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from engramlog_server.projections.language.lexicon import rows
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.scripts import FROM_KANA_TO_HAN
from engramlog_server.projections.language.sensitivity.level import CHANGED, read_as


@cache
def like() -> dict[str, dict[str, str]]:
    """By script, each letter in small form with what a reader cannot tell it from: a Latin letter, or a Han character.

    `ɣ`, `ħ` and `ƅ` are resting places: letters for which `IN_LATIN` has more to say.
    """
    scripts: dict[str, dict[str, str]] = {}
    for row in rows("look_alikes"):
        for written in row["english"] + row["chinese"]:
            scripts.setdefault(" ".join(row["script"]), {}).update(zip(written[::2], written[1::2], strict=True))
    return scripts


IN_LATIN = {"ν": "v", "η": "n", "υ": "u", "γ": "y", "Μ": "m", "һ": "h", "ү": "y", "ь": "b"}
"""What a letter looks like exactly as it is written, where a Latin letter stands in the same word: small `ν` is a `v` there."""


@cache
def _like() -> dict[int, str]:
    """The letters of `like`, and with their accents: `ё` stands with `ë`, `ή` with `h` and an accent."""
    letters = like()["greek"] | like()["cyrillic"]
    found = {letter: plain for pairs in like().values() for letter, plain in pairs.items()}
    for point in (*range(0x370, 0x530), *range(0x1F00, 0x2000)):
        apart = unicodedata.normalize("NFD", chr(point))
        first, accents = apart[0], apart[1:]
        if accents and first in letters:
            found[chr(point)] = unicodedata.normalize("NFC", letters[first] + accents)
    return str.maketrans(found)


_ANY = regex(lambda: f"[{''.join(map(chr, _like()))}]")
_LATIN = "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f"
_IN_LATIN = str.maketrans(IN_LATIN)
_WORDS = regex(f"[{_LATIN}\u0370-\u052f\u0531-\u0587\u0300-\u0345]{{2,}}")
_HAS_LATIN = regex(f"[{_LATIN}]")
_TWO_FACED = regex(f"[{''.join(IN_LATIN)}]")


def as_in_latin(text: str) -> str:
    """A text in NFC whose letters of `IN_LATIN` are Latin ones in words that hold a Latin letter. Case is kept."""
    return _WORDS.sub(_as_in_latin, text) if _TWO_FACED.search(text) else text


def _as_in_latin(found: re.Match[str]) -> str:
    word = found[0]
    return word.translate(_IN_LATIN) if _HAS_LATIN.search(word) else word


def as_they_look(text: str) -> str:
    """A text in NFC and small letters, each letter of `like` as what it stands with; may have to be composed again."""
    return text.translate(_like()) if _ANY.search(text) else text


_AS = {
    " ": "\u2014\u2015\u2e3a\u2e3b",  # a dash between clauses; a hyphen or a minus is none of these
    "~": "\u301c\u223c",
    "/": "\u2044\u2215",
    "'": "`\u00b4\u02b9\u02bb\u055a\ua78b\ua78c",
    "?": "\u061f\u055e\u203d\u2e2e\u2753\u2754",
    "%": "\u066a",
    ".": "\u066b",
    ",": "\u066c",
    "": "\u0640\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff",  # a stretched Arabic line, the colour of a hand
}
_SPECIAL = {written: plain for plain, all_written in _AS.items() for written in all_written}
_BOXED = (0x249C, 0x1F110, 0x1F150, 0x1F170)
"""Where alphabets of 26 boxed letters begin that NFKC leaves alone, or gives brackets."""
_MOST_CHARACTERS = 1 << 15
MOST_MARKS = 30
"""Most marks on one letter that are looked at, as in Unicode's Stream-Safe Text Format."""
_HEAPED = regex(r"[^\w\s]{31,}")


class _Forms(dict[int, str]):
    """What each character is read as, found out when it is first met."""

    def __missing__(self, point: int) -> str:
        if len(self) >= _MOST_CHARACTERS:
            self.clear()
        found = self[point] = form_of(chr(point))
        return found


_FORMS = _Forms()
_RAISED = "\x1f"
_FIRST_RAISED = regex(f"(?<!{_RAISED}[0-9]){_RAISED}")
_STOPS = (("\uff0c", ","), ("\uff1f", "?"), ("\uff01", "!"), ("\uff1a", ":"), ("`", "'"))
"""The most frequent ones: a Chinese text without others needs no further step."""
_CONTROLS = bytes(byte for byte in range(128) if not chr(byte).isprintable() and not chr(byte).isspace())
_SMALL = bytes(
    32 if chr(byte).isspace() else ord("'" if byte == 96 else chr(byte).lower()) for byte in range(128)
) + bytes(128)
"""Each ASCII character as its letter: small, white space a space, a backquote a quote."""
_LAID_OVER = "\u0334-\u0338\u0488\u0489\u20d0-\u20f0"
_ACCENTS = "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\ufe20-\ufe2f"
_LAID = regex(f"[{_LAID_OVER}]")
_LOOSE = regex(f"(?<=i)\u0307+|(?<![^\\W\\d_{FROM_KANA_TO_HAN}])(?<![{_ACCENTS}])[{_ACCENTS}]+")
"""What no alphabet writes: the dot of a small i, and accents on what is no letter."""


def form_of(character: str) -> str:
    """The plain form of one character: a space for white space, nothing for what shows nothing.

    What is no digit but holds some (½, ⑤, ㋄) is set apart from digits beside it: 1½ is not 11/2. A raised digit is marked.
    """
    if character.isspace():
        return " "
    if character in _SPECIAL:
        return _SPECIAL[character]
    point = ord(character)
    for first in _BOXED:
        if first <= point < first + 26:
            return chr(ord("a") + point - first)
    plain = "".join(_SPECIAL.get(one) or read_as(one) for one in read_as(character))
    if not any(one.isdigit() for one in plain):
        return plain
    kind = unicodedata.decomposition(character).partition(" ")[0]
    if kind == "<super>":
        return _RAISED + plain
    return plain if len(plain) == 1 and kind != "<circle>" else f" {plain} "


def composed(text: str) -> str:
    """The text in NFC, with at most 30 marks on a letter: ordering more of them takes quadratic time, and nobody reads them."""
    return unicodedata.normalize("NFC", _HEAPED.sub(_without_heaps, text) if _HEAPED.search(text) else text)


def _without_heaps(found: re.Match[str]) -> str:
    kept, marks = [], 0
    for one in found[0]:
        marks = marks + 1 if unicodedata.combining(one) else 0
        if marks <= MOST_MARKS:
            kept.append(one)
    return "".join(kept)


def letters(text: str) -> str:
    """The letters and signs of a text, small, words one space apart; the same for a text and its letters. Any text.

    At most 18 times as long as the text (one Arabic ligature), mostly no longer.
    """
    if text.isascii():
        return b" ".join(text.encode().translate(_SMALL, _CONTROLS).split()).decode()
    for written, plain in _STOPS:
        text = text.replace(written, plain)
    if not CHANGED.search(text):
        return " ".join(as_they_look(text.lower()).split())
    return _joined(CHANGED.sub(_plainly, composed(text)))


def without_strokes(text: str) -> str:
    """The text without marks laid over letters: strokes, rings, keycaps."""
    return _LAID.sub("", text)


def _plainly(found: re.Match[str]) -> str:
    return found[0].translate(_FORMS)


def _joined(text: str) -> str:
    """The later steps, on plain characters. 10² is 10^2, and neither is 102."""
    if _RAISED in text:
        text = _FIRST_RAISED.sub("^", text).replace(_RAISED, "")
    text = as_in_latin(composed(text)).casefold()
    text = composed(as_they_look(unicodedata.normalize("NFKC", composed(text))))
    text = without_strokes(text)
    if _LOOSE.search(text):
        text = composed(_LOOSE.sub("", text))
    return " ".join(text.split())
