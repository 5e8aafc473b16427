"""Saving the seals of a store in a file of their own, which takes the place of the one before.

It goes on while the store is used, and blocks nobody. Why it never brings back what was erased:

1. When it is of is noted first. What was erased before that instant is read as erased, for it stood so in Redis by then; what is
   erased later may be missing in it, and its age says so. Whoever erases saves at the end, and reads all of it anew.
2. Saves of one file take turns under its lock, from the first thing read until the file stands. So the one that began before an
   erasure ended cannot take the place of the one that came after.
3. Of a partition the head is read first, then salts, then what is left of erased entries, then marks, then owners' lines, then
   readmissions, and lines of who was readmitted once more. So every table that was read is as new as any salt, or newer. Where both
   tell of an entry the table counts: the salt of an entry whose words went is not written, one of an owner whose key went is none
   that a restore takes. Entries behind the head are left to the next save.
4. A store that is an older copy than what is saved there is refused: its seals are those of before, and would bring back what was
   erased since. One that was restored by that very file is known by its save.

What is in the file is of no use without the master key. Salts alone open nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from secrets import token_bytes, token_hex
from typing import IO, NamedTuple

from engramlog_server.events.envelope import from_micros, utc_text
from engramlog_server.events.errors import EngramlogError, StoreMismatch, StoreUnavailable
from engramlog_server.events.partitions import SEALS_FROM, STORE_KEY, LogKeys
from engramlog_server.events.redis.log import entries
from engramlog_server.events.redis.scan import elements, pairs
from engramlog_server.events.redis.secrets import whole_number
from engramlog_server.events.redis.wire import Wire
from engramlog_server.events.sealing.cipher import NO_SALT, SALT_BYTES
from engramlog_server.events.sealing.key_ring import KEY_BYTES
from engramlog_server.events.sealing.key_store import is_name
from engramlog_server.events.sealing.seals import is_tombstone
from engramlog_server.ops.clock import now_micros
from engramlog_server.ops.embedded.private_file import NotPrivate, read_private
from engramlog_server.ops.erasing.fence_list import MOST_BYTES as MOST_LIST
from engramlog_server.ops.erasing.fence_list import list_path
from engramlog_server.ops.sealing.seals_file import (
    SavedSeals,
    drop_left,
    in_turn,
    known_seals,
    refuse_place,
    replace_seals,
)
from engramlog_server.ops.sealing.seals_format import (
    CommonSeals,
    PartitionSeals,
    SavedReach,
    about_key,
    new_header,
    write_seals,
)
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.store import OpenStore, folder_of
from engramlog_server.projections.fold.builds import BuildKeys
from engramlog_server.projections.redis.create import SEALED, StoreIdentity
from engramlog_server.projections.redis.restored import refuse_copy
from engramlog_server.projections.redis.store import read_checkpoint

SALTS_AT_ONCE = 4 << 20
"""Bytes of salts that one answer holds."""
Progress = Callable[[int, int], None]
"""Hears of how many partitions are read, of how many."""


class SealsSaved(NamedTuple):
    """What was written."""

    file: str
    save: str
    saved_at: str
    store_id: str
    events: int
    """Entries that it covers."""
    owners: int
    """Lines of owners, those of who was erased among them."""
    erased: int
    """Owners whose key was destroyed."""
    bytes: int
    replaced: str | None
    """When the one before was saved; None where there was none."""


class SealsKept(NamedTuple):
    """What a certificate tells of the seals' own backup."""

    saved_at: str | None
    """When it was last written; None where none is kept."""
    not_proven: tuple[str, ...] = ()
    """Why it could not be written anew, in a sentence."""


def save_seals(
    store: OpenStore, settings: Settings, path: Path, on_progress: Progress = lambda _done, _all: None
) -> SealsSaved:
    """Write all seals of a store into a file, in place of the one before.

    Raises InputError for a file that cannot be used or a store that lies open, StoreMismatch where the file is another store's or
    of a newer state of this one, or this is a restored copy, KeyUnavailable, StoreUnavailable where it cannot be written: then the
    one before stays.
    """
    identity, data = store.identity, folder_of(store.embedded)
    path = refuse_place(path, data or settings.data, "file")
    if identity.sealed is None:
        raise StoreMismatch("this store lies open: it has no seals that could be saved")
    refuse_copy(identity.restored, "no seals are saved of a copy")
    with in_turn(path):
        before = known_seals(path)
        drop_left(path)
        wire = store.wire()
        try:
            return _saved(wire, identity, list_path(settings, identity.store_id), path, before, on_progress)
        finally:
            wire.close()


def saved_anew(store: OpenStore, settings: Settings) -> SealsKept:
    """Write the file that is set anew, as every erasure does at its end. Raises nothing of ours: what is erased is erased."""
    path = settings.seals_backup
    if path is None:
        return SealsKept(None)
    try:
        return SealsKept(save_seals(store, settings, path).saved_at)
    except EngramlogError as error:
        told = (
            f"the seals' own backup {path} was not written anew, so with it a backup still opens what was erased:"
            f" {error.message}; see to it, and run `engramlog backup seals`"
        )
    try:
        kept = known_seals(path)
    except EngramlogError:
        return SealsKept(None, (told,))
    mine = kept is not None and kept.header.store_id == store.identity.store_id
    return SealsKept(kept.header.saved_at if kept is not None and mine else None, (told,))


