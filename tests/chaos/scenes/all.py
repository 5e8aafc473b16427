"""The scenes of the fault test: what is not a killed process. Each is struck in the middle of traffic, told, mended and judged."""

from __future__ import annotations

from pathlib import Path
from random import Random

import msgspec

from engramlog_server.consumers.fold.presence import parse_workers
from engramlog_server.consumers.jobs.schedule import Leader, schedule_key
from engramlog_server.events.partitions import WORKERS_KEY, LogKeys
from engramlog_server.events.redis.server import redis_ms
from engramlog_server.events.redis.wire import Script
from tests.chaos.attendants import live_keys
from tests.chaos.cast import wait_until
from tests.chaos.scene import STORE_ID, Scene, on_a_redis
from tests.chaos.scenes.format import a_clock_behind_the_log
from tests.chaos.scenes.proof import a_tampered_number
from tests.chaos.scenes.rebuild import a_rebuild_killed
from tests.chaos.scenes.restored import a_restore_on_an_empty_machine
from tests.chaos.scenes.room import a_full_disk, full_memory_with_lag
from tests.chaos.scenes.socket import a_socket_gone
from tests.chaos.scenes.torn import a_torn_tail
from tests.chaos.scenes.vectors import an_hour_with_vectors
from tests.chaos.traffic import Traffic
from tests.chaos.verdict import Verdict
from tests.integration.served import scheduled

HOUR_MS = 3_600_000
TAKE_OUT = Script(
    "take an entry out",
    """
-- KEYS: stream; ARGV: which of its entries, counted from 1, or from the end where negative. Answer: the entry
local all, n = redis.call('XRANGE', KEYS[1], '-', '+'), tonumber(ARGV[1])
local entry = all[n < 0 and #all + 1 + n or n]
redis.call('XDEL', KEYS[1], entry[1])
return entry
""",
)
PUT_BACK = Script(
    "put an entry back",
    """
-- KEYS: stream; ARGV: the entry's id and its fields. A stream only grows at its end, so it is laid anew, all at once
local all = redis.call('XRANGE', KEYS[1], '-', '+')
local fields = {unpack(ARGV, 2)}
local seq, at = tonumber(string.match(ARGV[1], '^%d+')), #all + 1
for n = #all, 1, -1 do
  if tonumber(string.match(all[n][1], '^%d+')) > seq then at = n end
end
table.insert(all, at, {ARGV[1], fields})
redis.call('DEL', KEYS[1])
for _, entry in ipairs(all) do redis.call('XADD', KEYS[1], entry[1], unpack(entry[2])) end
return #all
""",
)
AN_HOUR_AHEAD = Script(
    "an hour ahead",
    """
-- KEYS: a hash with a lease; ARGV: who holds it, milliseconds. Answer: 1 where it was that holder's
if redis.call('HGET', KEYS[1], 'holder') ~= ARGV[1] then return 0 end
redis.call('HINCRBY', KEYS[1], 'until', ARGV[2])
return 1
""",
)


def a_gap(folder: Path, seed: int) -> Verdict:
    """Somebody deletes an entry of the log; later it is brought back, from a copy."""
    rng = Random(f"{seed}:gap")
    with on_a_redis(folder, seed) as (ground, traffic):
        ground.worker()
        traffic.flows()
        broken = rng.choice(traffic.partitions)
        stream, place = LogKeys(traffic.tags[broken]).stream, rng.choice((1, 5, -3, -1))
        entry_id, fields = traffic.wire.run(TAKE_OUT, [stream], [place])
        appended = traffic.head(broken)
        alarm = traffic.alarmed("partition_gap", f"partition {broken}")
        assert alarm.severity == "stopped"
        lease = live_keys(traffic.wire, traffic.tags[broken]).checkpoint
        wait_until(lambda: not traffic.wire.call("HGET", lease, "holder"), "its worker gives the lease back")
        stands_at = traffic.checkpoint(broken)  # what was on its way when the alarm was raised is there by now
        traffic.goes_on(p for p in traffic.partitions if p != broken)
        assert traffic.checkpoint(broken) == stands_at
        refused = traffic.refused(
            traffic.owner_of(broken, 2), f"partition {broken}: its log has {appended - 1} entries"
        )
        assert traffic.head(broken) == appended, "nothing is appended behind a hole that could then never be filled"
        assert [one.name for one in traffic.alarms()] == ["partition_gap"]
        traffic.wire.run(PUT_BACK, [stream], [entry_id, *fields])
        traffic.delivered(refused)
        traffic.goes_on([broken])
        return traffic.settled()


def a_clock_back(folder: Path, seed: int) -> Verdict:
    """A worker and a leader of jobs die; what they left says an hour ahead, as it does where Redis's clock was an hour ahead."""
    with on_a_redis(folder, seed) as (ground, traffic):
        first = ground.worker()
        traffic.flows()
        (dead,) = _holders(traffic)
        second = ground.worker()
        wait_until(lambda: len(_holders(traffic)) == 2, "two workers share the partitions")
        assert Leader(traffic.wire, STORE_ID, "dead leader").tend(redis_ms(traffic.wire))
        second.stop()
        first.kill()
        _an_hour_ahead(traffic, dead, "dead leader")
        second.wake()
        traffic.goes_on(traffic.partitions)
        assert dead not in _holders(traffic)
        verdict = traffic.settled()  # before there are events of jobs, which no producer sent
        with scheduled(ground.server.url, STORE_ID, len(traffic.tags)):
            wait_until(lambda: _leader(traffic) not in {None, "dead leader"}, "another scheduler leads")
        assert traffic.alarms() == []
        return verdict


