"""Level 3: the words from which a wallet is made anew, in a row or beside a word for them; in English and Chinese."""

from __future__ import annotations

from functools import cache

from engramlog_server.projections.language.lexicon import words
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.scripts import HAN_BLOCK
from engramlog_server.projections.language.sensitivity.reading import Cues, TextReading
from engramlog_server.projections.language.sensitivity.rule import Rule, listed


@cache
def wallet_words() -> frozenset[str]:
    """The words of which wallets make recovery phrases."""
    return frozenset(words("wallet_words", "english"))


SEEDS = Cues(
    listed("""
    seed, mnemonic, recovery, phrase, wallet, metamask, ledger, trezor, exodus, phantom, electrum, words, backup
    imtoken, coinbase, seedphrase, 助记词, 助记, 种子, 钱包, 备份, 个词, 个单词, 个英文
""")
)
_WORD = regex("[a-z]+")
_LISTED = regex(
    r"(?:\d{1,2}[.):]?\s?)?[a-z]{3,8}(?:(?:[\s,、]{1,3}|[;/|-]|\s[-/|>]\s)(?:\d{1,2}[.):]?\s?)?[a-z]{3,8}){11,24}"
)
_LISTED_ZH = regex(f"[{HAN_BLOCK}](?:[ ,、.-][{HAN_BLOCK}]){{11,23}}")
ROW = 12
"""Words: the shortest recovery phrase."""
_LEAST = 6
"""Whole words of a wallet that lists must hold: two in three of `ROW` for each, of which the first and the last may be parts of
longer words."""


def says_wallet_words(read: TextReading) -> bool:
    """Whether a list of words or of single characters stands beside a word for a seed; two in three are a wallet's words."""
    for piece in read.pieces(SEEDS, before=8, after=280):
        if _LISTED_ZH.search(piece.lower):
            return True
        if sum(word in wallet_words() for word in _WORD.findall(piece.after)) < _LEAST:
            continue  # spares the search for lists, which costs ten times as much
        told = [word for found in _LISTED.finditer(piece.after) for word in _WORD.findall(found[0])]
        if sum(word in wallet_words() for word in told) * 3 >= 2 * max(ROW, len(told)):
            return True
    return False


def holds_wallet_words(read: TextReading) -> bool:
    """Whether `ROW` words of a wallet's list follow each other, numbered or not."""
    row, known = 0, wallet_words()
    for word in read.lower.split():
        plain = word if word in known else word.strip(".,;:\"'()0123456789")
        row = row + 1 if plain in known else 0 if plain else row
        if row >= ROW:
            return True
    return False


RULES = (Rule("recovery-phrase", 3, says_wallet_words, SEEDS), Rule("recovery-phrase", 3, holds_wallet_words, SEEDS))
