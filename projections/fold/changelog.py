"""The change log: one entry for every (event, memory), and the owner's hash chain over them (memory.md, section 8).

Entries hold field names, versions and content hashes, never content, so a purge touches no entry.

They keep sentences that say why, and the chain holds these as they are; whoever has words of his own for them, in another language,
goes by code and values (`reason_told`): what a fold did, what goes with a deletion, what no event undoes, why nobody can say. One
table tells both, and a test holds every sentence of the folds to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from hashlib import sha256
from itertools import accumulate
from typing import NamedTuple

import msgspec

from engramlog_server.events.catalogue import EVENT_TYPES
from engramlog_server.events.envelope import Stored, from_micros, keyed, link_told, utc_text
from engramlog_server.events.parameters import Parameters
from engramlog_server.events.partitions import position_text
from engramlog_server.projections.fold.working_set import Note
from engramlog_server.projections.laws.law import Factors, factors
from engramlog_server.projections.memory.record import SECRET, Memory
from engramlog_server.projections.memory.rejection import REJECTED_BY
from engramlog_server.projections.shapes import Change


class ReasonTold(NamedTuple):
    """A sentence by its code, with what stands in its places; of an unknown sentence None and nothing."""

    code: str | None
    values: Mapping[str, str]

    def told(self) -> dict[str, str] | None:
        """The values as an answer tells them: null beside no code."""
        return None if self.code is None else dict(self.values)


REASONS: Mapping[str, str] = {
    # What an event did.
    "created": "a new memory",
    "mentioned": "mentioned",
    "mentioned_often": "mentioned often within a day",
    "said_again": "the user said it again",
    "mentioned_queue_full": "mentioned; {most} changes of it wait for a person already, the most",
    "reaffirmation_waits": "the user negated it: that it holds again waits for him",
    "revised": "a new version of the content",
    "level": "level {level}",
    "deleted_by_user": "user_delete",
    "deleted_by_cleanup": "auto_cleanup",
    "deletion_undone": "a deletion was undone",
    "purged_in_time": "kept long enough after its deletion",
    "erased_for_good": "its words were erased for good",
    "negated": "negated, {resolution}",
    "negated_before_said": "negated earlier than the user last said it",
    "merged_from": "merged from {count} memories",
    "merged_into": "merged into {memory}",
    "came_back": "its sources came back",
    "back_from": "back from {memory}",
    "outcome_cooling": "outcome {outcome}; no boost: within the cool-down of the last",
    "outcome_limited": "outcome {outcome}; no boost: the limit of a day is reached",
    "outcome": "outcome {outcome}",
    "graded": "graded {grade}",
    "tier_without_ground": "tier {tier}; without a ground to stand in every prompt",
    "tier": "tier {tier}",
    "kept_tier": "a reviewer kept its tier",
    "kept": "a reviewer kept it",
    "kept_back_to_threshold": "a reviewer kept it: importance back to the review threshold",
    "kept_tier_by": "the {actor} kept its tier",
    "kept_by_back_to_threshold": "the {actor} kept it: importance back to the review threshold",
    "kept_by": "the {actor} kept it",
    "sensitivity_by_hand": "sensitivity {level}, set by hand (it was {before})",
    "sensitivity_by_rules": "sensitivity {level}, found by rules {rules} (it was {before})",
    "possible_conflict": "possible conflict",
    "linked": "link {link}",
    "backs_triple": "backs a triple",
    "backs_triple_no_more": "no longer backs a triple",
    "ground_changed": "what it rests on has changed",
    "ground_same": "what it rests on is as it was told",
    "waits": "waits for a person: {trust}, and it is {known}",
    "accepted": "accepted",
    "edited": "edited",
    "rejected": "rejected",
    "value_rejected": "what it says is rejected",
    "value_readmitted": "what it says holds after all",
    "source_withheld": "what a source says is withheld",
    "source_counts": "what a source says counts again",
    "revealed": "its text was asked for: {by}, {face}",
    "named": "named by {event}",
    "profile": "the owner's profile from here on",
    "parameters": "the owner's parameters from here on",
    "parameters_but_promotion": (
        "the owner's parameters from here on, but for those of promotion: only an operator changes these"
    ),
    "alike": "two words are alike in the owner's searches from here on",
    "not_alike": "two words are no synonyms in the owner's searches from here on",
    "read": "{count} turns were read by {by}",
    "dropped": "{position} was parked and is dropped, by {actor}",
    # Why an event did nothing.
    "unknown_memory": "unknown memory",
    "purged_before": "purged: only a tombstone is left",
    "merged_away_mention": "merged away: its merge stands for it; the mention goes to {memory}",
    "merged_away": "merged away: its merge stands for it",
    "exists": "this id exists already",
    "deleted_before": "deleted already",
    "due_no_longer": "no longer due: it was used since that was decided",
    "never_compressed": "never compressed: identity, core or sensitive",
    "not_deleted": "not deleted",
    "not_due": "not due yet",
    "deleted_later": "not due: it was deleted later than this purge supposes",
    "waits_for_person": "waits for a person",
    "merge_id_taken": "{memory} exists already: a merge needs a new id",
    "merge_source_deleted": "source {memory} is deleted: restore it first",
    "merge_source_unknown": "source {memory}: unknown memory",
    "merge_source_purged": "source {memory}: purged: only a tombstone is left",
    "merge_source_merged": "source {memory}: merged away: its merge stands for it",
    "merge_of_one": "a merge needs two sources",
    "not_merged": "not merged",
    "unmerged_before": "un-merged already",
    "merge_deleted": "deleted: restore it first",
    "linked_to_itself": "a link to itself",
    "other_not_linked": "the other memory of the link cannot be linked",
    "older_than_backed": "said earlier than what the memory backs already",
    "older_than_triples": "older than the {most} triples that it backs",
    "backs_not": "does not back this triple",
    "asserted_again": "the triple was asserted again later than this",
    "sensitive_already": "as sensitive already: {level}",
    "rests_not_on_that": "it does not rest on that",
    "newer_ground": "something newer is known of that ground",
    "newer_value": "something newer is known of that value",
    "newer_source": "something newer is known of that source",
    "readmitted_before": "it was readmitted already",
    "names_no_source": "it names no source",
    "rejected_by": "rejected by {position}",
    "queue_full": "{most} changes of it wait for a person already, the most",
    "owner_queue_full": "{most} things wait for a person already, the most of one owner",
    "person_answers": "{trust}: what waits for a person, a person answers",
    "nothing_waits": "nothing of that id waits",
    "nothing_parked": "nothing is parked there",
    "one_word_twice": "there are no two different words",
    "alike_already": "the two words are as alike as that already",
    "most_pairs": "an owner has at most {most} pairs of synonyms: take one out with a similarity of 0",
    "most_silenced": "an owner keeps at most {most} pairs as no synonyms",
    "most_turns": "{most} turns are known to say it already, the most: this one is not withheld",
    "most_sources": "{most} sources were set aside or brought back already, the most of one owner",
    "most_values": "{most} values are rejected or readmitted already, the most of one owner",
    # What goes with a deletion or comes back with one that is undone, and what stays.
    "is_deleted_at": "memory {memory} was deleted already, {at}",
    "is_spared": "memory {memory} is of tier {tier}: core and system memories are left alone",
    "is_system": "memory {memory} is of tier system: system memories are left alone",
    "is_verified": "memory {memory} is verified: name it to delete it",
    "deletes_too_many": "{count} memories would go with it, more than one request holds: delete some of them first",
    "restores_too_many": "{count} memories would come back with it, more than one request holds: restore it by itself",
    "is_not_deleted": "memory {memory} is not deleted",
    "says_the_same": "it says what {memory} says",
    "merged_and_more": "merged into {memory}, which says more than that: name it to delete it",
    "merged_and_says_it": "it was merged from {memory}, and still says it",
    "sums_up_turn": "it sums up turn {turn} among others",
    "sums_up": "it sums up {memory}",
    "made_of_turn": "made of turn {turn}",
    "says_only_turn": "it says what only turn {turn} said",
    "merged_comes_apart": "merged from {memory}: what else it was merged from comes back",
    "made_anew": "{memory} has been made anew of its turns",
    "went_with_stands": "it went with {memory}; what it was merged from stands by itself, and stays so",
    "went_with": "it went with {memory}, or was made of it",
    # What no event undoes.
    "undo_negation": (
        "cannot be undone by an event: a mention by the user removes the negation, and counts as a mention"
    ),
    "undo_count": "cannot be undone by an event: counts do not go back",
    "undo_grade": "cannot be undone by an event: the grade stays in the schedule",
    "undo_unmerge": "cannot be undone by an event: merging again makes another memory",
    "undo_link": "cannot be undone by an event: no event removes an association or a flag",
    "undo_level": "cannot be undone by an event: a mention restores the full level, and counts as a mention",
    "undo_tier": "cannot be undone by an event: an operator changes tiers (`edit --tier`)",
    "undo_kept": "cannot be undone by an event: the review stays recorded",
    "undo_purge": "cannot be undone by an event: the text was purged",
    "undo_sensitivity": "cannot be undone by an event: a person sets the level (`edit --sensitivity`)",
    "undo_ground": "cannot be undone by an event: a later report of the source replaces it",
    "undo_answer": "cannot be undone by an event: the answer stays recorded",
    "undo_turn": (
        "cannot be undone by an event: a turn without memories is withheld only by setting its session aside"
    ),
    "undo_tool": "cannot be undone by an event: a tool result belongs to no memory, and shows for one turn only",
    "undo_reveal": "cannot be undone by an event: the access to the secret stays recorded",
    "undo_read": "cannot be undone by an event: turns that were read are not read again",
    "undo_key": "cannot be undone by an event: a key is revoked with `key revoke`",
    "undo_revocation": "cannot be undone by an event: a revoked key stays revoked; make another key",
    "undo_grants": "cannot be undone by an event: set the grants again with `grant`",
    "undo_look": "cannot be undone by an event: the access stays recorded",
    "undo_erasure": "cannot be undone by an event: the key was destroyed",
    "undo_words": "cannot be undone by an event: the words were erased",
    "undo_erased": "cannot be undone by an event: erased texts cannot be restored",
    "undo_dropped": "cannot be undone by an event: a discarded event is not folded",
    "undo_spared": ("cannot be undone by an event: core and system memories stay unless their own events are named"),
    "undo_purged_since": "cannot be undone by an event: it was purged since; only a tombstone is left",
    "undo_alike_to_all": (
        "cannot be undone by an event: the two words are synonyms for all owners, and the owner's entry stays"
    ),
    # Whether a block is as it was.
    "block_same": "the digest of the text equals the digest that was recorded when the block was sent",
    "block_untold": "how this block was made is not recorded, so it is made again with the defaults",
    "block_no_key": "the owner had no secret then, so no digest was recorded",
    "block_not_there": "its recorded position is not in this owner's log",
    "block_lost_words": "the log lacks the question, on which tool results depend",
    "block_other_words": "the question differed from the turn's text, and tool results depend on it",
    "block_otherwise": "rules, settings or withheld memories changed since, or events were folded while it was made",
    "block_withheld_else_same": "withheld now: {memory}; the digest is equal if they are included",
    "block_withheld": "withheld now: {memory}",
    # Why there is no estimate of room.
    "room_young_log": "the log is too young to measure its growth",
    "room_nothing_recorded": "no events were recorded in the measured time",
    "room_long": "more than a hundred years at this growth",
    "room_no_maxmemory": "Redis has no maxmemory",
    "room_untold_memory": "Redis does not report its memory",
    "room_elsewhere": "Redis runs on another machine; its disk is not visible from here",
    "room_no_file": "Redis writes no append-only file",
}
"""Code -> the sentence; `{name}` is a place, filled by one word or number, of `by` and `face` by several."""

_PLAIN = {sentence: code for code, sentence in REASONS.items() if "{" not in sentence}
_PLACE = re.compile(r"\\\{(\w+)\\\}")
_LOOSE = frozenset({"memory", "turn", "by", "face", "rules"})
"""Places that may be filled by any text: ids and names."""
NOBODYS = ReasonTold(None, {})
"""Of a sentence that is none of these."""


def _pattern(sentence: str) -> re.Pattern[str]:
    def place(found: re.Match[str]) -> str:
        return f"(?P<{found[1]}>{'.{1,600}?' if found[1] in _LOOSE else '[^ ;]{1,80}'})"

    return re.compile(_PLACE.sub(place, re.escape(sentence)), re.DOTALL)


_PATTERNS = tuple(
    (code, _pattern(REASONS[code]))
    for code in sorted(REASONS, key=lambda one: -len(REASONS[one]))
    if "{" in REASONS[code]
)
"""The longest first: what says more begins as what says less does."""


@lru_cache(4096)
def reason_told(sentence: str) -> ReasonTold:
    """The code of a sentence and the values in its places."""
    if (plain := _PLAIN.get(sentence)) is not None:
        return ReasonTold(plain, {})
    for code, pattern in _PATTERNS:
        if (found := pattern.fullmatch(sentence)) is not None:
            return ReasonTold(code, found.groupdict())
    return NOBODYS


FIRST_LINK = bytes(32)
"""What the first link of every chain follows."""
DECISIONS = (
    "ignored", "create", "reinforce", "merge", "negate", "reaffirm", "revise", "compress", "promote", "keep", "delete",
    "restore", "purge", "unmerge", "link", "review", "named", "profile", "parameters", "discard",
    "synonym", "read", "sensitivity", "reveal",
    "ground", "reject", "readmit", "set_aside", "bring_back", "wait", "settle",
    "erase",
)  # fmt: skip
_DECISION = {name: number for number, name in enumerate(DECISIONS)}
_TYPES = tuple(EVENT_TYPES)
_TYPE = {name: number for number, name in enumerate(_TYPES)}
_FIELDS = Memory.__struct_fields__
_FIELD = {name: number for number, name in enumerate(_FIELDS)}
_TEXT = frozenset({"content", "summary"})
HASH_BYTES = 8
_PURPOSE = b"content hash"


class Entry(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One change-log entry as it is kept; numbers stand for words of closed lists."""

    seq: int
    raw_id: bytes
    at: int
    type: int
    memory_id: str
    """Empty where the entry is about the owner."""
    decision: int
    reason: str
    fields: tuple[int | str, ...]
    version: int
    content_hash: bytes
    """8 bytes of blake2b over content and summary where they are new, keyed with the owner's secret; else empty."""
    old_weight: float | None
    new_weight: float | None
    factors: tuple[float, ...]
    weighed: int = 0
    """At which instant the weights are, where that is not `at`: the memory had met a later event. 0 where it is."""


