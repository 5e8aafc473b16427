"""All checks of a deployment, in their order."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from events.envelope import from_micros, utc_text
from ops.clock import now_micros
from ops.doctor.carrying import Check, carried_out
from ops.doctor.finding import (
    ACCESS,
    BACKUPS,
    CLOCK,
    CLUSTER,
    DISK,
    PERMISSIONS,
    PROCESSES,
    REDIS,
    SEALING,
    STORE,
    CheckFinding,
    DoctorTold,
    told,
)
from ops.doctor.gathering import access, cluster, files, redis, service, store, waiting
from ops.doctor.reaching import SECONDS, ReachedStore, reach
from ops.embedded.process import NotInTime
from ops.settings import Settings

CHECK_SECONDS = 2 * SECONDS
"""How long all checks together take at most, once the store is reached."""


def examine(
    settings: Settings,
    *,
    on_wait: Callable[[str], None] | None = None,
    own: Callable[[], int] = now_micros,
    seconds: float = CHECK_SECONDS,
) -> DoctorTold:
    """Look at the deployment of these settings; nothing of it is changed. `own`: this machine's clock, microseconds since 1970.

    Raises NothingToCheck where there is no store.
    """
    before = carried_out(_of_this_machine(settings, own), seconds)  # before a server is started on the folder
    with reach(settings, on_wait=on_wait) as reached:
        found = [*before, *unreached(reached), *carried_out(_of_the_store(reached, own), seconds)]
        store_id = None if reached.identity is None else reached.identity.store_id
    return told(store_id, utc_text(from_micros(own())), found)


def _of_this_machine(settings: Settings, own: Callable[[], int]) -> list[Check]:
    return [
        Check(PERMISSIONS, "data folder", partial(files.look_at_folder, settings)),
        Check(PERMISSIONS, "token", partial(files.look_at_token, settings)),
        Check(PERMISSIONS, "master key file", partial(files.look_at_key, settings)),
        Check(PERMISSIONS, "files", partial(files.look_at_files, settings)),
        Check(PERMISSIONS, "folders elsewhere", partial(files.look_elsewhere, settings)),
        Check(ACCESS, "listening", lambda: access.look_at_listening(settings, from_micros(own()))),
        Check(ACCESS, "running service", partial(service.look_at_service, settings)),
    ]


def unreached(reached: ReachedStore) -> list[CheckFinding]:
    """That Redis does not answer, where it does not."""
    if reached.client is not None or reached.trouble is None:
        return []
    if isinstance(reached.trouble, NotInTime):  # a long command may be at work there
        return [REDIS.failed("answers", reached.trouble.message)]
    where = "ENGRAMLOG_REDIS_URL" if reached.folder is None else f"the private Redis of {reached.folder}"
    return [
        REDIS.wrong(
            "answers", f"{where}: {reached.trouble.message}", "nothing of the store was looked at until it does"
        )
    ]


def _of_the_store(reached: ReachedStore, own: Callable[[], int]) -> list[Check]:
    told_of = [
        Check(BACKUPS, "copies", partial(store.look_at_copies, reached, own)),
        Check(DISK, "disk", partial(store.look_at_disk, reached.folder)),
    ]
    if reached.client is None:
        return told_of
    socket = None if reached.embedded is None else reached.embedded.socket_path
    return [
        *([] if socket is None else [Check(PERMISSIONS, "redis socket", partial(files.look_at_socket, socket))]),
        Check(SEALING, "contents", partial(store.look_at_seals, reached)),
        Check(SEALING, "old keys", partial(store.look_at_old_keys, reached)),
        Check(SEALING, "erased owners", partial(store.look_at_erased, reached)),
        Check(ACCESS, "keys", partial(access.look_at_keys, reached)),
        Check(ACCESS, "audit log", partial(access.look_at_audit, reached)),
        Check(REDIS, "redis", partial(redis.look_at_redis, reached)),
        Check(REDIS, "wait for the disk", partial(waiting.look_at_waiting, reached)),
        Check(REDIS, "password", partial(redis.look_at_way, reached)),
        Check(CLUSTER, "cluster", partial(cluster.look_at_cluster, reached)),
        Check(BACKUPS, "kept heads", partial(store.look_at_heads, reached)),
        Check(BACKUPS, "kept rejections", partial(store.look_at_rejections, reached)),
        Check(BACKUPS, "seals", partial(store.look_at_saved_seals, reached, own)),
        *told_of,
        Check(CLOCK, "redis clock", partial(store.look_at_clocks, reached, own)),
        Check(PROCESSES, "workers", partial(store.look_at_work, reached)),
        Check(PROCESSES, "alarms", partial(store.look_at_alarms, reached)),
        Check(STORE, "format", partial(store.look_at_format, reached)),
    ]
