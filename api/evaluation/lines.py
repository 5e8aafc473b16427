"""One line of a file that is measured on: a JSON object, or a refusal that names the line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from events.errors import refused


def object_on(line: bytes, where: str) -> Mapping[str, Any]:
    """The JSON object of a line; `where` names it. Raises InputError."""
    try:
        document = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise refused(where, line[:80].decode("utf-8", "replace"), f"one JSON object ({error})") from None
    if not isinstance(document, dict):
        raise refused(where, document, "a JSON object")
    return document
