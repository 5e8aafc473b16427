"""What search reads of a memory line by line is what it reads of the whole, and the content's terms are those it has alone."""

from __future__ import annotations

from collections import Counter

from hypothesis import example, given
from hypothesis import strategies as st

from projections.indexed_terms import indexed_terms
from projections.memory import Memory, with_changes
from projections.text import tokens
from projections.view import indexed_text
from tests.given import created, folded

WORDS = [
    "coffee",
    "Will",
    "the",
    "was it",
    "foo_bar.py",
    "src/a.py",
    "#42",
    "0151 234 56789",
    "咖啡",
    "我",
    "é",
    "́",
    "?",
    "\n",
]
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
