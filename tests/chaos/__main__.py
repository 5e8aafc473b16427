"""The long fault run: `python -m tests.chaos --seconds 120 --seed 7`. Ends with 1 where anything was lost or doubled."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from random import SystemRandom
from typing import Any

from tests.chaos.cluster.table import play_all
from tests.chaos.director import Plan
from tests.chaos.faulty_worker import SCRIPTS
from tests.chaos.run import run
from tests.chaos.scene import Scene
from tests.chaos.scenes.all import SCENES


def main() -> int:
    """Entry of the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--seconds", type=float, default=120.0, help="how long faults strike; settling comes on top")
    parser.add_argument("--seed", type=int, help="drawn, and printed, when not given")
    parser.add_argument("--runs", type=int, default=1, help="runs with following seeds")
    parser.add_argument("--mutant", choices=list(SCRIPTS), default="", help="commit without one of its checks")
    parser.add_argument("--json", action="store_true", help="one JSON document a run instead of a table")
    parser.add_argument(
        "--scenes", choices=["after", "only", "none"], default="after", help="what is no killed process"
    )
    parser.add_argument("--cluster", action="store_true", help="instead the scenes on a Redis Cluster, at every safety")
    parser.add_argument("--redis-server", help="of the cluster; else the bundled one")
    parser.add_argument("--up", action="store_true", help="of the cluster: `engramlog up` folds, not a lone worker")
    options = parser.parse_args()
    first = options.seed if options.seed is not None else SystemRandom().randrange(1_000_000)
    if options.cluster:
        return 0 if play_all(first, redis_server=options.redis_server, under_up=options.up, as_json=options.json) else 1
    clean = True
    for seed in range(first, first + options.runs) if options.scenes != "only" else ():
        print(f"seed {seed}, {options.seconds:g} s of faults", file=sys.stderr)
        with tempfile.TemporaryDirectory(prefix="engramlog-chaos-") as folder:
            report = run(Plan(seed, options.seconds, mutant=options.mutant), Path(folder)).as_dict()
        print(json.dumps(report) if options.json else table(report))
        clean = clean and report["clean"]
    if options.scenes != "none":
        for scene in SCENES:
            clean = played(scene, first, as_json=options.json) and clean
    return 0 if clean else 1


def played(scene: Scene, seed: int, *, as_json: bool) -> bool:
    """Play a scene and say in a line how it went; whether it held."""
    told: dict[str, Any] = {"scene": scene.name, "seed": seed}
    with tempfile.TemporaryDirectory(prefix="engramlog-chaos-") as folder:
        try:
            verdict = scene.play(Path(folder), seed)
        except AssertionError as error:
            told |= {"clean": False, "failed": str(error)}
        else:
            told |= {"clean": verdict.clean, "acknowledged": verdict.acknowledged, "lost": verdict.lost}
            told |= {"duplicated": verdict.duplicated, "differences": len(verdict.differences)}
    words = ", ".join(f"{name} {value}" for name, value in told.items() if name not in ("scene", "seed", "clean"))
    print(json.dumps(told) if as_json else f"{scene.name}: {words}")
    return bool(told["clean"])


def table(report: dict[str, Any]) -> str:
    """The figures as people read them."""
    recovery = report["time_to_recover"]
    rows: list[tuple[str, object]] = [
        ("kind of fault", report["kind_of_fault"]),
        ("Redis", report["redis"]),
        ("lease", f"{report['plan']['lease_ms']} ms"),
        ("seed", report["plan"]["seed"]),
        ("seconds of faults", report["plan"]["seconds"]),
        ("acknowledged", report["acknowledged"]),
        ("unknown, written once", report["unknown_written"]),
        ("unknown, not written", report["unknown_absent"]),
        ("lost", report["lost"]),
        ("duplicated", report["duplicated"]),
        ("out of order", report["out_of_order"]),
        ("differences from the pure fold", len(report["differences"])),
        ("builds compared with it", report["builds"]),
        ("sendings", report["sendings"]),
        ("applied / parked / discarded", f"{report['applied']} / {report['parked']} / {report['discarded']}"),
        ("owners / memories", f"{report['owners']} / {report['memories']}"),
        ("time to recover, p50", f"{recovery['p50_seconds']} s"),
        ("time to recover, worst", f"{recovery['max_seconds']} s of {recovery['faults']} faults"),
        *((name, count) for name, count in report["faults"].items()),
        *((f"({name})", count) for name, count in report["told_by_workers"].items()),
        *(("!", difference) for difference in report["differences"]),
    ]
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:<{width}}  {value}" for name, value in rows)


if __name__ == "__main__":
    sys.exit(main())