def _saved(
    wire: Wire,
    identity: StoreIdentity,
    listed: Path,
    path: Path,
    before: SavedSeals | None,
    on_progress: Progress,
) -> SealsSaved:
    at = utc_text(from_micros(now_micros()))
    heads = [whole_number(one) for one in wire.answers([["HGET", LogKeys(tag).meta, "head"] for tag in identity.tags])]
    _refuse_newer(wire, identity, path, before, heads)
    reach = SavedReach(tuple(heads), event_ids(wire, identity.tags, heads))
    assert wire.seals.master is not None
    save, key = token_hex(8), token_bytes(KEY_BYTES)
    (line,) = wire.seals.master.wrap([(about_key(identity.store_id, save), key)])
    header, counts = new_header(save, identity.store_id, at, reach, line), [0, 0]

    def each() -> Iterator[PartitionSeals]:
        for number, (tag, head) in enumerate(zip(identity.tags, heads, strict=True)):
            on_progress(number, len(heads))
            one = read_seals(wire, tag, head)
            counts[0] += len(one.lines)
            counts[1] += sum(map(is_tombstone, one.lines.values()))
            yield one

    def common() -> Iterator[CommonSeals]:
        check = wire.call("HGET", STORE_KEY, SEALED)
        yield CommonSeals(check=check or identity.sealed or b"", listed=_list_lines(listed))

    def write(file: IO[bytes]) -> None:
        write_seals(file, header, key, each(), common())

    size = replace_seals(path, write)
    on_progress(len(heads), len(heads))
    return SealsSaved(
        str(path),
        save,
        at,
        identity.store_id,
        sum(heads),
        counts[0],
        counts[1],
        size,
        None if before is None else before.header.saved_at,
    )


def read_seals(wire: Wire, tag: str, head: int) -> PartitionSeals:
    """The seals of a partition up to this head, in the order that the first lines of this file tell. Raises StoreError."""
    log = LogKeys(tag)
    salts = bytearray()
    end = SALT_BYTES * (head + 1)
    for start in range(0, end, SALTS_AT_ONCE):
        upto = min(start + SALTS_AT_ONCE, end)
        salts += wire.call("GETRANGE", log.salts, start, upto - 1).ljust(upto - start, b"\0")
    wordless = {int(seq): left for seq, left in pairs(wire, log.wordless) if seq.isdigit() and int(seq) <= head}
    gone = sorted(set(elements(wire, log.gone)))
    lines = dict(pairs(wire, log.secrets))
    readmitted = dict(pairs(wire, log.readmitted))
    if readmitted:
        again = zip(readmitted, wire.call("HMGET", log.secrets, *readmitted), strict=True)
        lines |= {owner: line for owner, line in again if line is not None}
    for seq in wordless:
        salts[SALT_BYTES * seq : SALT_BYTES * (seq + 1)] = NO_SALT
    live = (wire.call("HGET", log.meta, "live") or b"").decode()
    checkpoint = read_checkpoint(wire, BuildKeys(tag, live))
    keys = wire.seals.keys.read([line for line in lines.values() if is_name(line)])
    return PartitionSeals(
        keys=keys,
        tag=tag,
        head=head,
        folded=checkpoint.seq,
        chain=checkpoint.head,
        lines=lines,
        readmitted=readmitted,
        wordless=wordless,
        gone=gone,
        salts=bytes(salts),
    )


def event_ids(wire: Wire, tags: Sequence[str], seqs: Sequence[int]) -> tuple[str, ...]:
    """By partition the id of the event at this seq, in hexadecimal; empty where there is none. Raises StoreError."""
    answers = wire.answers(
        [["XRANGE", LogKeys(tag).stream, f"{seq}-0", f"{seq}-0"] for tag, seq in zip(tags, seqs, strict=True)]
    )
    found = (entries(answer, tag) for answer, tag in zip(answers, tags, strict=True))
    return tuple(some[0].raw_id.hex() if some else "" for some in found)


def _refuse_newer(wire: Wire, identity: StoreIdentity, path: Path, before: SavedSeals | None, heads: list[int]) -> None:
    """Raise StoreMismatch where the file that would be replaced is another store's, or of a newer state of this one."""
    if before is None:
        return
    header = before.header
    if header.store_id != identity.store_id:
        raise StoreMismatch(
            f"{path} holds the seals of store {header.store_id}, and this is {identity.store_id}: name another file. Nothing was"
            " changed",
            file=str(path),
        )
    same = len(header.heads) == len(heads) and all(old <= new for old, new in zip(header.heads, heads, strict=True))
    if same and event_ids(wire, identity.tags, header.heads) == header.events:
        return
    if (wire.call("HGET", STORE_KEY, SEALS_FROM) or b"").decode("ascii", "replace") == header.save:
        return
    raise StoreMismatch(
        f"{path} was saved at {header.saved_at} of a newer state of this store: this is an older copy, or went on from one, and"
        " its seals would bring back what was erased since; move it away where you"
        " know better. Nothing was changed",
        file=str(path),
    )


def _list_lines(path: Path) -> list[bytes]:
    """The fence list's whole lines. Raises StoreUnavailable."""
    try:
        *whole, _torn = read_private(path, MOST_LIST).split(b"\n")
    except NotPrivate as error:
        if error.missing:
            return []
        raise StoreUnavailable(f"the list of what was erased {error.what} ({path})", file=str(path)) from None
    return whole
