"""All that a Redis holds, to compare it with what it holds later."""

from __future__ import annotations

from typing import Any

import redis


def dump(client: redis.Redis) -> dict[str, Any]:
    """Every key of a Redis with its type and value; bytes as latin-1, which loses none."""
    return {_text(key): _value(client, key) for key in sorted(client.scan_iter(count=1_000))}


def _text(raw: bytes) -> str:
    return raw.decode("latin-1")


def _value(client: redis.Redis, key: bytes) -> list[Any]:
    kind = client.type(key).decode()  # type: ignore[union-attr]
    match kind:
        case "hash":
            return [kind, sorted((_text(k), _text(v)) for k, v in client.hgetall(key).items())]  # type: ignore[union-attr]
        case "stream":
            return [
                kind,
                [(_text(at), [(_text(k), _text(v)) for k, v in one.items()]) for at, one in client.xrange(key)],
            ]  # type: ignore[union-attr]
        case "zset":
            return [kind, sorted((_text(one), score) for one, score in client.zrange(key, 0, -1, withscores=True))]  # type: ignore[union-attr]
        case "list":
            return [kind, [_text(one) for one in client.lrange(key, 0, -1)]]  # type: ignore[union-attr]
    return [kind, _text(client.get(key))]  # type: ignore[arg-type]
