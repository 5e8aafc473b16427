"""Values that a person rejected, and memories that state one value: what one of them lost is not told by another. Pure.

**Rejections**: each value is known by the keyed digest of its statement. What is kept of a value is the newest rejection and
the newest readmission by `occurred_at`; ties go to the rejection. So the order in which they arrive decides nothing. Nothing is
ever let go: what does not fit is refused, and told.

**Twins** are known by the digest of what they say, or of the one triple that they back. A value has one state, whatever order
its events came in: the newest rejection or negation against the newest statement by the user, by `occurred_at`; ties go against
it. Records stay as they were folded: here is how they read beside the others.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Sequence
from hashlib import blake2b
from itertools import chain
from operator import attrgetter

import msgspec

from engramlog_server.events.trust import ASSERTED, ORDER
from engramlog_server.projections.memory.kind import is_drawn, is_summary, is_turn
from engramlog_server.projections.memory.record import Memory, with_changes

MOST_VALUES = 1_000
"""Values of one owner of which something is kept."""
REJECTED_BY = "rejected by :"
"""What a fold's refusal begins with; the seq follows, and whoever tells it puts the partition before the colon."""
MOST_TURNS = 256
"""Turns kept of one value, the first ones; whoever tells more of them is told so. None of those kept ever comes back."""
TURN_BYTES = 8
_NEVER = -(1 << 62)
_digest_of = attrgetter("digest")


