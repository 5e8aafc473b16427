"""All checks of a deployment, and those of access, sealing, backups, disk and processes. Each says what to do.

A function that takes facts decides alone; the lists at the end name what each check looks at.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

import httpx2

from engramlog_server.api.services.keys import AccessFollower
from engramlog_server.api.services.nodes import count_locked, read_partitions
from engramlog_server.consumers.fold.presence import LEASE_MS, known_workers
from engramlog_server.consumers.jobs.status import lifecycle_status
from engramlog_server.events.alarms import KNOWN
from engramlog_server.events.envelope import from_micros, utc_text
from engramlog_server.events.errors import BadSetting, EngramlogError, OtherFormat, StoreError
from engramlog_server.events.of_the_store import READS, SYSTEM_OWNERS
from engramlog_server.events.partitions import STORE_KEY, partition_of
from engramlog_server.events.redis.alarms import RedisAlarms
from engramlog_server.events.redis.client import connect
from engramlog_server.events.redis.log import recorded_of
from engramlog_server.events.redis.secrets import read_ciphers
from engramlog_server.events.redis.server import redis_ms
from engramlog_server.events.redis.wire import Wire, WirePool
from engramlog_server.events.text import is_loopback
from engramlog_server.ops.clock import now_micros
from engramlog_server.ops.doctor import servers
from engramlog_server.ops.doctor.findings import (
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
    Check,
    CheckFinding,
    DoctorReport,
    many,
    named,
    report,
    run_all,
)
from engramlog_server.ops.doctor.permissions import entry, folder_of, of_permissions, socket
from engramlog_server.ops.doctor.reach import SECONDS, ReachedStore, reach
from engramlog_server.ops.embedded.disk import Disk, look
from engramlog_server.ops.embedded.private_file import is_ours
from engramlog_server.ops.embedded.process import NotInTime
from engramlog_server.ops.erasure.fence_list import FenceList, list_path
from engramlog_server.ops.erasure.reappearance import came_back
from engramlog_server.ops.kept.head_file import HeadFile, heads_path
from engramlog_server.ops.kept.heads import refuse_changed_log
from engramlog_server.ops.kept.rejections import ValueFile, values_path
from engramlog_server.ops.keys.backup import KeysUnusable, known_keys
from engramlog_server.ops.keys.master import key_in
from engramlog_server.ops.keys.master_file import read_key_file
from engramlog_server.ops.keys.master_place import NONE
from engramlog_server.ops.keys.rewrap import wraps_of
from engramlog_server.ops.keys.watch import OPEN_STORE
from engramlog_server.ops.listeners import SOON, Listeners, how_it_listens, listeners_of, require_key
from engramlog_server.ops.processes.checks import STILL_SECONDS
from engramlog_server.ops.processes.folder_socket import NAME
from engramlog_server.ops.running_service import short_name
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.store import silent
from engramlog_server.projections.access.book import AccessBook, Key
from engramlog_server.projections.access.grants import ALL
from engramlog_server.projections.access.provider import OF_PROVIDER
from engramlog_server.projections.redis.builds import BuildKeys
from engramlog_server.projections.redis.create import BACKED_UP, backed_up_at, backed_up_with_keys, check_format
from engramlog_server.projections.redis.sealed import opens
from engramlog_server.projections.redis.store import read_owner

if TYPE_CHECKING:
    from engramlog_server.api.shapes import ListeningTold
    from engramlog_server.events.alarms import Alarm
    from engramlog_server.events.encryption.seals import SealingStanding
    from engramlog_server.ops.kept.heads import HasLog
    from engramlog_server.ops.public_settings import Place

Findings = list[CheckFinding]
CHECK_SECONDS = 2 * SECONDS
"""How long all checks together take at most, once the store is reached."""
SECRET = 3
OLD_BACKUP = timedelta(days=7)
BACKUP = "`engramlog backup make DEST`, on another disk, and prove it there: `engramlog backup check DEST`"
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


def listeners(settings: Settings) -> tuple[Listeners | None, str | None]:
    """What would listen by these settings, or why nothing would."""
    try:
        return listeners_of(settings, settings.host), None
    except BadSetting as error:
        return None, error.message


def is_public(settings: Settings) -> bool:
    """Whether the service is, or is meant to be, open to others."""
    found, _ = listeners(settings)
    return found is None or found.main.public


def listening(
    told: ListeningTold | None,
    trouble: str | None,
    place: str,
    now: datetime,
    soon: timedelta,
    ends: datetime | None = None,
) -> CheckFinding:
    """Whether others can reach the service, and how.

    `told`: how it listens, None if it would not start. `place`: HOST:PORT. `soon`: how long a certificate must last at least.
    `ends`: when it does.
    """
    check = "listening"
    if told is None:
        problem, _, allowed = (trouble or "").partition("; allowed: ")
        cure = f"allowed: {allowed}" if allowed else "`engramlog up` refuses to start like this"
        return ACCESS.wrong(check, problem, cure)
    if told["by"] == "loopback":
        return ACCESS.ok(check, f"with these settings only this machine reaches the API ({place})")
    way = "with its own TLS" if told["by"] == "tls" else "through a declared proxy"
    if ends is not None and ends - now < soon:
        over = f"others connect {way}, and the certificate ends {ends:%Y-%m-%d %H:%M} UTC"
        return ACCESS.advice(check, over, "renew it: new files are taken without a restart")
    lasts = "" if ends is None else f", with a certificate until {ends:%Y-%m-%d}"
    return ACCESS.ok(check, f"others connect {way}{lasts}")


def metrics_port(place: Place | None) -> Findings:
    """A metrics port that others reach."""
    if place is None or is_loopback(place.host):
        return []
    open_to = f"workers serve metrics on {place.host} to anyone who reaches it, without a token"
    return [ACCESS.advice("metrics port", open_to, f"ENGRAMLOG_METRICS={place.port}, or a firewall")]


def look_at_listening(settings: Settings, now: datetime) -> Findings:
    """How the service listens by these settings."""
    found, trouble = listeners(settings)
    told = None if found is None else how_it_listens(found)
    ends = None if found is None or found.certificate is None else found.certificate.ends
    place = f"{settings.host}:{settings.port}"
    return [listening(told, trouble, place, now, SOON, ends), *metrics_port(settings.metrics)]


def running_service(told: str | None, by_settings: str) -> Findings:
    """How the running service is asked, compared with these settings. `told`: None if none runs, or none says."""
    check = "running service"
    if told is None:
        return []
    if told != by_settings:
        other = (
            f"the running service listens by {told}, and these settings say {by_settings}: this report is not about it"
        )
        cure = "run this with the settings that the service was started with, or start it again with these"
        return [ACCESS.advice(check, other, cure)]
    return [ACCESS.ok(check, f"it listens by {told}, as these settings say")]


def _running_service(settings: Settings) -> Findings:
    found, _ = listeners(settings)
    return [] if found is None else running_service(_asked_by(folder_of(settings)), how_it_listens(found)["by"])


def _asked_by(folder: Path) -> str | None:
    """How the service of a folder is asked (`loopback`, `tls`, `proxy`), by the socket in the folder: no token is shown."""
    path = folder / NAME
    if not (is_ours(folder, stat.S_ISDIR) and is_ours(path, stat.S_ISSOCK)):
        return None
    try:
        with short_name(path) as name:
            transport = httpx2.HTTPTransport(uds=name, verify=False, trust_env=False)
            with httpx2.Client(transport=transport, timeout=SECONDS) as client:
                told = client.get("http://localhost/ready").json()["listening"]["by"]
    except (OSError, httpx2.HTTPError, ValueError, LookupError, TypeError):
        return None
    return told if isinstance(told, str) else None


def keys(book: AccessBook, now: int, soon: timedelta) -> Findings:
    """Live keys that end soon, and those that have no end. `now`: microseconds since 1970."""
    live = [one for one in book.keys.values() if one.state(now) == "live"]
    if not live:
        return [ACCESS.ok("keys", "no active keys: only the folder's token opens the store")]
    findings, last = Findings(), now + soon.total_seconds() * 1_000_000
    if ending := sorted(
        (one.expires_at, one.key_id) for one in live if one.expires_at is not None and one.expires_at < last
    ):
        when = utc_text(from_micros(ending[0][0]))
        those = [book.keys[key_id] for _, key_id in ending]
        text = f"{_keys(those)} {'ends' if len(ending) == 1 else 'end'} within {soon.days} days, the first {when}"
        findings.append(ACCESS.advice("keys that end", text, ROTATE))
    if endless := [one for one in live if one.expires_at is None]:
        text = f"{_keys(endless)} {'has' if len(endless) == 1 else 'have'} no end"
        findings.append(ACCESS.advice("keys without an end", text, f"{ROTATE}; `--days 90` gives it an end"))
    fine = f"{many(len(live), 'key')} active, each with an end"
    return findings or [ACCESS.ok("keys", fine)]


def _keys(those: Sequence[Key]) -> str:
    return named([f"{one.key_id} of {one.principal}" for one in those])


def grants(book: AccessBook, now: int) -> Findings:
    """Who may make keys, and who can read everybody's secrets."""
    reached = [one for one in book.grants if one.startswith(OF_PROVIDER) or book.live(one, now)]
    if not reached:
        return []
    admins = [name for name in reached if any("admin" in one.verbs for one in book.grants[name])]
    check = "admin keys"
    if endless := [name for name in admins if any(key.expires_at is None for key in book.live(name, now))]:
        cure = "give it an end, or grant without `admin`: on this machine keys are made without one"
        admin = ACCESS.advice(check, f"may make keys and grants with a key without an end: {named(endless)}", cure)
    elif admins:
        admin = ACCESS.ok(check, f"may make keys and grants with a key: {named(admins)}")
    else:
        admin = ACCESS.ok(check, "no key may make keys; on this machine they are made without one")
    check = "grants over all"
    over_all = {name: [one for one in book.grants[name] if ALL in one.owners] for name in reached}
    wide = [
        name for name, them in over_all.items() if any("reveal" in g.verbs and g.sensitivity >= SECRET for g in them)
    ]
    if wide:
        cure = "name owners in place of `*`, or leave `reveal` out: `engramlog grant`"
        return [admin, ACCESS.advice(check, f"may read the secrets of every owner: {named(wide)}", cure)]
    all_ = [name for name, them in over_all.items() if them]
    reach_ = f"{named(all_)} reach every owner, without secrets" if all_ else "no key reaches every owner"
    return [admin, ACCESS.ok(check, reach_)]


