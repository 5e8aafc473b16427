"""Words for a password as people misspell them, read as the word that they stand for: one table, so every rule profits. Pure.

`psswrd`, `paswword`, `pass word`, 密马, 口今, and 密 or `mm` before a value are read as `password` and 密码. The wrong forms are
looked up with the rules' cues (`sensitivity_index`), and only a text that holds one is corrected and read again.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.scripts import HAN_BLOCK
from engramlog_server.projections.language.sensitivity.reading import Cues
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
    found: dict[str, str] = {}
    for right in ("password", "passphrase", "passcode"):
        for wrong in _one_edit(right):
            found.setdefault(wrong, right)
        for at in combinations(range(1, len(right)), 2):
            found.setdefault("".join(letter for place, letter in enumerate(right) if place not in at), right)
    found |= dict.fromkeys(_abbreviated(), "password")
    found |= {f"pass{sign}{end}": f"pass{end}" for end in ("word", "phrase", "code") for sign in " -_"}
    return {wrong: right for wrong, right in found.items() if wrong not in _RIGHT and len(wrong) >= 4}


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
    changes = [(match.span(), MISSPELT[match[0]]) for match in _LATIN.finditer(lower) if match[0] in MISSPELT]
    changes += [(match.span(), "密码") for match in _BESIDE_NETWORK.finditer(lower)]
    if not lower.isascii():
        changes += [(match.span(), right) for wrong, right in _HAN for match in wrong.finditer(lower)]
    if not changes:
        return None
    changes.sort()
    return _with(text, changes), _with(lower, changes)


def _with(text: str, changes: list[tuple[tuple[int, int], str]]) -> str:
    parts, done = [], 0
    for (start, end), right in changes:
        if start >= done:
            parts += [text[done:start], right]
            done = end
    return "".join([*parts, text[done:]])
