"""A tool's answer as one or two sentences of context."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.projections.language.prompt_text import MOST_CHARACTERS, MOST_SENTENCES, prepared
from tests.rows import each_row


@each_row(
    ("text", "about", "expected"),
    [
        ('{"city": "Berlin", "temp": 4, "note": null, "tags": []}', "", "city: Berlin; temp: 4"),
        ('[{"title": "Rain"}, {"title": "Snow"}]', "", "title: Rain; title: Snow"),
        ("42", "", ""),
        ("OK", "", ""),
        ("成功", "", ""),
        ("{not json at all, but a note about kilns}", "", "{not json at all, but a note about kilns}"),
        ("Traceback (most recent call last):\n  File x\nKeyError: 'kiln'", "", "KeyError: 'kiln'"),
        (
            "<html><script>track()</script><p>The fair opens on Friday at noon.</p><p>Accept cookies</p></html>",
            "When is the fair?",
            "The fair opens on Friday at noon.",
        ),
        (
            "屏幕上显示一个叫做NeuroPet的项目。左边是文件列表。用户正在编辑Python代码，光标在第十行。",
            "我在编辑什么项目",
            "屏幕上显示一个叫做NeuroPet的项目。用户正在编辑Python代码，光标在第十行。",
        ),
    ],
)
def test_it_tells_what_says_most(text: str, about: str, expected: str) -> None:
    assert prepared(text, about) == expected


def test_fields_that_are_asked_about_come_before_the_first_ones() -> None:
    fields = ", ".join(f'"field{n}": "value{n}"' for n in range(30))
    told = prepared(f'{{{fields}, "wind": "strong wind from the north"}}', "How strong is the wind?")
    assert told.endswith("wind: strong wind from the north")
    assert told.count(";") == 5


@given(st.text() | st.recursive(st.none() | st.text(), st.lists).map(str), st.text(max_size=50))
def test_whatever_a_tool_says_it_is_one_line_of_bounded_length(text: str, about: str) -> None:
    told = prepared(text, about)
    assert len(told.splitlines()) <= 1
    assert len(told) <= MOST_SENTENCES * (MOST_CHARACTERS + 1)
    assert not set(told) & set("<>")
