"""`engramlog erase ... --audit`, and the audit at the end of an erasure: whether anything is left of what was erased."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from api.cli.app import err, show
from ops.commands.erase_shown import render_audit

if TYPE_CHECKING:
    from ops.settings import Settings
    from ops.store import OpenStore

PROVEN = "whether anything is left was not looked for: nothing is noted of this erasure, or it was proven before"


def audited(
    store: OpenStore, settings: Settings, erasure: str, backups: Sequence[Path], not_proven: list[str]
) -> dict[str, Any] | None:
    """What an audit found, JSON-ready and without the owner's name; None where nothing was noted that it could look for."""
    import msgspec

    from events.errors import EngramlogError, NotFound
    from ops.erasing.proof import prove

    try:
        found = prove(store, settings, erasure, backups)
    except NotFound:
        not_proven.append(PROVEN)
        return None
    except EngramlogError as error:
        not_proven.append(f"whether anything is left could not be looked for: {error.message}")
        return None
    told: dict[str, Any] = msgspec.to_builtins(found)
    del told["owner"]
    return told


def audit_only(
    store: OpenStore, settings: Settings, owner: str, ids: Sequence[str], backups: Sequence[Path], *, json: bool
) -> int:
    """Look once more, of an owner who was erased or of the words of some ids; the exit code. Raises NotFound where they were not
    erased, or nothing is noted any more."""
    from api.services.many.deleting import split_ids
    from events.errors import NotFound

    erasure = _of_words(store, settings, owner, split_ids(ids)) if ids else _of_owner(store, owner)
    missing: list[str] = []
    told = audited(store, settings, erasure, backups, missing)
    if told is None:
        raise NotFound(f"{missing[0]} ({erasure})", erasure=erasure)
    show(told, json, render_audit)
    return int(told["exit_code"])


def _of_owner(store: OpenStore, owner: str) -> str:
    """By what an owner was erased. Raises NotFound."""
    from consumers.erasing.steps import standing_of
    from events.errors import NotFound
    from events.partitions import partition_of

    wire = store.wire()
    try:
        _, erasure = standing_of(wire, store.identity.tags[partition_of(owner, store.identity.partitions)], owner)
    finally:
        wire.close()
    if erasure is None:
        raise NotFound(
            f"owner: got {owner[:80]!r}; allowed: one who was erased, or with it the ids of memories or turns that were",
            owner=owner[:80],
        )
    return erasure


def _of_words(store: OpenStore, settings: Settings, owner: str, ids: Sequence[str]) -> str:
    """By what these memories and turns of an owner were erased: of several erasures the newest of which something is noted.
    Raises NotFound, for an owner too who went as a whole."""
    from events.door.of_the_store import label_of
    from events.errors import NotFound, OwnerErased, refused
    from events.partitions import LogKeys, partition_of
    from events.redis.secrets import read_cipher
    from ops.erasing.fence_list import FenceList, list_path
    from ops.erasing.proof import is_noted
    from ops.erasing.words_list import erasures_of

    if not ids:
        raise refused("ids", "none", "ids of memories or turns")
    store_id, wire = store.identity.store_id, store.wire()
    try:
        tag = store.identity.tags[partition_of(owner, store.identity.partitions)]
        cipher = read_cipher(wire, LogKeys(tag), owner)
    except OwnerErased as error:
        raise NotFound(
            f"ids: got {', '.join(ids)[:80]!r} of owner {owner[:80]!r}, who was erased as a whole since; allowed: the owner alone,"
            " whose audit looks for those words too",
            owner=owner[:80],
            ids=list(ids[:20]),
        ) from error
    finally:
        wire.close()
    listed = FenceList(list_path(settings, store_id), store_id).read_words()
    mine = [one for one in listed if one.label == label_of(store_id, owner)]
    found = [] if cipher is None else erasures_of(mine, cipher, owner, ids)
    if not found:
        raise NotFound(
            f"ids: got {', '.join(ids)[:80]!r} of owner {owner[:80]!r}; allowed: memories or turns that were named together in an"
            " erasure of their words, of which the list beside the store tells",
            owner=owner[:80],
            ids=list(ids[:20]),
        )
    return next((one for one in found if is_noted(settings, store_id, one)), found[0])


def destroy_old(store: OpenStore, settings: Settings) -> None:
    """Destroy what was noted of erasures too long ago."""
    from ops.clock import now
    from ops.erasing.proof import KEPT_DAYS, let_go

    for erasure in let_go(settings, store.identity.store_id, now().timestamp()):
        err.print(
            f"[yellow]what was noted of erasure {erasure} to look for was kept for {KEPT_DAYS} days, and is destroyed now[/]"
        )
