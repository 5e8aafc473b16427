"""Where else rare names of what is to be erased are: entries of the log that stay, and files of the data folder. It is only told.

A name is a keyword of the words that go (a name, an identifier, a word that is no common one, in English or Chinese), or one that
is given. It is rare if at most `RARE` entries that stay have it; names that are given are told however many have them. What stays
of others is theirs to delete.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import msgspec
from ahocorasick_rs import AhoCorasick

from engramlog_server.consumers.erasure import read_log
from engramlog_server.events.envelope import AnyEvent, Stored, decode
from engramlog_server.events.errors import KeyUnavailable, UndecodableEvent, refused
from engramlog_server.events.partitions import LogKeys, partition_of, position_text
from engramlog_server.events.redis.log import pages
from engramlog_server.events.redis.opening import opened_where_it_can_be
from engramlog_server.events.redis.wire import Wire
from engramlog_server.ops.erasure.plan import ErasurePlan, wire_of
from engramlog_server.ops.erasure.residue import Probes, files_with
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.store import OpenStore
from engramlog_server.projections.embedding.meaning import content_key
from engramlog_server.projections.language.keywords import extracted
from engramlog_server.projections.reports.erasure.restatements import named_of, words_in

MOST_GIVEN, LONGEST_NAME = 20, 100
OF_A_TEXT = 10
"""Keywords of a text that goes, at most."""
MOST_SOUGHT = 2_000
RARE = 20
MOST_NAMES, MOST_PLACES = 50, 200
"""Names and places that are told; the others are counted."""
MOST_READ = 200_000
"""Entries that are looked through, the newest of each partition."""
_IN_WORD = re.compile(r"\w")
OnProgress = Callable[[int, int], None]


class Place(msgspec.Struct, frozen=True):
    """An entry that stays and has a name."""

    owner: str
    of: str
    """The memory or turn, by what it is named; empty of what was asked, or a tool answered."""
    type: str
    position: str
    vector: bool
    """Whether a vector is kept of a text that has it."""


class NamePlaces(msgspec.Struct, frozen=True):
    """Where a name is."""

    name: str
    total: int
    """Entries that stay and have it."""
    places: list[Place]
    files: dict[str, int]
    """Files of the data folder, and how often each has it."""


class Elsewhere(msgspec.Struct, frozen=True):
    """Where rare names of what is to be erased are, the rarest first."""

    names: list[NamePlaces]
    more: int
    """Rare names that are not told."""
    common: int
    """Names that more than `RARE` entries have."""
    read: int
    """Entries that were looked through."""
    unread: int
    """Entries that were not: beyond `MOST_READ`, or nobody can open them."""


def given_names(names: Sequence[str]) -> list[str]:
    """Names that are looked for, as they are compared. Raises InputError."""
    if len(names) > MOST_GIVEN:
        raise refused("name", len(names), f"at most {MOST_GIVEN} names")
    told = [_folded(name).strip() for name in names]
    for name, clean in zip(names, told, strict=True):
        if not 2 <= len(clean) <= LONGEST_NAME:
            raise refused("name", name[:LONGEST_NAME], f"a name of 2 to {LONGEST_NAME} characters")
    return told


class Names:
    """Finds names in texts, in whatever case, as whole words where their letters stand in words."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = list(dict.fromkeys(names))
        self._any = AhoCorasick(self.names)

    def found_in(self, text: str) -> dict[str, str]:
        """Those that a text has, and how it writes them."""
        folded = _folded(text)
        plain = unicodedata.normalize("NFC", text)
        plain = plain if len(plain) == len(folded) else folded
        found = dict[str, str]()
        for at, start, end in self._any.find_matches_as_indexes(folded, overlapping=True):
            if not (_goes_on(folded, start - 1, start) or _goes_on(folded, end, end - 1)):
                found[self.names[at]] = plain[start:end]
        return found


def names_elsewhere(
    store: OpenStore,
    settings: Settings,
    plan: ErasurePlan,
    going: Collection[int] | None,
    given: Sequence[str] = (),
    on_progress: OnProgress = lambda _done, _all: None,
) -> dict[str, Any]:
    """Look through the whole log, and the files of the data folder; JSON-ready. `going`: seqs of the owner's entries that go, None
    for all.

    Raises InputError for names that cannot be looked for, StoreError.
    """
    with wire_of(store) as wire:
        found = _Search(store, settings, wire, plan.owner, going, given_names(given)).told(on_progress)
    told: dict[str, Any] = msgspec.to_builtins(found)
    return told | {"rare": RARE}


