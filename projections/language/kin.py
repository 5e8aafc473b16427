"""Relatives, and who somebody is to the user: `my sister is called Anna`, 我表哥叫李强; in English and Chinese. Pure.

Words are views of one list, `lexicon/kin.tsv`. Every pattern takes time proportional to the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

from engramlog_server.projections.language.lexicon import either, either_at_once, rows, words
from engramlog_server.projections.language.patterns import HAN, holds_han, regex


@cache
def english() -> str:
    """English kin words, singular and plural, as alternatives of a regular expression; no word boundary at either end."""
    return f"(?:{either(words_english())})"


@cache
def words_english() -> tuple[str, ...]:
    """Every English kin word with its plural; what ends in s has none of its own."""
    forms = ((word, word if word.endswith("s") else f"{word}s") for word in words("kin", "english"))
    return tuple(dict.fromkeys(form for pair in forms for form in pair))


@cache
def chinese() -> str:
    """Chinese kin words as alternatives of a regular expression."""
    return either_at_once(words("kin", "chinese"))


LONGEST = 2_000
"""Characters of a text that are read for who somebody is."""
MOST_RENAMED = 2
MOST_NAMES = 3
_OTHERS = (
    ("friend", "朋友"),
    ("boss", "老板"),
    ("manager", "经理"),
    ("colleague", "同事"),
    ("neighbour", "邻居"),
    ("neighbor", "邻居"),
    ("roommate", "室友"),
    ("flatmate", "室友"),
    ("teacher", "老师"),
    ("doctor", "医生"),
    ("coach", "教练"),
    ("dog", "狗"),
    ("cat", "猫"),
)
"""Whom people know beside relatives, and what they keep."""


@cache
def _english() -> str:
    return f"(?:{english()}|{either(word for word, _ in _OTHERS)})"


@cache
def _chinese() -> str:
    return f"(?:{chinese()}|{either(word for _, word in _OTHERS)})"


@cache
def _han_name() -> str:
    surnames = "".join(words("surnames", "chinese"))
    return rf"(?:[{surnames}][{HAN}]{{1,2}}?|[小阿老][{HAN}])(?=$|[^\w]|[的是在和也很要去说今昨明最]|(?:现在|住))"


_AGED = "(?:(?:older|younger|elder|little|big|best|twin|eldest|youngest|new|old|oldest) )?"
_NAME = r"(?P<name>(?-i:[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)?))"
_MY_ROLE = regex(
    lambda: (
        rf"\bmy {_AGED}(?P<role>{_english()})\b(?:(?:'s|’s) name is"
        rf"|,? (?:who )?(?:is |was )?(?:called|named)|, is|,| is)? {_NAME}(?![\w'’-])"
    ),
    2,
)
_NAME_FIRST = regex(
    lambda: rf"{_NAME}(?:,| is| was|, who is) my {_AGED}(?P<role>{_english()})\b",
    2,
)
_ROLE_HAN = regex(
    lambda: (
        rf"我(?:的|家)?(?P<role>{_chinese()})(?:的名字|名字)?(?:叫做?|名叫|是|，(?:他|她|它)?叫)"
        rf"(?P<name>{_han_name()}|[A-Z][a-z]+)"
    )
)
_NAME_FIRST_HAN = regex(
    lambda: rf"(?:^|[，。！？,.!?\s])(?P<name>{_han_name()}|[A-Z][a-z]+)(?:是|，)我(?:的|家)?(?P<role>{_chinese()})"
)
_SAID = regex(lambda: rf"\b(?:my|our) {_AGED}(?P<role>{_english()})\b(?! (?-i:[A-Z]))", 2)
_SAID_HAN = regex(lambda: rf"(?:我(?:的|家)?)?(?P<role>{_chinese()})")
_CAPITAL = regex(
    r"(?<=[^.?!] )[A-Z][\w-]+|^(?!(?:What|When|Where|Who|Whose|Which|Why|How|Did|Does|Do|Is|Are|Was|Were)\b)[A-Z][\w-]+"
)


class Somebody(NamedTuple):
    """Who is what to the user."""

    role: str
    """As it was said, case-folded: sister, 表哥."""
    name: str


@cache
def _relations() -> dict[str, str]:
    """What every word for a relative comes to, in both languages."""
    said = {word: row["relation"][0] for row in rows("kin") for word in (*row["english"], *row["chinese"])}
    return said | {word: english for english, chinese in _OTHERS for word in (english, chinese)}


def _relation(role: str) -> str:
    return _relations().get(role, role)


_ROLE = regex(lambda: rf"\b(?:{either(role_words())})s?\b|(?:{_chinese()})")


def roles(text: str) -> frozenset[str]:
    """What people and pets a text names by what they are to somebody, each by one word: mother of mum and 妈妈."""
    found = _ROLE.findall(text.casefold())
    return frozenset(_relation(word if word in _relations() else word.removesuffix("s")) for word in found)


def people_in(text: str) -> list[Somebody]:
    """Whom a text introduces, in its order of patterns."""
    told = text[:LONGEST]
    if "我" not in told and "my" not in told and "My" not in told:
        return []
    patterns = (_ROLE_HAN, _NAME_FIRST_HAN) if holds_han(told) else (_MY_ROLE, _NAME_FIRST)
    return [
        Somebody(match["role"].casefold(), match["name"]) for pattern in patterns for match in pattern.finditer(told)
    ]


def roles_in(question: str) -> list[str]:
    """The words for people that a question names by what they are to the user, case-folded."""
    pattern = _SAID_HAN if holds_han(question) else _SAID
    return list(dict.fromkeys(match["role"].casefold() for match in pattern.finditer(question)))


def names_in(question: str) -> list[str]:
    """What a question may call people by: words with a capital letter, three at most; none in Chinese."""
    return list(dict.fromkeys(match[0] for match in _CAPITAL.finditer(question)))[:MOST_NAMES]


def role_words() -> list[str]:
    """The words for people in English, in the singular and plural."""
    return [*words_english(), *(word for word, _ in _OTHERS)]


def may_name(question: str) -> bool:
    """Whether a question may name somebody, by name or by role: what it costs to look whom is spent on no other."""
    return holds_han(question) or bool(roles_in(question)) or bool(names_in(question))


def renamed(question: str, people: Iterable[Somebody]) -> Sequence[str]:
    """The question with a role for a name, or a name for a role, two at most; none where it names nobody who is known."""
    folded, told = question.casefold(), dict[str, None]()
    places: dict[str, list[tuple[int, int]]] = {}
    for match in (_SAID_HAN if holds_han(question) else _SAID).finditer(question):
        places.setdefault(_relation(match["role"].casefold()), []).append(match.span())
    for one in dict.fromkeys(people):
        if len(told) >= MOST_RENAMED:
            break
        if one.name not in question:
            for start, end in places.get(_relation(one.role), [])[:MOST_RENAMED]:
                told.setdefault(f"{question[:start]}{one.name}{question[end:]}")
        elif one.role not in folded:
            role = f"我{one.role}" if holds_han(one.role) else f"my {one.role}"
            told.setdefault(question.replace(one.name, role))
    return tuple(told)[:MOST_RENAMED]
