"""An answer to `GET /v1/status` in which every part has something."""

from __future__ import annotations

from typing import Any

STATUS: dict[str, Any] = {
    "store_id": "6d0f3b1c-2f7e-4a52-9a3e-0d8c3c8b7f11",
    "at": "2026-11-22T09:30:00Z",
    "events": 4000,
    "memories": 900,
    "lag": 0,
    "inboxes": {"waiting": 3, "full": 0},
    "refused": 0,
    "partitions": [
        {
            "partition": 3,
            "head": 131,
            "checkpoint": 131,
            "lag": 0,
            "checkpoint_age": 0.0,
            "holder": "host-4711-9c01ab",
            "lease_until": "2026-11-22T09:30:02Z",
            "lease_seconds": 2.4,
            "epoch": 2,
            "quarantined": [],
            "memories": 40,
            "waiting": 3,
            "full_inboxes": 0,
            "refused": 0,
            "build": "v1",
            "chain": "5f0c…",
            "digest": "a71e…",
        }
    ],
    "workers": [
        {
            "worker": "host-4711-9c01ab",
            "host": "host",
            "pid": 4711,
            "partitions": [0, 1, 3],
            "folded": 4000,
            "rate": 120.5,
            "seen": "2026-11-22T09:29:59Z",
            "seen_seconds": 0.4,
        }
    ],
    "silent": [],
    "nodes": [
        {
            "name": "redis-1:6379",
            "role": "primary",
            "reachable": True,
            "slots": 16384,
            "partitions": [0, 1, 2, 3],
            "used_bytes": 4200000,
            "max_bytes": 4294967296,
            "used_share": 0.001,
            "replicas": [{"name": "redis-2:6379", "state": "online", "behind_bytes": 0, "seen_seconds": 1}],
            "fsynced": True,
        }
    ],
    "unreachable": [],
    "unread": [],
    "memory": {
        "used_bytes": 4200000,
        "max_bytes": 4294967296,
        "unfolded_bytes": 0,
        "bytes_an_event": 1050.0,
        "used_share": 0.001,
        "events_until_full": 3400000,
    },
    "lifecycle": {
        "leader": "host-4712-5be3d0",
        "last_tick": "2026-11-22T09:00:00Z",
        "next_tick": "2026-11-22T10:00:00Z",
        "queued": 0,
        "running": 1,
        "failed": 0,
        "refused": 0,
        "beside": {
            "extract": {"last_tick": "2026-11-22T09:25:00Z", "next_tick": "2026-11-22T09:30:00Z", "every_minutes": 0.17}
        },
        "stopped": {},
        "done": {
            "upkeep": {
                "every_minutes": 60,
                "oldest": "2026-11-22T09:00:02Z",
                "newest": "2026-11-22T09:00:04Z",
                "waiting_since": "2026-11-22T09:00:02Z",
                "seconds": 0.4,
                "partitions": 16,
            }
        },
    },
    "alarms": [],
    "accesses": {"recorded": 1204, "blocks": 310, "waiting": 3, "dropped": 0, "lost": 0},
    "embedder": {"name": "auto", "chosen_by": "store", "missing": [], "loaded": ["all-MiniLM-L6-v2"]},
    "listening": {"by": "tls", "certificate_ends": "2027-02-20T09:30:00+00:00", "operating": "socket"},
    "backed_up": "2026-11-22T03:00:04.120000Z",
    "sealed": True,
    "sealing": {
        "on": True,
        "key": "32db8ea4ba0e86f1 (/etc/engramlog/master-key)",
        "owners_locked": 0,
        "reachable": True,
    },
    "notice": "contents are sealed under the master key 32db8ea4ba0e86f1 (/etc/engramlog/master-key): without "
    "it nobody can read them",
}
