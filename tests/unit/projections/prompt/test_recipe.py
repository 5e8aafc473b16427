"""How a block was made, as its injection tells it: bounded, without words, and by digests that only the owner's secret makes."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from engramlog_server.events.catalogue import BlockMade
from engramlog_server.projections.prompt.block import STABLE, Material, build
from engramlog_server.projections.prompt.gathering import (
    Close,
    Handed,
    StablePart,
    Wanted,
    asked_digest,
    block_digest,
    close_of,
    recipe,
    wanted_of,
)
from tests.given.events import created, folded, shown
from tests.rows import each_row

SECRET, OTHER = bytes(range(32)), bytes(range(1, 33))
TEXT = "<memory>\n- [coffee] I drink coffee\n</memory>"
WANTED = Wanted(300, 12, True, "zh", 0.5, 2, 75, "en")
CLOSE = [Close("coffee", "summary", 0.83), Close("tea", "full", None)]
PROFILE = StablePart(build(Material(), 75, STABLE), ("home",), [], "en", {})


def made(secret: bytes = SECRET, asked: str = "What do I drink?") -> BlockMade:
    handed = Handed(TEXT, 21, 1_700_000_000_000_000, "3:127", CLOSE, PROFILE)
    return recipe(handed, asked, WANTED, "inferred", secret)


def test_what_makes_a_block_again_is_read_back_as_it_was_written() -> None:
    block = made()
    assert (wanted_of(block), close_of(block)) == (WANTED, CLOSE)
    assert block.stable is not None
    assert block.stable.profile == ("home",)


def test_it_holds_no_word_of_the_block_or_the_question_and_is_small() -> None:
    written = msgspec.json.encode(made())
    assert len(written) < 600
    assert not [word for word in (b"drink", b"What", b"<memory>") if word in written]


def test_digests_need_the_owners_secret_and_differ_by_it() -> None:
    assert made(b"").digest is made(b"").asked is None
    assert made(SECRET).digest != made(OTHER).digest
    assert block_digest(SECRET, TEXT) != asked_digest(SECRET, TEXT)


@each_row("secret", ["my PIN is 4821", "我的密码是 hunter2!"])
def test_of_a_question_that_holds_a_secret_there_is_no_digest(secret: str) -> None:
    assert made(asked=secret).asked is None


def test_folding_reads_nothing_of_it() -> None:
    plain = shown("coffee", day=1, via="injection")
    told = replace(plain, data=msgspec.structs.replace(plain.data, block=made()))
    first = created("I drink coffee", "coffee")
    without, with_it = folded(first, plain), folded(first, told)
    assert without.memories == with_it.memories
    assert (without.entries, without.owner) == (with_it.entries, with_it.owner)
    assert without.memories["coffee"].access_count == 1
