"""What the rules read of a text: as a reader would take it, whatever characters it was written with. Pure, linear in time.

Full-width and other compatibility forms become plain ones (NFKC), what shows nothing goes, every dash is a hyphen, every quote
straight, every script's digits are ASCII, traditional characters are simplified, and 零 to 九 in a row are digits. So
`ｐａｓｓｗｏｒｄ`, `pass\u200bword`, `密碼` and `四八二一` are read as what they say.

Misspelt words for a password and numbers said digit by digit are read so too: `psswrd`, `pass word`, 密马 and 密 or `mm` before a
value are `password` and 密码; `four four one nine` is `4419`. Both are looked up with the cues of the rules, and only a text
that holds one is corrected and read again.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from itertools import combinations, pairwise

from engramlog_server.events.text import HIDDEN
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.scripts import HAN_BLOCK
from engramlog_server.projections.language.sensitivity.rule import Cues, listed, positions
from engramlog_server.projections.language.traditional import characters

_SIGNS = {
    "-": "\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212\u2e3a\u2e3b\u30fb",
    "'": "\u2018\u2019\u201a\u201b\u2032\u02bc",
    '"': "\u201c\u201d\u201e\u201f\u2033\u300c\u300d\u300e\u300f\u300a\u300b\u00ab\u00bb",
    "\u2192": "\u21d2\u27a1\u2794\u279c\u27f6\u2b95",
    "": "\u20dd\u20de\u20e3",  # what stands about a digit in a keycap
}
_SIGN_OF = {written: plain for plain, all_written in _SIGNS.items() for written in all_written}
_DIGITS = "零〇一二三四五六七八九幺壹贰叁肆伍陆柒捌玖"
_COUNTED = regex(rf"[{_DIGITS}两](?:[ ,、]?[{_DIGITS}]){{2,31}}")
_AS_DIGITS = str.maketrans(_DIGITS + "两", "0012345678911234567892", " ,、")
_CALLED = regex("(?:1(?:2(?:3(?:4(?:5(?:6(?:7(?:89?)?)?)?)?)?)?)?)+")
"""Digits that are counted aloud and not dictated: 一二三四, 一二一."""
_CONTROLS = bytes(byte for byte in range(256) if (byte < 32 and byte not in b"\t\n\r") or byte == 127)
_ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
_MOST_CHARACTERS = 1 << 15


class _Folds(dict[int, str]):
    """What each character is read as, found out when it is first met: cheaper than three passes over every text."""

    def __missing__(self, point: int) -> str:
        if len(self) >= _MOST_CHARACTERS:
            self.clear()
        plain = self[point] = read_as(chr(point))
        return plain


def read_as(character: str) -> str:
    """What one character is read as; nothing for one that shows nothing. `normal_letters` reads by it too, under a version."""
    if HIDDEN.match(character):
        return character if character in "\t\n\r" else ""
    plain = unicodedata.normalize("NFKC", character)
    return "".join(_one_read_as(one) for one in plain)


def _one_read_as(character: str) -> str:
    if unicodedata.category(character) == "Nd":
        return str(unicodedata.digit(character))
    return characters().get(ord(character)) or _SIGN_OF.get(character, character)


_FOLDS = _Folds()


_HAN = range(ord(HAN_BLOCK[0]), ord(HAN_BLOCK[-1]) + 1)


def _changed() -> str:
    changed = sorted(characters().keys() & set(_HAN))
    runs = pairwise([_HAN.start - 1, *changed, _HAN.stop])
    stays = "".join(f"{chr(before + 1)}-{chr(after - 1)}" for before, after in runs if after - before > 1)
    return rf"[^ -~\t\n\r\u3001\u3002{stays}]+"


CHANGED = regex(_changed)
"""What may be read as something else: all but ASCII, two Chinese stops, and the characters that are simplified already."""
_STOPS = (("\uff0c", ","), ("\uff1f", "?"), ("\uff01", "!"), ("\uff1a", ":"))
"""The most frequent ones, each replaced in a tenth of the time that the table takes."""


def folded(text: str) -> str:
    """The text as the rules read it; at most 18 times as long (one Arabic ligature), mostly no longer than it was."""
    if text.isascii():
        data = text.encode()
        kept = data.translate(None, _CONTROLS)
        return text if len(kept) == len(data) else kept.decode()
    for written, plain in _STOPS:
        text = text.replace(written, plain)
    return _COUNTED.sub(_as_digits, CHANGED.sub(_plainly, text))


def in_lower_case(text: str) -> str:
    """The text in lower case, character by character, so that a position is the same in both."""
    lower = text.lower()
    # A few capitals, such as the Turkish dotted I, have two characters in lower case.
    return lower if len(lower) == len(text) else text.translate(_ASCII_LOWER)


def _plainly(match: re.Match[str]) -> str:
    return match[0].translate(_FOLDS)


def _as_digits(match: re.Match[str]) -> str:
    counted = match[0].translate(_AS_DIGITS)
    return match[0] if _CALLED.fullmatch(counted) else counted


_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_RIGHT = frozenset(
    listed("""
    password, passwords, passwort, passcode, passcodes, passphrase, passphrases, passwd, passwds, passkey, passkeys
    passport
    passward, pword, pwd, pswd
