"""What a store tells of itself while it is being sealed: everybody but `engramlog seal` refuses it meanwhile.

The mark comes first, and with it the line by which the master key is known again: an interrupted sealing goes on under the same
key and under no other. Then each partition takes no event at all until it is sealed, and none that lies open from then on, so that
a process which opened the store before can do no harm.
"""

from __future__ import annotations

from collections.abc import Sequence

from engramlog_server.consumers.fold.rebuild import RebuildRun
from engramlog_server.events.encryption.key_store import KEYS_FIELD
from engramlog_server.events.errors import OtherFormat
from engramlog_server.events.partitions import FORMAT, MOVED, MOVING, SEALED_META, STORE_KEY, LogKeys
from engramlog_server.events.redis.wire import Script, Wire
from engramlog_server.projections.redis.create import BEING_SEALED, SEALED, SEALING

MARK = Script(
    "mark sealing",
    """
-- KEYS: engramlog:store. ARGV: format that it must have, format to have, fields of the line and of the key store's id with these
local held = redis.call('HGET', KEYS[1], 'format')
if held ~= ARGV[1] or redis.call('HEXISTS', KEYS[1], 'sealed') == 1 then return held or 'none' end
redis.call('HSET', KEYS[1], 'format', ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6])
return 'ok'
""",
)
FINISH = Script(
    "finish sealing",
    """
-- KEYS: engramlog:store. ARGV: format that it must have, format to have, field of the line until now, its field from now on
local held = redis.call('HGET', KEYS[1], 'format')
local line = redis.call('HGET', KEYS[1], ARGV[3])
if held ~= ARGV[1] or not line then return held or 'none' end
redis.call('HSET', KEYS[1], 'format', ARGV[2], ARGV[4], line)
redis.call('HDEL', KEYS[1], ARGV[3])
return 'ok'
""",
)
CLOSE = Script(
    "close",
    """
-- KEYS: meta. ARGV: field, value of a partition that is sealed, value until then
if redis.call('HGET', KEYS[1], ARGV[1]) == ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
""",
)


def mark(wire: Wire, line: bytes, keys: str) -> None:
    """Have everybody refuse the store from here on. `line`: what the master key wrapped; `keys`: the id of its key store. Raises
    OtherFormat."""
    RebuildRun.forget(wire)  # what an earlier rebuild did lies open
    _refuse_unless_ok(wire.run(MARK, [STORE_KEY], [FORMAT, BEING_SEALED, SEALING, line, KEYS_FIELD, keys]))


def close(wire: Wire, tags: Sequence[str]) -> None:
    """Have every partition that is not sealed yet take no event. Raises StoreError."""
    for tag in tags:
        wire.run(CLOSE, [LogKeys(tag).meta], [SEALED_META, MOVED, MOVING])


def finish(wire: Wire) -> None:
    """The store is sealed. Raises OtherFormat."""
    _refuse_unless_ok(wire.run(FINISH, [STORE_KEY], [BEING_SEALED, FORMAT, SEALING, SEALED]))


def _refuse_unless_ok(answer: bytes) -> None:
    if answer != b"ok":
        told = answer.decode("utf-8", "backslashreplace")[:20]
        raise OtherFormat(
            f"this store is of format {told} by now: was it replaced, or sealed by another process? Nothing was changed",
            format=told,
        )
