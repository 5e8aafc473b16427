"""A Dask cluster of two worker processes on loopback, in a process of its own, and workers that die in the middle of a part."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from ops.many.dask_part import part_done

DEATHS = "DEATHS_FOLDER"
"""Where each file is a worker that is to die."""
_CLUSTER = """
import json, sys
import dask

if __name__ == "__main__":
    dask.config.set({"distributed.scheduler.allowed-failures": 1, **json.loads(sys.argv[1])})
    from distributed import LocalCluster, Security
    tls = "distributed.comm.tls.ca-file" in json.loads(sys.argv[1])
    more = {"security": Security(require_encryption=True), "protocol": "tls://"} if tls else {}
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", scheduler_port=0, dashboard_address=None, **more
    ) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""


@contextmanager
def local_cluster(
    environment: Mapping[str, str], folder: Path, config: Mapping[str, str] | None = None
) -> Iterator[str]:
    """The address of its scheduler. `environment`: what its workers have beside that of this process."""
    script = folder / "cluster.py"
    script.write_text(_CLUSTER, "utf-8")
    path = os.pathsep.join(filter(None, sys.path))
    with (folder / "cluster.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, str(script), json.dumps(config or {})],
            env={**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1", **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            cwd=folder,
            text=True,
        )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        address = process.stdout.readline().strip()
        assert address, (folder / "cluster.log").read_text("utf-8")
        yield address
    finally:
        process.stdin.close()
        process.wait()
        process.stdout.close()


def dies_in_the_middle(raw: bytes) -> bytes:
    """A part, unless this worker is one of those that are to die: then it does, as by `kill -9`."""
    for one in sorted(Path(os.environ[DEATHS]).iterdir()):
        one.unlink()
        os.kill(os.getpid(), signal.SIGKILL)
    return part_done(raw)
