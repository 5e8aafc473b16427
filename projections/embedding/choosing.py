"""Which embedder counts for an owner, the embedders of a process, and what a job that compares vectors looked at. Pure choices.

The owner's parameter says what counts, else the process's setting, else what the store was made with. What a process
may use is another thing: models that are built in unless it is set to none, and others only where its own setting names the same.
So nobody who may write to a store has contents sent to an address, a model downloaded, or code imported.

`auto` goes by whether an owner writes in letters other than Latin. A text counts where such letters weigh no less than its Latin
ones, a Han character, kana or Hangul syllable as three: so neither an emoji, an accent, a formula's Greek letter nor a name in
another script makes a text one of them. An owner counts from a tenth of the texts on, or from twenty of them however many others
there are. Both counts move with each change of a row; nothing is remembered of what is gone: the same memories give the same
answer in every process, after a rebuild, and of the past. docs/design.md has the rule.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Final, Literal, NamedTuple, TypedDict

import numpy as np
import numpy.typing as npt

from engramlog_server.events.errors import BadSetting
from engramlog_server.events.text import AUTO, BUILT_IN, MINILM, NONE, STORE, USE
from engramlog_server.projections.embedding.meaning import Embedder, KnownVectors, embedded_text
from engramlog_server.projections.language.patterns import HAN, HIRAGANA, KATAKANA, regex
from engramlog_server.projections.laws.modes import Flags
from engramlog_server.projections.memory.columns import Rows
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.shapes import ComparedByVectors, LookedAt

By = Literal["owner", "setting", "store"]
SETTING = "ENGRAMLOG_EMBEDDER"


class EmbedderChosen(NamedTuple):
    """What counts for an owner."""

    name: str
    """The embedder's name; `none` where words alone count."""
    said: str
    """The same as it stands where it was chosen: `auto`, or the name."""
    by: By
    """Where it stands: the owner's parameter, the process's setting, or the store."""
    lacking: str = ""
    """Why this process may not use it; empty where it may."""


class EmbedderPlan(NamedTuple):
    """What the process is set to use, None where nothing was set, and what the store was made with."""

    setting: str | None = None
    default: str = NONE

    @property
    def base(self) -> tuple[str, Literal["setting", "store"]]:
        """What counts for owners who chose nothing."""
        return (self.default, "store") if self.setting is None else (self.setting, "setting")

    @property
    def embeds(self) -> bool:
        """Whether anything is embedded for owners who chose nothing."""
        return self.base[0] != NONE

    def chosen(self, parameter: str, other_letters: Callable[[], bool]) -> EmbedderChosen:
        """The embedder of an owner with this parameter. Calls `other_letters` (whether `auto` takes USE) only under `auto`."""
        by: By
        said, by = self.base
        if parameter != STORE and self.setting != NONE:
            said, by = parameter, "owner"
        name = said if said != AUTO else USE if other_letters() else MINILM
        return EmbedderChosen(name, said, by, self._lacking(name))

    def _lacking(self, name: str) -> str:
        if name in (NONE, self.setting, *BUILT_IN):
            return ""
        return (
            f"the embedder {name} counts here, and this process is not set to use it: set {SETTING} to the same, "
            "or the owner's parameter embedder to another"
        )


def compares_nothing(parameter: str) -> str:
    """What is told of an owner's parameter where this process is set to compare nothing."""
    return f"the embedder {parameter} is not used here: {SETTING} of this process is none, so it compares nothing by meaning"


def is_ready(embedder: Embedder) -> bool:
    """Whether a question is embedded at once: nothing has to be loaded for it."""
    return bool(getattr(embedder, "is_ready", True))


def is_loaded(embedder: Embedder) -> bool:
    """Whether the model is in memory, measured or not."""
    return bool(getattr(embedder, "is_loaded", True))


def load_now(embedder: Embedder) -> None:
    """Load what a question would wait for. Raises EmbedderFailed."""
    load = getattr(embedder, "load", None)
    if load is not None:
        load()


