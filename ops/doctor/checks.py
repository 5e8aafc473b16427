"""All checks of a deployment, and those of access, sealing, backups, disk and processes. Each says what to do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from engramlog_server.api.services.capacity import read_partitions
from engramlog_server.api.services.keys import AccessFollower
from engramlog_server.consumers.fold.presence import LEASE_MS, known_workers
from engramlog_server.events.alarms import KNOWN
from engramlog_server.events.envelope import from_micros, utc_text
from engramlog_server.events.errors import BadSetting, StoreError
from engramlog_server.events.partitions import STORE_KEY
from engramlog_server.events.redis.alarms import RedisAlarms
from engramlog_server.events.redis.server import redis_ms
from engramlog_server.events.redis.wire import WirePool
from engramlog_server.events.text import NONE, is_loopback, many
from engramlog_server.ops.clients.hook import FOLDER, problems
from engramlog_server.ops.clients.hook import LOG as HOOK_LOG
from engramlog_server.ops.clock import now_micros, silent
from engramlog_server.ops.doctor import servers
from engramlog_server.ops.doctor.findings import (
    ACCESS,
    BACKUPS,
    CLUSTER,
    DISK,
    PROCESSES,
    REDIS,
    SEALING,
    STORE,
    Check,
    CheckFinding,
    DoctorReport,
    named,
    of_permissions,
    refused,
    report,
    run_all,
    unless,
)
from engramlog_server.ops.doctor.servers import SECONDS, ReachedStore, reach
from engramlog_server.ops.embedded.disk import look
from engramlog_server.ops.embedded.process import NotInTime
from engramlog_server.ops.erasure.fence_list import FenceList, came_back
from engramlog_server.ops.kept.heads import HeadFile, heads_path, refuse_changed_log
from engramlog_server.ops.keys.backup import KeysUnusable, known_keys
from engramlog_server.ops.keys.master import OPEN_STORE, key_in
from engramlog_server.ops.listeners import SOON, how_it_listens, listeners_of, require_key
from engramlog_server.ops.settings import Settings
from engramlog_server.projections.access.caller import ALL, AccessBook, Key
from engramlog_server.projections.access.provider import OF_PROVIDER
from engramlog_server.projections.redis.create import BACKED_UP, backed_up_at, backed_up_with_keys, check_format

if TYPE_CHECKING:
    from engramlog_server.ops.erasure.fence_list import ErasureStep
    from engramlog_server.ops.kept.heads import HasLog

Findings = list[CheckFinding]
CHECK_SECONDS = 2 * SECONDS
"""How long all checks together take at most, once the store is reached."""
SECRET = 3
OLD_BACKUP = timedelta(days=7)
HOOKS_LOOKED_AT = timedelta(days=1)
BACKUP = "`engramlog backup make DEST{keys}`, on another disk, and prove it there: `engramlog backup check DEST{keys}`"
ROTATE = "make its successor (`engramlog key new NAME`), then revoke it (`engramlog key revoke ID`)"
COPY = "keep a copy of it apart from the store and its backups: without it the store cannot be read"
CURE = "restore a copy, or, where the change is known and meant, `--accept-changed-log REASON`"


def examine(
    settings: Settings,
    *,
    on_wait: Callable[[str], None] | None = None,
    own: Callable[[], int] = now_micros,
) -> DoctorReport:
    """Look at the deployment of these settings; nothing of it is changed. `own`: this machine's clock, microseconds since 1970.

    Raises NothingToCheck if there is no store.
    """
    before = run_all(of_this_machine(settings, own), CHECK_SECONDS)  # before a server is started on the folder
    with reach(settings, on_wait=on_wait) as reached:
        findings = [*before, *unreached(reached), *run_all(of_the_store(reached, own), CHECK_SECONDS)]
        store_id = None if reached.identity is None else reached.identity.store_id
    return report(store_id, utc_text(from_micros(own())), findings)


# Access: who can ask, by which keys and grants


def listening(settings: Settings, now: datetime) -> Findings:
    """Whether others can reach the service by these settings, how, and until when its certificate lasts."""
    check = "listening"
    try:
        found = listeners_of(settings, settings.host)
    except BadSetting as error:
        return [refused(ACCESS, check, error)]
    by, ends = how_it_listens(found)["by"], None if found.certificate is None else found.certificate.ends
    way = "with its own TLS" if by == "tls" else "through a declared proxy"
    if by == "loopback":
        text = f"with these settings only this machine reaches the API ({settings.host}:{settings.port})"
        findings = [ACCESS.ok(check, text)]
    elif ends is not None and ends - now < SOON:
        text = f"others connect {way}, and the certificate ends {ends:%Y-%m-%d %H:%M} UTC"
        findings = [ACCESS.advice(check, text, "renew it: new files are taken without a restart")]
    else:
        lasts = "" if ends is None else f", with a certificate until {ends:%Y-%m-%d}"
        findings = [ACCESS.ok(check, f"others connect {way}{lasts}")]
    place = settings.metrics
    if place is not None and not is_loopback(place.host):
        text = f"workers serve metrics on {place.host} to anyone who reaches it, without a token"
        findings.append(ACCESS.advice("metrics port", text, f"ENGRAMLOG_METRICS={place.port}, or a firewall"))
    return findings


def is_public(settings: Settings) -> bool:
    """Whether the service is, or is meant to be, open to others."""
    try:
        return listeners_of(settings, settings.host).main.public
    except BadSetting:
        return True


def keys(book: AccessBook, now: int) -> Findings:
    """Live keys that end soon, and those that have no end. `now`: microseconds since 1970."""
    live = [one for one in book.keys.values() if one.state(now) == "live"]
    if not live:
        return [ACCESS.ok("keys", "no active keys: only the folder's token opens the store")]
    findings, last = Findings(), now + SOON.total_seconds() * 1_000_000
    ending = sorted(
        (one.expires_at, one.key_id) for one in live if one.expires_at is not None and one.expires_at < last
    )
    if ending:
        those, when = _keys([book.keys[key_id] for _, key_id in ending]), utc_text(from_micros(ending[0][0]))
        text = f"{those} {'ends' if len(ending) == 1 else 'end'} within {SOON.days} days, the first {when}"
        findings.append(ACCESS.advice("keys that end", text, ROTATE))
    if endless := [one for one in live if one.expires_at is None]:
        text = f"{_keys(endless)} {'has' if len(endless) == 1 else 'have'} no end"
        findings.append(ACCESS.advice("keys without an end", text, f"{ROTATE}; `--days 90` gives it an end"))
    return findings or [ACCESS.ok("keys", f"{many(len(live), 'key')} active, each with an end")]


def _keys(those: Sequence[Key]) -> str:
    return named([f"{one.key_id} of {one.principal}" for one in those])


def grants(book: AccessBook, now: int) -> Findings:
    """Find live keys and identity providers that give access to the secrets of all owners."""
    wide = [
        name
        for name, held in book.grants.items()
        if (name.startswith(OF_PROVIDER) or book.live(name, now))
        and any(ALL in one.owners and "reveal" in one.verbs and one.sensitivity >= SECRET for one in held)
    ]
    if not wide:
        return [ACCESS.ok("grants over all", "nobody else may read the secrets of every owner")]
    cure = "name owners in place of `*`, or leave `reveal` out: `engramlog grant`"
    return [ACCESS.advice("grants over all", f"may read the secrets of every owner: {named(wide)}", cure)]


def first_key(settings: Settings, book: AccessBook) -> Findings:
    """A service that is open to others and has no live key."""
    with suppress(BadSetting):  # the check of listening reports why nothing would listen
        found = listeners_of(settings, settings.host)
        try:
            require_key(found, lambda: book)
        except BadSetting as error:
            return [refused(ACCESS, "first key", error)]
    return []


def look_at_first_key(reached: ReachedStore) -> Findings:
    """The same of a store that was reached. Raises StoreError."""
    if not is_public(reached.settings):
        return []
    return first_key(reached.settings, AccessBook() if reached.identity is None else _book(reached))


def _book(reached: ReachedStore) -> AccessBook:
    with closing(reached.log()) as log:
        return AccessFollower(log).book()


def _keys_and_grants(reached: ReachedStore) -> Findings:
    book, now = _book(reached), now_micros()
    return [*first_key(reached.settings, book), *keys(book, now), *grants(book, now)]


# Sealing: whether contents are sealed, and whether their key is at hand


def sealing(reached: ReachedStore) -> Findings:
    """Whether contents are sealed, whether the master key answers, and where it is."""
    settings, seals, check = reached.settings, reached.reached.seals, "contents"
    if reached.known.sealed is None:
        if seals.master is not None:
            problem, _, cure = OPEN_STORE.partition(": ")
            return [SEALING.advice(check, problem, cure)]
        if settings.sealed_by == NONE:
            text = "not encrypted, as ENGRAMLOG_SEALED_BY=none says: anyone with a copy of the store can read it"
            return [SEALING.ok(check, text)]
        problem = "not encrypted: anyone with a copy of the Redis or its disk can read the contents"
        return [SEALING.advice(check, problem, "`engramlog seal`; docs/how-to/sealing.md")]
    fine = SEALING.ok(check, "encrypted: a copy of the Redis alone cannot be read")
    standing = seals.look() if seals.is_on and reached.trouble is None else None
    if standing is None or not standing.reachable:
        trouble = "" if reached.trouble is None else reached.trouble.message
        why = trouble or (standing.reason if standing else "") or "it does not answer"
        cure = "docs/how-to/sealing.md says what to do in each case"
        return [fine, SEALING.wrong("master key", f"it is not available: {why}", cure)]
    opened, check = SEALING.ok("master key", f"it opens the store: {standing.key}"), "copy of the key"
    file, folder = key_in(reached.folder, settings), reached.folder
    if file is None:
        copy = SEALING.ok(check, "a key service has the key; its own backups are its operator's")
    elif folder is not None and file.resolve().is_relative_to(folder.resolve()):
        where = f"the key is in the data folder ({file.name}); whether there is a copy elsewhere cannot be seen"
        copy = SEALING.advice(check, where, f"{COPY}; ENGRAMLOG_SEALED_BY can name a file elsewhere")
    else:
        copy = SEALING.ok(check, f"the key is outside of the data folder, in {file}; keep a copy of it too")
    return [fine, opened, copy]


def erased_owners(reached: ReachedStore) -> Findings:
    """Whether erased owners have a key again; nothing of an open store. Raises StoreError."""
    identity, check = reached.known, "erased owners"
    if identity.sealed is None:
        return []
    fences = FenceList.of(reached.settings, identity.store_id).read()
    with closing(reached.wire()) as wire:
        count = sum(1 for _ in came_back(wire, identity.tags, fences))
    if not count:
        return [SEALING.ok(check, "no owner of the list of erasures has a key")]
    text = f"the keys of {many(count, 'erased owner')} are back in Redis"
    cure = "`engramlog erase --again` destroys them again; find out which copy was restored, or who can write to Redis"
    return [SEALING.wrong(check, text, cure)]


# Backups, and what proves that a log was not changed


def heads(reached: ReachedStore) -> Findings:
    """Whether the log meets its kept heads, and whether they are kept where a forger cannot write. Raises StoreError."""
    identity, settings, check = reached.known, reached.settings, "kept heads"
    file = HeadFile(heads_path(settings, identity.store_id))
    try:
        kept, sinks = len(file.read().expected), len(settings.head_sinks)
        refuse_changed_log(cast("HasLog", reached), file, range(identity.partitions), CURE)
    except StoreError as error:
        cure = "docs/explanation/log.md, `Two hash chains`: a rebuild would only hide it"
        return [BACKUPS.wrong(check, error.message, cure)]
    if sinks:
        return [BACKUPS.ok(check, f"heads are also kept in {many(sinks, 'place')} outside of the data folder")]
    state = f"{many(kept, 'head')} kept on this machine alone" if kept else "no head is kept yet"
    if is_public(settings):
        text = f"{state}: anyone who can change the log can change them too"
        return [BACKUPS.advice(check, text, "let ENGRAMLOG_HEAD_SINKS name a place elsewhere")]
    return [BACKUPS.ok(check, f"{state}; ENGRAMLOG_HEAD_SINKS gives them to others too")]


def kept_keys(
    path: Path | None, store_id: str, erasures: Callable[[], Sequence[ErasureStep]], now: datetime
) -> Findings:
    """Whether keys are kept apart, and whether the kept ones still open something erased.

    `path`: the file that is set, None if none is. `erasures`: reads the steps in this machine's list.
    """
    check, cure = "kept keys", "docs/how-to/sealing.md, `The backup of the keys`"
    if path is None:
        text = "no backup of the keys is kept apart (ENGRAMLOG_KEYS_BACKUP): if the key store is lost, nobody opens the store"
        return [BACKUPS.ok(check, text)]
    erased_at = max((datetime.fromisoformat(one.at) for one in erasures() if one.step != "readmitted"), default=None)
    try:
        kept = known_keys(path)
        saved_at = None if kept is None else datetime.fromisoformat(kept.saved_at)
    except (KeysUnusable, ValueError) as error:
        text = error.message if isinstance(error, KeysUnusable) else f"{path} does not say when it was saved"
        return [BACKUPS.wrong(check, text, cure)]
    if kept is None or saved_at is None:
        return [BACKUPS.wrong(check, f"{path} is not there: the keys were never saved", "`engramlog backup keys`")]
    if kept.store_id != store_id:
        return [BACKUPS.wrong(check, f"{path} holds the keys of store {kept.store_id}, and this is {store_id}", cure)]
    when = f"{path} was saved {utc_text(saved_at)}, {_age(now - saved_at)} ago"
    if erased_at is not None and erased_at > saved_at:
        text = f"{when}, before the newest erasure ({utc_text(erased_at)}): with it a backup opens what was erased"
        return [BACKUPS.wrong(check, text, "replace it: `engramlog backup keys`")]
    return [BACKUPS.ok(check, f"{when}: what was said since opens from a backup by a later save alone")]


def _kept_keys(reached: ReachedStore, own: Callable[[], int]) -> Findings:
    identity, settings = reached.known, reached.settings
    if identity.sealed is None:
        return []
    listed = FenceList.of(settings, identity.store_id)
    return kept_keys(settings.keys_backup, identity.store_id, listed.read_all, from_micros(own()))


def _age(age: timedelta) -> str:
    minutes = max(int(age.total_seconds() / 60), 0)
    if minutes < 120:
        return many(minutes, "minute")
    return many(minutes // 60, "hour") if minutes < 48 * 60 else many(minutes // 1_440, "day")


def copies(reached: ReachedStore, own: Callable[[], int]) -> Findings:
    """When the store was last backed up, by its own record; whether that backup still exists cannot be seen from here."""
    check, folder, made, complete = "copies", reached.folder, None, True
    if reached.client is not None:
        with closing(reached.wire()) as wire:
            raw = wire.call("HGET", STORE_KEY, BACKED_UP)
        made = None if raw is None else backed_up_at(raw)
        if made is not None and reached.known.sealed is not None and not backed_up_with_keys(raw):
            complete = _saved_since(reached, made)
    unnamed = reached.known.sealed is not None and reached.settings.keys_backup is None
    cure = BACKUP.format(keys=" --keys FILE" if unnamed else "")
    if made is None:
        unseen = "copies of your Redis" if folder is None else f"whether there is a copy of {folder}"
        return [BACKUPS.unseen(check, f"no backup was made, and {unseen} cannot be seen from here", cure)]
    age = from_micros(own()) - made
    state = f"the last backup was made {utc_text(made)}, {_age(age)} ago"
    if not complete:
        text = f"{state}, and is incomplete: its keys were not saved, and without them it cannot be opened"
        save = "name a file for them (ENGRAMLOG_KEYS_BACKUP), and `engramlog backup keys`"
        return [BACKUPS.wrong(check, text, save)]
    if age > OLD_BACKUP:
        return [BACKUPS.advice(check, state, f"make one: {cure}")]
    return [BACKUPS.ok(check, f"{state}; whether it is still there cannot be seen from here")]


def _saved_since(reached: ReachedStore, made: datetime) -> bool:
    """Whether the file of keys that is set was saved after a backup was made."""
    try:
        path = reached.settings.keys_backup
        kept = None if path is None else known_keys(path)
        if kept is None or kept.store_id != reached.known.store_id:
            return False
        return datetime.fromisoformat(kept.saved_at) >= made
    except (KeysUnusable, ValueError):  # the check of the keys reports it
        return False


def disk(folder: Path | None) -> Findings:
    """The disk under a data folder; of a Redis of one's own (None) it cannot be seen. Raises OSError."""
    check = "disk"
    if folder is None:
        cure = "watch it: a rewrite of the log takes as much again as the log"
        return [DISK.unseen(check, "the disk of your Redis cannot be seen from here", cure)]
    found = look(folder)
    if found.is_full:
        cure = "make room: no writes are taken until then, reads go on"
        return [DISK.wrong(check, found.told(folder, found.reserve), cure)]
    if found.is_low:
        return [DISK.advice(check, found.told(folder, found.wanted), "make room for the next rewrite of the log")]
    return [DISK.ok(check, found.told(folder, found.wanted))]


