"""The list of what was erased, kept outside Redis: a copy that is brought back is fenced by it again, before it answers.

It names nobody: an owner stands there by a label, a hash of its name under the store's id. Who knows the name finds it, and so
does who has the store. Of single memories it has, sealed under the owner's key, what goes. What it says, the log says too: in
events of `:erasures`, which name nobody either. Each host has a list; hosts complete theirs by the key store that they share.
"""

from __future__ import annotations

import os
from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Literal, get_args

import msgspec

from engramlog_server.events.catalogue import ErasureGround
from engramlog_server.events.encryption.cipher import VALUE_MARK, NotOpened, ValueCipher
from engramlog_server.events.encryption.key_store import KeyStore
from engramlog_server.events.errors import StoreUnavailable
from engramlog_server.events.of_the_store import label_of
from engramlog_server.events.text import UNREADABLE
from engramlog_server.ops.durable import FileFull, FileLock, append_lines, store_file
from engramlog_server.ops.embedded.private_file import NotPrivate, read_private
from engramlog_server.ops.settings import Settings
from engramlog_server.projections.fold.changelog import id_text
from engramlog_server.projections.reports.erasure.reach import Turn

MOST_BYTES = 64 * 1024 * 1024
"""The largest file that is read: some 300,000 erasures."""
_PLACE = b"fence list\0"
_ID = 16


_Step = Literal["began", "fenced", "ended", "readmitted"]
_STEPS: tuple[_Step, ...] = get_args(_Step)


class ErasureStep(msgspec.Struct, frozen=True):
    """A step of an erasure, as the list has it."""

    store: str
    erasure: str
    label: str
    step: _Step
    """`fenced`: of single memories alone; what goes with them is known then, and stands in `sealed`."""
    at: str
    """RFC 3339, UTC."""
    event: str
    """The id of its event under `:erasures`."""
    ground: ErasureGround = "other"
    reason: str = ""
    what: Literal["owner", "words"] = "owner"
    """Whether the owner is erased, or the words of some of its memories."""
    sealed: str = ""
    """The words that are erased, sealed under the owner's key, in base64; empty for an owner."""
    key: str = ""
    """The name of an erased owner's key, in hexadecimal digits."""
    salts: tuple[int, ...] = ()
    """The ids of the salts of entries whose words are erased."""


class WordsGoing(msgspec.Struct, frozen=True):
    """The entries that an erasure of single memories takes. As private as the owner's ids are."""

    named: tuple[str, ...]
    """Memories and turns, as they were named."""
    memories: tuple[str, ...] = ()
    """All that go, once that is known."""
    turns: tuple[Turn, ...] = ()
    events: bytes = b""
    """Ids of the events that lose their words, 16 bytes each; a line has those that no line before it has."""

    @property
    def event_ids(self) -> list[str]:
        """The same as texts."""
        return [id_text(self.events[at : at + _ID]) for at in range(0, len(self.events), _ID)]

    def seal(self, cipher: ValueCipher, owner: str) -> str:
        """As it stands in the list."""
        return b64encode(cipher.seal(_PLACE + owner.encode(), msgspec.json.encode(self))).decode()


_READ, _READ_GOING = msgspec.json.Decoder(ErasureStep), msgspec.json.Decoder(WordsGoing)


def list_path(settings: Settings, store_id: str) -> Path:
    """The file of a store's list on this machine."""
    return store_file(settings.data, "erasures.jsonl", None if settings.redis_url is None else store_id)


