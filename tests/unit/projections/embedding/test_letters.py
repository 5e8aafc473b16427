"""Which texts, and which owners, are of letters other than Latin."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.projections.embedding.choosing import (
    ENOUGH,
    LettersIndex,
    is_of_other_letters,
    owner_of_other_letters,
)
from engramlog_server.projections.memory.record import SECRET, Memory
from tests.given.associated import memory
from tests.rows import each_row


@each_row(
    "text",
    [
        "我叫陈美，在上海做建筑师。", "好", "今日はいい天気ですね", "안녕하세요", "Меня зовут Анна", "Καλημέρα σε όλους",
        "مرحبا بالعالم", "我用 Python",
    ],
)  # fmt: skip
def test_a_text_that_is_mostly_in_other_letters_counts(text: str) -> None:
    assert is_of_other_letters(text)


@each_row(
    "text",
    [
        "", "12:30", "I like tea 🍵👍🏽", "Ça va, José? Größe, naïve, Łódź, Việt Nam", "The angle α is twice β, so λ = h/p",
        "I met Александр at the station yesterday evening", "My friend 李小龙 moved to Boston", "ＦＵＬＬ ｗｉｄｔｈ",
        "𝐛𝐨𝐥𝐝 letters", "🍵",
    ],
)  # fmt: skip
def test_emoji_accents_formulas_and_names_do_not_make_a_text_one_of_them(text: str) -> None:
    assert not is_of_other_letters(text)


@each_row(
    ("others", "texts", "counts"),
    [
        (0, 0, False), (0, 5, False), (1, 1, True), (1, 10, True), (1, 11, False), (2, 20, True),
        (ENOUGH - 1, 1_000, False), (ENOUGH, 100_000, True),
    ],
)  # fmt: skip
def test_an_owner_counts_from_a_tenth_of_the_texts_or_twenty_on(others: int, texts: int, counts: bool) -> None:
    assert owner_of_other_letters(others, texts) is counts


ROWS = st.lists(
    st.tuples(
        st.integers(0, 30), st.sampled_from(["I like tea", "我喜欢茶", "", "tea 茶"]), st.booleans(), st.booleans()
    ),
    max_size=60,
)


@given(ROWS)
def test_counts_kept_level_are_those_of_the_rows_counted_anew(rows: list[tuple[int, str, bool, bool]]) -> None:
    kept, held = LettersIndex(), dict[int, Memory]()
    for row, text, secret, purged in rows:
        held[row] = msgspec.structs.replace(
            memory("m"), content=text, sensitivity=SECRET if secret else 0, purged_at=1 if purged else None
        )
        kept.put(row, held[row])
    texts = [one.content for one in held.values() if one.content and one.sensitivity < SECRET and one.purged_at is None]
    assert kept.of_other_letters is owner_of_other_letters(sum(map(is_of_other_letters, texts)), len(texts))
    assert kept.bytes_used() >= len(held)