# Processes: whether events are folded, alarms are active, and hooks of clients answer


def hooks(folder: Path, now: datetime) -> Findings:
    """Hooks of clients that failed within a day; nothing if no client was ever installed. Raises OSError."""
    check = "hooks"
    if not (folder / FOLDER).is_dir():
        return []
    failed = [one for one in problems(folder) if one["at"] > (now - HOOKS_LOOKED_AT).timestamp()]
    if not failed:
        return [PROCESSES.ok(check, "no hook of a client failed in the last day")]
    last = failed[-1]
    found = f"{many(len(failed), 'hook')} of clients failed in the last day; the newest ({last['client']}, {last['event']}):"
    cure = f"prompts went on without memory; {folder / FOLDER / HOOK_LOG} lists them"
    return [PROCESSES.advice(check, f"{found} {last['problem']}", cure)]


def workers(reached: ReachedStore) -> Findings:
    """Whether anybody folds, what waits for it, and owners whose fold stopped. Raises StoreError."""
    with closing(reached.wire()) as wire:
        now_ms = redis_ms(wire)
        partitions = read_partitions(wire, reached.known.tags, now_ms)
        count = len(known_workers(wire, now_ms, LEASE_MS)[0])
    lag, check = sum(one["lag"] for one in partitions), "workers"
    waits = f"; {many(lag, 'event')} {'waits' if lag == 1 else 'wait'} to be folded" if lag else ""
    if count:
        findings = [PROCESSES.ok(check, f"{many(count, 'fold worker')} at work{waits}")]
    elif reached.embedded is not None:
        text = f"nothing runs on the folder now: commands fold by themselves{waits}"
        findings = [PROCESSES.ok(check, text)]
    else:
        judge = PROCESSES.wrong if lag else PROCESSES.advice
        cure = "`engramlog up`, or `engramlog worker`"
        findings = [judge(check, f"no fold worker is at work{waits}", cure)]
    if stuck := sorted(name for one in partitions for name in one["quarantined"]):
        text = f"{many(len(stuck), 'owner')} stopped at an event that cannot be folded: {named(stuck)}"
        cure = "`engramlog dead` shows why, and what can be done"
        findings.append(PROCESSES.wrong("quarantined owners", text, cure))
    return findings


