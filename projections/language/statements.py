"""What an event states, in a form that two texts share when they say the same letter by letter. Pure, linear in time.

`normalised` takes the letters of a text (`letters`), then its signs, then its white space:

- **Signs at the ends of words go**: stops, commas, quotes, brackets, dashes, marks of emphasis. Within a word they stay (3.5,
  1,000, don't, e-mail, 9:30), and between digits nothing changes. So does what a word begins or ends with and means something
  by: .NET, -5, ~5, C++, C#, A-, A*, 50%, $5, !=. Han characters and kana are words by themselves: signs beside them go.
- **A question mark stays**, wherever it stands, once: whether he moved is another statement than that he did.
- **White space goes**, but between two numbers: 主 人 is 主人, `To kyo` is `Tokyo`, 3 5 is not 35.
- **Emoji stay**: 👍 and 👎 are all that tells two texts apart. How they are coloured does not.
- A text of nothing but such signs is those signs.

It is a key and is never shown; docs/explanation/trust.md summarises which texts are the same statement. A change raises
`STATEMENT_RULES` (tests/golden/test_statement_figures.py).

`letters` gives the letters of a text as a reader takes them, whatever characters they were written with. Steps, in this order:
what shows nothing goes and each run of white space is one space; each character is read as the plainest that says the same (NFKC,
digits of every script, dashes and quotes, simplified Han: `sensitivity.level.read_as`); accents join their letters; letters of
other scripts are Latin ones where they look so (`lexicon/look_alikes.tsv`); case goes; marks laid over letters go.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from engramlog_server.events.catalogue import (
    EventData,
    FactAsserted,
    MemoryCreated,
    MemoryMerged,
    MemoryRevised,
    ValueReadmitted,
    ValueRejected,
)
from engramlog_server.events.envelope import LEAST_SECRET, AnyEvent, digest, written
from engramlog_server.projections.language.keywords import without_day
from engramlog_server.projections.language.lexicon import rows
from engramlog_server.projections.language.patterns import FROM_KANA_TO_HAN, WORDS_BY_THEMSELVES, regex
from engramlog_server.projections.language.sensitivity.level import CHANGED, read_as

STATEMENT_RULES = 1
"""Version of everything that decides bytes of a statement; written beside its digest. 1 to 255."""
_TEXT = b"t"
_TRIPLE = b"f"
_BETWEEN = "\x1f"
"""Between the parts of a triple, and for a while between two numbers; no normal form holds a control."""

_QUESTIONS = regex(r"\?{2,}")


def normalised(text: str) -> str:
    """What a text has in common with others that say the same letter by letter; the same for a text and its normal form.

    Any text; empty only where it shows nothing at all. Times grow with its length.
    """
    told = closed_up(letters(text))
    if "??" in told:
        told = _QUESTIONS.sub("?", told)
    if not told.isascii():
        told = composed(told)
    return told or letters(text).replace(" ", "")


def statements_of(event: AnyEvent) -> tuple[bytes, ...]:
    """What an event states, each ready to be keyed: the content of a created or revised memory, the summary of a merge, a triple.

    At most `events.envelope.MOST_STATEMENTS`, in that order; none for every other event. A tag byte tells a text from a
    triple. A triple's degree is no part of what it states; its negation and its condition are.
    """
    return statements_in(event.data)


def statements_in(data: EventData) -> tuple[bytes, ...]:
    """The same of the data of an event."""
    if isinstance(data, MemoryCreated | MemoryRevised):
        return (statement(data.content),)
    if isinstance(data, MemoryMerged):
        return (statement(data.summary),)
    if isinstance(data, FactAsserted):
        parts = (data.subject, data.predicate, data.object, data.condition or "")
        told = _BETWEEN.join(["-" if data.negation else "+", *map(normalised, parts)])
        return (_TRIPLE + told.encode("utf-8", "surrogatepass"),)
    return ()


def statement_field(data: EventData, secret: bytes) -> bytes:
    """What an entry of this event holds of its statements; empty without the owner's secret."""
    if len(secret) < LEAST_SECRET:
        return b""
    return written(STATEMENT_RULES, [digest(secret, one) for one in statements_in(data)])


