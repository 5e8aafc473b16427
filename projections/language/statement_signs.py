"""Which signs of a statement stay (`statements`), and the spaces between numbers. Pure, linear in time.

`closed_up` is the rule, for any text. `closed_up_ascii` gives the same of nearly all ASCII texts in a fraction of the time: of most
signs nothing stays, so it asks about those alone of which something may, and all others go at once.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.scripts import WORDS_BY_THEMSELVES

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
RUN = regex(f"([{_SOFT}][{_SOFT} ]*)")
_APART = regex(r" (?<=[0-9.,~-] )(?=[0-9.,~-])")  # the space first: it is looked for at the speed of a literal
_BETWEEN = "\x1f"
_SIGNS = "!\"'()*,.:;[]_{}~-"
"""Those of `_SOFT` that are ASCII."""
_SIGN = f"[{re.escape(_SIGNS)}]"
_MAY_STAY = regex(
    f"{_SIGN}(?:(?=[a-z0-9$/=\\\\])(?:(?<=[a-z0-9].)|(?<=[.~!:-])|(?<={_SIGN}.)(?=[0-9]))"  # before a word
    f"|(?<=[*-])(?:(?<=[a-z].)(?<![a-z]{{3}}.)(?! *{_SIGN})|(?<=-)(?= +[0-9])))"  # A- and A*, 5 - 3
)
"""The last sign of each run of which something may stay."""
MOST_ASKED = 32
"""So many runs of signs, and one for so many characters, are asked about one by one."""
_SIGN_OR_SPACE = frozenset(_SIGNS + " ")
_SPACES = bytes(32 if chr(byte) in _SIGNS else byte for byte in range(256))
_NUMBERS = bytes(120 if chr(byte) in "0123456789.,~-" else byte if byte == 32 else 97 for byte in range(256))
_NUMBERS_APART = re.compile(b"x +(?=x)")


def closed_up(plain: str) -> str:
    """The letters of a text with the signs that stay, and without spaces but one between two numbers. `plain`: single spaces."""
    told = signed(plain).replace("  ", " ").strip()  # at most two stand together
    return _APART.sub(_BETWEEN, told).replace(" ", "").replace(_BETWEEN, " ")


def closed_up_ascii(data: bytes) -> str | None:
    """The same of a text of small ASCII letters with any number of spaces; None where it is to be asked of the whole text."""
    plain, kept, done, asked = data.decode(), [], 0, len(data) // MOST_ASKED + MOST_ASKED
    for found in _MAY_STAY.finditer(plain):
        at = found.start()
        if plain[at - 1 : at].isalnum() and plain[at + 1 : at + 2].isalnum():
            if plain[at] not in _NEVER_WITHIN or (plain[at - 1].isdigit() and plain[at + 1].isdigit()):
                kept += [data[done:at].translate(_SPACES), data[at : at + 1]]
                done = at + 1
            continue
        start, end, told = _staying(plain, at)
        asked -= 1
        if not asked or not told.isascii():  # many, which costs more than all; A- and A*
            return None
        kept += [data[done:start].translate(_SPACES), told.encode()]
        done = end
    kept.append(data[done:].translate(_SPACES))
    return _without_spaces(b"".join(kept)).decode()


def _without_spaces(told: bytes) -> bytes:
    numbers = told.translate(_NUMBERS)
    if b"x " not in numbers:
        return told.translate(None, b" ")
    apart = [0, *[found.end() for found in _NUMBERS_APART.finditer(numbers)], len(told)]
    return b" ".join([told[start:end].translate(None, b" ") for start, end in pairwise(apart)])


def _staying(plain: str, at: int) -> tuple[int, int, str]:
    """Of the run of signs that ends with the one at a place: where it begins and ends, and what stays of it."""
    start, end = at, at + 1
    while start and plain[start - 1] in _SIGN_OR_SPACE:
        start -= 1
    while plain[start] == " ":
        start += 1
    while plain[end : end + 1] == " ":
        end += 1
    run = " ".join(plain[start : at + 1].split()) + (" " if at + 1 < end < len(plain) else "")
    return start, end, _kept(_behind(plain, start), run, plain[end : end + 1])


def _behind(plain: str, at: int) -> str:
    """The last three characters before a place, runs of spaces as one."""
    told = ""
    while at and len(told) < 3:
        at -= 1
        if plain[at] != " " or told[:1] != " ":
            told = plain[at] + told
    return told if at else told.lstrip()


def signed(plain: str) -> str:
    """The letters of a text with those of its signs that stay; spaces are not counted yet."""
    parts, led_by = RUN.split(plain), ""
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