def first_key(settings: Settings, book: AccessBook) -> Findings:
    """A service that is open to others and has no live key."""
    found, _ = listeners(settings)
    if found is not None:
        try:
            require_key(found, lambda: book)
        except BadSetting as error:
            problem, _, cure = error.message.partition("; allowed: ")
            return [ACCESS.wrong("first key", problem, cure)]
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
    return [*first_key(reached.settings, book), *keys(book, now, SOON), *grants(book, now)]


def audit(newest: int | None, stuck: list[str]) -> CheckFinding:
    """Whether reads are still recorded. `newest`: when the last one was, microseconds; None: none. `stuck`: owners of the store's
    own whose fold stopped."""
    check = "audit log"
    if stuck:
        still = f"{named(stuck)} stopped folding: reads are recorded and not folded"
        return ACCESS.wrong(check, still, "`engramlog dead` shows why")
    if newest is None:
        return ACCESS.ok(check, "no read with a key is recorded and folded yet")
    return ACCESS.ok(check, f"it goes on; the newest was recorded {utc_text(from_micros(newest))}")


def _audit(reached: ReachedStore) -> Findings:
    identity = reached.opened
    with closing(reached.wire()) as wire:
        partitions = read_partitions(wire, identity.tags, redis_ms(wire))
        stuck = sorted(name for one in partitions for name in one["quarantined"] if name in SYSTEM_OWNERS)
        number = partition_of(READS, identity.partitions)
        newest = _newest_read(wire, BuildKeys(identity.tags[number], partitions[number]["build"]))
    return [audit(newest, stuck)]