def alarms(reached: ReachedStore) -> Findings:
    """Active alarms, each with what to do. Raises StoreError."""
    with closing(RedisAlarms(WirePool(reached.reached), "doctor", silent)) as book:
        active = book.standing()
    findings = [
        (PROCESSES.wrong if one.severity == "stopped" else PROCESSES.advice)(
            f"alarm {one.name}",
            f"{one.subject}: {one.text}" if one.subject else one.text or f"raised {one.count:,} times",
            KNOWN[one.name].meaning if one.name in KNOWN else "`engramlog alarms` shows more",
        )
        for one in active
    ]
    return findings or [PROCESSES.ok("alarms", "no active alarms")]


def store_format(reached: ReachedStore) -> Findings:
    """Whether this release can write to the store. Raises StoreError."""
    fine = f"log format {reached.known.format}, which this release writes"
    return unless(STORE, "format", fine, lambda: check_format(reached.known))


# All checks, in their order


def of_this_machine(settings: Settings, own: Callable[[], int]) -> list[Check]:
    """Checks that need no store. `own`: this machine's clock, microseconds since 1970."""
    return [
        *of_permissions(settings),
        Check(ACCESS, "listening", lambda: listening(settings, from_micros(own()))),
        Check(PROCESSES, "hooks", lambda: hooks(settings.data, from_micros(own()))),
    ]