def numbers_of(event_type: str, decision: str) -> tuple[int, int]:
    """The numbers that stand for an event's type and a decision in entries."""
    return _TYPE[event_type], _DECISION[decision]


_SIZE_BYTES = 4
_PACK = msgspec.msgpack.Encoder()
_LINK = msgspec.msgpack.Encoder()


def make_entry(
    note: Note, seq: int, raw_id: bytes, at: int, event_type: str, parameters: Parameters, secret: bytes = b""
) -> Entry:
    """The entry of a note; both weights are the weighted law at one instant, on the record before and after.

    `secret`: the owner's; empty where it is not known, and then the entry has no content hash.
    """
    before, after, fields = note.before, note.after, note.fields
    old = new = None
    found: tuple[float, ...] = ()
    told, instant = b"", at
    if after is not None:
        instant = at if before is None or before.stamp <= at else before.stamp
        new, found = _rounded(factors(after, instant, parameters))
        if before is None:
            told = content_hash(after, secret)
        elif before is after:
            old = new
        else:
            old = round(factors(before, instant, parameters).product, 6)
            told = b"" if _TEXT.isdisjoint(fields) else content_hash(after, secret)
    return Entry(
        seq,
        raw_id,
        at,
        _TYPE[event_type],
        note.memory_id,
        _DECISION[note.decision],
        note.reason,
        _numbered(fields) if fields else (),
        after.version if after is not None else 0,
        told,
        old,
        new,
        found,
        0 if instant == at else instant,
    )