def _newest_read(wire: Wire, store: BuildKeys) -> int | None:
    """When the newest folded read was recorded, microseconds since 1970; None if there is none."""
    raw = wire.call("HGET", store.owners, READS)
    if raw is None:
        return None
    cipher = opens(read_ciphers(wire, store.log, [READS]).get(READS))
    (at,) = recorded_of(wire, [(store.log.stream, read_owner(store, READS, raw, cipher).seq)])
    return at


# Sealing: whether contents are sealed, and whether their key is at hand


def contents(
    *,
    sealed: bool,
    standing: SealingStanding | None = None,
    trouble: str | None = None,
    is_set: bool = False,
    open_chosen: bool = False,
    file: Path | None = None,
    inside: bool = False,
) -> Findings:
    """Whether contents are sealed, whether the master key answers, and where it is.

    `standing`: None if the store could not be opened, for the reason in `trouble`. `is_set`: a master key is at hand, or set.
    `open_chosen`: the settings leave a new store open. `file`: of the master key, None if a key service has it. `inside`: it is in
    the data folder.
    """
    check = "contents"
    if not sealed and is_set:
        problem, _, cure = OPEN_STORE.partition(": ")
        return [SEALING.advice(check, problem, cure)]
    if not sealed and open_chosen:
        text = "not encrypted, as ENGRAMLOG_SEALED_BY=none says: anyone with a copy of the store can read it"
        return [SEALING.ok(check, text)]
    if not sealed:
        problem = "not encrypted: anyone with a copy of the Redis or its disk can read the contents"
        return [SEALING.advice(check, problem, "`engramlog seal`; docs/how-to/sealing.md")]
    fine = SEALING.ok(check, "encrypted: a copy of the Redis alone cannot be read")
    if standing is None or not standing.reachable:
        why = trouble or (standing.reason if standing else "") or "it does not answer"
        cure = "docs/how-to/sealing.md says what to do in each case"
        return [fine, SEALING.wrong("master key", f"it is not available: {why}", cure)]
    opened, check = SEALING.ok("master key", f"it opens the store: {standing.key}"), "copy of the key"
    if file is None:
        copy = SEALING.ok(check, "a key service has the key; its own backups are its operator's")
    elif inside:
        where = f"the key is in the data folder ({file.name}); whether there is a copy elsewhere cannot be seen"
        copy = SEALING.advice(check, where, f"{COPY}; ENGRAMLOG_SEALED_BY can name a file elsewhere")
    else:
        copy = SEALING.ok(check, f"the key is outside of the data folder, in {file}; keep a copy of it too")
    return [fine, opened, copy]


