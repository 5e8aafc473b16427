"""`engramlog bench scale` measures every kind of store, tells what stays flat, and leaves no server behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from ops.bench.scale.measure import COSTS
from ops.main import main
from tests.chaos.cast import wait_until
from tests.integration.ops.test_bench import run

LAYOUTS = ["one Redis", "three primaries", "three primaries, a replica each", "one Redis"]


def test_every_kind_of_store_is_measured_and_compared(capsys: pytest.CaptureFixture[str]) -> None:
    told = run(capsys, "scale", "--workers", "1,2", "--scales", "600,1200")["scale"]
    assert [row["layout"] for row in told["growth"]] == [*LAYOUTS, *LAYOUTS, "one Redis"]
    assert [row["sealed"] for row in told["growth"]] == [False, False, False, True, False, False, False, True, False]
    assert [row["owners_at_once"] for row in told["growth"]] == [3, 3, 3, 3, 6, 6, 6, 6, 3]
    for row in told["growth"]:
        assert all(row[cost] > 0 for cost in COSTS if cost != "replicas_us")
        assert (row["replicas_us"] > 0) == (row["layout"] == LAYOUTS[2])
        assert row["worker_bytes"] > 1_000_000
    assert [(row["layout"], row["workers"], row["partitions"]) for row in told["workers"]] == [
        (layout, workers, partitions)
        for _ in (600, 1_200)
        for layout in LAYOUTS[:2]
        for workers, partitions in ((1, [16]), (2, [8, 8]))
    ]
    open_, *_, sealed = told["sizes"]
    for row in told["sizes"]:
        assert all(row[f"{kind}_bytes"] > 0 for kind in ("stream", "changes", "records", "dedupe", "owners"))
        assert (row["owners"], row["memories"] > 100, row["keys"] > 16) == (row["owners_at_once"], True, True)
    assert (open_["salts_bytes"], sealed["salts_bytes"] > 0) == (0, True)
    assert sealed["stream_bytes"] > open_["stream_bytes"]
    for row in told["again"]:
        assert row["file_bytes"] > row["rewritten_bytes"] > 0
        assert min(row["rebuild_us"], row["verify_us"], row["ready_us"]) > 0
    assert [(row["layout"], row["partitions"]) for row in told["idle"]] == [(one, 16) for one in LAYOUTS[:2]]
    assert [len(told["standstill"][how]) for how in ("handed_over", "replaced")] == [1, 1]
    assert {row["verdict"] for row in told["flat"]} <= {"flat", "not flat"}
    assert {row["of"] for row in told["flat"]} == {
        "1,200 events for 600, one Redis",
        "1,200 events for 600, three primaries",
        "1,200 events for 600, 3 owners at a time, one Redis",
        *(
            f"{of}, {events} events{rest}"
            for events in ("600", "1,200")
            for of, rest in (
                ("three primaries for one", ""),
                ("a replica each for none", ""),
                ("2 workers for 1", " folded at once, one Redis"),
                ("2 workers for 1", " folded at once, three primaries"),
            )
        ),
    }


@pytest.mark.parametrize("value", ["10000001", "x", "0", ""])
def test_a_size_that_cannot_be_is_refused(capsys: pytest.CaptureFixture[str], value: str) -> None:
    code = main(["bench", "scale" if value else "fold", "--scales", value or "1000", "--json"])
    assert (code, json.loads(capsys.readouterr().out)["field"]) == (2, "scales")


def descendants(pid: int) -> dict[int, str]:
    """Every process below one, with its command; one that ends meanwhile is none."""
    found, waiting = dict[int, str](), [pid]
    while waiting:
        for task in Path(f"/proc/{waiting.pop()}/task").glob("*/children"):
            with suppress(FileNotFoundError, ProcessLookupError):
                for child in map(int, task.read_text().split()):
                    found[child] = Path(f"/proc/{child}/cmdline").read_bytes().decode()
                    waiting.append(child)
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_its_servers_and_workers_end_with_it(how: signal.Signals, tmp_path: Path) -> None:
    command = [sys.executable, "-P", "-m", "ops.main", "bench", "scale", "--quick", "--json"]
    kept = os.environ | {"TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, env=kept, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as bench:
        try:
            there = dict[int, str]()

            def has_both() -> bool:
                there.update(descendants(bench.pid))
                return all(any(part in told for told in there.values()) for part in ("redis-server", "fold_process"))

            wait_until(has_both, "its servers and a worker run")
            os.kill(bench.pid, how)
            bench.wait(60)
        finally:
            bench.kill()
    wait_until(
        lambda: not any(Path(f"/proc/{pid}").exists() for pid in there),
        lambda: f"they are gone: {list(there.values())}",
    )
    assert how is signal.SIGKILL or not list(tmp_path.iterdir())