@lru_cache(maxsize=1024)
def _rounded(found: Factors) -> tuple[float, tuple[float, ...]]:
    """Weight and factors as they are told. Kept, for all memories of a category begin with the same."""
    return round(found.product, 6), tuple(round(value, 6) for value in found)


@lru_cache(maxsize=1024)
def _numbered(fields: tuple[str, ...]) -> tuple[int | str, ...]:
    """Numbers for a record's field names; names of parameters stay."""
    return tuple(_FIELD.get(name, name) for name in fields)


def content_hash(memory: Memory, secret: bytes) -> bytes:
    """8 bytes that tell an owner's contents apart without telling them; none without the owner's secret: short texts are guessed.

    None either of what is itself a secret: with a copy of the store a PIN can be guessed from it.
    """
    if not secret or memory.sensitivity >= SECRET:
        return b""
    return keyed(secret, _PURPOSE, f"{memory.content}\x00{memory.summary or ''}".encode(), HASH_BYTES)


def link(previous: bytes, entry: Entry) -> bytes:
    """The next link of an owner's chain.

    Numbers from laws are left out, so a law's change breaks no chain; and seqs, so other owners' events do not matter.
    """
    told = (
        entry.raw_id,
        entry.at,
        entry.type,
        entry.memory_id,
        entry.decision,
        entry.reason,
        entry.fields,
        entry.version,
        entry.content_hash,
    )
    return sha256(previous + _LINK.encode(told)).digest()


