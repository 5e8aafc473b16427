"""What a view is kept as, so that a process that never saw its owner need not read every text again. Pure.

Kept are records as they were folded, their columns, the terms of their texts and the shape of their talk. Nothing of what is
secret or deleted is: these rows stand empty, and whoever makes the view again brings their records. Where others decide how
records read (rejections, negated twins, sources set aside), they are read beside each other again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from projections.index.conversation_index import KeptConversation
from projections.index.kept_texts import NONE, Integers, KeptTexts, TakenTexts
from projections.memory.columns import Columns, Rows
from projections.memory.encoded_rows import Block, EncodedRows, Raw
from projections.memory.record import SECRET, Memory, encode_memory
from projections.views.packed import Array, Packed

_COLUMN, _TEXT, _TALK = "column.", "text.", "talk."
"""What the names of arrays begin with."""
_TEXT_ARRAYS = KeptTexts._fields[1:]
_TALK_ARRAYS = KeptConversation._fields[2:]


class TakenView(NamedTuple):
    """A copy of a view, to be packed while the view goes on; by row."""

    ids: list[str]
    kinds: list[str]
    columns: Mapping[str, npt.NDArray[np.generic]]
    records: Sequence[Memory | Raw]
    """As they were folded; bytes where nobody read them yet."""
    hidden: list[int]
    """Rows whose content is not to be kept, ascending."""
    beside: bool
    """Whether records read otherwise beside each other than by themselves."""
    text_bytes: int
    texts: TakenTexts
    documents: Integers
    talk: KeptConversation
    bearing: list[int]
    """Rows that decide what is corrected."""


class KeptView(NamedTuple):
    """A view as it was kept: what `OwnerView.of_kept` needs beside the hidden records."""

    ids: list[str]
    hidden: list[int]
    beside: bool
    text_bytes: int
    columns: Columns
    texts: KeptTexts
    talk: KeptConversation
    bearing: list[int]


def hidden_rows(columns: Columns) -> Rows:
    """What no file may hold: secrets, and what is deleted and may be restored."""
    secret = (columns.sensitivity >= SECRET) & (columns.state != Columns.PURGED)
    rows: Rows = np.flatnonzero(secret | (columns.state == Columns.DELETED))
    return rows


def packed_view(taken: TakenView) -> Packed:
    """The copy as facts and arrays."""
    hidden, bearing = frozenset(taken.hidden), [row for row in taken.bearing if row not in frozenset(taken.hidden)]
    raw = [b"" if row in hidden else _bytes_of(one) for row, one in enumerate(taken.records)]
    documents = taken.documents.copy()
    documents[taken.hidden] = NONE
    texts, talk = taken.texts.kept(documents), taken.talk
    for column in (talk.member, talk.role, talk.traits, talk.known):
        column[taken.hidden] = 0
    speakers, speaker = _named(talk.speakers, talk.speaker, talk.member)
    sessions, session = _named(talk.sessions, talk.session, talk.member)
    talk = talk._replace(speakers=speakers, speaker=speaker, sessions=sessions, session=session)
    shown = np.ones(len(taken.ids), dtype=bool)
    shown[taken.hidden] = False
    kinds, kind = _named(taken.kinds, taken.columns["kind"], shown)
    facts = {
        "ids": taken.ids,
        "kinds": kinds,
        "hidden": taken.hidden,
        "beside": taken.beside,
        "text_bytes": taken.text_bytes,
        "bearing": bearing,
        "terms": texts.terms,
        "speakers": talk.speakers,
        "sessions": talk.sessions,
    }
    arrays: dict[str, Array] = {f"{_COLUMN}{name}": column for name, column in taken.columns.items()}
    arrays |= {f"{_COLUMN}{name}": np.where(shown, taken.columns[name], 0) for name in ("said", "backed")}
    arrays[f"{_COLUMN}kind"] = kind
    arrays |= {f"{_TEXT}{name}": getattr(texts, name) for name in _TEXT_ARRAYS}
    arrays |= {f"{_TALK}{name}": getattr(talk, name) for name in _TALK_ARRAYS}
    arrays["records.ends"] = np.cumsum([len(one) for one in raw], dtype=np.int64)
    arrays["records"] = np.frombuffer(b"".join(raw), dtype=np.uint8)
    return Packed(facts, arrays)


def kept_view(told: Packed) -> KeptView:
    """What was packed. Raises ValueError or KeyError where it is not what `packed_view` makes."""
    facts, arrays = told
    ids, hidden = facts["ids"], facts["hidden"]
    block = arrays["records"].data
    records = EncodedRows(Block(block, arrays["records.ends"].tolist()), len(block))
    if len(records) != len(ids) or not all(0 <= row < len(ids) for row in (*hidden, *facts["bearing"])):
        raise ValueError(f"{len(records)} records for {len(ids)} ids, or rows that there are not")
    for row in hidden:
        records[row] = _nothing(ids[row])
    held = {name.removeprefix(_COLUMN): one for name, one in arrays.items() if name.startswith(_COLUMN)}
    columns = Columns.of_kept(ids, records, facts["kinds"], held)
    texts = KeptTexts(facts["terms"], *(arrays[f"{_TEXT}{name}"] for name in _TEXT_ARRAYS))
    talk = KeptConversation(facts["speakers"], facts["sessions"], *(arrays[f"{_TALK}{name}"] for name in _TALK_ARRAYS))
    return KeptView(ids, hidden, facts["beside"], facts["text_bytes"], columns, texts, talk, facts["bearing"])


def _named(names: Sequence[str], numbers: Array, rows: npt.NDArray[np.bool_]) -> tuple[list[str], Array]:
    """The names that these rows bear, and the numbers of the names by row; NONE for all other rows."""
    used = np.unique(numbers[rows])
    used = used[used != NONE]
    again = np.full(len(names) + 1, NONE, dtype=numbers.dtype)  # NONE is the last
    again[used] = np.arange(used.size)
    told = again[numbers]
    told[~rows] = NONE
    return [names[one] for one in used.tolist()], told


def _bytes_of(record: Memory | Raw) -> Raw:
    return encode_memory(record) if isinstance(record, Memory) else record


def _nothing(memory_id: str) -> Memory:
    """Stands for a record that was not kept until it is there."""
    return Memory(
        id=memory_id,
        content="",
        category="fact",
        kind="fact",
        tier="fact",
        source="user",
        created_at=0,
        updated_at=0,
        last_activated_at=0,
        stamp=0,
        created_seq=0,
    )
