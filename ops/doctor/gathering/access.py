"""Who can ask: listeners by the settings, keys and grants by the log."""

from __future__ import annotations

from datetime import datetime

from api.services.access.following import AccessFollower
from api.services.looking.standing import read_partitions
from events.door.of_the_store import READS, SYSTEM_OWNERS
from events.errors import BadSetting
from events.partitions import partition_of
from events.redis.clock import redis_ms
from events.redis.recorded import recorded_of
from events.redis.secrets import read_ciphers
from events.redis.wire import Wire
from ops.beyond.listeners import Listeners, how_it_listens, listeners_of, require_key
from ops.beyond.watch import SOON
from ops.clock import now_micros
from ops.doctor.deciding import access
from ops.doctor.deciding.access import ListeningFacts
from ops.doctor.finding import CheckFinding
from ops.doctor.reaching import ReachedStore
from ops.settings import Settings
from projections.access.book import AccessBook
from projections.fold.builds import BuildKeys
from projections.redis.sealed import opens
from projections.redis.store import read_owner


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


def look_at_listening(settings: Settings, now: datetime) -> list[CheckFinding]:
    """How the service listens by these settings."""
    found, trouble = listeners(settings)
    told = None if found is None else how_it_listens(found)
    certificate = None if found is None else found.certificate
    facts = ListeningFacts(
        told, trouble, settings.host, settings.port, None if certificate is None else certificate.ends
    )
    several = [access.listening(facts, now, SOON), access.metrics(settings.metrics)]
    return [one for one in several if one is not None]


def look_at_keys(reached: ReachedStore) -> list[CheckFinding]:
    """Keys and grants. Raises StoreError."""
    book, now = _book(reached), now_micros()
    return [*_needed(reached.settings, book), *access.keys(book, now, SOON), *access.grants(book, now)]


def look_at_first_key(reached: ReachedStore) -> list[CheckFinding]:
    """That no key lives, where the service is to be open to others. Raises StoreError."""
    if not is_public(reached.settings):
        return []
    return no_key_yet(reached.settings) if reached.identity is None else _needed(reached.settings, _book(reached))


def no_key_yet(settings: Settings) -> list[CheckFinding]:
    """The same of a store that is not made yet."""
    return _needed(settings, AccessBook())


def _book(reached: ReachedStore) -> AccessBook:
    log = reached.log()
    try:
        return AccessFollower(log).book()
    finally:
        log.close()


def _needed(settings: Settings, book: AccessBook) -> list[CheckFinding]:
    needed = access.first_key(_lacks_key(settings, book))
    return [] if needed is None else [needed]


def _lacks_key(settings: Settings, book: AccessBook) -> str | None:
    found, _ = listeners(settings)
    if found is None:
        return None
    try:
        require_key(found, lambda: book)
    except BadSetting as error:
        return error.message
    return None


def look_at_audit(reached: ReachedStore) -> list[CheckFinding]:
    """What was recorded of reads, and whether the store's own owners are folded. Raises StoreError."""
    identity, wire = reached.opened, reached.wire()
    try:
        partitions = read_partitions(wire, identity.tags, redis_ms(wire))
        stuck = sorted(name for one in partitions for name in one["quarantined"] if name in SYSTEM_OWNERS)
        number = partition_of(READS, identity.partitions)
        keys = BuildKeys(identity.tags[number], partitions[number]["build"])
        newest = _newest(wire, keys)
    finally:
        wire.close()
    return [access.audit(newest, stuck)]


def _newest(wire: Wire, keys: BuildKeys) -> int | None:
    """When the newest read was recorded that is folded, microseconds since 1970; None where none is."""
    raw = wire.call("HGET", keys.owners, READS)
    if raw is None:
        return None
    cipher = opens(read_ciphers(wire, keys.log, [READS]).get(READS))
    (at,) = recorded_of(wire, [(keys.log.stream, read_owner(keys, READS, raw, cipher).seq)])
    return at