def _contents(reached: ReachedStore) -> Findings:
    settings, seals = reached.settings, reached.reached.seals
    sealed, file = reached.known.sealed is not None, key_in(reached.folder, settings)
    return contents(
        sealed=sealed,
        standing=seals.look() if sealed and seals.is_on and reached.trouble is None else None,
        trouble=None if reached.trouble is None else reached.trouble.message,
        is_set=seals.master is not None,
        open_chosen=settings.sealed_by == NONE,
        file=file,
        inside=file is not None
        and reached.folder is not None
        and file.resolve().is_relative_to(reached.folder.resolve()),
    )


def old_keys(names: Sequence[str], wraps_now: str, needed: Sequence[str]) -> CheckFinding:
    """Keys in the file besides the one that wraps now. `needed`: those that still wrap something."""
    check = "old keys"
    if len(names) <= 1:
        return SEALING.ok(check, "the file holds the one key that wraps")
    old = [one for one in names if one != wraps_now]
    if idle := [one for one in old if one not in needed]:
        lies = "it is" if len(idle) == 1 else "they are"
        text = f"nothing here needs {named(idle)} any more, and {lies} still in the file"
        return SEALING.advice(check, text, f"`engramlog master-key --drop {idle[0]}`, once no backup needs it")
    text = f"data is still wrapped by an older key: {named(old)}"
    return SEALING.advice(check, text, "`engramlog master-key --rewrap`")


def _old_keys(reached: ReachedStore) -> Findings:
    file, master = key_in(reached.folder, reached.settings), reached.reached.seals.master
    if file is None or master is None or reached.known.sealed is None:
        return []
    ring = read_key_file(file)
    if len(ring.names) == 1:  # no store is read for it
        return [old_keys(ring.names, ring.name, [])]
    with closing(reached.wire()) as wire:
        wraps = wraps_of(wire, reached.known.tags, master)
    return [old_keys(ring.names, ring.name, [one for one in ring.names if wraps.need(one)])]