def values_of(event: AnyEvent) -> tuple[bytes, ...]:
    """The digests that an event names by itself: those of the values that it rejects or readmits."""
    data = event.data
    named = data.values if isinstance(data, ValueRejected | ValueReadmitted) else ()
    return tuple(bytes.fromhex(one) for one in named)


def statement(text: str) -> bytes:
    """What a text says on whatever day, ready to be keyed."""
    return _TEXT + normalised(without_day(text)).encode("utf-8", "surrogatepass")


# Which signs stay, and the spaces between numbers.
_SOFT = (
    "!\"'()*,\\-.:;\\[\\]_{}~"
    "\u00a1\u00ab\u00b7\u00bb\u00bf\u055b-\u055f\u0589\u058a\u05be\u05c0\u05c3\u05c6\u05f3\u05f4\u060c\u060d\u061b\u061d\u061e"
    "\u066d\u06d4\u0700-\u070d\u0964\u0965\u0970\u0df4\u0e4f\u0e5a\u0e5b\u0f04-\u0f0b\u0f0d-\u0f12\u0f14\u0f3a-\u0f3d\u104a-\u104f"
    "\u10fb\u1360-\u1368\u1400\u166e\u17d4-\u17d6\u17d8-\u17da\u1800-\u180a\u2010\u2012-\u2016\u2018-\u201f\u2022\u2023\u2027"
    "\u2032\u2035\u2038-\u203a\u203f-\u2041\u2043\u2045\u2046\u204b-\u2051\u2053-\u2056\u2058-\u205e\u2219\u22c5\u2308-\u230b"
    "\u25cf\u25e6\u2768-\u2775\u27e6-\u27ef\u2983-\u2998\u2e00-\u2e2d\u2e30-\u2e52\u3001-\u3003\u3008-\u3011\u3014-\u301f\u3030"
    "\u303d\u30a0\u30fb\ua4fe\ua4ff\ua60d-\ua60f\ua92e\ua92f\ufd3e\ufd3f\ufe45\ufe46"
)
_BY_ITSELF = regex(f"[{WORDS_BY_THEMSELVES}]")
"""A character that is a word by itself: Han, kana, bopomofo."""
_NEVER_WITHIN = frozenset(",;!\u3001\u3002\u060c\u061b\u06d4\u0964")
_ENDS = _NEVER_WITHIN | {" "}
_MEANT_BEHIND = {"-": "\u2296", "*": "\u2217"}
"""What stands behind one or two letters and makes them another word, as it is kept: A-, A*, O-, Rh-."""
_SHORT_WORD = regex(rf"(?:^|[^a-z{WORDS_BY_THEMSELVES}]|[{WORDS_BY_THEMSELVES}])[a-z]{{1,2}}\Z")
_RUN = regex(f"([{_SOFT}][{_SOFT} ]*)")
_APART = regex(r" (?<=[0-9.,~-] )(?=[0-9.,~-])")  # the space first: it is looked for at the speed of a literal


def closed_up(plain: str) -> str:
    """The letters of a text with the signs that stay, and without spaces but one between two numbers. `plain`: single spaces."""
    told = signed(plain).replace("  ", " ").strip()  # at most two stand together
    return _APART.sub(_BETWEEN, told).replace(" ", "").replace(_BETWEEN, " ")


def signed(plain: str) -> str:
    """The letters of a text with those of its signs that stay; spaces are not counted yet."""
    parts, led_by = _RUN.split(plain), ""
    for at in range(1, len(parts), 2):
        run, after = parts[at], parts[at + 1][:1]
        if run[0] not in _MEANT_BEHIND and (not after or (run[-1] in _ENDS and after != "=" and not after.isdigit())):
            parts[at] = " "  # nearly all: a stop or a comma between two words, without asking more
        else:
            parts[at] = _kept((led_by + parts[at - 1])[-3:], run, after)
        led_by = run[-1]
    return "".join(parts)


