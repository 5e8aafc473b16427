"""Start the server of a folder that is ours alone, through the recovery of a torn log if need be.

Redis 7.0.15 cuts a log that breaks off inside a command of a script behind the last whole command, and leaves the script's
MULTI open in the file; Valkey 9.1.2 cuts before the MULTI (tried). What is written next lands inside an open MULTI: at the
following load single writes are gone although they were acknowledged, or the script's first half comes to life. A log that
ends in an open MULTI is cut before it, though. So after such a cut the server is started again before anybody may write,
until a load finds nothing to cut.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, replace

import redis

from engramlog_server.ops.embedded.aof import Cut, aof_files, cut_told, recovery_told, start_failure, torn_file
from engramlog_server.ops.embedded.folder import Role, ServerFile, remove_server_file, write_server_file
from engramlog_server.ops.embedded.process import ProgressBound, ServerPlan, ServerProcess
from engramlog_server.ops.embedded.socket import connect, remove_socket, socket_path


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A server that serves, what server.json says of it, and what was cut off its log at this start."""

    server: ServerProcess
    running: ServerFile
    recovery: str | None


def start_server(plan: ServerPlan, role: Role, patience: ProgressBound) -> RunningServer:
    """The folder's server, loaded and with a sound log; `plan.cut_torn_tail` and `plan.socket` are decided here.

    Raises EmbeddedRedisError, with no server left behind, when it refuses the log or does not get on.
    """
    cuts: list[Cut] = []
    checked = False
    while True:
        before = aof_files(plan.folder)
        # Where the folder's path is too long for a socket, its run-time folder went with the server before.
        plan = replace(plan, cut_torn_tail=checked or before.only_last_can_be_cut, socket=socket_path(plan.folder))
        server = ServerProcess(plan)
        try:
            running = _say_who_runs(server, role)
            ready = server.wait_until_ready(before.size, patience)
        except BaseException:
            abandon(server)
            raise
        log = server.log_text()
        cut = cut_told(log, before)
        if ready and (cut is None or cut.whole_scripts):
            _take_back_the_leave(plan)
            return RunningServer(server, running, recovery_told([*cuts, cut] if cut else cuts))
        abandon(server)
        if cut is not None and aof_files(plan.folder).sizes != before.sizes:
            # Also a server that ended: it cuts a log of Redis 6.2 that it has just taken over, then stumbles on the next.
            cuts.append(cut)
        elif not checked and torn_file(log) == before.last:
            checked = True  # every file before the torn one was loaded whole, so leave to cut cannot touch them
        else:
            raise start_failure(plan.folder, plan.binary, before, log)


def _take_back_the_leave(plan: ServerPlan) -> None:
    """The leave to cut was for this start, which told what it cut; receipts go by what CONFIG says (`events.redis.durability`)."""
    with suppress(redis.RedisError), connect(plan.socket) as client:
        client.config_set("aof-load-truncated", "no")


def abandon(server: ServerProcess) -> None:
    """End a server that is not to serve, and leave nothing of it behind."""
    server.stop(timeout=10.0)
    remove_server_file(server.plan.folder)
    remove_socket(server.plan.folder, server.plan.socket)


def _say_who_runs(server: ServerProcess, role: Role) -> ServerFile:
    plan = server.plan
    running = ServerFile(
        pid=server.pid,
        socket=str(plan.socket),
        role=role,
        ready=False,
        started_by=os.getpid(),
        version=plan.binary.release.version,
        product=plan.binary.release.product,
    )
    write_server_file(plan.folder, running)
    return running
