"""What an erasure of single memories says of itself: events of `:erasures`, which name nobody, and the list beside the store.

In the list stands, sealed under the owner's key, what goes: an older copy of the store has that key, and is wiped by it again.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

import msgspec

from engramlog_server.events.catalogue import ErasureGround, WordsErasure
from engramlog_server.events.envelope import from_micros, utc_text
from engramlog_server.events.errors import StoreUnavailable
from engramlog_server.events.of_the_store import ERASURES
from engramlog_server.events.sealing.cipher import VALUE_MARK, NotOpened, ValueCipher
from engramlog_server.events.standing import Speaker
from engramlog_server.events.text import UNREADABLE
from engramlog_server.events.validation import make_event, ready
from engramlog_server.ops.erasing.fence_list import ErasureStep, FenceList, list_path
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.store import OpenStore
from engramlog_server.projections.fold.changelog import id_text
from engramlog_server.projections.reports.erasing.reach import Turn

_PLACE = b"fence list\0"
_ID = 16


class WordsGoing(msgspec.Struct, frozen=True):
    """What goes by an erasure of single memories. As private as the owner's ids are."""

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


_READ = msgspec.json.Decoder(WordsGoing)


def going_in(one: ErasureStep, cipher: ValueCipher, owner: str) -> WordsGoing | None:
    """What a line of the list says; None where it is of another owner, or of an owner's former key, or lies open: whoever can write
    to the list has no owner's key, and erases nothing by it."""
    try:
        raw = b64decode(one.sealed, validate=True)
        return _READ.decode(cipher.open(_PLACE + owner.encode(), raw)) if raw[:1] == VALUE_MARK else None
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


class WordsSteps:
    """The steps of erasures of one owner's memories."""

    def __init__(self, store: OpenStore, settings: Settings, owner: str, label: str, cipher: ValueCipher) -> None:
        store_id = store.identity.store_id
        self._store, self._owner, self._label, self._cipher = store, owner, label, cipher
        self._list = FenceList(list_path(settings, store_id), store_id)

    def begun(self) -> Mapping[str, tuple[ErasureStep, WordsGoing]]:
        """Erasures of this owner's words: their first line, and all that is known of what goes; by their ids, oldest first."""
        mine = (one for one in self._list.read_words() if one.label == self._label)
        return going_by(mine, self._cipher, self._owner)

    def say(
        self,
        erasure: str,
        step: Literal["began", "ended"],
        going: WordsGoing,
        *,
        ground: ErasureGround,
        reason: str,
        salts: Sequence[int] = (),
        **more: Any,
    ) -> tuple[datetime, str]:
        """Say it in the log, then in the list; gives when, and its position. Raises StoreError."""
        log = self._store.log
        now, by = log.now(), Speaker("job", log.principal)
        data = WordsErasure(erasure=erasure, step=step, label=self._label, ground=ground, reason=reason, **more)
        event = make_event(data, owner=ERASURES, occurred_at=from_micros(now), actor="system", now=now, by=by)
        (receipt,) = log.append([ready(event, by)])
        if not receipt.written or receipt.position is None:
            raise StoreUnavailable(f"that words are erased could not be written down: {receipt.error}")
        self.note(
            erasure,
            step,
            going,
            at=utc_text(from_micros(now)),
            event=event.event_id,
            ground=ground,
            reason=reason,
            salts=salts,
        )
        return from_micros(now), receipt.position

    def note(
        self,
        erasure: str,
        step: Literal["began", "fenced", "ended"],
        going: WordsGoing,
        *,
        at: str,
        event: str,
        ground: ErasureGround,
        reason: str,
        salts: Sequence[int] = (),
    ) -> None:
        """Write a line of the list, on disk when this returns. `salts`: of the entries that lost their words. Raises
        StoreUnavailable."""
        sealed = going.seal(self._cipher, self._owner)
        store_id = self._store.identity.store_id
        self._list.append(
            ErasureStep(
                store_id,
                erasure,
                self._label,
                step,
                at,
                event,
                ground,
                reason,
                "words",
                sealed,
                salts=tuple(salts),
            )
        )


def erased_by(steps: Sequence[ErasureStep]) -> dict[str, ErasureStep]:
    """Erasure -> its newest line that says what goes: of those that went as far as that."""
    return {one.erasure: one for one in steps if one.step in ("fenced", "ended")}