def event_link(previous: bytes, one: Stored) -> bytes:
    """The next link of a partition's chain: over all clear fields."""
    return sha256(previous + one.seq.to_bytes(8, "big") + link_told(one)).digest()


class Chunk(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What one commit adds to an owner's log: the seqs of its events (delta-coded) and their entries."""

    steps: tuple[int, ...]
    entries: tuple[Entry, ...]
    first: int = 0
    """Number of the first event among the owner's, from 1."""


def pack(first: int, seqs: Iterable[int], entries: Iterable[Entry]) -> bytes:
    """One chunk as bytes; chunks can be laid end to end. `first`: number of its first event among the owner's, from 1."""
    steps, last = [], 0
    for seq in seqs:
        steps.append(seq - last)
        last = seq
    return laid(_PACK.encode(Chunk(tuple(steps), tuple(entries), first)))


def laid(raw: bytes) -> bytes:
    """A chunk's bytes with their length before them."""
    return len(raw).to_bytes(_SIZE_BYTES, "big") + raw


def chunks_of(raw: bytes) -> Iterator[bytes]:
    """The bytes of each of chunks that are laid end to end."""
    at = 0
    while at < len(raw):
        size = int.from_bytes(raw[at : at + _SIZE_BYTES], "big")
        at += _SIZE_BYTES
        yield raw[at : at + size]
        at += size


def first_in(raw: bytes) -> int:
    """The number of the first event in packed bytes; 0 where there is none, or nothing tells."""
    size = int.from_bytes(raw[:_SIZE_BYTES], "big")
    return _UNPACK_STEPS.decode(raw[_SIZE_BYTES : _SIZE_BYTES + size]).first if raw else 0


_UNPACK = msgspec.msgpack.Decoder(Chunk)


def unpack(raw: bytes) -> tuple[list[int], list[Entry]]:
    """Seqs and entries of chunks laid end to end, in the order in which they were folded."""
    seqs: list[int] = []
    entries: list[Entry] = []
    at = 0
    while at < len(raw):
        size = int.from_bytes(raw[at : at + _SIZE_BYTES], "big")
        at += _SIZE_BYTES
        chunk = _UNPACK.decode(raw[at : at + size])
        last = 0
        for step in chunk.steps:
            last += step
            seqs.append(last)
        entries.extend(chunk.entries)
        at += size
    return seqs, entries


class _Steps(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A chunk of which the entries stay unread."""

    steps: tuple[int, ...]
    entries: msgspec.Raw
    first: int = 0


_UNPACK_STEPS = msgspec.msgpack.Decoder(_Steps)


def unpack_seqs(raw: bytes) -> list[int]:
    """The seqs of `unpack` alone: no entry is decoded."""
    seqs: list[int] = []
    at = 0
    while at < len(raw):
        size = int.from_bytes(raw[at : at + _SIZE_BYTES], "big")
        at += _SIZE_BYTES
        seqs.extend(accumulate(_UNPACK_STEPS.decode(raw[at : at + size]).steps))
        at += size
    return seqs


def describe(entry: Entry, partition: int) -> Change:
    """The entry as people and JSON read it."""
    delta = (
        None if entry.old_weight is None or entry.new_weight is None else round(entry.new_weight - entry.old_weight, 6)
    )
    reason = _reason_told(entry.reason, partition)
    told = reason_told(reason)
    return {
        "position": position_text(partition, entry.seq),
        "event_id": id_text(entry.raw_id),
        "time": utc_text(from_micros(entry.at)),
        "event": _TYPES[entry.type],
        "memory": entry.memory_id or None,
        "decision": DECISIONS[entry.decision],
        "reason": reason,
        "reason_code": told.code,
        "reason_values": told.told(),
        "law": "weighted",
        "old_weight": entry.old_weight,
        "new_weight": entry.new_weight,
        "delta": delta,
        "weighed_at": utc_text(from_micros(entry.weighed)) if entry.weighed else None,
        "factors": dict(zip(Factors._fields, entry.factors, strict=True)) if entry.factors else None,
        "fields": [_FIELDS[name] if isinstance(name, int) else name for name in entry.fields],
        "version": entry.version or None,
        "content_hash": entry.content_hash.hex() or None,
    }


def _reason_told(reason: str, partition: int) -> str:
    """A reason with the whole position where it names a rejection: a fold knows seqs alone."""
    if not reason.startswith(REJECTED_BY):
        return reason
    return f"{REJECTED_BY[:-1]}{position_text(partition, int(reason.removeprefix(REJECTED_BY)))}"


def id_text(raw: bytes) -> str:
    """16 bytes as a UUID is written."""
    text = raw.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
