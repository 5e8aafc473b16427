"""Creating and opening a store: its id, partitions and tags, and the first build of every partition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from events.errors import StoreMismatch
from events.parameters import PARAMETER_SET
from events.partitions import MAX_PARTITIONS, STORE_KEY, LogKeys, spread_tags
from events.redis_wire import Argument, Wire
from projections.builds import FIRST_BUILD
from projections.redis_scripts import CREATE_STORE


class StoreIdentity(NamedTuple):
    """What was fixed when the store was created."""

    store_id: str
    partitions: int
    tags: tuple[str, ...]
    parameter_set: str


def read_identity(wire: Wire) -> StoreIdentity | None:
    """The store's identity, or None where there is no store."""
    answer = wire.call("HGETALL", STORE_KEY)
    if not answer:
        return None
    fields = {name.decode(): value for name, value in zip(answer[::2], answer[1::2], strict=True)}
    try:
        tags = tuple(msgspec.json.decode(fields["tags"], type=list[str]))
        identity = StoreIdentity(
            fields["store_id"].decode(), int(fields["partitions"]), tags, fields["parameter_set"].decode()
        )
    except (KeyError, ValueError, msgspec.MsgspecError) as error:
        raise StoreMismatch(
            f"{STORE_KEY} is not what this release writes ({error!r}): is this another program's Redis?"
        ) from error
    if not 1 <= identity.partitions <= MAX_PARTITIONS or len(tags) != identity.partitions:
        raise StoreMismatch(f"{STORE_KEY} tells {identity.partitions} partitions and {len(tags)} tags: it was damaged")
    return identity


def open_store(wire: Wire, *, store_id: str, partitions: int) -> StoreIdentity:
    """The store's identity; a new store takes the `store_id` and `partitions` given. Safe to run at the same time anywhere."""
    identity = read_identity(wire)
    if identity is None:
        tags: Sequence[str] = spread_tags(partitions)
        fields: list[Argument] = [
            "store_id",
            store_id,
            "partitions",
            partitions,
            "tags",
            msgspec.json.encode(tags),
            "parameter_set",
            PARAMETER_SET,
        ]
        wire.run(CREATE_STORE, [STORE_KEY], fields)
        identity = read_identity(wire)
        assert identity is not None
    if identity.parameter_set != PARAMETER_SET:
        raise StoreMismatch(
            f"the store was made with parameter set {identity.parameter_set}; this release knows {PARAMETER_SET}"
        )
    wire.pipeline([["HSETNX", LogKeys(tag).meta, "live", FIRST_BUILD] for tag in identity.tags])
    return identity
