"""What the speaker takes back: a denial ("I misspoke, I do not have a dog"), or one value for another ("no, Friday").

Rules read what is taken back; what of the known it means is the judge's matter (`projections.lifecycle.judge.corrections`). Only
sentences that say nothing else: a value is a few words, and what is asked, supposed or quoted takes nothing back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from re import IGNORECASE, Pattern
from typing import NamedTuple

from engramlog_server.projections.language import kin
from engramlog_server.projections.language.contradiction.slots import place_at_start
from engramlog_server.projections.language.extraction.chinese import LEFT_OPEN as CHINESE_LEFT_OPEN
from engramlog_server.projections.language.extraction.english import unsure
from engramlog_server.projections.language.extraction.english_rules import LEFT_OPEN, VAGUE, pets, third_person
from engramlog_server.projections.language.extraction.shape import Clause, ExtractedStatement, TurnText
from engramlog_server.projections.language.lexicon import either, of_role, rows, words
from engramlog_server.projections.language.patterns import HAN, holds_han, regex
from engramlog_server.projections.language.times.calendar import MONTH

_MOST_TAKEN = 3
"""Of one turn."""
_LONGEST_VALUE = 40
"""Characters of a value."""


class Denial(NamedTuple):
    """Something the speaker says is not so."""

    said: ExtractedStatement
    affirmed: ExtractedStatement | None
    """What a memory of the denied would say, if rules can read it."""
    taken_back: bool
    """He says that something said before was wrong: nothing takes its place."""
    lasting: bool
    """It is worth being kept where nothing is known of it: whom or which pet one does not have."""


class Corrected(NamedTuple):
    """One value for another."""

    new: str
    old: str | None
    """None: whatever value of the same sort was said just before."""
    sort: str | None
    """Of the new value: colour, weekday, time, number ...; None where it is of no known sort."""
    said: ExtractedStatement


class HeldTo(NamedTuple):
    """The speaker likes what they took back after all, without naming it: "I still like it", 我还是喜欢."""

    said: ExtractedStatement


Taken = Denial | Corrected | HeldTo
"""All that a turn may take back, or take back of that."""
ReadClause = Callable[[Clause, TurnText], ExtractedStatement | None]


_role = partial(of_role, "taking_back")


_MISSPOKE_ENGLISH = regex(
    lambda: (
        rf"(?:(?:{_role('opener', 'english')}|so|and|but|please|yeah|yes)\b[,.!: ]*){{0,4}}?(?:{_role('misspoke', 'english')})\b"
        r"(?: (?:before|earlier|just now|there|about that|last time|when I said that))?(?P<rest>.*)$"
    ),
    IGNORECASE,
)
_MISSPOKE_CHINESE = regex(
    lambda: (
        rf"(?:(?:{_role('opener', 'chinese')})[，,。！!：: ]*)??(?:{_role('misspoke', 'chinese')})"
        "(?:了|啦|哈|哦|的话)*(?P<rest>.*)$"
    )
)
_NO_ENGLISH = regex("^(?:no|nope|sorry|oops|wait|actually|well|oh),? ", IGNORECASE)
_DENIES_ENGLISH = regex(
    r"(?:I|We) (?:(?:do not|don't) (?:actually |really |even )?(?:have|own)|haven't got) (?:an?|any) (?P<has>.+?)"
    r"(?: any ?more| at all| actually| after all)?$"
    r"|(?:I have|I've got|I own|I've|We have|We've got) no (?P<no>.+?)(?: any ?more| at all| actually| after all)?$"
    r"|I(?:'m| am) not (?P<am>(?:an? |from |married|single|vegetarian|vegan|divorced|engaged|retired|\d).*)$"
    r"|I (?:do not|don't|no longer) (?:actually |really )?(?P<does>(?:live|work|speak|play|own|study|like|love|drive|drink|smoke"
    r"|swim|cook|cycle|ride|fly|eat|wear|watch|use|take|keep) .+?|drive|drink|smoke|swim|cook|cycle|fly)(?: any ?more"
    r"| at all|, .*)?$"
    r"|I (?:can't|cannot) (?P<can>(?:drive|swim|cook|sing|dance|whistle|cycle|fly|ride|read|write|speak|play|eat|drink"
    r"|smell|hear|see"
    r"|tolerate|digest)(?: .+?)?)(?: any ?more| at all|, .*)?$"
    r"|I(?:'ve| have) never (?P<never>.+)$|My (?P<my>.+? (?:is|are)) not (?P<is>.+)$"
)
_DENIES_CHINESE = regex(
    f"我(?:家里?|们家)?(?:根本|其实|现在|并)*没(?:有|养)(?!过)(?P<has>[{HAN}\\w]{{1,12}}?)(?:了|的|啊|呀|哦)*$"
    f"|我(?:根本|其实|现在|并)*不是(?P<am>[{HAN}\\w]{{2,15}}?)(?:了|的|啊|呀|哦)*$"
    f"|我(?:根本|其实|现在|并|从来|从)*不(?P<does>(?:住在|在|会|喜欢|爱|学|对|吃|喝|抽|开车|坐|用|打|穿|养)[{HAN}\\w]{{1,15}}?)(?:了|的|啊|呀|哦)*$"
    f"|我(?:根本|其实|从来|从)*没(?:有)?(?P<did>[{HAN}]{{1,3}}过[{HAN}\\w]{{1,12}}?)(?:的|啊|呀|哦)*$"
)


_VALUE_ENGLISH = r"[^\s,.!?;:](?:[^,.!?;:]|[.:,](?=\d)){0,38}?"
_VALUE_CHINESE = "[^，。！？；：,.!?;:我你您他她]{1,14}?"
_FORMS_ENGLISH = (
    r"{open}{{0,3}}{meant}?(?P<new>{value}),? (?:and )?not (?P<old>{value})$",
    r"{open}{{0,3}}{meant}?not (?P<old>{value})(?:[,;:]| but| –| -)+ (?:but )?{meant}?(?P<new>{value})$",
    r"{open}{{0,3}}(?={strong}){open}{{1,3}}{meant}?(?P<new>{value})(?: now| instead| actually)?$",
    r"(?:I meant(?: to say)?|make (?:that|it)) (?P<new>{value})(?: instead)?$",
    r"(?:it's |it is |that's )?actually,? (?P<new>{value})(?: now)?$",
    r"(?P<no>no|nope)[,.:;]? {meant}?(?:(?:in|at|on|from) )?(?P<new>{value})$",
)
_FORMS_CHINESE = (
    "{open}{{0,3}}{meant}?(?P<new>{value})[，, ]*(?:而)?不是(?P<old>{value})$",
    "{open}{{0,3}}?不是(?P<old>{value})[，, ]+(?:而)?{meant}(?P<new>{value})$",
    "{open}{{0,3}}(?={strong}){open}{{1,3}}{meant}?(?P<new>{value})(?:才对|了|吧)*$",
    "(?:我是说|我说的是|我的意思是|应该是|改成|改为)(?P<new>{value})(?:才对|了|吧)*$",
    "(?:其实)?现在是(?P<new>{value})了$",
    "其实(?:应该)?是(?P<new>{value})的?$",
    "(?P<no>不是?)[，,。 ]+(?:应该)?是?(?P<new>{value})的?$",
)


@cache
def _corrections(language: str) -> tuple[Pattern[str], ...]:
    """The ways to put one value for another, in the order in which they are tried."""
    word = {role: _role(role, language) for role in ("opener", "misspoke", "strong", "meant")}
    english = language == "english"
    parts = {
        "open": rf"(?:(?:{word['opener']}|{word['misspoke']})" + (r"\b[,.!: –—-]+)" if english else "[，,。！!：: ]+)"),
        "strong": rf"(?:{word['strong']}|{word['misspoke']})" + (r"\b" if english else ""),
        "meant": rf"(?:(?:{word['meant']})\b,? )" if english else f"(?:{word['meant']})",
        "value": _VALUE_ENGLISH if english else _VALUE_CHINESE,
    }
    return tuple(
        re.compile(form.format(**parts), IGNORECASE) for form in (_FORMS_ENGLISH if english else _FORMS_CHINESE)
    )


_NO_VALUE = regex(
    r"\b(?:I|I'm|I've|you|we|he|she|they|is|are|was|were|do|don't|does|did|have|has|had|will|would|can|could|should|think|know|like"
    r"|love|want|need|sure|really|only|just|even|yet|bad|too|so|going|because|that|this|which|what)\b"
    "|什么|怎么|觉得|喜欢|知道|可以|因为|但是|这|那|吗|呢|没有|只是",
    IGNORECASE,
)
_BEFORE_VALUE = regex(r"^(?:on|at|in|to|the|an?|it's|it is|that's|for) ", IGNORECASE)
_TIME = (
    r"(?<![\d:])(?:\d{1,2}:\d\d(?: ?[ap]\.?m\.?)?|\d{1,2} ?(?:[ap]\.?m\b\.?|o'clock))"
    r"|[\d一二三四五六七八九十两]{1,3}点(?:半|一刻|\d{1,2}分?)?"
)
_DATE = (
    rf"(?:(?:{MONTH})\.? \d{{1,2}}(?:st|nd|rd|th)?\b|\b\d{{1,2}}(?:st|nd|rd|th)? (?:of )?(?:{MONTH})\b)"
    r"|\d{1,2}月\d{1,2}[日号]"
)
_NUMBER = r"(?<![\w.,:])\d+(?:[.,]\d+)*(?![\w:]|[.,]\d)"
_FORMS = (("time", _TIME), ("date", _DATE), ("number", _NUMBER))
_SORTS = tuple((sort, regex(form, IGNORECASE)) for sort, form in _FORMS)


_HINTS = (
    "still|again|after all|还是|又|依|仍|其实|n't|no|never|misspoke|wrong|mistak|confused|bad|apolog|scratch|strike|take|"
    "correct|meant|mean|make that|make it|actually|sorry|oops|wait|hold on|forget|ignore|disregard|不|没|错|口误|更正|纠正|"
    "收回|是|抱歉|等等|改成|改为"
)
HINTS = tuple(_HINTS.split("|"))
"""Some part of everything that is taken back: a text without one is not looked at further."""


_HELD_TO_ENGLISH = regex(
    r"(?:(?:oh|actually|well|no|but|and|so|hmm|ok|okay|turns out)\b[,.! ]+){0,3}(?=.*\b(?:still|again|after all)\b)"
    r"I (?:do )?(?:(?:still|actually|really) ){0,2}(?:like|love|enjoy|prefer) (?:it|them|that|this)(?: again)?(?:,? after all)?$",
    IGNORECASE,
)
_HELD_TO_CHINESE = regex(
    "(?:其实|不过|但是?|嗯|哦|好吧|算了|想想)?[，, ]*我?(?:还是|又|依然|仍然|依旧)(?:很|挺|非常)?(?:喜欢|爱吃|爱喝|爱看|爱)"
    "(?:它|的|上了|上它了|了)?$"
)


def taken_back(clauses: Sequence[Clause], text: str, turn: TurnText, read: ReadClause, *, han: bool) -> list[Taken]:
    """What the speaker takes back, in order, at most `MOST_TAKEN`. `read`: what a clause states by the rules of its language."""
    found: list[Taken] = []
    sentences = _sentences(clauses)
    alone = [_is_cue_alone(sentence, han=han) for sentence in sentences]
    for at, sentence in enumerate(sentences):
        cued = any(_rest(clause, han=han) is not None for clause in sentence)
        adjacent = alone[max(at - 1, 0) : at] + alone[at + 1 : at + 2]
        found += _denials(sentence, turn, read, cued or any(adjacent), han=han)
        held = _held_to(sentence, text, turn, han=han)
        found += [] if held is None else [held]
        corrected = (
            None if found and found[-1].said.span[0] >= sentence[0].start else _corrected(sentence, text, turn, han=han)
        )
        if corrected is not None:
            found.append(corrected)
    return found[:_MOST_TAKEN]


def _sentences(clauses: Sequence[Clause]) -> list[list[Clause]]:
    found: list[list[Clause]] = []
    for clause in clauses:
        if not clause.before or not found:
            found.append([])
        found[-1].append(clause)
    return found


def _rest(clause: Clause, *, han: bool) -> str | None:
    """What follows the words by which the speaker takes something back, or None where there are none."""
    if clause.question:
        return None
    found = (_MISSPOKE_CHINESE if han else _MISSPOKE_ENGLISH).match(_bare(clause.text, han=han))
    return None if found is None else _bare(found["rest"], han=han)


def _is_cue_alone(sentence: Sequence[Clause], *, han: bool) -> bool:
    return all((rest := _rest(clause, han=han)) is not None and not rest for clause in sentence)


def _bare(text: str, *, han: bool) -> str:
    said = text.replace("’", "'")
    return ("".join(said.split()) if han else " ".join(said.split())).strip(" ,.;:!?。，；：！？…~-–—*")


def _denials(
    sentence: Sequence[Clause], turn: TurnText, read: ReadClause, cued: bool, *, han: bool
) -> Iterator[Denial]:
    for clause in sentence:
        rest = _rest(clause, han=han)
        said = _bare(clause.text, han=han) if rest is None else rest
        if not han:
            said = _NO_ENGLISH.sub("", said, count=1)
            said = said if said[:1] not in "im" else re.sub("^my ", "My ", re.sub("^i\\b", "I", said))
        if clause.asserted and said and (denial := _denial(said, clause, turn, read, cued, han=han)) is not None:
            yield denial


def _denial(said: str, clause: Clause, turn: TurnText, read: ReadClause, cued: bool, *, han: bool) -> Denial | None:
    found = (_DENIES_CHINESE if han else _DENIES_ENGLISH).match(said)
    if found is None or read(clause, turn) is not None:
        return None
    thing = found.groupdict()
    affirmative = _affirmed_chinese(thing) if han else _affirmed_english(thing)
    affirmed = read(clause._replace(text=affirmative, asserted=True, question=False, before="", after=""), turn)
    name = turn.called(han=han)
    chinese = re.sub("[啊呀哦啦呢嘛]+$", "", re.sub("我们?(?=家)|我", name, said, count=1))
    content = turn.dated(chinese if han else third_person(said, name), han=han)
    triple = None
    if affirmed is not None and affirmed.triple is not None:
        triple = affirmed.triple._replace(negation=not affirmed.triple.negation)
    category = "fact" if affirmed is None else affirmed.category
    span = clause.start, clause.end
    statement = ExtractedStatement(content, category, "fact", -1, True, 0.8, span, (), triple, cued)
    had = thing["has"] or thing.get("no")
    lasting = _is_of_ones_own(had, han=han) if had else not cued and _stands_alone(said, thing, han=han)
    return Denial(statement, affirmed, cued, lasting)


def _stands_alone(said: str, thing: dict[str, str | None], *, han: bool) -> bool:
    """Whether what somebody is not or does not do is worth keeping: it points at nothing outside."""
    if han:
        return bool(thing["does"]) and CHINESE_LEFT_OPEN.search(said) is None
    what = re.sub("anything (?=with|containing|made)", "", thing["am"] or thing["does"] or thing["can"] or "")
    return bool(what) and LEFT_OPEN.search(what) is None and VAGUE.search(what) is None and not unsure(said)


def _affirmed_english(thing: dict[str, str | None]) -> str:
    has = thing["has"] or thing["no"]
    if has:
        article = "an" if has[0].casefold() in "aeiou" else "a"
        return f"I have {article} {has}" if not has.endswith("s") or has.endswith("ss") else f"I have {has}"
    if thing["am"]:
        return f"I'm {thing['am']}"
    if thing["does"] or thing["can"]:
        return f"I {thing['does'] or thing['can']}"
    return f"I've {thing['never']}" if thing["never"] else f"{thing['my']} {thing['is']}".replace("my ", "My ", 1)


def _affirmed_chinese(thing: dict[str, str | None]) -> str:
    if thing["has"]:
        return f"我有一只{thing['has']}" if thing["has"] in words("pets", "chinese") else f"我有{thing['has']}"
    return f"我是{thing['am']}" if thing["am"] else f"我{thing['does'] or thing['did']}"


def _is_of_ones_own(thing: str, *, han: bool) -> bool:
    """Whether it is a relative, a pet or a thing of a household: not having one is worth keeping."""
    people = f"{kin.chinese()}|{either(words('pets', 'chinese'))}" if han else f"{kin.english()}|{pets()}"
    owned = _role("owned", "chinese" if han else "english")
    return re.fullmatch(rf"(?:[\w-]+ )?(?:{people}|{owned})", thing, IGNORECASE) is not None


def _held_to(sentence: Sequence[Clause], text: str, turn: TurnText, *, han: bool) -> HeldTo | None:
    start, end = sentence[0].start, sentence[-1].end
    said = _bare(text[start:end], han=han)
    if (
        any(clause.question for clause in sentence)
        or (_HELD_TO_CHINESE if han else _HELD_TO_ENGLISH).match(said) is None
    ):
        return None
    name = turn.called(han=han)
    content = f"{name}{said.replace('我', '')}" if han else third_person(said[said.index("I ") :], name)
    return HeldTo(ExtractedStatement(content, "stable_preference", "user_preference", 1, True, 0.8, (start, end)))


_GUESS = regex(
    r"(?<!\bdid )(?<!\bhave )(?<!\bwould )(?<!\bcan )(?<!\bwill )\byou(?:r|'re)?\b(?P<rest>[^.!?]*)",
    IGNORECASE,
)
"""What an assistant guesses of the user, but for what it only asks: "So you live in Bath?", "your name is Tom, right?"."""
_A_THING = regex(
    r"\byou(?:'re| are|'ve got| have(?: got)?| \w+|(?<=\bare you)) an? (?P<thing>[\w-]+(?: [\w-]+)?)(?=[?.!,]|$)",
    IGNORECASE,
)
_VERB_CHINESE = regex("[喝吃用养弹玩学开住叫姓教]|喜欢|最爱")
_NAMES = re.compile(r"\b(?!I\b)[A-Z][\w'-]*(?: [A-Z][\w'-]*)*")


def _corrected(sentence: Sequence[Clause], text: str, turn: TurnText, *, han: bool) -> Corrected | None:
    start, end = sentence[0].start, sentence[-1].end
    said = _bare(text[start:end], han=han)
    if any(clause.question for clause in sentence) or len(said) > 4 * _LONGEST_VALUE:
        return None
    for form in _corrections("chinese" if han else "english"):
        found = form.match(said)
        if found is None:
            continue
        new, old = _value(found["new"]), _value(found.groupdict().get("old") or "")
        sort = _sort_of(new)
        if "no" in found.groupdict():
            old = _guessed(found["new"], turn.asked) or new
        if (
            not new
            or _NO_VALUE.search(new)
            or _NO_VALUE.search(old)
            or new.casefold() == old.casefold()
            or not (old or sort)
        ):
            continue
        content = turn.dated(f"{turn.called(han=han)}{'更正：' if han else ' corrected: '}{said}", han=han)
        statement = ExtractedStatement(content, "fact", "note", 1, True, 0.75, (start, end), correction=True)
        return Corrected(new, old or None, sort, statement)
    return None


def _guessed(written: str, asked: str) -> str | None:
    """What a bare "no" puts a value in the place of: the one value of its sort, or of its form, that the assistant just said."""
    new = _value(written)
    sort = _sort_of(new)
    guessed = values_of(sort, asked) if sort and sort != "near" else []
    if not guessed and _NAMES.fullmatch(new):
        guessed = [name for guess in _GUESS.finditer(asked) for name in _NAMES.findall(guess["rest"])]
    if not guessed and re.match("an? ", written, IGNORECASE):
        guessed = [found["thing"] for found in _A_THING.finditer(asked)]
    if not guessed and (verb := _VERB_CHINESE.match(new)) is not None:
        guessed = re.findall(f"{verb[0]}[{HAN}\\w]{{1,8}}?(?=[吧吗呢]|[对是]|[^{HAN}\\w]|$)", asked)
    return guessed[0] if len(guessed) == 1 else None


def _value(written: str) -> str:
    said = written.strip(" ,.;:!?。，；：！？\"'“”")
    return _BEFORE_VALUE.sub("", said).removesuffix(" one")[: _LONGEST_VALUE + 1]


@cache
def _listed() -> dict[str, str]:
    """Sort of each value that is in a list."""
    both = ((word, row["sort"][0]) for row in rows("used") for word in row["english"] + row["chinese"])
    values = ((word.casefold(), row["sort"][0]) for row in rows("values") for word in row["english"] + row["chinese"])
    jobs = dict.fromkeys((*words("jobs", "english"), *words("jobs", "chinese")), "job")
    return dict([*jobs.items(), *both, *values])


@cache
def _of_list(sort: str) -> re.Pattern[str]:
    listed = [word for word, of in _listed().items() if of == sort]
    lower = either(word for word in listed if word == word.casefold())
    capital = either(word for word in listed if word != word.casefold()) or r"(?!)"
    return re.compile(rf"(?<![a-z0-9])(?:{lower}|(?-i:{capital}))(?![a-z0-9])", re.IGNORECASE)


def _sort_of(value: str) -> str | None:
    """The sort of a value that is nothing else: colour, weekday, time, date, number, place ...; None where it is of none."""
    folded = value.casefold()
    if (listed := _listed().get(value) or _listed().get(folded)) is not None:
        return listed
    for sort, form in _SORTS:
        if form.fullmatch(folded):
            return sort
    place = place_at_start(folded)
    return "place" if place is not None and place[1] == len(folded) else None


def _chinese_places(text: str) -> Iterator[tuple[int, tuple[str, int]]]:
    """Where a known place is named in Chinese, with `place_at_start` of it."""
    end = 0
    for at, sign in enumerate(text):
        found = place_at_start(text[at:]) if at >= end and holds_han(sign) else None
        if found is not None:
            end = at + found[1]
            yield at, found


def values_of(sort: str, text: str) -> list[str]:
    """The values of a sort in a text, as written, in order."""
    if sort == "place":
        places = [one[0] for one in re.finditer(r"[A-Z][\w'-]+(?: [A-Z][\w'-]+)*", text) if _sort_of(one[0]) == "place"]
        return places + [text[at : at + found[1]] for at, found in _chinese_places(text)]
    form = next((form for of, form in _SORTS if of == sort), None) or _of_list(sort)
    return [found[0] for found in form.finditer(text)]
