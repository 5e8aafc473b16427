"""Ids made of words: the same words give the same id, and nobody without the owner's secret can make it."""

from __future__ import annotations

from itertools import product
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.events.envelope import Naming, derived_id
from engramlog_server.events.errors import StoreMismatch
from tests.rows import each_row

SECRET, OTHER = bytes(range(32)), bytes(range(1, 33))
ADA = Naming("ada", SECRET)
PARTS = st.lists(st.text(max_size=4), max_size=4)


@given(PARTS, PARTS)
def test_the_same_words_give_the_same_id_and_others_another(some: list[str], others: list[str]) -> None:
    assert (ADA.made("turn", *some) == ADA.made("turn", *others)) == (some == others)


def test_another_owners_secret_and_another_use_give_other_ids() -> None:
    made = [Naming("ada", secret).made(use, "I like tea") for secret, use in product((SECRET, OTHER), ("a", "b"))]
    assert len(set(made)) == 4
    assert derived_id("a", "I like tea") not in made


@given(PARTS)
def test_an_id_is_a_uuid_of_version_8_whose_other_bits_are_all_of_the_words(parts: list[str]) -> None:
    made = UUID(ADA.made("turn", *parts))
    assert (made.version, made.variant) == (8, "specified in RFC 4122")


@each_row("secret", [b"", bytes(31), bytes(33)])
def test_without_the_owners_secret_no_id_is_made(secret: bytes) -> None:
    with pytest.raises(StoreMismatch, match=f"secret of owner 'ada' has {len(secret)} bytes, 32 are allowed"):
        Naming("ada", secret).made("turn", "I like tea")


def test_how_it_is_shown_has_no_secret_in_it() -> None:
    assert f"{ADA} {ADA!r} {[ADA]}" == "Naming(owner='ada') Naming(owner='ada') [Naming(owner='ada')]"