def erased_owners(reached: ReachedStore) -> Findings:
    """Whether erased owners have a key again; nothing of an open store. Raises StoreError."""
    identity, check = reached.known, "erased owners"
    if identity.sealed is None:
        return []
    fences = FenceList(list_path(reached.settings, identity.store_id), identity.store_id).read()
    with closing(reached.wire()) as wire:
        count = sum(1 for _ in came_back(wire, identity.tags, fences))
    if not count:
        return [SEALING.ok(check, "no owner of the list of erasures has a key")]
    text = f"the keys of {count:,} erased owner{'' if count == 1 else 's'} are back in Redis"
    cure = "`engramlog erase --again` destroys them again; find out which copy was restored, or who can write to Redis"
    return [SEALING.wrong(check, text, cure)]


# Backups, and what proves that a log was not changed


def heads(kept: int, sinks: int, trouble: str | None, *, public: bool) -> CheckFinding:
    """Whether heads are kept where a forger cannot write.

    `trouble`: what is wrong with their file, or how the log differs. `public`: whether others are let in.
    """
    check = "kept heads"
    if trouble is not None:
        return BACKUPS.wrong(check, trouble, "docs/explanation/log.md, `Two hash chains`: a rebuild would only hide it")
    if sinks:
        return BACKUPS.ok(check, f"heads are also kept in {many(sinks, 'place')} outside of the data folder")
    state = f"{many(kept, 'head')} kept on this machine alone" if kept else "no head is kept yet"
    if public:
        text, cure = (
            f"{state}: anyone who can change the log can change them too",
            "let ENGRAMLOG_HEAD_SINKS name a place elsewhere",
        )
        return BACKUPS.advice(check, text, cure)
    return BACKUPS.ok(check, f"{state}; ENGRAMLOG_HEAD_SINKS gives them to others too")


def _heads(reached: ReachedStore) -> Findings:
    identity, settings = reached.known, reached.settings
    file, kept, trouble = HeadFile(heads_path(settings, identity.store_id)), 0, None
    try:
        kept = len(file.read().expected)
        refuse_changed_log(cast("HasLog", reached), file, range(identity.partitions), CURE)
    except StoreError as error:
        trouble = error.message
    return [heads(kept, len(settings.head_sinks), trouble, public=is_public(settings))]


def rejections(kept: int, path: Path, trouble: str | None, *, apart: bool) -> CheckFinding:
    """Whether a restored copy will know later rejections. `apart`: whether they are kept outside of the data folder."""
    check = "kept rejections"
    if trouble is not None:
        return BACKUPS.wrong(check, trouble, "docs/explanation/trust.md, `Taking something back`")
    state = f"{many(kept, 'rejection')} kept in {path}" if kept else "none was needed yet"
    stays = "; a copy that is put back leaves this file as it is" if kept and not apart else ""
    return BACKUPS.ok(check, state + stays)


def _rejections(reached: ReachedStore) -> Findings:
    identity, settings = reached.known, reached.settings
    file = ValueFile(values_path(settings, identity.store_id), identity.store_id, identity.partitions)
    kept, trouble = 0, None
    try:
        book = file.read()
        kept = len(book.kept)
        trouble = f"{file.path}: {book.problems[0]}" if book.problems else None
    except StoreError as error:
        trouble = error.message
    return [rejections(kept, file.path, trouble, apart=settings.rejections is not None)]


def keys_backup(
    path: Path | None, trouble: str | None, saved_at: datetime | None, erased_at: datetime | None, now: datetime
) -> CheckFinding:
    """Whether keys are kept apart, and whether the kept ones still open something erased.

    `path`: the file that is set, None if none is. `trouble`: why it cannot be used. `erased_at`: of the newest step of an erasure
    in this machine's list.
    """
    check = "kept keys"
    if path is None:
        text = "no backup of the keys is kept apart (ENGRAMLOG_KEYS_BACKUP): if the key store is lost, nobody opens the store"
        return BACKUPS.ok(check, text)
    if trouble is not None:
        return BACKUPS.wrong(check, trouble, "docs/how-to/sealing.md, `The backup of the keys`")
    if saved_at is None:
        return BACKUPS.wrong(check, f"{path} is not there: the keys were never saved", "`engramlog backup keys`")
    when = f"{path} was saved {utc_text(saved_at)}, {_age(now - saved_at)} ago"
    if erased_at is not None and erased_at > saved_at:
        text = f"{when}, before the newest erasure ({utc_text(erased_at)}): with it a backup opens what was erased"
        return BACKUPS.wrong(check, text, "replace it: `engramlog backup keys`")
    return BACKUPS.ok(check, f"{when}: what was said since opens from a backup by a later save alone")


