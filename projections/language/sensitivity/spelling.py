"""What is written otherwise and read as what it says: misspelt words for a password, numbers said digit by digit. Pure.

`psswrd`, `pass word`, 密马 and 密 or `mm` before a value are read as `password` and 密码; `four four one nine` is `4419`. Both are
looked up with the cues of the rules (`index`), and only a text that holds one is corrected and read again.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import combinations

from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.scripts import HAN_BLOCK
from engramlog_server.projections.language.sensitivity.reading import Cues, positions
from engramlog_server.projections.language.sensitivity.rule import listed

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
_HAN = (
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
        changes += [(*match.span(), right) for wrong, right in _HAN for match in wrong.finditer(lower)]
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
_COUNTED = "01234567890", "9876543210"
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
        if len(digits) >= _LEAST and len(set(digits)) > 1 and not any(digits in counted for counted in _COUNTED):
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
