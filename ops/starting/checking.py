"""All that `engramlog up --check` and `engramlog worker --check` look at, in their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Literal

from api.services.auditing.supervision import info
from events.envelope import from_micros, utc_text
from events.errors import BadSetting, EngramlogError
from ops.clock import now_micros
from ops.doctor.carrying import Check, carried_out
from ops.doctor.checking import unreached
from ops.doctor.deciding import redis as decide
from ops.doctor.finding import (
    ACCESS,
    CLOCK,
    CLUSTER,
    DISK,
    MACHINE,
    PERMISSIONS,
    REDIS,
    SEALING,
    SETTINGS,
    STORE,
    CheckFinding,
    DoctorTold,
    told,
)
from ops.doctor.gathering import access, cluster, redis, store, waiting
from ops.doctor.reaching import NothingToCheck, ReachedStore, reach
from ops.settings import Settings
from ops.starting import looking
from ops.starting.looking import refused, softened
from projections.redis.create import StoreIdentity, check_parameters

Starts = Literal["up", "worker"]
CHECK_SECONDS = 8.0
"""How long all checks side by side take at most; those of the store follow on those of the machine."""
LOADING_SECONDS = 1.0
"""How long a Redis that loads its data set is looked at: a start waits for it, which is no fault."""


def wrong_settings(errors: Sequence[BadSetting]) -> DoctorTold:
    """Every setting that cannot be right; nothing else was looked at."""
    found = [refused(SETTINGS, str(one.context.get("setting", "setting")), one) for one in errors]
    return told(None, utc_text(from_micros(now_micros())), found)


def would_start(settings: Settings, starts: Starts = "up", *, seconds: float = CHECK_SECONDS) -> DoctorTold:
    """What would not work of a start with these settings; nothing is started, made, mended or kept.

    `wrong` is what the start refuses, by its own words; what it passes over is `advice`.
    """
    of_machine = _of_a_service(settings) if starts == "up" else _of_a_worker(settings)
    found = [SETTINGS.ok("settings", "all of them can be used"), *carried_out(of_machine, seconds)]
    identity = None
    if settings.redis_url is not None:
        with suppress(NothingToCheck), reach(settings, loading_seconds=LOADING_SECONDS) as reached:
            identity = reached.identity
            found += [*unreached(reached), *_opens(reached), *carried_out(_of_the_store(reached, starts), seconds)]
        if identity is None and not any(one.check in ("answers", "opens") for one in found):
            found.append(_no_store(starts))
    elif access.is_public(settings):
        cure = "`engramlog doctor` starts its Redis for a moment and looks"
        found.append(ACCESS.unseen("first key", "open to others a key is needed; whether one lives is not seen", cure))
    if starts == "up":
        found += carried_out(_of_meanings(settings, identity), seconds)
    return told(None if identity is None else identity.store_id, utc_text(from_micros(now_micros())), found)


def _no_store(starts: Starts) -> CheckFinding:
    return STORE.ok("opens", f"ENGRAMLOG_REDIS_URL holds no store yet: `engramlog {starts}` makes it")


def _of_a_worker(settings: Settings) -> list[Check]:
    return [
        Check(MACHINE, "metrics ports", partial(looking.look_at_metrics_ports, settings, 1)),
        Check(SEALING, "master key", partial(looking.look_at_master_key, settings)),
    ]


def _of_a_service(settings: Settings) -> list[Check]:
    now = from_micros(now_micros())
    embedded = [
        Check(REDIS, "private redis", partial(looking.look_at_private_redis, settings)),
        Check(DISK, "disk", partial(looking.look_at_disk, settings)),
    ]
    return [
        Check(MACHINE, "ports", partial(looking.look_at_ports, settings)),
        Check(MACHINE, "metrics ports", partial(looking.look_at_metrics_ports, settings, settings.workers)),
        Check(MACHINE, "open files", looking.look_at_file_limit),
        Check(PERMISSIONS, "data folder", partial(looking.look_at_folder, settings)),
        Check(PERMISSIONS, "token", partial(looking.look_at_token, settings)),
        Check(SEALING, "master key", partial(looking.look_at_master_key, settings)),
        Check(ACCESS, "listening", partial(access.look_at_listening, settings, now)),
        Check(REDIS, "queue", partial(looking.look_at_queue, settings)),
        Check(MACHINE, "identity provider", partial(looking.look_at_provider, settings)),
        *(embedded if settings.redis_url is None else []),
    ]


def _of_meanings(settings: Settings, identity: StoreIdentity | None) -> list[Check]:
    return [
        Check(MACHINE, "embedder", partial(looking.look_at_embedder, settings, identity)),
        Check(MACHINE, "model", partial(looking.look_at_model, settings)),
    ]


def _opens(reached: ReachedStore) -> list[CheckFinding]:
    """Whether a start could open the store that is there: its format, its parameters, its master key."""
    if reached.client is None:
        return []
    try:
        if reached.trouble is not None:
            raise reached.trouble
        check_parameters(reached.known)
    except EngramlogError as error:
        return [refused(STORE, "opens", error)]
    return [STORE.ok("opens", f"store {reached.known.store_id} of log format {reached.known.format}")]


def _of_the_store(reached: ReachedStore, starts: Starts) -> list[Check]:
    if reached.client is None:
        return []
    opened = [Check(ACCESS, "first key", partial(access.look_at_first_key, reached))] if starts == "up" else []
    return [
        Check(REDIS, "primary", partial(_look_at_primary, reached)),
        Check(REDIS, "redis", lambda: _without_replicas(softened(redis.look_at_redis(reached)))),
        Check(REDIS, "wait for the disk", lambda: softened(waiting.look_at_waiting(reached))),
        Check(CLUSTER, "cluster", partial(_look_at_cluster, reached)),
        Check(CLOCK, "redis clock", lambda: softened(store.look_at_clocks(reached, now_micros))),
        *(opened if reached.trouble is None else []),
    ]


def _without_replicas(found: list[CheckFinding]) -> list[CheckFinding]:
    """A replica in place of the primary is told by a check of its own."""
    return [one for one in found if not (one.check == "replicas" and "is a replica" in one.found)]


def _look_at_primary(reached: ReachedStore) -> list[CheckFinding]:
    """Whether one Redis takes writes: a replica takes none. Raises StoreError."""
    wire = reached.wire()
    try:
        role = "master" if wire.many else info(wire, "replication").get("role", "master")
    finally:
        wire.close()
    return [] if role == "master" else [decide.replicas(role, 0, 0)]


def _look_at_cluster(reached: ReachedStore) -> list[CheckFinding]:
    """A Cluster's nodes: slots that nobody serves stop a start, the rest is advice. Raises StoreError."""
    found = cluster.look_at_cluster(reached)
    whole: Mapping[bool, list[CheckFinding]] = {
        part: [one for one in found if (one.check == "slots") is part] for part in (True, False)
    }
    return [*whole[True], *softened(whole[False])]