def _kept(behind: str, run: str, after: str) -> str:
    """What stays of a run of signs and the spaces in it, a space where nothing does; `behind`: up to three characters before it."""
    before = behind[-1:]
    sign = run.rstrip()
    number = after.isdigit() and behind[-2:].rstrip()[-1:].isdigit()
    if number and (sign == "-" or (before != " " and " " not in run)):
        return run
    within = len(run) == 1 and _is_joined(before)
    if within and _is_joined(after):
        return " " if run in _NEVER_WITHIN else run
    if within and run == ":" and after and after in "/\\":
        return run
    led = _led(run, after) if after else " "
    if led == " " and sign in _MEANT_BEHIND and _stands_behind(behind, sign):
        return _MEANT_BEHIND[sign]
    return led


def _is_joined(character: str) -> bool:
    """Whether a character is part of a word that a sign can stand within."""
    if character.isascii():
        return character.isalnum()
    return not _BY_ITSELF.match(character) and (character.isalnum() or unicodedata.category(character)[0] == "M")


def _stands_behind(end: str, sign: str) -> bool:
    """Whether a text ends with a word of one or two letters, and the sign before it is not the same: `*I*` is emphasis."""
    word = _SHORT_WORD.search(end)
    return word is not None and word[0][0] != sign


def _led(run: str, after: str) -> str:
    """What stays of a run before a word: the sign that the word begins with."""
    sign = run[-1]
    if run[-2:-1] == sign:
        return " "
    number = after.isdigit() or unicodedata.category(after) == "Sc"
    if sign == ".":
        return " -." if number and run[-2:-1] == "-" else " ." if _is_joined(after) else " "
    meant = number if sign == "-" else (number or after == "/") if sign == "~" else sign == "!" and after == "="
    return f" {sign}" if meant else " "


@cache
def like() -> dict[str, dict[str, str]]:
    """By script, each letter in small form with what a reader cannot tell it from: a Latin letter, or a Han character.

    `ɣ`, `ħ` and `ƅ` are resting places: letters for which `IN_LATIN` has more to say.
    """
    scripts: dict[str, dict[str, str]] = {}
    for row in rows("look_alikes"):
        for pairs in row["english"] + row["chinese"]:
            scripts.setdefault(" ".join(row["script"]), {}).update(zip(pairs[::2], pairs[1::2], strict=True))
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


def _as_they_look(text: str) -> str:
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
_SPECIAL = {sign: plain for plain, signs in _AS.items() for sign in signs}
_BOXED = (0x249C, 0x1F110, 0x1F150, 0x1F170)
"""Where alphabets of 26 boxed letters begin that NFKC leaves alone, or gives brackets."""
_MOST_CHARACTERS = 1 << 15
_MOST_MARKS = 30
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
        if marks <= _MOST_MARKS:
            kept.append(one)
    return "".join(kept)


def letters(text: str) -> str:
    """The letters and signs of a text, small, words one space apart; the same for a text and its letters. Any text.

    At most 18 times as long as the text (one Arabic ligature), mostly no longer.
    """
    if text.isascii():
        return b" ".join(text.encode().translate(_SMALL, _CONTROLS).split()).decode()
    for sign, plain in _STOPS:
        text = text.replace(sign, plain)
    if not CHANGED.search(text):
        return " ".join(_as_they_look(text.lower()).split())
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
    text = composed(_as_they_look(unicodedata.normalize("NFKC", composed(text))))
    text = without_strokes(text)
    if _LOOSE.search(text):
        text = composed(_LOOSE.sub("", text))
    return " ".join(text.split())
