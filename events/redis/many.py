"""A script run for many keys in one go: one write and one wait for 500 of them, and where Redis syncs its file, one sync."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import redis

from engramlog_server.events.redis.wire import Argument, Script, Wire, as_store_error, refusal_code

AT_ONCE = 500
"""Runs in one write."""


def run_many(wire: Wire, script: Script, asked: Sequence[tuple[Sequence[Argument], Sequence[Argument]]]) -> list[Any]:
    """The answers to a script run for each (keys, arguments), in their order. Raises StoreError at the first refusal; what was
    sent with it may have been carried out.
    """
    found: list[Any] = []
    for start in range(0, len(asked), AT_ONCE):
        some = asked[start : start + AT_ONCE]
        answers = wire.pipeline([wire.evalsha(script, keys, arguments) for keys, arguments in some])
        for (keys, arguments), answer in zip(some, answers, strict=True):
            if isinstance(answer, redis.ResponseError):
                if refusal_code(answer) != "NOSCRIPT":
                    raise as_store_error(answer) from answer
                found.append(wire.run(script, keys, arguments))  # the server forgot it; `run` loads it anew
            else:
                found.append(answer)
    return found
