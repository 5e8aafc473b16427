"""Compression of what is sealed: raw deflate (RFC 1951) with a dictionary. Pure.

A body of 430 bytes has 70 of words; the rest are names of fields, which every event repeats. Dictionaries are part of the stored
form: a change of one makes what is stored unreadable. A new one needs a new mark.
"""

from __future__ import annotations

import zlib

MARK = b"\xc1"
"""What compressed bytes begin with: neither JSON nor MessagePack begins with it."""
_SHORT = 4_096
_SMALL_WINDOW, _WINDOW = -12, -zlib.MAX_WBITS
"""Raw deflate with 4 KiB, which starts five times as fast as the usual 32 KiB, and with 32 KiB for longer texts."""

WORDS = (
    " because before after always never about there their would could should think really going to want to have been working "
    "something everything someone anything people together tomorrow yesterday morning evening weekend birthday friends family "
    "favorite favourite  I don't I didn't I've been I'm going to I'd like to you're it's that's  last week next week this year "
    "every day a lot of kind of looking forward to thank you thanks! how are you? what do you let me know  sounds great  my wife "
    "my husband my son my daughter my mom and I in the of the to the for the on the at the with the from the it was  that was  "
    "when I  have a  is a  was a  and the  but I  so I  with my  in my  to my  for my  this  that  with  have  your  just  like  "
    "from  some  time  been  were  will  what  they  he  she  we  you  the  and  is  to  of  in  for "
    "我们我在你的是一个了，。！？今天明天觉得喜欢什么可以没有这个"
).encode()
"""What talk shares; it stands before the rest of each dictionary."""
BODIES = WORDS + (
    b'"redacted":,"similarity":1.0,"deleted":["reason":"","resolution":"","correction":"","replaced_by":"m-'
    b'"by":"rules","turns":1,"up_to":"t-01"grade":"importance":0."confidence":0."because":""summary":""keywords":[""],"tags":["'
    b'"project":"","task":"","metadata":{"sensitivity":1"grounds":[{"uri":"","digest":"imported":"system":"origin":"'
    b'"hits":[],"accesses":[{"memory_id":"m-","rank":1,"at":"2026-","query":"","via":"search"'
    b'"block":"","tokens":"asked":"","digest":"","text":""emotion":"verified":true'
    b'"evidence":["m-"],"object":"","predicate":"","subject":"User"},"type":"FactAsserted"}'
    b'"type":"MemoryReinforced"}"type":"MemoryRevised"}"type":"MemoryNegated"}"type":"MemoriesAccessed"}"type":"MemoryMentioned"}'
    b'"type":"TurnsExtracted"}"type":"MemoriesLinked"}"type":"MemoryMerged"}"kind":"user_preference","category":"preference'
    b'{"actor":"assistant","data":{"role":"assistant","source":"assistant","speaker":"assistant"'
    b'{"actor":"system","causation_id":"01{"actor":"judge","causation_id":"{"actor":"user","causation_id":"'
    b'"data":{"category":"fact","content":"User ","corrects":"m-","kind":"fact","memory_id":"m-","source":"judge",'
    b'"source_turns":["t-01"],"speaker":"user","tier":"fact"},"event_id":"","occurred_at":"2026-","owner":"",'
    b'"schema_version":1,"trust":"asserted","type":"MemoryCreated"}'
    b'{"actor":"user","data":{"category":"fact","content":"I ","kind":"episode","memory_id":"t-01","source":"user",'
    b'"source_turns":["t-01"],"speaker":"user","tier":"fact"},"event_id":"01","occurred_at":"2026-","owner":"",'
    b'"schema_version":1,"session_id":"","type":"MemoryCreated"}'
    b'{"actor":"user","data":{"role":"user","text":"I ","turn_id":"t-01"},"event_id":"01","occurred_at":"2026-","owner":"",'
    b'"schema_version":1,"session_id":"","type":"TurnRecorded"}'
)
"""Dictionary of bodies: what canonical JSON of frequent events shares, the most frequent last."""
VALUES = WORDS + (
    b"\xb7negated, latest_wins\xd9'the speaker says that it changed: \xafuser_preference\x9e\x02\xc4\x10\xcf\x00\x06a]\xd9(t-01"
    b"\x01\xaca new memory\x90\x01\xc4\x08\xc0\xcb?\xf1\x99\x99\x99\x99\x99\x9a\x96\xcb?\xf0\x00\x00\x00\x00\x00\x00"
    b"\xcb?\xf0\x00\x00\x00\x00\x00\x00\xcb?\xf0\x00\x00\x00\x00\x00\x00\xcb?\xf1\x99\x99\x99\x99\x99\x9a"
    b"\xcb?\xf0\x00\x00\x00\x00\x00\x00\xcb?\xf0\x00\x00\x00\x00\x00\x00\x00\x9e\x04\xc4\x10\xablatest_wins\xc0\xcb?\xe3333333"
    b"\xdc\x00J\xd9&m-\xd97User \xa4fact\xa4fact\xa4fact\xa5judge\xcf\x00\x06a]\xcd\x02\xe1\xc0\xcb?\xe3333333"
    b"\xcb?\xf0\x00\x00\x00\x00\x00\x00\xa4user\x90\x90\xc0\xc0\xc0\x91\xa4text\x00\xc2\x91\xd9)t-01\xc0\x90\x01\x90\x01\x90"
    b"\xcb\x00\x00\x00\x00\x00\x00\x00\x00\x90\x00\xc0\x00\xc0\x90\xc0\xc0\xc0\x90\xc0\xc0\x90\xc0\xc0\xc0\xc0\x90\x00\xc2\xc0"
    b"\xcb@8\x00\x00\x00\x00\x00\x00\xcf\x00\x06a]\xc0\xc0\xcd\x02\xe8\xc0\xc0\x90\xc0\x90\xc0\xc0\xc0\xc4\x10"
    b"\xc0\xc0\xabjudge local\xc0\xc0\xc0\x02\x90"
    b"\xdc\x00J\xd9(t-01\xd9HI \xa4fact\xa7episode\xa4fact\xa4user\xcf\x00\x06a]\xcc\xd4\xc0\xcb?\xe3333333"
    b"\xcb?\xf0\x00\x00\x00\x00\x00\x00\xa4user\x90\x90\xc0\xc0\xc0\x91\xa4text\x00\xc2\x91\xd9(t-01\xc0\x90\x01\x90\x01\x90"
    b"\xcb\x00\x00\x00\x00\x00\x00\x00\x00\x90\x00\xc0\x00\xc0\x90\xc0\xc0\xc0\x90\xc0\xc0\x90\xc0\xc0\xc0\xc0\x90\x00\xc2\xa2"
    b"\xcb@8\x00\x00\x00\x00\x00\x00\xcf\x00\x06a]\xc0\xc0\xcc\xd4\xc0\xc0\x90\xc0\x90\xc0\xc0\xc0\xc4\x10"
    b"\xc0\xc0\xaauser local\xc0\xc0\xc0\x03\x90"
)
"""Dictionary of values: what records and change-log entries share in MessagePack."""