def unreached(reached: ReachedStore) -> Findings:
    """That Redis does not answer, if it does not."""
    if reached.client is not None or reached.trouble is None:
        return []
    if isinstance(reached.trouble, NotInTime):  # a long command may be at work there
        return [REDIS.failed("answers", reached.trouble.message)]
    where = "ENGRAMLOG_REDIS_URL" if reached.folder is None else f"the private Redis of {reached.folder}"
    cure = "nothing of the store was looked at until it does"
    return [REDIS.wrong("answers", f"{where}: {reached.trouble.message}", cure)]


def of_the_store(reached: ReachedStore, own: Callable[[], int]) -> list[Check]:
    """Checks of a store; only those that need no Redis if it was not reached."""
    without_redis = [
        Check(BACKUPS, "copies", partial(copies, reached, own)),
        Check(DISK, "disk", partial(disk, reached.folder)),
    ]
    if reached.client is None:
        return without_redis
    return [
        Check(SEALING, "contents", partial(sealing, reached)),
        Check(SEALING, "erased owners", partial(erased_owners, reached)),
        Check(ACCESS, "keys", partial(_keys_and_grants, reached)),
        Check(REDIS, "redis", partial(servers.look_at_redis, reached, own)),
        Check(REDIS, "password", partial(servers.look_at_way, reached)),
        Check(CLUSTER, "cluster", partial(servers.look_at_cluster, reached)),
        Check(BACKUPS, "kept heads", partial(heads, reached)),
        Check(BACKUPS, "kept keys", partial(_kept_keys, reached, own)),
        *without_redis,
        Check(PROCESSES, "workers", partial(workers, reached)),
        Check(PROCESSES, "alarms", partial(alarms, reached)),
        Check(STORE, "format", partial(store_format, reached)),
    ]
