"""What `engramlog status` prints: what an operator reads, and tables only of what is not as it should be."""

from __future__ import annotations

import io
from typing import Any

from rich.console import Console

from engramlog_server.api.cli.show.status import store

PARTITION = {
    "partition": 3, "head": 7, "checkpoint": 7, "lag": 0, "checkpoint_age": 0.0, "holder": "w1", "epoch": 1, "quarantined": [],
    "memories": 6, "build": "v11", "rebuild": None,
}  # fmt: skip
STATUS = {
    "store_id": "df8a99dc", "at": "2026-11-29T09:51:59Z", "events": 7, "memories": 6, "lag": 0,
    "inboxes": {"waiting": 0, "full": 0}, "refused": 0, "partitions": [PARTITION],
    "workers": [{"worker": "w1", "rate": 0.0, "host": "vm", "pid": 1, "beat_ms": 1795945919017, "partitions": [3], "folded": 7}],
    "silent": [], "nodes": [{"name": "socket", "problem": None, "used_bytes": 2758608}], "unreachable": [], "unread": [],
    "memory": {"used_bytes": 2757744, "max_bytes": 12638259200, "bytes_an_event": 393963.4, "events_until_full": 27260},
    "lifecycle": {"leader": "vm", "next_tick": "2026-11-29T10:00:00Z", "queued": 0, "running": 0, "failed": 0, "stopped": {}},
    "alarms": [], "accesses": {"recorded": 5, "waiting": 0, "dropped": 0, "lost": 0},
    "embedder": {"name": "auto", "missing": [], "loaded": ["all-MiniLM-L6-v2"]}, "listening": None, "restored": None,
    "backed_up": None, "sealed": True, "sealing": {"on": True, "owners_locked": 0, "problem": None}, "notice": "sealed",
}  # fmt: skip


def printed(**other: Any) -> str:
    console = Console(file=io.StringIO(), width=80, color_system=None)
    store(STATUS | other, console)
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_a_store_that_is_well_is_ten_lines_without_raw_figures() -> None:
    told = printed()
    assert len(told.splitlines()) <= 12
    assert "7, all of them folded" in told
    assert "w1 (1 partition)" in told
    assert [raw for raw in ("1,795,945", "393,963", "27,260", "v11") if raw in told] == []


def test_the_room_an_event_takes_is_shown_once_it_says_something() -> None:
    memory = STATUS["memory"] | {"bytes_an_event": 1021.4, "events_until_full": 12_000_000}  # type: ignore[operator]
    assert "1,021 bytes an event: room for 12,000,000 more" in " ".join(printed(memory=memory).split())


def test_what_needs_somebody_is_shown() -> None:
    behind = PARTITION | {"partition": 9, "head": 12, "lag": 5, "quarantined": ["ada"]}
    troubles: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
        "lag": ({"lag": 5, "partitions": [PARTITION, behind]}, ("5 of them wait to be folded", "ada", "12")),
        "silent": ({"silent": [{"worker": "w2", "seen": "2026-11-29T09:00:00Z"}]}, ("silent", "w2")),
        "no scheduler": ({"lifecycle": STATUS["lifecycle"] | {"leader": None}}, ("nothing is scheduled",)),  # type: ignore[operator]
        "queue": ({"lifecycle": STATUS["lifecycle"] | {"problem": "no connection"}}, ("no connection",)),  # type: ignore[operator]
        "node": ({"nodes": [{"name": "n1", "problem": "timed out"}]}, ("n1", "timed out")),
        "seal": ({"sealing": {"on": True, "owners_locked": 3, "problem": None}}, ("owners locked",)),
        "nobody works": ({"workers": []}, ("none",)),
        "lost": ({"accesses": {"recorded": 5, "waiting": 0, "dropped": 0, "lost": 2}}, ("2 lost",)),
        "a field of later": ({"rebuilding": "3 of 16"}, ("rebuilding", "3 of 16")),
    }
    missing = {name: [one for one in shown if one not in printed(**other)] for name, (other, shown) in troubles.items()}
    assert {name: words for name, words in missing.items() if words} == {}