def body_dictionary(raw_id: bytes, owner: str, kind: str) -> bytes:
    """The dictionary of one body: what bodies share, and behind it what its entry says in clear and the body repeats."""
    digits = raw_id.hex()
    event_id = "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
    fields = '"owner":"%s","schema_version":1,"type":"%s"}"event_id":"%s","occurred_at":"'
    return BODIES + (fields % (owner, kind.partition(".")[0], event_id)).encode()


def record_dictionary(memory_id: bytes) -> bytes:
    """The dictionary of one record: what values share, and the id under which the record is stored."""
    return VALUES + memory_id


class NotExpanded(ValueError):
    """Bytes that no dictionary of this release expands."""


def compressed(plain: bytes, dictionary: bytes) -> bytes:
    """The bytes to store: compressed behind `MARK`, or as they are if that is no longer.

    How they are compressed may differ by zlib's version; `expanded` gives the same.
    """
    window, level = (_SMALL_WINDOW, 5) if len(plain) < _SHORT else (_WINDOW, 8)
    deflate = zlib.compressobj(6, zlib.DEFLATED, window, level, zlib.Z_DEFAULT_STRATEGY, dictionary)
    short = MARK + deflate.compress(plain) + deflate.flush()
    return short if len(short) < len(plain) or plain[:1] == MARK else plain


def expanded(stored: bytes, dictionary: bytes) -> bytes:
    """What `compressed` was given. Raises NotExpanded."""
    if stored[:1] != MARK:
        return stored
    inflate = zlib.decompressobj(_WINDOW, dictionary)
    try:
        plain = inflate.decompress(stored[1:])
    except zlib.error:
        raise NotExpanded("compressed bytes that are damaged, or of another release's dictionary") from None
    if not inflate.eof or inflate.unused_data:
        raise NotExpanded("compressed bytes that are cut, or followed by others")
    return plain
