"""The change log's content hashes under a known secret are pinned, for entries of both formats."""

from __future__ import annotations

from hashlib import blake2b

from engramlog_server.events.envelope import Stored
from engramlog_server.projections.fold.owner import fold_owner
from tests.given.events import at_door, created, mentioned, revised, stored
from tests.rows import each_row

SECRET = bytes(range(32))
OTHER = bytes(32)
TEXTS = ("I like coffee", "我喜欢喝咖啡。", "naïve café ☕")
FORMATS = {"1": stored, "2": lambda told: at_door(stored(told))}
PINNED = {
    "I like coffee": "d0d822589ce53841", "我喜欢喝咖啡。": "53085e0000e3f8fd", "naïve café ☕": "c67488aba9ba6949",
    "summed up": "f4e77e72001c92b7",
}  # fmt: skip


def hashes(entries: list[Stored], secret: bytes) -> list[str]:
    return [one.content_hash.hex() for one in fold_owner(entries, secret=secret).entries]


@each_row("format_", FORMATS)
@each_row("text", TEXTS)
def test_the_hash_of_a_text_under_a_known_secret_stays_what_it_is(text: str, format_: str) -> None:
    told = (created(text), mentioned(day=1), revised("said anew", day=2), revised(text, day=3))
    first, nothing, anew, again = hashes(FORMATS[format_](told), SECRET)
    assert (first, nothing, again) == (PINNED[text], "", PINNED[text])
    assert anew not in ("", first)
    assert set(hashes(FORMATS[format_](told), OTHER)).isdisjoint({first, anew})


def test_anybody_with_the_secret_can_make_it_with_the_standard_library() -> None:
    """As docs/stream-format.md says it is made."""
    made = blake2b(b"I like coffee\0", digest_size=8, key=SECRET, person=b"content hash")
    assert made.hexdigest() == PINNED["I like coffee"]
    with_summary = hashes(stored((created("I like coffee", summary="summed up"),)), SECRET)
    made = blake2b(b"I like coffee\0summed up", digest_size=8, key=SECRET, person=b"content hash")
    assert with_summary == [made.hexdigest()] == [PINNED["summed up"]]
