"""What search reads of a memory line by line is what it reads of the whole, and the content's terms are those it has alone."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from engramlog_server.projections.index.search_index import Bm25Index, indexed_terms, indexed_text, whole
from engramlog_server.projections.language.text import tokens
from engramlog_server.projections.memory.record import Memory, with_changes
from tests.given.events import created, folded

WORDS = [
    "coffee", "Will", "the", "was it", "foo_bar.py", "src/a.py", "#42", "0151 234 56789", "咖啡", "我", "é", "́", "?", "\n",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join) | st.text(max_size=20)
PLAIN: Memory = folded(created("tea", "m")).memories["m"]


@given(content=TEXTS, speaker=st.none() | TEXTS, summary=st.none() | TEXTS, keywords=st.lists(TEXTS, max_size=2))
@example(content="who are you", speaker="Will", summary=None, keywords=[])
@example(content="the", speaker="Ann", summary=None, keywords=[])
@example(content="call 0151 234 56789", speaker="小林", summary="see src/a.py", keywords=["tea"])
def test_lines_are_read_as_the_whole_and_the_content_as_if_alone(content, speaker, summary, keywords) -> None:
    memory = with_changes(PLAIN, content=content, speaker=speaker, summary=summary, keywords=tuple(keywords))
    text = indexed_text(memory)
    said = indexed_terms(memory, text)
    assert Counter(said.terms[: said.counted]) == Counter(tokens(text))
    assert list(said.terms[said.begin : said.end]) == tokens(content)


def test_of_no_text_nothing_is_read() -> None:
    assert indexed_terms(PLAIN, "") == ((), 0, 0, 0)


@given(
    texts=st.lists(st.lists(st.sampled_from("abcd"), max_size=80), min_size=1, max_size=40),
    asked=st.sets(st.sampled_from("abcde")),
)
def test_terms_are_found_where_the_texts_say_them(texts, asked) -> None:
    index, terms = Bm25Index(), sorted(asked)
    index.put_said((f"m{number}", whole(text)) for number, text in enumerate(texts))
    rows = np.arange(len(texts))[::-1]
    found = index.found(rows, terms)
    told = [(int(column), terms[place]) for column, place in zip(found.columns, found.places, strict=True)]
    assert told == [(at, term) for at, row in enumerate(rows) for term in texts[row] if term in asked]
    beside = [
        (first, second)
        for here, there, *pair in zip(found.at, found.at[1:], told, told[1:], strict=False)
        for first, second in [pair]
        if there == here + 1 and first[0] == second[0]
    ]
    assert [(one[1], other[1]) for one, other in beside] == [
        pair for row in rows for pair in pairwise(texts[row]) if asked.issuperset(pair)
    ]