class Rejection(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What is known of one value. Times are microseconds since 1970."""

    digest: bytes
    """16 bytes, keyed with the owner's secret."""
    at: int
    """When it was last rejected."""
    seq: int
    """Position of the event that did."""
    until: int | None
    """Evidence from after it counts again; None: none ever does."""
    readmitted_at: int | None = None
    turns: bytes = b""
    """Turns from which it was drawn since, each as `turn_hash` gives it: they say it, whatever their words."""

    again: bytes = b""
    """Id, 16 bytes, of the event by which the user says it again since, which waits for him: his own before what was read."""

    @property
    def turn_hashes(self) -> tuple[bytes, ...]:
        """The turns, each by its hash."""
        return tuple(self.turns[at : at + TURN_BYTES] for at in range(0, len(self.turns), TURN_BYTES))

    @property
    def stands(self) -> bool:
        """Whether it is rejected, and was not taken up again since."""
        return self.at > _NEVER and (self.readmitted_at is None or self.readmitted_at <= self.at)

    def refuses(self, said_at: int) -> bool:
        """Whether evidence of this time does not count."""
        return self.stands and (self.until is None or said_at <= self.until)


Rejections = tuple[Rejection, ...]
"""Of one owner, by digest, ascending; at most `MOST_VALUES`."""


def known(rejections: Rejections, digest: bytes) -> Rejection | None:
    """What is kept of a value; None for nothing."""
    at = bisect_left(rejections, digest, key=_digest_of)
    return rejections[at] if at < len(rejections) and rejections[at].digest == digest else None


def refusing(rejections: Rejections, digests: Iterable[bytes], said_at: int) -> Rejection | None:
    """The rejection by which evidence of this time for one of these values does not count; None where it does."""
    if rejections:
        for digest in digests:
            found = known(rejections, digest)
            if found is not None and found.refuses(said_at):
                return found
    return None


def rejected(rejections: Rejections, digests: Iterable[bytes], at: int, seq: int, until: int | None) -> Rejections:
    """With these values rejected. Raises ValueError where there is no room for one more."""
    for digest in digests:
        one = known(rejections, digest)
        if one is None:
            new = Rejection(digest, at, seq, until)
        elif (at, _reach(until)) <= (one.at, _reach(one.until)):
            continue
        else:
            new = msgspec.structs.replace(one, at=at, seq=seq, until=until, again=b"")
        rejections = _with(rejections, new)
    return rejections


def readmitted(rejections: Rejections, digests: Iterable[bytes], at: int, seq: int) -> Rejections:
    """With these values taken up again; kept also where no rejection is known yet, for one may come late. Raises as `rejected`."""
    for digest in digests:
        one = known(rejections, digest) or Rejection(digest, _NEVER, seq, None)
        if one.readmitted_at is None or one.readmitted_at < at:
            rejections = _with(rejections, msgspec.structs.replace(one, readmitted_at=at, again=b""))
    return rejections


def drawn_again(rejections: Rejections, digest: bytes, turns: Iterable[str]) -> Rejections:
    """With turns that were read to say a value that is kept here. Raises ValueError where no more of them are kept."""
    one = known(rejections, digest)
    if one is None:
        return rejections
    before = one.turn_hashes
    said = tuple(dict.fromkeys((*before, *map(turn_hash, turns))))
    if len(said) > MOST_TURNS:
        raise ValueError(f"{MOST_TURNS} turns are known to say it already, the most: this one is not withheld")
    return rejections if said == before else _with(rejections, msgspec.structs.replace(one, turns=b"".join(said)))


def waiting_again(rejections: Rejections, digest: bytes, event_id: bytes) -> Rejections:
    """With an event by which the user says a value again that is kept here; empty: none waits any more."""
    one = known(rejections, digest)
    return rejections if one is None else _with(rejections, msgspec.structs.replace(one, again=event_id))


def said_in(rejections: Rejections, digests: Iterable[bytes], hashes: Sequence[bytes]) -> Rejections:
    """With turns that say these values, by their hashes, as far as there is room."""
    for digest in digests if hashes else ():
        one = known(rejections, digest)
        if one is not None:
            turns = b"".join(dict.fromkeys((*one.turn_hashes, *hashes)))[: MOST_TURNS * TURN_BYTES]
            rejections = _with(rejections, msgspec.structs.replace(one, turns=turns))
    return rejections


def turn_hash(turn_id: str) -> bytes:
    """What stands for a turn's id where many are kept, 8 bytes."""
    return blake2b(turn_id.encode(), digest_size=TURN_BYTES).digest()


def _with(rejections: Rejections, new: Rejection) -> Rejections:
    at = bisect_left(rejections, new.digest, key=_digest_of)
    if at < len(rejections) and rejections[at].digest == new.digest:
        return (*rejections[:at], new, *rejections[at + 1 :])
    if len(rejections) >= MOST_VALUES:
        raise ValueError(f"{MOST_VALUES:,} values are rejected or readmitted already, the most of one owner")
    return (*rejections[:at], new, *rejections[at:])


def _reach(until: int | None) -> tuple[bool, int]:
    """How far a rejection reaches, for comparing: for good is farthest."""
    return until is None, until or 0


Others = Callable[[set[bytes]], Iterable[Memory]]
BEFORE_ANY = -(1 << 62)
"""When evidence without a time of its own was given: before whatever was rejected."""
_OWN = ORDER[ASSERTED]
_FIRM = frozenset({"latest_wins", "version_keep"})
"""Resolutions by which a negation is sure."""


def values_of(memory: Memory) -> tuple[bytes, ...]:
    """The digests by which others say the same: of its text, and of its triple where it backs just one."""
    if len(memory.facts) == 1 and memory.facts[0].stated:
        return (memory.stated, memory.facts[0].stated) if memory.stated else (memory.facts[0].stated,)
    return (memory.stated,) if memory.stated else ()


def keys_of(memory: Memory) -> tuple[bytes, ...]:
    """Under what a memory may be watched: the values that it says, 16 bytes each, and the turns that say it, 8 each."""
    return (*values_of(memory), *map(turn_hash, memory.source_turns))


def is_decisive(memory: Memory, rejections: Rejections) -> bool:
    """Whether a record has to be looked at though no value that it says is watched yet: others read by it, or it by a triple."""
    return _is_negated(memory) or bool(rejections and len(memory.facts) > 1)


def said_at(memory: Memory) -> int:
    """When the user last stated what a memory says, microseconds since 1970; `BEFORE_ANY` where the user never did.

    What a job drew from a turn counts as said then. What an assistant or a job says by itself is no evidence of the user's.
    """
    told = memory.updated_at if memory.trust and (memory.source == "user" or is_drawn(memory)) else BEFORE_ANY
    return max((told, *(one.at for one in memory.user_mentions)))


class Twins:
    """How an owner's records read beside each other. Only values that somebody rejected or negated cost anything."""

    def __init__(self, get: Callable[[str], Memory | None]) -> None:
        """`get`: the owner's memory of an id, as it reads; None where there is none."""
        self._get = get
        self._new: dict[str, Memory] = {}
        """Records that are being taken in, by id."""
        self._negations: dict[tuple[bytes, str], Memory | None] = {}
        """Value and speaker -> the negation that stands of it, while records are read."""
        self._talk = True
        self._told_in: dict[str, set[bytes]] = {}
        """Id of a turn -> watched values that were drawn from it."""
        self.said_again: set[str] = set()
        """Ids of what was said since the user negated it, by a source or in a way that takes no negation of his back."""
        self._rejections: Rejections = ()
        self._saying: dict[bytes, dict[str, Memory]] = {}
        """Watched value, or turn -> the records that say it, by id, as they were folded."""
        self._under: dict[str, tuple[bytes, ...]] = {}
        """Id -> under what of it the memory is watched."""
        self._drawn: dict[bytes, list[Rejection]] = {}
        """Turn -> the values, once rejected, that it was read to say."""
        self._folded: dict[str, Memory] = {}
        """Records that read otherwise than they were folded."""

    def follow(
        self, rejections: Rejections, changed: Sequence[Memory], others: Others, *, talk: bool = True
    ) -> list[Memory]:
        """How these changed records read, in their order, and then those of `others`, all the rest, that read otherwise now.

        `others` is asked for those that may be watched under some keys: all that are, perhaps more, as they read or were folded.
        `talk`: what the user says in a conversation takes back his own negation (`Parameters.talk_reaffirms`).
        """
        touched = self._changed(rejections)
        if talk != self._talk:
            self._talk = talk
            touched |= self._saying.keys()
        wanted = touched.union(*(values_of(one) for one in changed if _is_negated(one)))
        if not wanted and not self._saying:
            return list(changed)
        self._new = {one.id: one for one in changed}
        touched |= {value for one in changed for value in self._told_in.get(one.id, ())}
        unknown = wanted - self._saying.keys()
        if unknown:
            self._watch(unknown, others)
        for memory in changed:
            touched.update(self._put(memory))
        touched |= unknown
        for value in tuple(touched):  # what becomes of a statement decides about the turn that says it
            touched.update(key for name in self._saying[value] for key in self._under[name])
        self._negations.clear()
        mine = {memory.id for memory in changed}
        beside = {one.id: one for value in touched for one in self._saying[value].values()}
        read = [self._read(one) for one in changed] + [self._read(one) for one in beside.values() if one.id not in mine]
        self._new = {}
        return read

    @property
    def read_otherwise(self) -> Collection[str]:
        """Ids of what reads otherwise than it was folded."""
        return self._folded.keys()

    @property
    def watches(self) -> bool:
        """Whether anything is looked at beside others."""
        return bool(self._saying or self._rejections)

    def as_folded(self, memory: Memory) -> Memory:
        """The record as it was folded, whatever its twins make of it."""
        return self._folded.get(memory.id, memory)

    def _changed(self, rejections: Rejections) -> set[bytes]:
        """Take in what is rejected; the values, and turns, of which something else is known than before."""
        if rejections == self._rejections:
            return set()
        differ = set(rejections) ^ set(self._rejections)
        self._rejections = rejections
        self._drawn = {}
        for one in rejections:
            for turn in one.turn_hashes:
                self._drawn.setdefault(turn, []).append(one)
        return {one.digest for one in differ} | {turn for one in differ for turn in one.turn_hashes}

    def _watch(self, new: set[bytes], others: Others) -> None:
        keys = keys_of if any(len(one) == TURN_BYTES for one in new) else values_of
        self._saying.update((value, {}) for value in new)
        for memory in chain(self._folded.values(), others(new)):
            folded = self._folded.get(memory.id, memory)
            if not new.isdisjoint(keys(folded)):
                self._put(folded)

    def _put(self, memory: Memory) -> set[bytes]:
        """Take in a record; the watched values that it says, or said before."""
        before = self._under.pop(memory.id, ())
        now = tuple(key for key in keys_of(memory) if key in self._saying)
        for value in before:
            if value not in now:
                self._saying[value].pop(memory.id, None)
        for value in now:
            self._saying[value][memory.id] = memory
        if now:
            self._under[memory.id] = now
            for turn in memory.source_turns if is_drawn(memory) else ():
                self._told_in.setdefault(turn, set()).update(now)
        return {*before, *now}

    def _read(self, memory: Memory) -> Memory:
        read = self._with_facts(memory)
        refused = self._refused(memory)
        self.said_again.discard(memory.id)
        if refused is not None:
            read = with_changes(read, rejected_seq=refused.seq)
        elif not memory.is_negated and (gone := self._negated_twin(memory)) is not None:
            if said_at(memory) > _negated_at(gone):
                self.said_again.add(memory.id)
            successor = None if gone.superseded_by == memory.id else gone.superseded_by
            read = with_changes(read, negated_at=gone.negated_at, resolution=gone.resolution, superseded_by=successor)
        if read is memory:
            self._folded.pop(memory.id, None)
        else:
            self._folded[memory.id] = memory
        return read

    def _with_facts(self, memory: Memory) -> Memory:
        """Without the triples that are rejected by themselves."""
        if not self._rejections or not memory.facts:
            return memory
        at = said_at(memory)
        kept = tuple(one for one in memory.facts if not self._is_refused(one.stated, at))
        return memory if len(kept) == len(memory.facts) else with_changes(memory, facts=kept)

    def _refused(self, memory: Memory) -> Rejection | None:
        at = said_at(memory)
        found = (known(self._rejections, value) for value in values_of(memory))
        refused = next((one for one in found if one is not None and one.refuses(at)), None)
        if refused is not None or not self._drawn:
            return refused
        return self._summed_up(memory) if is_summary(memory) else self._drawn_from(memory, at)

    def _summed_up(self, account: Memory) -> Rejection | None:
        """The rejection of a turn that an account of several tells."""
        known_here = (self._saying.get(turn_hash(turn), {}).get(turn) for turn in account.source_turns)
        return next((found for one in known_here if one is not None and (found := self._refused(one))), None)

    def _drawn_from(self, turn: Memory, at: int) -> Rejection | None:
        """The rejection of what was drawn from a turn, where nothing else that was stands."""
        key = turn_hash(turn.id)
        refused = next((one for one in self._drawn.get(key, ()) if one.refuses(at)), None)
        if refused is None or turn.source_turns != (turn.id,):
            return None
        others = (one for one in self._saying.get(key, {}).values() if one.id != turn.id)
        return None if any(self._stands(one) for one in others) else refused

    def _stands(self, memory: Memory) -> bool:
        """Whether a statement is neither gone, nor negated for sure, nor rejected; an account of turns is none."""
        gone = (
            is_summary(memory) or memory.deleted_at is not None or memory.retired_at is not None or _is_negated(memory)
        )
        return not gone and self._refused(memory) is None

    def _is_refused(self, value: bytes, at: int) -> bool:
        found = known(self._rejections, value) if value else None
        return found is not None and found.refuses(at)

    def _negated_twin(self, memory: Memory) -> Memory | None:
        """What says the same and was negated last, unless the user said it again since."""
        for value in values_of(memory):
            if value in self._saying:
                asked = value, _speaker(memory)
                if asked not in self._negations:
                    self._negations[asked] = self._negation_of(*asked)
                if (found := self._negations[asked]) is not None:
                    return found
        return None

    def _negation_of(self, value: bytes, speaker: str) -> Memory | None:
        saying = [one for one in self._saying[value].values() if one.aside_seq is None and _speaker(one) == speaker]
        negated = [one for one in saying if _is_negated(one)]
        if not negated:
            return None
        said, own = max(map(said_at, saying)), max(map(self._own_said_at, saying))
        standing = [one for one in negated if (own if _own_negation(one) else said) <= _negated_at(one)]
        return max(standing, key=lambda one: (_negated_at(one), one.id), default=None)

    def _own_said_at(self, memory: Memory) -> int:
        """The same as `said_at` of what takes back a person's own negation: his own word, and not what lower sources say of him."""
        said = [one.at for one in memory.user_mentions if one.own]
        if is_drawn(memory):
            drawn = self._talk and not memory.versions  # other words than those that were read are somebody else's
            said += filter(None, map(self._own_turn_at, memory.source_turns)) if drawn else ()
        elif memory.source == "user" and memory.trust == _OWN and (self._talk or not is_turn(memory)):
            said.append(memory.updated_at)
        return max(said, default=BEFORE_ANY)

    def _own_turn_at(self, turn_id: str) -> int | None:
        """When a turn was said, where it is the user's own word; None also where there is no memory of it."""
        turn = self._new.get(turn_id) or self._get(turn_id)
        return None if turn is None or turn.source != "user" or turn.trust != _OWN else turn.created_at


def _speaker(memory: Memory) -> str:
    """Who says it, as far as a name tells: two people may say the same of themselves."""
    return (memory.speaker or "user").casefold()


def _negated_at(memory: Memory) -> int:
    return BEFORE_ANY if memory.negated_at is None else memory.negated_at


def _own_negation(memory: Memory) -> bool:
    """Whether a person himself said the negation that stands."""
    return any(one.own for one in memory.negations if one.at == memory.negated_at)


def _is_negated(memory: Memory) -> bool:
    """Whether a memory is negated for sure."""
    return memory.negated_at is not None and memory.resolution in _FIRM
