"""The secrets of kept rejections as they stand in the store: wrapped under the master key, once the store is sealed.

Lines of before lie open, or are wrapped under a key that is to be dropped. They are written anew, each by itself; one whose
secret is not the owner's, or does not open, stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from events.entry import SECRET_BYTES
from events.errors import KeyUnavailable
from events.redis.secrets import read_lines
from events.redis.wire import Wire
from events.sealing.cipher import ValueCipher
from events.sealing.seals import Seals
from ops.kept.value_file import ValueFile
from ops.kept.values import KeptValue


def wrap_kept(wire: Wire, tags: Sequence[str], file: ValueFile) -> int:
    """Bring the secrets of a file level with the store; how many lines were written anew. Raises StoreError, KeyUnavailable too."""
    kept = file.read().kept.values()
    if not wire.seals.is_on or not kept:
        return 0
    lines = read_lines(wire, tags, {one.owner for one in kept})
    behind = [one for one in kept if one.secret != lines.get(one.owner, b"").hex()]
    if not behind:
        return 0
    held, anew = wire.seals.ciphers(lines), dict[str, str]()
    for one in behind:
        secret = opened_secret(wire.seals, one)
        if secret is None:
            continue
        cipher = held.get(one.owner)
        if isinstance(cipher, ValueCipher) and cipher.secret == secret:
            anew[one.event] = lines[one.owner].hex()
        elif len(one.secret) == 2 * SECRET_BYTES:  # of a history that the store lost: it must not lie open all the same
            anew[one.event] = wire.seals.lines({one.owner: secret})[one.owner].hex()
    return file.rewrite(anew) if anew else 0


def opened_secret(seals: Seals, one: KeptValue) -> bytes | None:
    """The secret of a kept line: as it lies there, or unwrapped; None where it does not open.

    Raises KeyUnavailable where the master key cannot be reached now.
    """
    line = bytes.fromhex(one.secret)
    if len(line) == SECRET_BYTES:
        return line
    found = seals.ciphers({one.owner: line})[one.owner] if seals.is_on else None
    if isinstance(found, KeyUnavailable) and found.passes:
        raise found
    return found.secret if isinstance(found, ValueCipher) else None