class FenceList:
    """The list of one store in its data folder. Several processes may append: each does under the file's lock."""

    def __init__(self, path: Path, store_id: str) -> None:
        self.path = path
        self.store_id = store_id

    @classmethod
    def of(cls, settings: Settings, store_id: str) -> FenceList:
        """The list of a store on this machine."""
        return cls(list_path(settings, store_id), store_id)

    def label(self, owner: str) -> str:
        """By what an owner stands there."""
        return label_of(self.store_id, owner)

    def read(self) -> list[ErasureStep]:
        """The steps that are about owners of this store, oldest first. Raises as `read_all`."""
        return [one for one in self.read_all() if one.what == "owner"]

    def read_words(self) -> list[ErasureStep]:
        """The steps that are about words of this store, oldest first. Raises as `read_all`."""
        return [one for one in self.read_all() if one.what == "words"]

    def read_all(self) -> list[ErasureStep]:
        """All steps of this store, oldest first; nothing if there is no file. Raises StoreUnavailable: a list that cannot be
        read fences nobody, and may not be passed over."""
        try:
            if not os.path.lexists(self.path):
                return []
            raw = read_private(self.path, MOST_BYTES)
        except NotPrivate as error:
            raise self._unusable(error.what) from error
        *whole, _torn = raw.split(b"\n")
        found = list[ErasureStep]()
        for number, line in enumerate(whole, 1):
            try:
                one = _READ.decode(line)
            except UNREADABLE as error:
                raise self._unusable(f"cannot be read at line {number}: {error}") from error
            if one.store == self.store_id:
                found.append(one)
        return sorted(found, key=lambda one: datetime.fromisoformat(one.at))  # what another host did may stand behind

    def append(self, one: ErasureStep) -> None:
        """Write a line, on disk when this returns. Raises StoreUnavailable."""
        line = msgspec.json.encode(one) + b"\n"
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with FileLock(self.path):
                append_lines(self.path, line, MOST_BYTES, os.O_NOFOLLOW)
        except FileFull as full:
            raise self._unusable(f"is full: {full.size:,} of {MOST_BYTES:,} bytes") from None
        except OSError as error:
            raise self._unusable(f"cannot be written: {error.strerror}") from error

    def share(self, keys: KeyStore) -> None:
        """Complete this list by the one that several hosts share in the key store, and that one by this.

        Raises StoreUnavailable.
        """
        if (theirs := keys.erasures()) is None:
            return
        mine = set(self.read_all())
        try:
            told = {_READ.decode(line) for line in theirs}
        except UNREADABLE as error:
            raise StoreUnavailable(
                f"the list of erasures in the key store {keys.place} cannot be read: {error}"
            ) from error
        keys.add_erasures([msgspec.json.encode(one) for one in mine - told])
        lacking = told - mine
        for one in sorted(lacking, key=lambda one: (datetime.fromisoformat(one.at), _STEPS.index(one.step))):
            if one.store == self.store_id:
                self.append(one)

    def _unusable(self, what: str) -> StoreUnavailable:
        return StoreUnavailable(
            f"the list of what was erased {what} ({self.path}); bring it back from where it was copied to: without it an owner"
            " who was erased could come back with an old copy of the store",
            file=str(self.path),
        )


def going_in(one: ErasureStep, cipher: ValueCipher, owner: str) -> WordsGoing | None:
    """What a line of the list says; None where it is of another owner, or of an owner's former key, or lies open: whoever can write
    to the list has no owner's key, and erases nothing by it."""
    try:
        raw = b64decode(one.sealed, validate=True)
        return _READ_GOING.decode(cipher.open(_PLACE + owner.encode(), raw)) if raw[:1] == VALUE_MARK else None
    except (*UNREADABLE, NotOpened, NotBase64, ValueError):
        return None


def going_by(
    lines: Iterable[ErasureStep], cipher: ValueCipher, owner: str
) -> dict[str, tuple[ErasureStep, WordsGoing]]:
    """Erasure -> its first line that is this owner's, and all that its lines say of what goes; oldest first."""
    found = dict[str, tuple[ErasureStep, WordsGoing]]()
    for one in lines:
        if (going := going_in(one, cipher, owner)) is None:
            continue
        if one.erasure not in found:
            found[one.erasure] = one, going
            continue
        first, known = found[one.erasure]
        memories = tuple(dict.fromkeys((*known.memories, *going.memories)))
        turns = tuple(dict.fromkeys((*known.turns, *going.turns)))
        found[one.erasure] = first, WordsGoing(going.named, memories, turns, known.events + going.events)
    return found


def open_erasures(listed: Iterable[ErasureStep]) -> Mapping[str, ErasureStep]:
    """Erasures that began and did not end, by their ids: of each owner the newest step alone counts."""
    newest = {one.label: one for one in listed}
    return {one.erasure: one for one in newest.values() if one.step == "began"}