class Embedders:
    """The embedders of a process, by name, each made when it is first needed. Safe for threads."""

    def __init__(self, make: Callable[[str], Embedder], plan: EmbedderPlan) -> None:
        """`make` gives the embedder of a name. It raises BadSetting where what it needs is not there."""
        self._make = make
        self.plan = plan
        self._lock = Lock()
        self._locks: dict[str, Lock] = {}
        self._made: dict[str, Embedder] = {}
        self._lacking: list[str] | None = None

    @classmethod
    def alone(cls, make: Callable[[], Embedder], name: str = "alone") -> Embedders:
        """One embedder for whoever chose none of his own."""
        return cls(lambda _name: make(), EmbedderPlan(name))

    def chosen(self, parameter: str, other_letters: Callable[[], bool]) -> EmbedderChosen:
        """The embedder of an owner with this parameter. If MiniLM is not installed, `auto` takes USE for all letters."""
        return self.plan.chosen(parameter, lambda: MINILM in self.lacking() or other_letters())

    def get(self, chosen: EmbedderChosen) -> Embedder:
        """The embedder that counts. Raises BadSetting where this process lacks it, or may not use it."""
        if chosen.lacking:
            raise BadSetting(chosen.lacking, setting=SETTING)
        with self._lock:
            making = self._locks.setdefault(chosen.name, Lock())
        with making:  # of others nobody waits
            if chosen.name not in self._made:
                self._made[chosen.name] = self._make(chosen.name)
            return self._made[chosen.name]

    def bilingual(self) -> Embedder:
        """The model by which the judge compares texts. Raises BadSetting if nothing is compared here, or it is not installed."""
        if not self.plan.embeds:
            raise BadSetting("nothing is compared by meaning here")
        return self.get(EmbedderChosen(USE, USE, "store"))

    def to_load(self) -> dict[str, Embedder]:
        """Models that are built in, there in this process, and not loaded yet, by name."""
        if self.plan.setting == NONE:
            return {}
        there = [name for name in BUILT_IN if name not in self.lacking()]
        found = {name: self.get(EmbedderChosen(name, name, "store")) for name in there}
        return {name: embedder for name, embedder in found.items() if not is_ready(embedder)}

    def lacking(self) -> list[str]:
        """Models that are built in and not there in this process, by name."""
        if self._lacking is None:
            self._lacking = sorted(name for name in BUILT_IN if not self._is_there(name))
        return self._lacking

    def _is_there(self, name: str) -> bool:
        try:
            self._make(name)
        except BadSetting:
            return False
        return True

    @property
    def made(self) -> dict[str, Embedder]:
        """Those that were needed, by name."""
        return dict(self._made)


ONE_IN = 10
"""An owner counts from one text in so many on ..."""
ENOUGH = 20
"""... or from so many of them, which more texts in Latin letters do not outweigh."""
_IDEOGRAPH_WEIGHT = 3
_IDEOGRAPHS = f"{HAN}{HIRAGANA}{KATAKANA}\uac00-\ud7a3"
_LATIN = "A-Za-zªºÀ-ÖØ-öø-ʯᴀ-ᶿḀ-ỿⁱⁿₐ-ₜⅠ-ↈⱠ-ⱿꜢ-ꟿꬰ-ꭤﬀ-ﬆＡ-Ｚａ-ｚ\U0001d400-\U0001d7ff"
_EACH_IDEOGRAPH = regex(f"[{_IDEOGRAPHS}]")
_EACH_LATIN = regex(f"[{_LATIN}]")
_EACH_OTHER = regex(rf"[^\W\d_{_LATIN}{_IDEOGRAPHS}]")


def is_of_other_letters(text: str) -> bool:
    """Whether a text's letters are other than Latin, for the most part."""
    if text.isascii():
        return False
    others = _IDEOGRAPH_WEIGHT * len(_EACH_IDEOGRAPH.findall(text)) + len(_EACH_OTHER.findall(text))
    return others > 0 and others >= len(_EACH_LATIN.findall(text))


def owner_of_other_letters(of_other_letters: int, texts: int) -> bool:
    """Whether an owner counts, of whose `texts` so many are of other letters."""
    return of_other_letters >= ENOUGH or (of_other_letters > 0 and of_other_letters * ONE_IN >= texts)