def _keys_backup(reached: ReachedStore, own: Callable[[], int]) -> Findings:
    identity, settings = reached.known, reached.settings
    if identity.sealed is None:
        return []
    path, trouble, saved_at, erasures = settings.keys_backup, None, None, []
    if path is not None:
        erasures = FenceList(list_path(settings, identity.store_id), identity.store_id).read_all()
        try:
            kept = known_keys(path)
            if kept is not None and kept.store_id != identity.store_id:
                trouble = f"{path} holds the keys of store {kept.store_id}, and this is {identity.store_id}"
            saved_at = None if kept is None else datetime.fromisoformat(kept.saved_at)
        except KeysUnusable as error:
            trouble = error.message
        except ValueError:
            trouble = f"{path} does not say when it was saved"
    erased_at = max((datetime.fromisoformat(one.at) for one in erasures if one.step != "readmitted"), default=None)
    return [keys_backup(path, trouble, saved_at, erased_at, from_micros(own()))]


def _age(age: timedelta) -> str:
    minutes = max(int(age.total_seconds() / 60), 0)
    if minutes < 120:
        return many(minutes, "minute")
    return many(minutes // 60, "hour") if minutes < 48 * 60 else many(minutes // 1_440, "day")


def copies(folder: Path | None, made: datetime | None, now: datetime, *, complete: bool = True) -> CheckFinding:
    """When the store was last backed up, by its own record; whether that backup still exists cannot be seen from here.

    `folder`: its data folder, None of a Redis of one's own. `complete`: whether the keys of a sealed store were saved too.
    """
    check = "copies"
    if made is None:
        unseen = "copies of your Redis" if folder is None else f"whether there is a copy of {folder}"
        return BACKUPS.unseen(check, f"no backup was made, and {unseen} cannot be seen from here", BACKUP)
    state = f"the last backup was made {utc_text(made)}, {_age(now - made)} ago"
    if not complete:
        text = f"{state}, and is incomplete: its keys were not saved, and without them it cannot be opened"
        cure = "name a file for them (ENGRAMLOG_KEYS_BACKUP), and `engramlog backup keys`"
        return BACKUPS.wrong(check, text, cure)
    if now - made > OLD_BACKUP:
        return BACKUPS.advice(check, state, f"make one: {BACKUP}")
    return BACKUPS.ok(check, f"{state}; whether it is still there cannot be seen from here")


def _copies(reached: ReachedStore, own: Callable[[], int]) -> Findings:
    made, complete = None, True
    if reached.client is not None:
        with closing(reached.wire()) as wire:
            raw = wire.call("HGET", STORE_KEY, BACKED_UP)
        made = None if raw is None else backed_up_at(raw)
        if made is not None and reached.known.sealed is not None and not backed_up_with_keys(raw):
            complete = _saved_since(reached, made)
    return [copies(reached.folder, made, from_micros(own()), complete=complete)]


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


def disk(folder: Path | None, found: Disk | None) -> CheckFinding:
    """The disk under a data folder; of a Redis of one's own it cannot be seen."""
    check = "disk"
    if folder is None or found is None:
        cure = "watch it: a rewrite of the log takes as much again as the log"
        return DISK.unseen(check, "the disk of your Redis cannot be seen from here", cure)
    if found.is_full:
        cure = "make room: no writes are taken until then, reads go on"
        return DISK.wrong(check, found.told(folder, found.reserve), cure)
    if found.is_low:
        return DISK.advice(check, found.told(folder, found.wanted), "make room for the next rewrite of the log")
    return DISK.ok(check, found.told(folder, found.wanted))


# Processes: whether events are folded, jobs run, and alarms are active


def workers(*, count: int, silent: Sequence[str], lag: int, waited: float | None, private: bool) -> Findings:
    """Whether anybody folds, and what waits for it.

    `silent`: workers that ended without a word. `lag`: events. `waited`: seconds of the oldest, None if the log does not say.
    `private`: whether the store is in a data folder, where commands fold by themselves.
    """
    check, findings = "workers", Findings()
    if count:
        findings.append(PROCESSES.ok(check, f"{many(count, 'fold worker')} at work"))
    elif private:
        findings.append(PROCESSES.ok(check, "nothing runs on the folder now: commands fold by themselves"))
    else:
        judge, wait = (PROCESSES.wrong, ", and events wait") if lag else (PROCESSES.advice, "")
        findings.append(judge(check, f"no fold worker is at work{wait}", "`engramlog up`, or `engramlog worker`"))
    if silent:
        text = f"{many(len(silent), 'worker')} ended without signing off, or hang: {named(silent)}"
        cure = "its log says why; they are forgotten after a minute"
        findings.append(PROCESSES.advice("silent workers", text, cure))
    return [*findings, _backlog(lag, waited, by_itself=private and not count)]


def _backlog(lag: int, waited: float | None, *, by_itself: bool) -> CheckFinding:
    check = "backlog"
    if not lag:
        return PROCESSES.ok(check, "everything that was appended is folded")
    since = "" if waited is None else f", the oldest for {waited:,.0f} s"
    text = f"{many(lag, 'event')} {'waits' if lag == 1 else 'wait'} to be folded{since}"
    if (waited or 0.0) < STILL_SECONDS or by_itself:
        return PROCESSES.ok(check, text)
    cure = "`engramlog status` shows the partition and its worker; one more worker helps"
    return PROCESSES.advice(check, text, cure)


def owners(quarantined: Sequence[str], locked: int) -> Findings:
    """Owners whose fold stopped. `locked`: how many of them for want of their key."""
    stuck, findings = len(quarantined) - locked, Findings()
    if locked:
        text = f"{many(locked, 'owner')} {'waits' if locked == 1 else 'wait'} for a key that cannot be had"
        cure = (
            "bring the master key back: docs/how-to/sealing.md; nothing is lost, and they are folded by themselves then"
        )
        findings.append(PROCESSES.wrong("locked owners", text, cure))
    if stuck > 0:
        still = f"{many(stuck, 'owner')} stopped at an event that cannot be folded"
        text = still + (f": {named(quarantined)}" if not locked else "")
        findings.append(PROCESSES.wrong("quarantined owners", text, "`engramlog dead` shows why, and what can be done"))
    return findings or [PROCESSES.ok("owners", "no owner is stopped")]


def jobs(
    *,
    problem: str | None = None,
    leader: str | None = None,
    failed: int = 0,
    stopped: Sequence[str] = (),
    wanted: bool = True,
) -> CheckFinding:
    """Whether forgetting, merging and purging run by themselves.

    `problem`: why the queue does not answer. `wanted`: whether a service runs that should schedule them.
    """
    check = "jobs"
    if problem:
        return PROCESSES.wrong(check, f"the queue does not answer: {problem}", "look at ENGRAMLOG_QUEUE_URL")
    if stopped:
        return PROCESSES.advice(check, f"{named(stopped)} stopped", "`engramlog status --jobs` shows why")
    if failed:
        cure = "`engramlog status --jobs` shows which and why"
        return PROCESSES.advice(check, f"{many(failed, 'job')} failed", cure)
    if leader is None and wanted:
        text = "no process schedules them: nothing is swept, merged or purged"
        return PROCESSES.advice(check, text, "ENGRAMLOG_JOB_WORKERS=1 for `up`")
    return PROCESSES.ok(check, "scheduled" if leader else "scheduled while `engramlog up` runs")


def _work(reached: ReachedStore) -> Findings:
    """Workers, their backlog, owners that stopped, and jobs. Raises StoreError."""
    identity = reached.known
    with closing(reached.wire()) as wire:
        now_ms = redis_ms(wire)
        partitions = read_partitions(wire, identity.tags, now_ms)
        live, silent_ones = known_workers(wire, now_ms, LEASE_MS)
        locked = count_locked(wire, identity.tags, partitions) if identity.sealed is not None else 0
    waits = [one["checkpoint_age"] for one in partitions if one["lag"] and one["checkpoint_age"] is not None]
    return [
        *workers(
            count=len(live),
            silent=sorted(silent_ones),
            lag=sum(one["lag"] for one in partitions),
            waited=max(waits, default=None),
            private=reached.embedded is not None,
        ),
        *owners(sorted(name for one in partitions for name in one["quarantined"]), locked),
        _jobs(reached, wanted=bool(live) and reached.settings.job_workers > 0),
    ]


def _jobs(reached: ReachedStore, *, wanted: bool) -> CheckFinding:
    queue, identity = reached.settings.queue_url, reached.known
    client = connect(queue, timeout=SECONDS) if queue else reached.reached
    wires = WirePool(client)
    try:
        with wires.wire() as wire:
            told = lifecycle_status(wire, identity.store_id, identity.partitions)
    except EngramlogError as error:
        return jobs(problem=error.message)
    finally:
        wires.close()
        if queue:
            client.close()
    if told.get("problem"):
        return jobs(problem=str(told["problem"]))
    return jobs(leader=told["leader"], failed=told["failed"], stopped=sorted(told["stopped"]), wanted=wanted)


def alarms(active: Sequence[Alarm]) -> Findings:
    """Active alarms, each with what to do."""
    findings = [
        (PROCESSES.wrong if one.severity == "stopped" else PROCESSES.advice)(
            f"alarm {one.name}",
            f"{one.subject}: {one.text}" if one.subject else one.text or f"raised {one.count:,} times",
            KNOWN[one.name].meaning if one.name in KNOWN else "`engramlog alarms` shows more",
        )
        for one in active
    ]
    return findings or [PROCESSES.ok("alarms", "no active alarms")]


def _alarms(reached: ReachedStore) -> Findings:
    with closing(RedisAlarms(WirePool(reached.reached), "doctor", silent)) as book:
        return alarms(book.standing())


def store_format(number: str, trouble: str | None) -> CheckFinding:
    """Whether this release can write to the store."""
    if trouble is not None:
        problem, _, cure = trouble.partition(": ")
        return STORE.wrong("format", problem, cure or trouble)
    return STORE.ok("format", f"log format {number}, which this release writes")


def _store_format(reached: ReachedStore) -> Findings:
    trouble = None
    try:
        check_format(reached.known)
    except OtherFormat as error:
        trouble = error.message
    return [store_format(reached.known.format, trouble)]


# All checks, in their order


def of_this_machine(settings: Settings, own: Callable[[], int]) -> list[Check]:
    """Checks that need no store. `own`: this machine's clock, microseconds since 1970."""
    return [
        *of_permissions(settings),
        Check(ACCESS, "listening", lambda: look_at_listening(settings, from_micros(own()))),
        Check(ACCESS, "running service", partial(_running_service, settings)),
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
    folder = reached.folder
    without_redis = [
        Check(BACKUPS, "copies", partial(_copies, reached, own)),
        Check(DISK, "disk", lambda: [disk(folder, None if folder is None else look(folder))]),
    ]
    if reached.client is None:
        return without_redis
    me, path = os.geteuid(), None if reached.embedded is None else reached.embedded.socket_path
    closed = path is not None and is_ours(path.parent, stat.S_ISDIR)
    of_socket = (
        [] if path is None else [Check(PERMISSIONS, "redis socket", lambda: [socket(entry(path), me, closed=closed)])]
    )
    return [
        *of_socket,
        Check(SEALING, "contents", partial(_contents, reached)),
        Check(SEALING, "old keys", partial(_old_keys, reached)),
        Check(SEALING, "erased owners", partial(erased_owners, reached)),
        Check(ACCESS, "keys", partial(_keys_and_grants, reached)),
        Check(ACCESS, "audit log", partial(_audit, reached)),
        Check(REDIS, "redis", partial(servers.look_at_redis, reached)),
        Check(REDIS, "wait for the disk", partial(servers.look_at_waiting, reached)),
        Check(REDIS, "password", partial(servers.look_at_way, reached)),
        Check(CLUSTER, "cluster", partial(servers.look_at_cluster, reached)),
        Check(BACKUPS, "kept heads", partial(_heads, reached)),
        Check(BACKUPS, "kept rejections", partial(_rejections, reached)),
        Check(BACKUPS, "kept keys", partial(_keys_backup, reached, own)),
        *without_redis,
        Check(CLOCK, "redis clock", partial(servers.look_at_clocks, reached, own)),
        Check(PROCESSES, "workers", partial(_work, reached)),
        Check(PROCESSES, "alarms", partial(_alarms, reached)),
        Check(STORE, "format", partial(_store_format, reached)),
    ]
