"""Whether a JSON text has a name twice in one object: readers keep the last, or the first, so that two of them read two things.

Reading it with a reader that tells would cost a quarter of validation's time. But a reader that keeps the last drops the rest, and
at least the two quotation marks of a name with it. So the marks of a text are counted, and those of what was read from it: they
are as many, unless a name stood twice or a mark was written as \\u0022. Only such a text is read again.
"""

from __future__ import annotations

import json
from typing import Any


def name_given_twice(raw: bytes | str, read: bytes, added: int = 0) -> str | None:
    """A name that an object of `raw` has twice; None where there is none.

    `read`: what a reader made of it, written as JSON again with no mark hidden; `added`: its names that `raw` does not have.
    """
    text = raw if isinstance(raw, bytes) else raw.encode("utf-8", "replace")
    if text == read or (text.count(b'"') == read.count(b'"') - 2 * added and b"\\u0022" not in text):
        return None
    return name_seen_twice(raw)


def name_seen_twice(raw: bytes | str) -> str | None:
    """The same, by reading all of it."""
    found: list[str] = []

    def members(pairs: list[tuple[str, Any]]) -> None:
        seen: set[str] = set()
        found.extend(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]

    json.loads(raw, object_pairs_hook=members)
    return found[0] if found else None
