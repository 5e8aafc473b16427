"""Thirty lines that hold a promise, each with a change that breaks it: `make mutants` shows that `make test` notices every one.

`old` stands exactly once in its file; `tests/architecture/test_mutants_list.py` holds it to that, so that the list cannot rot.
"""

from __future__ import annotations

from typing import NamedTuple


class Mutant(NamedTuple):
    """One change."""

    file: str
    old: str
    new: str
    breaks: str
    near: tuple[str, ...]
    """The nearest tests, as paths below `tests`; of slow ones those that `make test` runs."""


LAWS = (
    "golden",
    "unit/projections/laws/test_laws.py",
    "unit/projections/laws/test_weighted.py",
    "property/test_laws.py",
)
FOLD = ("unit/projections/fold", "property/test_fold.py")
LOG = ("contract/test_event_log.py", "contract/test_redis_log.py")
MUTANTS = (
    Mutant(
        "projections/laws/ebbinghaus.py",
        "return max(rate, parameters.min_decay)",
        "return rate",
        "a memory may fade more slowly than the least rate",
        LAWS,
    ),
    Mutant(
        "projections/laws/ebbinghaus.py",
        "most = float(np.ceil(limit)) - 0.5",
        "most = float(np.ceil(limit)) + 0.5",
        "a memory is archived and deleted before its strength is under the limit",
        LAWS,
    ),
    Mutant(
        "projections/laws/weighted.py",
        'curve = fade_curve if memory.resolution == "weight_balance" else drop_curve',
        "curve = drop_curve",
        "a negation by balance drops at once",
        LAWS,
    ),
    Mutant(
        "projections/laws/weighted.py",
        "recent = bisect_right(memory.mentions, now) - bisect_right(memory.mentions, start)",
        "recent = bisect_right(memory.mentions, now)",
        "mentions of long ago give momentum",
        LAWS,
    ),
    Mutant(
        "projections/laws/modes.py",
        "under = weights < threshold",
        "under = weights <= threshold",
        "a weight at the threshold is withheld",
        LAWS,
    ),
    Mutant(
        "projections/laws/modes.py",
        "levels += idle >= step",
        "levels += idle > step",
        "a level falls due later than after its days",
        LAWS,
    ),
    Mutant(
        "projections/laws/modes.py",
        "(columns.tier <= Columns.CORE)",
        "(columns.tier < Columns.CORE)",
        "what is core is compressed and archived by time",
        LAWS,
    ),
    Mutant(
        "projections/laws/modes.py",
        "hidden: Flags = (columns.sensitivity >= SECRET) & (columns.state != Columns.PURGED)",
        "hidden: Flags = (columns.sensitivity > SECRET) & (columns.state != Columns.PURGED)",
        "secrets are shown in normal mode",
        ("unit/projections/laws/test_laws.py", "unit/projections/views", "unit/projections/ranking"),
    ),
    Mutant(
        "projections/fold/conflict.py",
        "if n.at >= (since_own",
        "if n.at > (since_own",
        "a mention at the instant of a negation undoes it",
        FOLD,
    ),
    Mutant(
        "projections/fold/conflict.py",
        "return flagged(memory.conflicts, other.id)",
        "return memory.conflicts",
        "what contradicts each other is flagged on one side alone",
        FOLD,
    ),
    Mutant(
        "projections/fold/life.py",
        '"last_activated_at": max(memory.last_activated_at, at),',
        '"last_activated_at": at,',
        "a mention that is told late takes the clock back",
        FOLD,
    ),
    Mutant(
        "projections/fold/life.py",
        '"ground": memory.ground if working.actor == "operator" else None,',
        '"ground": memory.ground,',
        "other words keep the place in every prompt that the former words were granted",
        FOLD,
    ),
    Mutant(
        "projections/fold/life.py",
        "if micros(data.due_at) > working.at:",
        "if micros(data.due_at) < working.at:",
        "what was deleted is purged before it is due",
        FOLD,
    ),
    Mutant(
        "projections/fold/merge.py",
        "if memory is not None and memory.deleted_at is not None:",
        "if memory is None:",
        "what was deleted comes back in a merge",
        FOLD,
    ),
    Mutant(
        "projections/fold/owner_choices.py",
        'if working.actor != "operator" and not PROMOTION.isdisjoint(told):',
        "if False:",
        "an old log's user promotes himself",
        FOLD,
    ),
    Mutant(
        "projections/fold/partition.py",
        "    if owner.quarantine is None:\n        try:",
        "    if owner is not None:\n        try:",
        "events of an owner are folded over one that could not be",
        FOLD,
    ),
    Mutant(
        "projections/fold/partition.py",
        "if not here or one[0].seq != wanted]",
        "if not here or one[0].seq == wanted]",
        "a discard drops all that is parked but what it names",
        FOLD,
    ),
    Mutant(
        "projections/fold/changelog.py",
        'return sha256(previous + one.seq.to_bytes(8, "big") + told).digest()',
        "return sha256(previous + told).digest()",
        "an entry may stand elsewhere in the log under the same chain",
        ("unit/projections/fold/test_changelog.py", "contract/test_log_format_2.py", "golden"),
    ),
    Mutant(
        "projections/memory/timelines.py",
        "micros(event.occurred_at) <= self.happened)",
        "micros(event.occurred_at) < self.happened)",
        "what happened at the instant asked for is left out",
        ("property/test_timelines.py",),
    ),
    Mutant(
        "projections/memory/deletion_view.py",
        "return bool(memories) and all(memory.id in self._gone for memory in memories or ())",
        "return bool(memories) and any(memory.id in self._gone for memory in memories or ())",
        "what was made of a turn goes though another memory still says it",
        ("unit/projections/memory/test_deletion_cascade.py", "property/test_retracting.py"),
    ),
    Mutant(
        "projections/decide/commands.py",
        "return len(told) == len(self.names) and told[-1] == self._negated(ids)",
        "return len(told) == len(self.names)",
        "another negation under a key is taken for the same",
        ("unit/projections/decide",),
    ),
    Mutant(
        "events/entry.py",
        'return blake2b(owner.encode() + b"\\0", digest_size=16)',
        "return blake2b(digest_size=16)",
        "the same id of another owner is taken for sent again",
        LOG,
    ),
    Mutant(
        "events/redis/append.py",
        "if clash then return {'conflict', head, known} end",
        "if false then return {'conflict', head, known} end",
        "another event under a known id is acknowledged and dropped",
        LOG,
    ),
    Mutant(
        "events/redis/append.py",
        "if head < tonumber(ARGV[4]) then return {'rolled', head, {}} end",
        "if false then return {'rolled', head, {}} end",
        "a log that lost acknowledged events is appended to",
        ("integration/events/test_receipts_kept.py",),
    ),
    Mutant(
        "events/redis/append.py",
        "if many ~= head then return {'gap', head, {}, many} end",
        "if false then return {'gap', head, {}, many} end",
        "a log with a gap is appended to",
        ("contract/test_redis_log.py",),
    ),
    Mutant(
        "projections/redis/scripts.py",
        "if epoch ~= ARGV[1] then return {'fenced', epoch} end",
        "if false then return {'fenced', epoch} end",
        "a worker that lost its lease commits",
        ("contract/test_commit_script.py",),
    ),
    Mutant(
        "consumers/verify/log.py",
        "if bucket_number(held) != ledger.buckets[bucket]:",
        "if held and not ledger.buckets[bucket]:",
        "a verification misses what is wrong in dedupe",
        ("integration/consumers/verify/test_verify.py",),
    ),
    Mutant(
        "api/requests/secrets.py",
        "return HIDDEN if text and is_secret(text) else text",
        "return text",
        "labels, reasons and refusals tell secrets",
        ("integration/api/faces/test_secrets_beside_content.py",),
    ),
    Mutant(
        "api/requests/searching.py",
        "if not whole or found.question != question or not 0 < found.offset <= MOST_OFFSET:",
        "if not whole or not 0 < found.offset <= MOST_OFFSET:",
        "a cursor of one question is taken for another",
        ("unit/api/requests/test_cursors.py",),
    ),
    Mutant(
        "api/http/access/bearer.py",
        "if len(told) != 1:",
        "if not told:",
        "a second header shows the token beside a wrong one",
        ("unit/api/http/test_bearer.py",),
    ),
)
EQUAL: dict[str, str] = {}
"""Mutants by what they break that no test can notice, with the reason."""