class LettersIndex:
    """How many rows of a view hold text, and how many of them are of other letters. Not for two threads at once."""

    def __init__(self) -> None:
        self._rows = bytearray()
        """By row: 0 without text, 1 with text in Latin letters or none, 2 of other letters."""
        self._counts = [0, 0, 0]

    def put(self, row: int, memory: Memory) -> None:
        """Take in a memory, new or changed."""
        while len(self._rows) <= row:
            self._rows.append(0)
            self._counts[0] += 1
        text = embedded_text(memory)
        now = (2 if is_of_other_letters(text) else 1) if text else 0
        self._counts[self._rows[row]] -= 1
        self._counts[now] += 1
        self._rows[row] = now

    def latin(self, rows: int) -> Flags:
        """Which of the first so many rows hold text that is not of other letters, shape (rows,)."""
        found: Flags = np.frombuffer(bytes(self._rows[:rows]).ljust(rows, b"\0"), np.uint8) == 1
        return found

    @property
    def of_other_letters(self) -> bool:
        """Whether the owner counts."""
        return owner_of_other_letters(self._counts[2], self._counts[1] + self._counts[2])

    def bytes_used(self) -> int:
        """About how much memory this index takes."""
        return len(self._rows)


KINDS: Final[tuple[Literal["statements"], Literal["turns"]]] = ("statements", "turns")
NAMES: Final[tuple[Literal["compared"], Literal["without_vector"], Literal["unread"], Literal["older"]]] = (
    "compared",
    "without_vector",
    "unread",
    "older",
)


class RowsLookedAt(NamedTuple):
    """Rows that were looked at, and how many were not, by reason."""

    rows: Rows
    without_vector: int = 0
    """They have no vector under the model: the job `embed` computes it."""
    unread: int = 0
    """The model reads their language not at all, whatever vector it gives them."""
    older: int = 0
    """They came before the newest that are looked at."""

    def told(self) -> LookedAt:
        """JSON-ready, without rows."""
        return {
            "compared": int(self.rows.size),
            "without_vector": self.without_vector,
            "unread": self.unread,
            "older": self.older,
        }


_NOTHING = RowsLookedAt(np.zeros(0, dtype=np.int64))


class VectorsCompared(NamedTuple):
    """What a run looked at, of one owner."""

    model: str
    statements: RowsLookedAt
    turns: RowsLookedAt
    full: bool
    """Whether there was no room for what was found, or for anything: it is suggested once some that wait are answered."""

    def told(self) -> ComparedByVectors:
        """JSON-ready."""
        return {
            "model": self.model,
            "statements": self.statements.told(),
            "turns": self.turns.told(),
            "full": self.full,
        }


class OwnersComparedTold(TypedDict):
    """Sums over owners: how many there were, how many were not compared whole, and how many have no room for more."""

    owners: int
    in_part: int
    statements: LookedAt
    turns: LookedAt
    full: int


class ComparedOfAll:
    """Sums of what was told of owners, one after the other."""

    def __init__(self) -> None:
        self._told: OwnersComparedTold = {
            "owners": 0,
            "in_part": 0,
            "statements": _NOTHING.told(),
            "turns": _NOTHING.told(),
            "full": 0,
        }

    def add(self, one: ComparedByVectors | None) -> None:
        """Take in an owner's; None where nothing of his was compared."""
        if one is None:
            return
        sums = self._told
        sums["owners"] += 1
        sums["in_part"] += left_out(one) > 0
        sums["full"] += one["full"]
        for kind in KINDS:
            for name in NAMES:
                sums[kind][name] += one[kind][name]

    def told(self) -> OwnersComparedTold:
        """JSON-ready."""
        return self._told


def left_out(told: ComparedByVectors) -> int:
    """How many statements and turns were not compared, for whatever reason."""
    return sum(told[kind][name] for kind in KINDS for name in NAMES if name != "compared")


def looked_at(fit: npt.NDArray[np.bool_], vectors: KnownVectors, most: int) -> RowsLookedAt:
    """Of the rows that are fit the newest `most` that have a vector, oldest first, and why the others are not among them."""
    size = min(fit.size, vectors.known.size)
    fit_rows = np.flatnonzero(fit)
    has = fit_rows[fit_rows < size]
    rows = has[vectors.known[has]]
    unread = 0 if vectors.unread is None else int(vectors.unread[has].sum())
    return RowsLookedAt(rows[-most:], fit_rows.size - rows.size - unread, unread, max(rows.size - most, 0))
