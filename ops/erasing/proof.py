"""That nothing is left of an owner: what is to be looked for is noted before its key goes, and looked for after.

What was noted holds the owner's key, sealed under the master key: an erasure is not over while it is kept. It goes as soon as
nothing was found and everything was reached, and at the latest after some days.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from events.errors import EngramlogError, NotFound
from events.redis.wire import Wire
from events.text.unreadable import UNREADABLE
from ops.erasing.probe_file import drop_older, drop_probes, kept_probes, probes_folder, read_probes, write_probes
from ops.erasing.probes import Probes, gather
from ops.erasing.report import CLEAN, Audit
from ops.erasing.residue import audit, places_of
from ops.erasing.words_probes import gather_words, joined, with_words
from ops.settings import Settings
from ops.store import OpenStore

KEPT_DAYS = 30
"""Nothing that was noted is kept for longer."""


def note(store: OpenStore, settings: Settings, owner: str, erasure: str) -> str | None:
    """Note what must not be found afterwards; None, or why that could not be done.

    What is noted still of erasures of its words, where the owner's key lies too, is noted with it instead.
    """
    of_words = list(_noted_of_words(store, settings, owner))

    def gathered(wire: Wire) -> Probes:
        found = gather(wire, store.identity.tags, owner, erasure_id=erasure, made_at=store.log.now())
        return with_words(found, of_words)

    why = _note(store, settings, gathered)
    for one in of_words:
        drop_probes(probes_folder(settings, store.identity.store_id), one.erasure_id)
    return why


def _noted_of_words(store: OpenStore, settings: Settings, owner: str) -> Iterator[Probes]:
    """What is noted of erasures of words of an owner, as far as it opens. Raises StoreUnavailable."""
    for erasure in kept_probes(probes_folder(settings, store.identity.store_id)):
        with suppress(EngramlogError):
            found = _noted(store, settings, erasure)
            if found is not None and found.is_of_words and found.owner == owner:
                yield found


def _note(store: OpenStore, settings: Settings, gathered: Callable[[Wire], Probes]) -> str | None:
    master, wire = store.client.seals.master, store.wire()
    assert master is not None
    try:
        write_probes(probes_folder(settings, store.identity.store_id), master, gathered(wire))
    except UNREADABLE as error:  # what somebody put into the log past Engramlog must not keep anybody from being erased
        return f"an entry cannot be read ({type(error).__name__})"
    except EngramlogError as error:
        return error.message
    finally:
        wire.close()
    return None


def note_words(store: OpenStore, settings: Settings, owner: str, erasure: str, seqs: Sequence[int]) -> str | None:
    """The same of single entries of an owner, by their seqs. What was noted before the same erasure was killed stays noted: what
    lost its words since says nothing any more."""

    def gathered(wire: Wire) -> Probes:
        tags, now = store.identity.tags, store.log.now()
        found = gather_words(wire, tags, owner, seqs, erasure_id=erasure, made_at=now)
        before = _noted(store, settings, erasure)
        if before is None and not found.entries:
            raise NotFound("nothing of it has words any more: they were erased before")
        return found if before is None else joined(before, found)

    return _note(store, settings, gathered)


def _noted(store: OpenStore, settings: Settings, erasure: str) -> Probes | None:
    """What is noted of an erasure already; None where nothing is. Raises as `read_probes` else."""
    master, store_id = store.client.seals.master, store.identity.store_id
    assert master is not None
    try:
        return read_probes(probes_folder(settings, store_id), master, store_id, erasure)
    except NotFound:
        return None


def prove(store: OpenStore, settings: Settings, erasure: str, backups: Sequence[Path] = ()) -> Audit:
    """Look everywhere for what was noted; where nothing is left and all was reached, that goes too.

    Raises NotFound where nothing is noted of the erasure, and as `read_probes`.
    """
    master = store.client.seals.master
    assert master is not None
    folder = probes_folder(settings, store.identity.store_id)
    found = audit(
        read_probes(folder, master, store.identity.store_id, erasure),
        places_of(settings, store.client, backups=backups),
    )
    if found.exit_code == CLEAN:
        drop_probes(folder, erasure)
    return found


def is_noted(settings: Settings, store_id: str, erasure: str) -> bool:
    """Whether anything is noted of an erasure. Raises StoreUnavailable."""
    return erasure in kept_probes(probes_folder(settings, store_id))


def let_go(settings: Settings, store_id: str, now: float) -> list[str]:
    """Destroy what was noted too long ago; the erasures that it was of. `now`: seconds since 1970. Raises StoreUnavailable."""
    return drop_older(probes_folder(settings, store_id), KEPT_DAYS, now)
