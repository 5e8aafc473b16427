"""Which memories of an owner say the same letter by letter: rows by the digest of what they say, kept level with a view. Pure.

Also names in the owner's own words: people, pets, places, projects and things, in both languages. Names are guessed
by their form: in English words with a capital inside a sentence, in Chinese what follows 叫, a surname, 老, 小 or 阿, and
listed places. They only decide whether a message needs memory.
"""

from __future__ import annotations

from collections import Counter
from functools import cache

from engramlog_server.projections.language.lexicon import either, words
from engramlog_server.projections.language.patterns import holds_han, regex
from engramlog_server.projections.language.text import stop_words
from engramlog_server.projections.memory.record import SECRET, Memory

_BYTES_A_ROW = 250


class SaidIndex:
    """Rows by `Memory.stated`; a row without a digest is not in it."""

    def __init__(self) -> None:
        self._rows: dict[bytes, tuple[int, ...]] = {}
        self._of: dict[int, bytes] = {}

    def put(self, row: int, memory: Memory) -> None:
        """Take in a row that is new or has changed."""
        before = self._of.get(row, b"")
        if before == memory.stated:
            return
        if before:
            left = tuple(one for one in self._rows[before] if one != row)
            if left:
                self._rows[before] = left
            else:
                del self._rows[before]
            del self._of[row]
        if memory.stated:
            self._of[row] = memory.stated
            self._rows[memory.stated] = (*self._rows.get(memory.stated, ()), row)

    def rows(self, digest: bytes) -> tuple[int, ...]:
        """Rows that say it, the oldest first; none for an empty digest."""
        return self._rows.get(digest, ())

    def bytes_used(self) -> int:
        """About how much it takes."""
        return _BYTES_A_ROW * len(self._of)


MOST_READ = 2_000
"""Characters of a text that are read."""
MOST_NAMES = 20_000
"""Different names that are kept."""
_BYTES_A_NAME = 120

_CAPITAL = regex(r"(?:(?<=[a-z,;:’'] )|(?<=[a-z]-))(?:[A-Z][\w’'-]{2,30}|[A-Z]{2,10}\d{0,4})\b")
_FIRST = regex(
    r"(?:^|[.!?] )([A-Z][a-z]{2,20})(?= (?:is|was|has|had|can|can't|cannot|likes?|loves?|hates?|lives?|works?|plays?|and"
    r"|doesn't"
    r"|won't|just|does|starts?|sees)\b|'s\b)"
)
_HAN = regex(
    lambda: (
        r"(?:名叫|叫做|叫|名字是)(?P<called>[㐀-鿿]{2,4}?)(?=[，。！？、,.\s的是在，]|今年|$)"
        rf"|(?P<family>(?:{either(words('surnames', 'chinese'))}|[老小阿])[㐀-鿿]{{1,2}})"
        r"(?=[，。！？、,\s的是在和跟说做喜爱有要每最也今去]|$)"
        rf"|(?P<twice>([㐀-鿿])\4)(?=[学的是在有喜爱，。、])"
        rf"|(?P<place>{either(word for word in words('places', 'chinese') if word != '中国')})"
    )
)


@cache
def _stop() -> frozenset[str]:
    return frozenset(stop_words()) | set(words("not_names", "english")) | set(words("not_names", "chinese"))


def names_in(text: str) -> frozenset[str]:
    """The names in a text, English ones in lower case."""
    text = text[:MOST_READ]
    found = {match[0] for match in _CAPITAL.finditer(text)} | {match[1] for match in _FIRST.finditer(text)}
    names = {name.casefold().removesuffix("'s").removesuffix("’s") for name in found} - _stop()
    if holds_han(text):
        for match in _HAN.finditer(text):
            name = match[0] if match["called"] is None else match["called"]
            if name not in _stop():
                names.add(name)
                if match["family"] is not None and len(name) == 3 and name[0] not in "老小阿":
                    names.add(name[1:])  # called by the given name alone
                if match["called"] is not None and len(name) == 3:
                    names.add(name[1:])
    return frozenset(names)


class SaidNames:
    """The names in memories whose source is the user. Not for two threads at once."""

    def __init__(self) -> None:
        self._of: dict[int, frozenset[str]] = {}
        self._counts: Counter[str] = Counter()
        self._all: frozenset[str] | None = None
        self._projects: dict[int, str] = {}

    def put(self, row: int, memory: Memory) -> None:
        """Take in a row that is new or has changed."""
        self._projects.pop(row, None)
        if memory.project:
            self._projects[row] = memory.project.casefold()
        before, self._all = self._of.pop(row, frozenset()), None
        for name in before:
            self._counts[name] -= 1
            if not self._counts[name]:
                del self._counts[name]
        if memory.source != "user" or memory.sensitivity >= SECRET or len(self._counts) >= MOST_NAMES:
            return
        names = names_in(memory.content)
        if names:
            self._of[row] = names
            self._counts.update(names)

    @property
    def names(self) -> frozenset[str]:
        """Every name in the user's memories, and the projects."""
        if self._all is None:
            self._all = frozenset(self._counts) | self.projects
        return self._all

    @property
    def projects(self) -> frozenset[str]:
        """The projects that memories belong to, in lower case."""
        return frozenset(self._projects.values())

    def bytes_used(self) -> int:
        """About how much memory this index takes."""
        return _BYTES_A_NAME * (len(self._counts) + len(self._of) + len(self._projects))
