"""The scenes on a cluster at every safety that an operator can ask for, as a table: `python -P -m tests.chaos --cluster`."""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from engramlog_server.ops.embedded.process import find_redis_server
from tests.chaos.cluster.scenes import CLUSTER_SCENES, SAFETIES, play

COLUMNS = (
    ("told", "told"), ("replicas: 0", "without_replica"), ("lost", "lost"), ("lost, unpromised", "lost_unpromised"),
    ("twice", "duplicates"), ("not proved", "unproved"), ("pause, s", "pause"), ("receipt_lost of", "receipts_lost"),
    ("clean", "clean"),
)  # fmt: skip
WIDTH = max(len(scene.name) for scene in CLUSTER_SCENES)


def play_all(seed: int, *, redis_server: str | None = None, under_up: bool = False, as_json: bool = False) -> bool:
    """Play each scene at each safety, one after the other, and tell a line of each; whether all held."""
    found = find_redis_server(redis_server)
    if not as_json:
        print(f"{found.release}, three primaries with a replica each, seed {seed}")
        heads = "  ".join(name for name, _ in COLUMNS)
        print(f"{'appendfsync':<11}  MIN_REPLICAS  {'scene':<{WIDTH}}  {heads}")
    clean = True
    for safety in SAFETIES:
        for scene in CLUSTER_SCENES:
            told: dict[str, Any] = {"scene": scene.name, "server": str(found.release), "seed": seed, **asdict(safety)}
            with tempfile.TemporaryDirectory(prefix="engramlog-chaos-") as folder:
                try:
                    told |= play(scene, found.path, Path(folder), safety, seed, under_up=under_up).as_dict()
                except AssertionError as error:
                    told |= {"clean": False, "wrong": [str(error)]}
            print(json.dumps(told) if as_json else _row(told), flush=True)
            clean = clean and told["clean"]
            if not as_json:
                for wrong in told["wrong"]:
                    print(f"! {safety.appendfsync}, {safety.replicas}, {scene.name}: {wrong}", file=sys.stderr)
    return clean


def _row(told: dict[str, Any]) -> str:
    cells = []
    for name, key in COLUMNS:
        value = told.get(key, "-")
        text = (", ".join(map(str, value)) or "-") if isinstance(value, list) else str(value)
        cells.append(f"{text:>{len(name)}}")
    return f"{told['appendfsync']:<11}  {told['replicas']:>12}  {told['scene']:<{WIDTH}}  {'  '.join(cells)}"
