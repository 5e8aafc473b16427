"""All that `engramlog up --check` and `engramlog worker --check` look at, in their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from typing import Literal

from events.envelope import from_micros, utc_text
from events.errors import BadSetting, EngramlogError, StoreMismatch
from events.redis.ready import STORE_SETTING, refuse_replica
from ops.clock import now_micros
from ops.doctor import checks, servers
from ops.doctor.findings import (
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
    Check,
    CheckFinding,
    DoctorReport,
    report,
    run_all,
)
from ops.doctor.permissions import folder_of
from ops.doctor.reach import ReachedStore, reach
from ops.embedded.store import holds_store
from ops.settings import Settings
from ops.starting import looking
from ops.starting.looking import refused, softened
from projections.access.book import AccessBook
from projections.redis.create import StoreIdentity, check_parameters

Starts = Literal["up", "worker"]
CHECK_SECONDS = 8.0
"""How long all checks side by side take at most; those of the store follow on those of the machine."""
LOADING_SECONDS = 1.0
"""How long a Redis that loads its data set is looked at: a start waits for it, which is no fault."""


def wrong_settings(errors: Sequence[BadSetting]) -> DoctorReport:
    """Every setting that cannot be right; nothing else was looked at."""
    found = [refused(SETTINGS, str(one.context.get("setting", "setting")), one) for one in errors]
    return report(None, utc_text(from_micros(now_micros())), found)


def would_start(settings: Settings, starts: Starts = "up", *, seconds: float = CHECK_SECONDS) -> DoctorReport:
    """What would not work of a start with these settings; nothing is started, made, mended or kept.

    `wrong` is what the start refuses, by its own words; what it passes over is `advice`.
    """
    of_machine = _of_a_service(settings) if starts == "up" else _of_a_worker(settings)
    found = [SETTINGS.ok("settings", "all of them can be used"), *run_all(of_machine, seconds)]
    identity = None
    if settings.redis_url is not None:
        with reach(settings, loading_seconds=LOADING_SECONDS, may_be_new=True) as reached:
            identity = reached.identity
            found += [
                *checks.unreached(reached),
                *_opens(reached, starts),
                *run_all(_of_the_store(reached, starts), seconds),
            ]
    elif starts == "up" and checks.is_public(settings):
        found += _first_key_of_a_folder(settings)
    if starts == "up":
        found += run_all(_of_meanings(settings, identity), seconds)
    return report(None if identity is None else identity.store_id, utc_text(from_micros(now_micros())), found)


def _first_key_of_a_folder(settings: Settings) -> list[CheckFinding]:
    """Whether a key lives of a store whose Redis does not run now."""
    with suppress(OSError):
        if not holds_store(folder_of(settings)):
            return checks.first_key(settings, AccessBook())
    cure = "`engramlog doctor` starts its Redis for a moment and looks"
    return [ACCESS.unseen("first key", "open to others a key is needed; whether one lives is not seen", cure)]


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
        Check(ACCESS, "listening", partial(checks.look_at_listening, settings, now)),
        Check(REDIS, "queue", partial(looking.look_at_queue, settings)),
        Check(MACHINE, "identity provider", partial(looking.look_at_provider, settings)),
        *(embedded if settings.redis_url is None else []),
    ]


def _of_meanings(settings: Settings, identity: StoreIdentity | None) -> list[Check]:
    return [
        Check(MACHINE, "embedder", partial(looking.look_at_embedder, settings, identity)),
        Check(MACHINE, "model", partial(looking.look_at_model, settings)),
    ]


def _opens(reached: ReachedStore, starts: Starts) -> list[CheckFinding]:
    """Whether a start could open the store that is there: its format, its parameters, its master key."""
    if reached.client is None:
        return []
    try:
        if reached.trouble is not None:
            raise reached.trouble
        if reached.identity is None:
            return [STORE.ok("opens", f"no store is there yet: `engramlog {starts}` makes it")]
        check_parameters(reached.known)
    except EngramlogError as error:
        return [refused(STORE, "opens", error)]
    return [STORE.ok("opens", f"store {reached.known.store_id} of log format {reached.known.format}")]


def _of_the_store(reached: ReachedStore, starts: Starts) -> list[Check]:
    if reached.client is None:
        return []
    opened = [Check(ACCESS, "first key", partial(checks.look_at_first_key, reached))] if starts == "up" else []
    return [
        *([Check(REDIS, "primary", partial(_look_at_primary, reached))] if starts == "up" else []),
        Check(REDIS, "redis", lambda: softened(servers.look_at_redis(reached))),
        Check(REDIS, "wait for the disk", lambda: softened(servers.look_at_waiting(reached))),
        Check(CLUSTER, "cluster", partial(_look_at_cluster, reached)),
        Check(CLOCK, "redis clock", lambda: softened(servers.look_at_clocks(reached, now_micros))),
        *(opened if reached.trouble is None else []),
    ]


def _look_at_primary(reached: ReachedStore) -> list[CheckFinding]:
    """Whether one Redis takes writes: a replica takes none. Raises StoreError."""
    with closing(reached.wire()) as wire:
        try:
            refuse_replica(wire, STORE_SETTING)
        except StoreMismatch as error:
            return [refused(REDIS, "primary", error)]
    return []


def _look_at_cluster(reached: ReachedStore) -> list[CheckFinding]:
    """A Cluster's nodes: slots that nobody serves stop a start, the rest is advice. Raises StoreError."""
    found = servers.look_at_cluster(reached)
    whole: Mapping[bool, list[CheckFinding]] = {
        part: [one for one in found if (one.check == "slots") is part] for part in (True, False)
    }
    return [*whole[True], *softened(whole[False])]