""")
)
"""What is a word already, for a password or for something else."""


def _one_edit(word: str) -> Iterator[str]:
    """The words that one letter too many, too few, wrong or exchanged with the next makes of a word."""
    for at in range(len(word) + 1):
        before, after = word[:at], word[at:]
        yield before + after[1:]
        yield before + after[1:2] + after[:1] + after[2:]
        for letter in _LETTERS:
            yield before + letter + after
            yield before + letter + after[1:]


def _abbreviated() -> Iterator[str]:
    """`password` with letters left out: its p, w and d are there, and so is one of its r or two of the others."""
    for vowel in ("", "a"):
        for sibilants in ("", "s", "ss", "sss"):
            yield from (f"p{vowel}{sibilants}w{end}d" for end in ("", "o", "r", "or", "ro"))


def _misspelt() -> dict[str, str]:
    words: dict[str, str] = {}
    for right in ("password", "passphrase", "passcode"):
        for wrong in _one_edit(right):
            words.setdefault(wrong, right)
        for at in combinations(range(1, len(right)), 2):
            words.setdefault("".join(letter for place, letter in enumerate(right) if place not in at), right)
    words |= dict.fromkeys(_abbreviated(), "password")
    words |= {f"pass{sign}{end}": f"pass{end}" for end in ("word", "phrase", "code") for sign in " -_"}
    return {wrong: right for wrong, right in words.items() if wrong not in _RIGHT and len(wrong) >= 4}


MISSPELT = _misspelt()
MISSPELT_ZH = Cues(
    listed("密马, 蜜码, 蜜马, 秘码, 密玛, 密嘛, 密码码, 密 码, 密.码, 密*码, 密-码, 口今, 囗令, 口 令, 密"), ["mm"]
)
CUES = Cues(MISSPELT, MISSPELT_ZH)

_LATIN = regex(r"(?<![a-z0-9])(?=pa|ps|pw|ap|[a-z]pa|[a-z]as)[a-z]{4,12}(?:[ _-](?:word|phrase|code))?(?![a-z0-9])")
_MISSPELT_HAN = (
    (
        regex(
            "(?<![亲保加紧严精周稠秘])(?<![^开手本款主]机)(?:密[马玛嘛]|蜜[码马]|秘码|密[ .*-]码)"
            f"|(?<![{HAN_BLOCK}])密(?=\\s?[:=\\s]\\s?[!-~]{{4}})|(?<=[录入折卡号])密(?=[:\\s]\\s?[!-~]{{4}})"
            "|(?<![a-z0-9:/.-])(?<!\\d )mm(?=[:是]\\s?[!-~]{4}|\\s是)"
        ),
        "密码",
    ),
    (regex(f"(?:口今(?![天年晚早日后夜时次朝宵儿])|囗令|(?<![{HAN_BLOCK}])口 令)"), "口令"),
)


_BESIDE_NETWORK = regex(r"mm(?:(?<=wifi.mm)|(?<=vpn.mm))(?=:\s?[!-~]{6})")


def corrected(text: str, lower: str) -> tuple[str, str] | None:
    """A folded text and the same in lower case with its words for a password spelt right; None where nothing was wrong."""
    changes = [(*match.span(), MISSPELT[match[0]]) for match in _LATIN.finditer(lower) if match[0] in MISSPELT]
    changes += [(*match.span(), "密码") for match in _BESIDE_NETWORK.finditer(lower)]
    if not lower.isascii():
        changes += [(*match.span(), right) for wrong, right in _MISSPELT_HAN for match in wrong.finditer(lower)]
    if not changes:
        return None
    changes.sort()
    return _with(text, changes), _with(lower, changes)


def _with(text: str, changes: list[tuple[int, int, str]]) -> str:
    """The text with other words from start to end of each change; a change that begins within the one before is left out."""
    parts, done = [], 0
    for start, end, right in changes:
        if start >= done:
            parts += [text[done:start], right]
            done = end
    return "".join([*parts, text[done:]])


_WORDS = dict(zip(listed("zero, one, two, three, four, five, six, seven, eight, nine"), "0123456789", strict=True))
_VALUES = _WORDS | {"oh": "0", "nought": "0", "naught": "0", "niner": "9"}
_TIMES = {"double": 2, "triple": 3}
STARTING = frozenset(_VALUES) | frozenset(_TIMES)
"""What a row may begin with."""
OF_A_ROW = STARTING - {"one", "two"}
"""Of these one must stand in a row: the two others are in too many texts."""
_WORD = f"(?:{'|'.join(sorted(STARTING, key=len, reverse=True))})"
_ROW = regex(rf"{_WORD}(?:(?:, |[ ,-]){_WORD}){{2,15}}(?![a-z-])")
_IN_ORDER = "01234567890", "9876543210"
"""In this order digits are counted aloud, not told."""
_LEAST = 4
"""Digits: fewer are said of amounts, scores and times."""


def in_digits(text: str, lower: str, keys: Collection[str]) -> tuple[str, str] | None:
    """A folded text and the same in lower case with its rows of words for digits as digits; None where there is no such row.

    `keys` are the words looked up that stand in the text. A row of nothing but ones and twos is not looked for: both stand in
    too many texts.
    """
    words = STARTING.intersection(keys)
    if len(words) < 2 or OF_A_ROW.isdisjoint(words):
        return None
    parts, done = [], 0
    for start in sorted(at for word in words for at in positions(lower, word)):
        if start < done or lower[max(0, start - 1) : start].isalnum() or not (row := _ROW.match(lower, start)):
            continue
        digits = _digits(row[0])
        if len(digits) >= _LEAST and len(set(digits)) > 1 and not any(digits in counted for counted in _IN_ORDER):
            parts.append((start, row.end(), digits))
            done = row.end()
    return (_with(text, parts), _with(lower, parts)) if parts else None


def _digits(row: str) -> str:
    digits, times = "", 1
    for word in re.split("[ ,-]+", row):
        if word in _TIMES:
            times = _TIMES[word]
        else:
            digits, times = digits + _VALUES[word] * times, 1
    return digits
