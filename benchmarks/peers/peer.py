"""What every library has to do, and the rows and questions that all of them get."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple, Protocol
from zlib import crc32

import numpy as np

from benchmarks.events import SEED, chinese, english
from engramlog_server.projections.language.patterns import HAN_BLOCK
from engramlog_server.projections.language.text import tokens

AT_A_TIME = 100
"""Rows of one `add`. When it returns, the rows can be found, as durably as the library's defaults make them."""
RESULTS = 10
DIMENSIONS = 256
TEXTS = {"english": english, "chinese": chinese}
_WORDS = re.compile(r"[A-Za-z']{4,}")
_HAN = re.compile(f"[{HAN_BLOCK}]{{2,}}")


class Row(NamedTuple):
    """One text. `cut`: the same with Chinese in pairs of characters, for those that know words by spaces."""

    key: str
    text: str
    cut: str


class PeerQuestion(NamedTuple):
    """Words of one text, and its key."""

    words: str
    cut: str
    key: str


class Peer(Protocol):
    """A store of texts. `does` describes adding and finding; `kept` says what `size` counts."""

    name: str
    does: str
    kept: str

    def add(self, rows: Sequence[Row]) -> None:
        """Add rows, in the order given."""

    def find(self, question: PeerQuestion) -> Sequence[str]:
        """Keys found, best first; at most ten, except if everything is read."""

    def size(self) -> int:
        """Bytes taken by what was added; 0 where nothing can be counted."""

    def close(self) -> None:
        """Close files and connections."""


def rows_of(texts: str, count: int) -> list[Row]:
    """So many different texts."""
    chance, speak = Random(SEED), TEXTS[texts]
    said = dict[str, None]()
    while len(said) < count:
        said[speak(chance)] = None
    return [Row(f"m{number}", text, cut(text)) for number, text in enumerate(said)]


def cut(text: str) -> str:
    """Chinese as pairs of characters with spaces between them; other text unchanged."""
    return _HAN.sub(lambda run: " ".join(run[0][at : at + 2] for at in range(len(run[0]) - 1)).join("  "), text)


def questions_of(rows: Sequence[Row], count: int) -> list[PeerQuestion]:
    """Some words of so many rows, four each or two pieces of Chinese."""
    chance = Random(SEED)
    return [_question(rows[number * len(rows) // count], chance) for number in range(count)]


def _question(row: Row, chance: Random) -> PeerQuestion:
    words = sorted(set(_WORDS.findall(row.text)))
    if len(words) < 2:
        words = [run[0][:4] for run in _HAN.finditer(row.text)] or [row.text]
    told = " ".join(chance.sample(words, min(4, len(words))))
    return PeerQuestion(told, cut(told), row.key)


def embed(texts: Sequence[str]) -> list[list[float]]:
    """Vectors without a model, which would cost more than everything else: hashed word counts in 256 dimensions, of length 1."""
    return [list(one) for one in _embedded(texts)]


def _embedded(texts: Sequence[str]) -> Iterator[list[float]]:
    for text in texts:
        counted = np.bincount([crc32(word.encode()) % DIMENSIONS for word in tokens(text)] or [0], minlength=DIMENSIONS)
        yield (counted / np.linalg.norm(counted)).tolist()


def bytes_in(folder: Path) -> int:
    """Of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