class _Search:
    def __init__(
        self,
        store: OpenStore,
        settings: Settings,
        wire: Wire,
        owner: str,
        going: Collection[int] | None,
        given: Sequence[str],
    ) -> None:
        self._store, self._settings, self._wire = store, settings, wire
        self._owner, self._going, self._given = owner, going, given
        self._tags = store.identity.tags
        sought = dict.fromkeys(given)
        for text in self._going_texts():
            for one in extracted(text, OF_A_TEXT) if len(sought) < MOST_SOUGHT else ():
                if len(word := _folded(one.word)) > 1:
                    sought[word] = None
        self._names, self._counts = Names(sought), Counter[str]()
        self._places, self._forms = defaultdict[str, list[Place]](list), defaultdict[str, set[str]](set)
        self._secrets = dict[str, tuple[bytes, list[str]]]()
        self._read = self._unread = 0

    def _goes(self, one: Stored) -> bool:
        return one.owner == self._owner and (self._going is None or one.seq in self._going)

    def _going_texts(self) -> Iterator[str]:
        tag = self._tags[partition_of(self._owner, len(self._tags))]
        with suppress(KeyUnavailable):  # what nobody can open is erased all the same
            for one, event in read_log(self._wire, tag, self._owner):
                if event is not None and self._goes(one):
                    yield from words_in(event)

    def told(self, on_progress: OnProgress) -> Elsewhere:
        """Read the log once, the newest entries of each partition; then the files."""
        for number, tag in enumerate(self._tags if self._names.names else ()):
            for one, event in self._entries(tag):
                for text in words_in(event):
                    for name, form in self._names.found_in(text).items():
                        self._forms[name].add(form)
                        if not self._goes(one):
                            self._note(name, one, event, position_text(number, one.seq), text)
            on_progress(number + 1, len(self._tags))
        files = self._files()
        wanted = [
            one for one in self._names.names if self._counts[one] + len(files.get(one, ())) and self._is_told(one)
        ]
        wanted.sort(key=lambda name: (name not in self._given, self._counts[name]))
        told, left = list[NamePlaces](), MOST_PLACES
        for name in wanted[:MOST_NAMES]:
            told.append(NamePlaces(name, self._counts[name], self._places[name][:left], files.get(name, {})))
            left -= len(told[-1].places)
        common = sum(not self._is_told(name) for name in self._names.names)
        return Elsewhere(told, max(len(wanted) - MOST_NAMES, 0), common, self._read, self._unread)

    def _is_told(self, name: str) -> bool:
        return name in self._given or self._counts[name] <= RARE

    def _entries(self, tag: str) -> Iterator[tuple[Stored, AnyEvent]]:
        keys = LogKeys(tag)
        head = int(self._wire.call("HGET", keys.meta, "head") or 0)
        after = max(head - MOST_READ // len(self._tags), 0)
        self._unread += after
        for page in pages(self._wire, keys, after):
            for one in opened_where_it_can_be(self._wire, keys, page, {}):
                try:
                    event = decode(one.kind, one.body)
                except UndecodableEvent:  # of an owner who was erased, or whose key cannot be had
                    self._unread += 1
                    continue
                self._read += 1
                yield one, event

    def _note(self, name: str, one: Stored, event: AnyEvent, position: str, text: str) -> None:
        of = named_of(event)
        if any((place.owner, place.of, place.type) == (one.owner, of, event.type) for place in self._places[name][-3:]):
            return  # of a memory each text that has it is one place
        self._counts[name] += 1
        if len(self._places[name]) < RARE * 10:
            self._places[name].append(Place(one.owner, of, event.type, position, self._has_vector(one.owner, text)))

    def _has_vector(self, owner: str, text: str) -> bool:
        if owner not in self._secrets:
            self._secrets[owner] = self._store.vectors.secret(owner), self._store.vectors.models_of(owner)
        secret, models = self._secrets[owner]
        return any(self._store.vectors.has(owner, model, [content_key(secret, text)]) for model in models)

    def _files(self) -> dict[str, dict[str, int]]:
        """Name -> files of the data folder that have it as plain text, and how often."""
        needles = [
            (name, form)
            for name in self._names.names
            if self._is_told(name)
            for text in self._forms[name] | {name}
            for form in (text.encode(), json.dumps(text)[1:-1].encode())
        ]
        found = dict[str, dict[str, int]]()
        for (where, _, name), count in files_with(self._store, self._settings, Probes(needles)).items():
            found.setdefault(name, {})[where] = count
        return found


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()


def _goes_on(text: str, beside: int, edge: int) -> bool:
    """Whether the word at an edge goes on beside it; a script that parts no words by spaces has no such edge."""
    if not 0 <= beside < len(text) or unicodedata.east_asian_width(text[edge]) in ("W", "F"):
        return False
    return _IN_WORD.match(text[edge]) is not None and _IN_WORD.match(text[beside]) is not None
