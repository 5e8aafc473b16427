"""Reading a turn with the turn before it: who "he" is, and which question a short answer answers. English and Chinese.

"She's a paramedic" after "my wife" says who is one; "Two, and a third on the way" says something with its question. A person is
taken only if one person fits: nearest first, in this turn, in the question before it, in the speaker's turn before that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from engramlog_server.projections.language import kin
from engramlog_server.projections.language.contradiction.slots import place_at_start
from engramlog_server.projections.language.extraction.chinese_rules import one_of_ours
from engramlog_server.projections.language.extraction.english_rules import PEOPLE, pets
from engramlog_server.projections.language.extraction.shape import Clause, ExtractedStatement, TurnText
from engramlog_server.projections.language.lexicon import either, words
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.times.names import MONTHS, WEEKDAYS
from engramlog_server.projections.language.traditional import simplified

MOST_ASKED, MOST_ANSWERED = 80, 90
"""Characters of a question, and of an answer to it."""
_PERSON = regex(
    lambda: (
        rf"\b(?:my|your|our|with) (?P<who>(?:(?!my\b|your\b|our\b)[\w-]+ )?(?:{kin.english()}|{pets()}|{PEOPLE}))\b"
        r"(?:,? (?P<called>(?-i:[A-Z])[\w-]+))?"
        rf"|\b(?P<bare>(?-i:Father|Mother|Mum|Mam|Mom|Dad|Grandma|Grandpa|Wife|Husband|Son|Daughter|Brother|Sister))\b"
        r"|\bthe (?P<child>eldest|oldest|youngest|baby|twins)\b"
        r"|(?P<name>(?-i:(?<=[a-z,] )(?<!from )(?<!in )(?<!at )(?<!to )[A-Z][a-zà-ÿ]{2,})\b)(?! (?-i:[A-Z]))"
    ),
    re.IGNORECASE,
)
_SHE_OR_HE = regex(
    r"(?P<led>\W*(?:(?:and|but|so|yes|no|not yet|yeah|oh|well),? )*)(?:(?P<whose>his|her) name(?:'s| is) (?=[A-Z])"
    r"|(?P<who>he|she)(?P<verb>'s | ))",
    re.IGNORECASE,
)
_HAS = regex(r"(?:been|got|had|gone|sworn|given|taken|left|started|moved|lost|just|already|never|always|broken|had)\b")
_WOMEN = regex(
    r"\b(?:m[ou]m(?:my)?|mam|mother|wi(?:fe|ves)|daughter|sister|aunt\w*|niece|grand(?:ma|mother|daughter)|gran\w*|nana"
    r"|girlfriend|fiancée|step(?:mother|mum|mom|sister|daughter))\b"
    "|[妈母姐妹女奶婆姨姑婶嫂妻媳娘]|太太|闺蜜",
    re.IGNORECASE,
)
_MEN = regex(
    r"\b(?:dad\w*|father|husband|son|brother|uncle|nephew|grand(?:pa|dad|father|son)|boyfriend|fiancé"
    r"|step(?:father|dad|brother|son))\b"
    "|[爸父哥弟爷公叔伯舅夫]|儿子|孙子|侄子|外甥(?!女)|先生",
    re.IGNORECASE,
)
_PERSON_CHINESE = regex(lambda: f"{one_of_ours()}|先生|徒弟|孙女|儿媳妇?")
_BOTH = frozenset({"父母", "爸妈", "爸爸妈妈", "双亲", "岳父母", "公婆"})
_HE_CHINESE = regex("[他她它](?!们)")
_PETS_CHINESE = regex(lambda: f"(?:{either(words('pets', 'chinese'))})$")
_IT_IS_ON = regex(r"\W*it(?:'s| is) (?=(?:on|at|in) (?:the )?(?:\d|[A-Z]))", re.IGNORECASE)
_SOMETHING_OF_MINE = regex(
    r"(?<!to )(?<!on )(?<!in )\b(?:my|our) (?P<what>(?:[\w'-]+ ){0,3}?[\w-]+)(?=[.!?,]|$)", re.IGNORECASE
)


class _Person(NamedTuple):
    """A person in a text: the subject in a sentence of the speaker ("My wife", 我奶奶), and the word of kin."""

    subject: str
    key: str


def with_people(clauses: Sequence[Clause], text: str, turn: TurnText, *, han: bool) -> list[Clause]:
    """The clauses with those whom "he", "she", "it" and 他, 她 at their beginning stand for, if only one person can be meant."""
    found: list[Clause] = []
    for clause in clauses:
        before = (text[: clause.start], turn.asked, turn.before)
        found.append(clause._replace(text=(_chinese if han else _english)(clause.text, before)))
    return found


def _english(said: str, before: Sequence[str]) -> str:
    plain = said.replace("’", "'")
    if (dated := _IT_IS_ON.match(plain)) is not None and (of := list(_SOMETHING_OF_MINE.finditer(before[0]))):
        return f"My {of[-1]['what']} is {plain[dated.end() :]}"
    pronoun = _SHE_OR_HE.match(plain)
    if pronoun is None:
        return said
    female = (pronoun["whose"] or pronoun["who"]).casefold() in ("she", "her")
    person = next((one for text in before if (one := _only(_people(text), female=female)) is not False), None)
    if not isinstance(person, _Person):
        return said
    rest = plain[pronoun.end() :]
    if pronoun["whose"]:
        return f"{person.subject} is called {rest}"
    verb = " " if pronoun["verb"] == " " else " has " if _HAS.match(rest) else " is "
    return f"{pronoun['led'].lstrip()}{person.subject}{verb}{rest}"


def _people(text: str) -> list[_Person]:
    found: dict[str, _Person] = {}
    for one in _PERSON.finditer(text.replace("’", "'")):
        if (name := one["name"] or one["called"]) is not None:
            folded = name.casefold()
            if one["name"] is None or not (
                folded in (*MONTHS, *WEEKDAYS, *words("not_names", "english")) or place_at_start(folded) is not None
            ):
                whole = name if one["name"] else f"My {one['who']} {name}"
                found.setdefault(folded, _Person(whole, whole))
        elif one["child"]:
            found[one["child"]] = _Person(f"My {one['child']} child", "")
        else:
            who = one["who"] or one["bare"].lower()
            found[who] = _Person(f"My {who}", who)
    return list(found.values())


def _only(people: Sequence[_Person], *, female: bool) -> _Person | bool | None:
    """The one who fits; None if several do, False if there is nobody."""
    other, same = (_MEN, _WOMEN) if female else (_WOMEN, _MEN)
    fits = [one for one in people if same.search(one.key) or not other.search(one.key)]
    return fits[0] if len(fits) == 1 else None if fits else False


def _chinese(said: str, before: Sequence[str]) -> str:
    pronoun = _HE_CHINESE.match(said.lstrip())
    if pronoun is None:
        return said
    for text in before:
        plain = simplified(text)
        people = list(dict.fromkeys(found[0] for found in _PERSON_CHINESE.finditer(plain) if found[0] not in _BOTH))
        of_pets = [
            _Person(f"我{who}", who) for who in people if (pronoun[0] == "它") == bool(_PETS_CHINESE.search(who))
        ]
        person = _only(of_pets, female=pronoun[0] == "她")
        if isinstance(person, _Person):
            return f"{person.subject}{said.lstrip()[1:]}"
        if person is None:
            break
    return said


_ASKS_ENGLISH = regex(
    r"(?:^|[.!?\n] )(?:(?:and|so|oh|okay),? )*(?P<asks>(?:how (?:old|long|many|often|far|big|tall)|where|when|who|what time|which"
    r"|what(?:'s| is| are) (?:your|his|her"
    r"|their|its|the))\b(?!.*\b(?:would|want|shall|should|like|prefer|need|can I|could I|may I|suggest|help)\b)"
    r"|(?P<any>do you have|have you (?:got )?)(?= (?:any )?[a-z]))[^.!?\n\"“:]{3,60}\?\s*$",
    re.IGNORECASE,
)
_ASKS_CHINESE = regex(
    '(?:^|[。！!，])(?P<asks>[^。！!？?，\n“"：]{0,16}(?:几|多大|多久|多少|哪|谁|什么时候|叫什么|什么名字|做什么|什么(?:岗位|工作|专业|职业))'
    '[^。！!？?，\n“"：]{0,12})[？?]\\s*$'
)
_ASKS_FOR_MORE = regex("想|要|需要|希望|喜欢|推荐|建议|可以|帮|怎么|我")
_NO_ANSWER = regex(
    r"\W*(?:(?:I|I'm|I've|I'll|I'd|we|we're|my|maybe|yes|no|none|nothing|not|any|either|whatever|skip|never mind|sorry|thanks|thank"
    r"|understood|please|list|make|give|write|add|you|that|this|it|it's|there|what|why|how|who|can|could|just|ok|okay|sure|let|hmm|good|great)\b)"
    "|[你您我他她它]|不|没|是|对|好|嗯|随便|都行|都可|看|保密|再说|还没|要|算了|谢|哈|继续|更新",
    re.IGNORECASE,
)
_SENTENCE = regex(r"(?:\b(?:M[rs]|Mrs|Dr|St)\.|[^.!?。！？\n]|\.(?=\w))+[.!?。！？]*")
_COUNTS = regex(
    r"(?:about |only |just )?(?:\d|one|two|three|four|five|six|seven|eight|nine|ten|a couple|a few)\b", re.IGNORECASE
)
_TELLS = regex(r"\d|[A-Za-z]{3}|[\u4e00-\u9fff]{2}")


def answered(
    clauses: Sequence[Clause], read: Sequence[tuple[int, int]], text: str, turn: TurnText, *, han: bool
) -> Iterator[ExtractedStatement]:
    """The first sentence of a turn with the question that it answers, if nothing else reads it: "Two, and a third on the way"."""
    asked = simplified(turn.asked).strip() if han else turn.asked.strip()
    question = (_ASKS_CHINESE if han else _ASKS_ENGLISH).search(asked)
    first = _SENTENCE.match(text.lstrip())
    if question is None or first is None or _ASKS_FOR_MORE.search(question["asks"]):
        return
    start = len(text) - len(text.lstrip())
    end, said = start + first.end(), first[0].strip(" .!。！…")
    counted = han or question["any"] is None or _COUNTS.match(said) is not None
    sure = all(one.asserted and not one.question for one in clauses if one.start < end)
    short = len(said) <= MOST_ANSWERED and len(question[0]) <= MOST_ASKED
    if (
        not (counted and sure and short and _TELLS.search(said))
        or _NO_ANSWER.match(said)
        or any(a < end for a, _ in read)
    ):
        return
    asks = question[0].strip(" ，。.！!?？\n") + ("？" if han else "?")
    content = f"{turn.called(han=han)}" + (f"答“{asks}”：{said}" if han else f' answered "{asks}": {said}')
    yield ExtractedStatement(turn.dated(content, han=han), "fact", "fact", 1, True, 0.6, (start, end))
