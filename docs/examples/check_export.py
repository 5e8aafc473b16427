"""Check a file of `engramlog export OWNER --everything` with the standard library only.

    python3 check_export.py FILE [HEADS]

FILE must be whole, and its changes must give the owner's chain that its first line states. HEADS is a copy of
`heads.jsonl` that was kept elsewhere: a head at the export's position must have the same chain. Prints what was
checked. Exit code 1: something differs.
"""

import hashlib
import json
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID


def _words(text):
    return text.split()


TYPES = _words("""
TurnRecorded ToolResultRecorded MemoryCreated MemoryMentioned MemoryNegated MemoriesAccessed MemoryReinforced
MemoryMerged MemoryUnmerged MemoryRevised MemoryCompressed MemoryPromoted MemoryKept MemoryDeleted
MemoryRestored MemoryPurged MemoryErased MemoriesLinked FactAsserted FactRetracted SynonymDefined ReviewGraded
ProfileChosen ParametersChanged EventDiscarded TurnsExtracted SensitivitySet MemoriesRevealed GroundChanged
SensitivityRaised ValueRejected ValueReadmitted SourceSetAside SourceBroughtBack ReviewSettled KeyIssued
KeyRevoked GrantsSet ReadRecorded OwnerErasure WordsErasure
""")
DECISIONS = _words("""
ignored create reinforce merge negate reaffirm revise compress promote keep delete restore purge unmerge link
review named profile parameters discard synonym read sensitivity reveal ground reject readmit set_aside
bring_back wait settle erase
""")
FIELDS = _words("""
id content category kind tier source created_at updated_at last_activated_at stamp created_seq summary
confidence importance speaker keywords tags emotion project task modalities sensitivity verified source_turns
corrects summarises version versions mention_count mentions mention_boost user_mentions access_count
last_accessed_at level compressed negations negated_at resolution superseded_by conflicts merged_into
merged_at merged_from retired_at deleted_at deletion purged_at edges reinforce_count imported session
stability last_reinforced_at decay_rate restored_at changed_seq upkeep schedule facts level_due_at
unmerged_from ground sensitivity_set_at basis stated rejected_seq used_at by revised_by deleted_by aside_seq
trust waiting
""")
"""Numbers in chains are places in these lists. The lists only grow at their ends."""


def packed(value):
    """MessagePack of a whole number, a text, bytes or a list, in the shortest form."""
    if isinstance(value, int):
        if value < 0:
            size = next(size for size in (1, 2, 4, 8) if value >= -(1 << (8 * size - 1)))
            return value.to_bytes(1, "big", signed=True) if value >= -32 else _sized(0xD0, size, value, signed=True)
        if value < 128:
            return bytes([value])
        return _sized(0xCC, next(size for size in (1, 2, 4, 8) if value < 1 << (8 * size)), value)
    if isinstance(value, list):
        length = bytes([0x90 | len(value)]) if len(value) < 16 else b"\xdc" + len(value).to_bytes(2, "big")
        return length + b"".join(map(packed, value))
    body = value.encode() if isinstance(value, str) else value
    if isinstance(value, str) and len(body) < 32:
        return bytes([0xA0 | len(body)]) + body
    first = 0xD9 if isinstance(value, str) else 0xC4
    return _sized(first, next(size for size in (1, 2, 4) if len(body) < 1 << (8 * size)), len(body)) + body


def _sized(first, size, value, signed=False):
    return bytes([first + size.bit_length() - 1]) + value.to_bytes(size, "big", signed=signed)


def entry(change):
    """The nine values of a change that the owner's chain covers."""
    since = datetime.fromisoformat(change["time"]) - datetime(1970, 1, 1, tzinfo=UTC)
    fields = [FIELDS.index(name) if name in FIELDS else name for name in change["fields"]]
    return [
        UUID(change["event_id"]).bytes,
        since // timedelta(microseconds=1),
        TYPES.index(change["event"]),
        change["memory"] or "",
        DECISIONS.index(change["decision"]),
        change["reason"],
        fields,
        change["version"] or 0,
        bytes.fromhex(change["content_hash"] or ""),
    ]


def check(path, heads=None):
    """Yield the result of each check as a line; a line that starts with `differs` is a failure."""
    with Path(path).open("rb") as file:
        raw = file.read().splitlines(keepends=True)
    lines = [json.loads(line) for line in raw]
    first, end = lines[0], lines[-1]
    if first.get("part") != "everything" or end.get("part") != "end":
        yield "differs: the file is cut, or is not an export of everything"
        return
    same = hashlib.sha256(b"".join(raw[:-1])).hexdigest() == end["sha256"]
    counted = Counter(line.get("part", "memory") for line in lines[:-1]) == Counter(end["counts"])
    yield f"{'agrees' if same and counted else 'differs'}: sum and counts of {len(lines)} lines"
    chain = bytes(32)
    for change in lines:
        if change.get("part") == "change":
            chain = hashlib.sha256(chain + packed(entry(change))).digest()
    yield f"{'agrees' if chain.hex() == first['chain'] else 'differs'}: chain of {first['owner']}, {chain.hex()}"
    if heads is None:
        return
    place = first["partition_chain"]
    partition, seq = map(int, place["position"].split(":"))
    with Path(heads).open(encoding="utf-8") as file:
        kept = [head for line in file for head in json.loads(line)["heads"] if head[:2] == [partition, seq]]
    same = all(head[2] == place["chain"] for head in kept)
    yield f"{'agrees' if same else 'differs'}: {len(kept)} kept heads of partition {partition} at {place['position']}"


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    results = list(check(*sys.argv[1:]))
    print("\n".join(results))
    sys.exit(any(result.startswith("differs") for result in results))
