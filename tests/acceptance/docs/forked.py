"""`engramlog` on PATH without the start of Python: a process that has it loaded forks for each command.

What a command is given (arguments, folder, environment, the three standard files) and its exit code are as of a process of its
own; what is saved is the loading. `up` and `worker` are started as they are, for they are what is killed and stopped.
"""

from __future__ import annotations

import atexit
import importlib
import json
import os
import pkgutil
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

from tests.patience import PATIENCE
from tests.places import ROOT
from tests.servers import LAUNCHER

ASKING = f"""#!{sys.executable} -IS
import array, json, os, socket, sys
if sys.argv[1:2] in (["up"], ["worker"]):
    os.execv({sys.executable!r}, [{sys.executable!r}, "-P", "-m", "ops.main", *sys.argv[1:]])
told = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
with socket.socket(socket.AF_UNIX) as there:
    there.connect("<socket>")
    there.sendmsg([len(told).to_bytes(4, "big")], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))])
    there.sendall(told)
    code = there.recv(1)
sys.exit(code[0] if code else 70)
"""
"""The program on PATH; `<socket>` is where the process listens."""
LOADED = (
    "engramlog_server.api.application",
    "cryptography",
    "engramlog_server.events.catalogue",
    "numpy",
    "engramlog_server.ops.main",
    "engramlog_server.ops.settings",
    "engramlog_server.ops.wiring",
    "typer",
)
"""What nearly every command loads."""


@cache
def engramlog() -> str:
    """The program's text; the process behind it begins with the first call, and ends with this one."""
    folder = Path(tempfile.mkdtemp(prefix="el-", dir="/tmp"))
    there = folder / "s"
    words = [sys.executable, "-I", "-S", str(LAUNCHER), str(os.getpid())]
    process = subprocess.Popen(
        [*words, sys.executable, "-P", "-m", __name__, str(there)],
        env=os.environ | {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"},
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )

    def end() -> None:
        process.kill()
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(end)
    until = time.monotonic() + PATIENCE
    while not there.exists():
        assert process.poll() is None
        assert time.monotonic() < until
        time.sleep(0.01)
    return ASKING.replace("<socket>", str(there))


def serve(there: str) -> None:
    """Fork for each command that is asked for at this socket."""
    import engramlog_server.ops.commands as commands

    for name in (
        *LOADED,
        *(f"engramlog_server.ops.commands.{one.name}" for one in pkgutil.iter_modules(commands.__path__)),
    ):
        importlib.import_module(name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{there}.made")
        listener.listen(16)
        Path(f"{there}.made").rename(there)
        while True:
            caller, _ = listener.accept()
            if not os.fork():
                listener.close()
                _carry_out(caller)
            caller.close()


def _carry_out(caller: socket.socket) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    head, files, _, _ = socket.recv_fds(caller, 4, 3)
    left, told = int.from_bytes(head, "big"), b""
    while len(told) < left:
        told += caller.recv(left - len(told))
    words, folder, environment = json.loads(told)
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    sys.argv = ["engramlog", *words]
    from engramlog_server.ops.main import main

    code: int | str | None = 70
    try:
        code = main(words)
    except SystemExit as ended:
        code = ended.code
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        caller.sendall(bytes([code if isinstance(code, int) else int(bool(code))]))
        os._exit(0)


if __name__ == "__main__":
    serve(sys.argv[1])