def _an_hour_ahead(traffic: Traffic, worker: str, leader: str) -> None:
    """Every lease of a dead worker, its sign of life, and the lease of a dead leader."""
    leases = [live_keys(traffic.wire, tag).checkpoint for tag in traffic.tags]
    moved = [traffic.wire.run(AN_HOUR_AHEAD, [key], [worker, HOUR_MS]) for key in leases]
    assert 0 < sum(moved) < len(leases), "the dead one held some, the other one the rest"
    assert traffic.wire.run(AN_HOUR_AHEAD, [schedule_key(STORE_ID)], [leader, HOUR_MS]) == 1
    facts = parse_workers(traffic.wire.call("HGETALL", WORKERS_KEY))[worker]
    facts["beat_ms"] += HOUR_MS
    traffic.wire.call("HSET", WORKERS_KEY, worker, msgspec.json.encode(facts))


def _leader(traffic: Traffic) -> str | None:
    raw = traffic.wire.call("HGET", schedule_key(STORE_ID), "holder")
    return raw.decode() if raw else None


def _holders(traffic: Traffic) -> set[str]:
    """Who holds partitions, by the leases."""
    keys = [live_keys(traffic.wire, tag).checkpoint for tag in traffic.tags]
    return {raw.decode() for key in keys if (raw := traffic.wire.call("HGET", key, "holder"))}


SCENES = (
    Scene(
        "a gap in the log",
        "an entry of a partition's log is deleted: the first, one behind the checkpoint, or the newest",
        "`partition_gap`, `stopped`",
        "the other partitions go on; nothing is appended to it or folded over it; brought back, all is folded and the alarm ends",
        a_gap,
    ),
    Scene(
        "a tampered number",
        "a stored `new_weight` is set to 0.0111",
        "`verify` ends with 1 and names the owner and the partition",
        "traffic goes on; after `rebuild` of the partition `verify` ends with 0",
        a_tampered_number,
    ),
    Scene(
        "a torn tail",
        "Redis comes back with the end of its append-only file gone, and another history is appended, longer than the one lost",
        "`log_changed` for each partition, `stopped`, also once the log is longer than it was",
        "`rebuild` refuses until the change is accepted with a reason; then the alarms end, and what is sent again is there once",
        a_torn_tail,
    ),
    Scene(
        "a clock set back",
        "a worker and a leader of jobs die; their leases and sign of life are from an hour ahead",
        "nothing: nothing stands still",
        "the other worker folds all partitions, the next job worker leads",
        a_clock_back,
    ),
    Scene(
        "full memory with lag",
        "the worker sleeps, producers append until they are refused for want of memory",
        "`StoreFull`, to whoever appends",
        "all that was accepted is folded under the same limit; with more memory what was refused is accepted, once",
        full_memory_with_lag,
    ),
    Scene(
        "a full disk under `up`",
        "the append-only file of the private Redis can grow no further",
        "`up` ends with 1 and says that its Redis died, with Redis's own last lines",
        "nothing acknowledged is lost; with room again the next `up` folds it, and producers' next sending is accepted",
        a_full_disk,
    ),
    Scene(
        "a socket gone under `up`",
        "the file of the private Redis's socket is removed; later its second name with it",
        "`socket_removed`; where it cannot be put back, `up` ends with 1 and says so",
        "put back, it is reached anew and all goes on; the next `up` folds what was acknowledged, and `verify` ends with 0",
        a_socket_gone,
    ),
    Scene(
        "a rebuild killed",
        "`engramlog rebuild` gets SIGKILL while its second commit of the second partition is on its way",
        "`rebuild_left`, `status`, and `verify`: a build that is neither live nor being made",
        "traffic goes on; the next `rebuild` does that one and the rest, each once, and `verify` ends with 0",
        a_rebuild_killed,
    ),
    Scene(
        "the log's clock behind",
        "each partition's newest recorded time is eight seconds ahead, as a clock leaves it that was set back",
        "`clock_back`, a warning, until the clock has caught up",
        "appending goes on; no recorded time goes back, entries tell what the clock said, `verify` ends with 0",
        a_clock_behind_the_log,
    ),
    Scene(
        "an hour passed with vectors",
        "the embedding job was last scheduled by a clock an hour ahead",
        "nothing: nothing stands still",
        "a job worker embeds all the same: every memory has its vector, `verify` ends with 0",
        an_hour_with_vectors,
    ),
    Scene(
        "a restore on an empty machine",
        "a sealed store is backed up while memories are added; all is lost but the backup, the keys and the master key",
        "nothing: the restore opens every entry",
        "every event that was acknowledged before the backup is there once, with its words, and `verify` ends with 0",
        a_restore_on_an_empty_machine,
    ),
)
"""All of them; `make chaos` plays each after its random run, the tests each once."""
