"""Identifiers are found exactly: each before hundreds of others that differ by a character, alone and within a question."""

from __future__ import annotations

import pytest

from engramlog_server.projections.views.view import OwnerView
from tests.given.events import Told, created
from tests.given.views import asked, viewed
from tests.rows import each_row

IDENTIFIERS = [
    "foo_bar.py", "src/app/main.ts", "/etc/nginx/nginx.conf", "ERR-1042", "E0308", "0xDEADBEEF", "v2.3.1", "1.2.3-rc1",
    "a.b@c.co", "maria.lopez+news@example.org", "+49 151 2345678", "138-1234-5678", "13912345678",
    "550e8400-e29b-41d4-a716-446655440000", "9fceb02d0ae598e95dc970b74767f19372d61af8", "9fceb02", "#1234", "PR#77", "C++",
    "C#", "192.168.0.1", "https://x.y/z?q=1", "A-2023-0042", "getUserName", "@types/node", "USER_ID",
]  # fmt: skip
WORDED = ("The note says {} and nothing else", "笔记里写着{}，没有别的")
QUESTIONS = (
    "{}", "What do we know about {}?", "where did I write {} down, please", "{}是什么？", "请问关于{}我说过什么",
)  # fmt: skip
SPACED = [
    ("+49 151 2345678", ["+491512345678", "0151 2345678", "0151-234 5678", "(0151) 2345678", "+49 (151) 234 5678"]),
    ("138-1234-5678", ["13812345678", "138 1234 5678", "+86 138 1234 5678", "＋８６１３８１２３４５６７８"]),
    ("13912345678", ["139-1234-5678", "+86-139-1234-5678", "139 12345678"]),
]


def near_misses(identifier: str) -> list[str]:
    """The same with one letter or digit changed, or one more at its end."""
    changed = [f"{identifier}9", f"{identifier}x"]
    for place, character in enumerate(identifier):
        if character.isalnum():
            other = "7" if character.isdecimal() and character != "7" else "6" if character.isdecimal() else "q"
            changed.append(identifier[:place] + other + identifier[place + 1 :])
    return [one for one in changed if one.lower() not in {known.lower() for known in IDENTIFIERS}]


def told() -> list[Told]:
    """A memory for each identifier, English and Chinese by turns, among those of its near misses."""
    events = [
        created(
            WORDED[number % 2].format(identifier),
            f"exact-{identifier}"[:60].replace(" ", "_").replace("#", "-no-").replace("?", "-q-").replace("=", "-is-"),
        )
        for number, identifier in enumerate(IDENTIFIERS)
    ]
    for number, identifier in enumerate(IDENTIFIERS):
        events += [
            created(WORDED[number % 2].format(miss), f"near-{number}-{place}", 0.1)
            for place, miss in enumerate(near_misses(identifier)[:40])
        ]
    return events


@pytest.fixture(scope="module")
def view() -> OwnerView:
    return viewed(*told())


def first(view: OwnerView, question: str) -> str:
    """The content that is found first by the default ranking."""
    results = asked(view, question, 1, limit=3)["results"]
    return str(results[0]["memory"]) if results else ""


@each_row("question", QUESTIONS)
@each_row("identifier", IDENTIFIERS)
def test_what_is_asked_for_exactly_is_found_first(view: OwnerView, identifier: str, question: str) -> None:
    found = first(view, question.format(identifier))
    assert found in {wording.format(identifier) for wording in WORDED}


@each_row(("number", "written"), [(number, one) for number, ways in SPACED for one in ways])
def test_a_telephone_number_is_found_however_it_is_spaced(view: OwnerView, number: str, written: str) -> None:
    """By whatever memory has that number; which country it is in is not said by all of them."""
    national = digits(number)[-10:]
    for question in (written, f"whose number is {written}?", f"{written}是谁的电话？"):
        assert digits(first(view, question)).endswith(national)


def digits(text: str) -> str:
    """The digits of a text."""
    return "".join(filter(str.isdecimal, text))
