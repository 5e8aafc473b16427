"""Extraction by rules: what the speaker of a turn states about themselves, as statements that stand by themselves (seed 003).

Only what a user or a named person asserts: no question, no supposition, no quotation, no other person's words, nothing an
assistant says. Precision goes before recall, for every turn stays retrievable by itself (memory.md, section 4).

A turn is read with the turn before it: who "he" is, and which question a short answer answers. "She's a paramedic" after "my
wife" says who is one; "Two, and a third on the way" says something with its question. A person is taken only if one person fits:
nearest first, in this turn, in the question before it, in the speaker's turn before that.

Plain statements are what speakers say about themselves and their people in a sentence that no rule with a class of its own reads.
A head is a clause whose subject is the speaker, or one of their people, things or dates. The clauses behind it in the sentence go
with it, up to a question, a request, a supposition or somebody else's words. The words stay those of the speaker.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from engramlog_server.projections.language import kin
from engramlog_server.projections.language.contradiction.slots import place_at_start
from engramlog_server.projections.language.extraction import taking_back
from engramlog_server.projections.language.extraction.chinese import (
    ADVERB,
    PEOPLE_CHINESE,
    TIME,
    about,
    chinese_clauses,
    chinese_statement,
    of_the_hour,
    one_of_ours,
    opened_chinese,
    says_something,
)
from engramlog_server.projections.language.extraction.chinese import LEFT_OPEN as CHINESE_LEFT_OPEN
from engramlog_server.projections.language.extraction.chinese import UNSURE as CHINESE_UNSURE
from engramlog_server.projections.language.extraction.english import (
    english_clauses,
    english_statement,
    of_a_program,
    of_a_task,
    opened,
    unsure,
)
from engramlog_server.projections.language.extraction.english_rules import (
    DOCTORS,
    INNER_NOW,
    LEADING_TIME,
    NOBODY,
    OF_THE_HOUR,
    PEOPLE,
    VAGUE,
    in_third,
    is_whole,
    one_of_mine,
    pets,
    telling_words,
    third_person,
)
from engramlog_server.projections.language.extraction.incidental import chinese_birthday, english_birthday, incidental
from engramlog_server.projections.language.extraction.instructions import (
    ENOUGH,
    INSTRUCTION,
    INSTRUCTION_HINTS,
    KEEPING_HINTS,
    Keeping,
    chinese_keeping,
    english_keeping,
    instructions,
    kept,
)
from engramlog_server.projections.language.extraction.shape import Clause, ExtractedStatement, TurnText, talk_of
from engramlog_server.projections.language.extraction.taking_back import Taken, taken_back
from engramlog_server.projections.language.keywords import extracted, without_day
from engramlog_server.projections.language.lexicon import either, simplified, words
from engramlog_server.projections.language.patterns import holds_han, regex
from engramlog_server.projections.language.times.bounds import limited_to
from engramlog_server.projections.language.times.calendar import MONTH, MONTHS, WEEKDAY, WEEKDAYS

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


def _with_people(clauses: Sequence[Clause], text: str, turn: TurnText, *, han: bool) -> list[Clause]:
    """The clauses with those whom "he", "she", "it" and 他, 她 at their beginning stand for, if only one person can be meant."""
    found: list[Clause] = []
    for clause in clauses:
        before = (text[: clause.start], turn.asked, turn.before)
        found.append(clause._replace(text=(_resolved_chinese if han else _resolved_english)(clause.text, before)))
    return found


def _resolved_english(said: str, before: Sequence[str]) -> str:
    plain = said.replace("’", "'")
    if (dated := _IT_IS_ON.match(plain)) is not None and (of := list(_SOMETHING_OF_MINE.finditer(before[0]))):
        return f"My {of[-1]['what']} is {plain[dated.end() :]}"
    pronoun = _SHE_OR_HE.match(plain)
    if pronoun is None:
        return said
    female = (pronoun["whose"] or pronoun["who"]).casefold() in ("she", "her")
    person = next((one for text in before if (one := _fitting(_people(text), female=female)) is not False), None)
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


def _fitting(people: Sequence[_Person], *, female: bool) -> _Person | bool | None:
    """The one who fits; None if several do, False if there is nobody."""
    other, same = (_MEN, _WOMEN) if female else (_WOMEN, _MEN)
    fits = [one for one in people if same.search(one.key) or not other.search(one.key)]
    return fits[0] if len(fits) == 1 else None if fits else False


def _resolved_chinese(said: str, before: Sequence[str]) -> str:
    pronoun = _HE_CHINESE.match(said.lstrip())
    if pronoun is None:
        return said
    for text in before:
        plain = simplified(text)
        people = list(dict.fromkeys(found[0] for found in _PERSON_CHINESE.finditer(plain) if found[0] not in _BOTH))
        of_pets = [
            _Person(f"我{who}", who) for who in people if (pronoun[0] == "它") == bool(_PETS_CHINESE.search(who))
        ]
        person = _fitting(of_pets, female=pronoun[0] == "她")
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
_FIRST_SENTENCE = regex(r"(?:\b(?:M[rs]|Mrs|Dr|St)\.|[^.!?。！？\n]|\.(?=\w))+[.!?。！？]*")
_COUNTS = regex(
    r"(?:about |only |just )?(?:\d|one|two|three|four|five|six|seven|eight|nine|ten|a couple|a few)\b", re.IGNORECASE
)
_TELLS = regex(r"\d|[A-Za-z]{3}|[\u4e00-\u9fff]{2}")


def _answered(
    clauses: Sequence[Clause], read: Sequence[tuple[int, int]], text: str, turn: TurnText, *, han: bool
) -> Iterator[ExtractedStatement]:
    """The first sentence of a turn with the question that it answers, if nothing else reads it: "Two, and a third on the way"."""
    asked = simplified(turn.asked).strip() if han else turn.asked.strip()
    question = (_ASKS_CHINESE if han else _ASKS_ENGLISH).search(asked)
    first = _FIRST_SENTENCE.match(text.lstrip())
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


_CONFIDENCE = 0.6
_MOST_SAID = 300
_Spans = Sequence[tuple[int, int]]
_QUOTE = regex('["“”「」『』~]')

_OTHERS_MIND = (
    r"(?!.*\b(?:says?|said|saying|told|tells|thinks?|thought|asked|asks|wants|hopes?|wrote|writes|claims?|believes?|swears"
    r"|knows)\b)"
)
_OF_LIFE = (
    r"(?:(?:is|was|turned|turns|'s) (?:now |only |just |already |almost |nearly )?(?:\d{1,2}|one|two|three|four"
    r"|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:-\w+)?)\b"
    r"|(?:is|'s|was|has been) (?:also |now |still )?(?:pregnant|allergic|asthmatic|diabetic|coeliac|celiac|vegan"
    r"|vegetarian|teething|engaged|married"
    r"|divorced|retired|widowed|away|my (?:{mine})|afraid of|scared of|deaf|blind|ill|sick|moving|expecting)\b"
    r"|(?:doesn't|does not|can't|cannot|won't) (?:eat|drink|like|do|have|tolerate|swim|drive)\b|(?:loves|hates"
    r"|likes|prefers|adores|collects) "
    rf"|(?:lives|works|studies|goes|starts|started|got married|passed|graduated)\b|(?:has"
    rf"|gets) (?:an? )?(?:\w+ )?(?:allergy|asthma|appointment|exam|recital|match|fever|murmur|diabetes|arthritis"
    rf"|infection|operation)|has (?:sworn off|given up|moved|left|started|finished|lost|broken)\b"
    rf"|'s \w+ (?:swells?|hurts?|aches|(?:is|was) .*(?:\d|{WEEKDAY}|{MONTH})))"
)
"""What is said of people and animals that one lives with."""
_ENGLISH_HEAD = (
    r"(?P<i>I(?:'m|'ve)?|We(?:'re|'ve| are| have)) \S|We (?:only |just |finally )?(?:live|pay|share|run|keep|rent|speak|eat"
    r"|grow|raise|foster|celebrate|spoke|built|moved"
    r"|agreed|bought|sold|got|adopted|rent|rented|booked|chose|own) \S"
    rf"|(?!My (?:[\w-]+ ){{0,2}}?(?:{{mine}})'s (?!family\b)){_OTHERS_MIND}"
    rf"My (?!birthday\b)(?:[\w-]+ ){{0,2}}?(?:{{mine}})(?:'s family)?(?:,? [A-Z][\w'-]+,?)? \S"
    rf"|{_OTHERS_MIND}My (?!(?:[\w'-]+ )?(?:instructions?|requests?|prompt|question|message|decision|directive|demand)\b"
    rf"|(?:idea|question|point|guess|bad|plan|thought|code|app|problem|issue|goal|birthday"
    rf"|avatar|character|hero|player"
    r"|prompt|answer|criteria|intent|principles|thoughts|instruction|instructions|anxiety|stress|mood|heart|mind"
    r"|life|schedule|goal|day|week|request|point|original|core|main|biggest|result|data|mistake|apologies"
    r"|understanding|friend|boss)\b)[\w'-]+(?: [\w-]+){0,2} (?:is|are|has|have|was|moves|moved|ends|starts|died|broke|runs"
    r"|costs|closes|opens|expires)\b"
    rf"|(?:The|My) (?:{DOCTORS}) (?:put|took|started|diagnosed|prescribed|referred) me \S"
    r"|The [\w-]+ (?:in|at|of) (?:my|our) (?:[\w-]+ ){0,2}?[\w-]+ (?:broke|is|was|has|needs|leaks)\b"
    rf"|(?!(?:It|That|This|There|What|Who|He|She|Here|The|I|My|We|You|They|{NOBODY})\b){_OTHERS_MIND}"
    rf"[A-Z][a-zà-ÿ]+(?: |(?='s)){_OF_LIFE}"
)
_ADVERBS = (
    r"(?:(?:also|just|still|now|then|only|really|always|actually|already|do|so|very|a bit|quite|pretty|all|both|kind of"
    r"|totally|completely|\w+ly|been|a little|a bit) )*"
)
_ENGLISH_FLEETING = (
    rf"(?:I|We)(?:'m|'re|'ve| am| are| have| has| was| were)? {_ADVERBS}(?:think|thought|guess|means?|meant|propose|suppose"
    rf"|believe|hope|hoped|wish|wonder"
    r"|see|saw|insists?|insisted|state[ds]?|explained|mentioned|follow(?:ed)? the|check(?:ed)?|wanna|stay"
    r"|understand|understood|know|knew|agree|disagree|appreciate|thank|thanks|feel|felt|needs?|needed"
    r"|wants?|wanted|would|could|should|might"
    r"|may|must|will|shall|going to|gonna|about to|like to|looked?|loved?|remember|forget|forgot|recall|asked?"
    r"|says?|said|tell|told|hear|heard|noticed?"
    r"|reali[sz]ed?|try|tried|apologi[sz]e|promise|care|doubt|imagined?|come|came across|(?:got|have) (?:it"
    r"|an? (?:\w+ )?(?:idea|error|question|problem|issue|doubt|feeling))|get it|seem|consider"
    rf"|assume|expect|figured?|can(?!.*\d)|had to|have to(?! \w+ (?:\w+ )*\d)|{INNER_NOW}|{OF_THE_HOUR}|sorry|glad"
    rf"|happy|sad|excited|afraid|sure|ready|done|here"
    r"|back|good|fine|great|okay|ok|tired|exhausted|hungry|busy|bored|stuck|confused|lost|late|wrong|right|serious"
    r"|impressed|surprised|worried|nervous"
    r"|(?:just |already )?(?:reviewed|finali[sz]ed|confirmed|checked|uploaded|attached|pasted)\b(?!.*\d)"
    r"|requires?|recogni[sz]e|provided|requested|demanded|prepared to|gone from"
    r"|thrilled|proud|stressed|drained|thankful|grateful|lucky|blessed|unsure|concerned|unable|anxious|overwhelmed"
    r"|hooked|frustrated|annoyed|upset|drawn|keen|nervous|curious|interested|open|able|bothered|off(?: to\b(?!.*\d)|\W*$)"
    r"|no|in\W*$|out\W*$)\b"
    r"|.*'(?:d|ll)\b|.*(?:\b(?:not|never|cannot|nothing|nobody)\b|(?<!does)(?<!ca)n't\b)|.*\bin my (?:show|novel"
    r"|story|game|dream)|I(?:'m| am) an? (?:\w+ )?(?:character|avatar|wizard|elf|robot|AI)\b|.*\b(?:role-?play\w*|pretend\w*"
    r"|supposed to|coming soon)\b"
)
_CHINESE_HEAD = (
    f"(?:{TIME}|再就是|再有就是|还有|另外|顺便说一?下?|其实|不过){{{{0,2}}}}"
    "(?:我(?:们|們|自己|这边|家里?)?的?(?:{ours})?|咱们|(?:{ours})(?:叫[^，。]{{1,4}})?"
    "|[老小阿](?![师板公婆时区说是人])[\u4e00-\u9fff](?=要|在|是|有|对|不|会|去|考|下))(?![的，。？?]*$)."
    f"|[^，。我你您他她它这那]{{{{1,8}}}}?{TIME}{{{{0,2}}}}(?:卖|丢|扔|退|坏|关|停|拆|戒|辞|送人|报废|取消)掉?了.*"
    "|每(?:[天周月年晚早]|个(?:周|星期|月)|逢)[^，。你您]{{2,}}"
    "|[^，。我你您他她它这那]{{2,3}}(?:要|快要|刚|已经|昨天)(?:结婚|怀孕|生孩子|离婚|退休|毕业|住院|出院|订婚|升职)了?"
    "|(?!今|明|昨|现在)[^，。我你您他她它这那]{{2,8}}也?(?:定在|改到|改成|安排在|约在|是(?=\\d"
    "|[一二三四五六七八九十]+月|每|周|下))(?:\\d|[一二三四五六七八九十]+月|每|周|下).+"
    "|(?:\\d{{1,2}}|[一二三四五六七八九十]{{1,3}})月(?:\\d{{1,2}}|[一二三四五六七八九十]{{1,3}})[日号]我?要.{{2,}}"
    "|[^，。我你您]{{1,6}}(?:把|让)我(?:调|派|分|升|转)[到去成为].+"
)
_CHINESE_FLEETING = (
    "^(?!每)[^，]{0,4}?(?:我们?|咱们?)(?:也|都|就|还|只|真的?|很|有点|倒是?|不|没|并不|已经|刚|其实|自己|一直|总|老|先"
    "|再|才|是|随便|现在|今天|一般|通常|最近){0,3}"
    "(?:想(?!念)|希望|觉得|认为|以为|知道|明白|理解|懂|记得|忘|谢|感谢|问|说|告诉|看看|试|需要|要(?!求)|可以|能"
    "|应该|该|会|猜|怕|担心|听|喜欢|讨厌|爱(?!人)|同意|确定|打算|准备"
    "|信|晓得|清楚|考虑|开玩笑|好奇|愿意|错|等|看|来|去|行|好|对(?!.*过敏)|随口|逗|指|遇到了?一些|有一?[个些]?(?:问题|想法|疑问))"
    "|^[^，]{0,4}?我们(?:来|先|再|继续|开始|聊|谈)|^我[^，]{1,6}(?:说|问|以为|觉得|认为|告诉|总说|老说|叫我|让我"
    "|催我|劝我)|^.*(?:错了|白日梦|吃亏|吃醋|看错|原点|怀疑人生|在外面|生日|心情|感[觉到激]|相信|困惑|期待|疲惫"
    "|沮丧|好多了|再聊|再见|拜拜|无望|着迷)|^我的(?:灵感|视野|想法|问题|意思|建议|生活|目标|内心)"
    "|^我?[^，我]{0,4}正?在(?:打|看|吃|睡|做饭|洗|买)"
)


class _Plain(NamedTuple):
    """How the plain statements of one language are read."""

    opened: Callable[[Clause], str]
    """A clause from its subject on."""
    head: re.Pattern[str]
    """How a head begins."""
    fleeting: re.Pattern[str]
    """A head that says what is thought, felt, wanted, denied or done in this talk."""
    addressed: re.Pattern[str]
    """Words to the listener."""
    ends: re.Pattern[str]
    """A clause behind a head that does not belong to it."""
    continues: re.Pattern[str]
    """The sentence behind it if it leaves out the subject: "Due in November"."""
    says: Callable[[str, Clause], bool]
    """Whether a head stands by itself and says something in particular."""
    content: Callable[[str, str, TurnText], str]
    """The head and the words behind it, about the speaker by name, with the day."""


def _plain_statements(
    clauses: Sequence[Clause], read: _Spans, text: str, turn: TurnText, plain: _Plain
) -> Iterator[ExtractedStatement]:
    """The plain statements of a text's clauses in one language. `read`: spans that other rules read; a Chinese head
    of these makes a statement only with clauses behind it that they did not read.
    """
    at = 0
    while at < len(clauses):
        head, last = clauses[at], at
        said = _head(head, plain)
        at += 1
        if said is None:
            continue
        while clauses[last].after and last + 1 < len(clauses) and _goes_with(clauses[last + 1], text, plain):
            last += 1
        if plain.continues.match(text[clauses[last].end : clauses[last + 1].end] if last + 1 < len(clauses) else ""):
            last += 1
        behind = clauses[at : last + 1]
        if _is_read(head, read) and (
            plain is _PLAIN_ENGLISH or all(_is_read(one, read) or limited_to(one.text) for one in behind)
        ):
            continue
        at = last + 1
        rest = _LINK.sub("", text[head.end : clauses[last].end].rstrip(" .!;,。！；，…"))
        rest = f", {rest.strip()}" if rest and text[head.end - 1] in ".!" else rest
        rest = rest if len(said) + len(rest) <= _MOST_SAID else ""
        content = plain.content(said, rest, turn)
        yield ExtractedStatement(content, "fact", "fact", 1, True, _CONFIDENCE, (head.start, clauses[last].end))


_LINK = regex(r"(?:^|[ ,;，；]+)(?:so|and|but|or|because|所以|但是?|而且|并且|因为)$", re.IGNORECASE)
"""A conjunction behind which nothing follows that belongs to the statement."""


def _is_read(clause: Clause, read: _Spans) -> bool:
    return any(start < clause.end and clause.start < end for start, end in read)


def _head(clause: Clause, plain: _Plain) -> str | None:
    """The clause from its subject on if it is a head."""
    if not clause.asserted or clause.question or len(clause.text) > _MOST_SAID or _QUOTE.search(clause.text):
        return None
    if clause.before.endswith("吧"):
        return None  # an order goes on: "set it, each day at nine"
    said = plain.opened(clause)
    if plain.head.match(said) is None or plain.fleeting.match(said) or plain.addressed.search(said):
        return None
    return said if plain.says(said, clause) else None


def _goes_with(clause: Clause, text: str, plain: _Plain) -> bool:
    said = text[clause.start : clause.end].strip()  # without a subject that was put before it
    sure = clause.asserted and not clause.question and _QUOTE.search(said) is None
    return sure and plain.ends.match(said) is None and plain.addressed.search(said) is None


_LED = regex(
    r"^(?:(?:I (?:should|must|have to) say|remind me|by the way|and|but|so|also|oh|ha|no|yes|well),? "
    r"|[a-z]+(?: [a-z]+){0,2}: )+(?=\S)",
    re.IGNORECASE,
)
_ASIDE = regex(r",? (?:that's|it's|which is|thanks?|thank god|by the way|though)\b.*$", re.IGNORECASE)


def _opened_english(clause: Clause) -> str:
    text = re.sub(r"\bhere, (?=(?:to|in) [A-Z])", "", _LED.sub("", clause.text.strip(" ,.;")))
    if (led := LEADING_TIME.match(text)) is not None:
        text = f"{text[led.end() :]} {led['time'][:1].lower()}{led['time'][1:]}"
    text = re.sub(
        r"^Our (?!team|people|species|ancestors|planet|country|users|customers|app|code)(?=[a-z])", "My ", text
    )
    text = re.sub(r"^(My (?:[\w'-]+ ){0,2}?[\w-]+)'s (?=(?:on|at|in|due|the|an?|not|\d)\b)", r"\1 is ", text)
    said = _ASIDE.sub("", opened(text, elided=clause.elided)[0])
    if _PLAIN_ENGLISH.head.match(said) is None:
        behind = (opened(text[one.end() :], elided=False)[0] for one in re.finditer(", ", text))
        said = next((one for one in behind if _PLAIN_ENGLISH.head.match(one)), said)
    return said


_OWN = regex(r"\btheir\b")
_HALF_A_SUBJECT = regex(
    r"My (?!.*\band\b.* are\b)(?:[\w'-]+ ){0,2}?"
    r"(?!(?:family|children|grandchildren|people|folks|team|staff|men|women)\b)\w*[^\Ws] are\b"
)
"""One person with the verb of several: the others are in a clause before."""


def _says_english(said: str, clause: Clause) -> bool:
    thing = said.split(" ", 1)[1]
    words = telling_words(thing)
    named = any(word[0].isupper() or word[0].isdigit() for word in words)
    if unsure(said) or not is_whole(said, thing) or (VAGUE.search(said) and not named) or _HALF_A_SUBJECT.match(said):
        return False
    at_it = re.match(r"(?:I|We)(?:'m|'re) \w+ing\b", said) is not None
    if of_a_program(thing) or (re.match(r"(?:I|We|My)\b", said) and of_a_task(said, clause.around, at_it=at_it)):
        return False
    stands = (
        re.match(
            r"(?:I|We)(?:'m|'re|'ve| am| have) (?:an? |(?<=m )the |got |off )?\w+(?: now)?$|(?!I\b|We\b|My\b)", said
        )
        is not None
    )
    return len(words) >= (1 if named or stands else 2)


def _english_content(said: str, rest: str, turn: TurnText) -> str:
    name = turn.name or "User"
    if re.match(r"(?:I|We|My)\b", said):
        sentence = third_person(said, name)
    else:
        sentence = _OWN.sub(f"{name}'s", in_third(re.sub(r"\bme\b", name, said, count=1)), 1)
    return f"{sentence}{in_third(rest)}" + (f" (said on {turn.day})" if turn.day else "")


_SUBJECT = regex(
    lambda: (
        f"^(?:{TIME}|{ADVERB})*(?:我(?:们|自己|家里?)?的?(?:{one_of_ours()})?)?(?:{TIME}|{ADVERB}|[常有时候从小]){{0,40}}"
    )
)
_OF_ONES_OWN = regex("每|[^我]*(?:卖|丢|扔|退|坏|关|停|拆|戒|辞|送人|报废|取消)掉?了")
_LOST_ITS_OBJECT = regex("(?:从不|从来不|不再|已经不|早就不)[吃喝抽看听穿用玩做]了?$|啥都|什么都")
"""A verb without what it is done to, or a remark in jest."""
_REPEATS = regex(r"(.{1,7})\1{3}")
_HERE = regex("(?<=[\u4e00-\u9fff])[这那]边")


def _says_chinese(said: str, _clause: Clause) -> bool:
    thing = _SUBJECT.sub("", said, count=1)
    plain = _HERE.sub("", said)
    return (
        len(said) >= 3
        and _REPEATS.search(said) is None
        and says_something(plain, _HERE.sub("", thing), 2)
        and not (
            CHINESE_UNSURE.search(said)
            or _LOST_ITS_OBJECT.search(said)
            or CHINESE_LEFT_OPEN.search(plain)
            or PEOPLE_CHINESE.search(said)
            or of_the_hour(said)
        )
    )


def _chinese_content(said: str, rest: str, turn: TurnText) -> str:
    name = turn.name or "用户"
    own = re.match(f"(?:{TIME}|{ADVERB}|[再还]?有?就是|还有|另外)*我|(?:{one_of_ours()})", said)
    said = about(said, name) if own or _OF_ONES_OWN.match(said) else re.sub("我(?:[们們](?=全?家))?", name, said)
    sentence = f"{said}{rest.replace('我的', '自己的').replace('我', name)}"
    return re.sub(f"{re.escape(name)}[们們]", f"{name}等人", sentence) + (f"（{turn.day}说）" if turn.day else "")


_PLAIN_ENGLISH = _Plain(
    _opened_english,
    regex(lambda: _ENGLISH_HEAD.replace("{mine}", one_of_mine())),
    regex(_ENGLISH_FLEETING),
    regex(r"\b(?:you|your|yours|you're|you've|you'll|you'd|please|let's|let me)\b", re.IGNORECASE),
    regex(
        r"^\W*(?:(?:and|but|so|or),? )?(?:I|I'm|I've|I'll|I'd|my|we|we're|we've|what|how|can|could|should|would|any"
        r"|maybe|if|thanks|right|is|are|do"
        r"|does|keep|put|give|make|help|remind|tell|show|find|write|add|plan|suggest|explain|send|word|skip|use|set"
        r"|draft|list)\b",
        re.IGNORECASE,
    ),
    regex(r"\s*(?:Due|Born|Based|Called|Named|Booked|Since|Every|Until|Usually|Always)\b[^?]{2,50}$"),
    _says_english,
    _english_content,
)
_PLAIN_CHINESE = _Plain(
    lambda clause: re.sub(
        "^(我们?家?)那[台只个条辆把张部套间口]|^(每[^，我]{1,6})我(?:都要|都|要|会)?",
        r"\1\2",
        opened_chinese(clause.text),
    ),
    regex(lambda: _CHINESE_HEAD.replace("{ours}", one_of_ours()).replace("{{", "{").replace("}}", "}")),
    regex(_CHINESE_FLEETING),
    regex("[你您]|请|帮我|给我|替我|麻烦|提醒我|别给"),
    regex(
        "我|咱|你|您|请|帮|给我|[^，。]{0,4}(?<![特区差分个级])别(?![的人处家])|[^，。我]{0,6}(?:短|长|大|小|快|慢|简单|详细|清淡|便宜|轻|软|少)(?:一)?[点些][。！]?$"
        "|[^，。]{0,4}(?<![想要])换[点个些]|不要|麻烦|列|写|安排|推荐|提醒|怎么|有没有|能不能|可以|如果|要是|谢|对吧|是吧"
    ),
    regex("(?!)"),
    _says_chinese,
    _chinese_content,
)


MOST_STATEMENTS = 12
"""Statements of one turn: a pasted text is no talk."""
_SENTENCE = regex(r"[^。！？!?.\n]+[。！？!?.\n]*")


class TurnReading(NamedTuple):
    """All that rules read of a turn."""

    statements: tuple[ExtractedStatement, ...] = ()
    taken: tuple[Taken, ...] = ()
    """What its speaker takes back."""


def read_turn(turn: TurnText) -> TurnReading:
    """What the turn states and takes back, each in order. Never raises, whatever the text."""
    if not turn.by_person:
        return TurnReading()
    plain = simplified(turn.text) if holds_han(turn.text) else turn.text
    if plain != turn.text:
        return _as_written(read_turn(turn._replace(text=plain)), turn.text, plain)
    talk = talk_of(turn.text)
    by_language = [
        (language, _with_people(said, talk.text, turn, han=language.han)) for language, said in _by_language(talk.text)
    ]
    taken: list[Taken] = []
    if _hints(talk.text.casefold().replace("’", "'"), taking_back.HINTS):
        for language, said in by_language:
            taken += taken_back(said, talk.text, turn, language.statement, han=language.han)
    found: dict[str, ExtractedStatement] = {}
    for statement in _statements(talk.text, turn, by_language, [one.said.span for one in taken]):
        found.setdefault(statement.content, statement._replace(span=talk.span(statement.span)))
    placed = [one._replace(said=_with_keywords(one.said)._replace(span=talk.span(one.said.span))) for one in taken]
    stated = tuple(_with_keywords(one) for one in _most(list(found.values())))
    return TurnReading(stated, tuple(sorted(placed, key=lambda one: one.said.span)))


_OWN_WORDS = regex("(?:用户[^，。：（]{2,8}：|用户)?")
"""What rules write before the words of a turn: 用户, 用户要求记住：."""


def _as_written(reading: TurnReading, written: str, plain: str) -> TurnReading:
    """What was read of a text in simplified characters, in the characters in which it was written."""

    def back(text: str) -> str:
        """Each longest piece of the text that the turn has, as the turn has it; words of a rule's own stay."""
        led = _OWN_WORDS.match(text)
        found, at = [] if led is None else [led[0]], 0 if led is None else led.end()
        while at < len(text):
            end = at + 1
            while end < len(text) and text[at : end + 1] in plain and text[end] != "（":
                end += 1
            place = plain.find(text[at:end]) if end - at > 1 or end == len(text) else -1
            found.append(text[at:end] if place < 0 else written[place : place + end - at])
            at = end
        return "".join(found)

    def restored(one: ExtractedStatement) -> ExtractedStatement:
        triple = one.triple
        if triple is not None:
            triple = triple._replace(subject=back(triple.subject), object=back(triple.object))
        ends = None if one.ends is None else back(one.ends)
        return one._replace(
            content=back(one.content), triple=triple, ends=ends, keywords=tuple(map(back, one.keywords))
        )

    taken: list[Taken] = [one._replace(said=restored(one.said)) for one in reading.taken]
    return TurnReading(tuple(map(restored, reading.statements)), tuple(taken))


def extract(turn: TurnText) -> list[ExtractedStatement]:
    """What the turn states, in order; also what it only asks or supposes, as not `asserted`."""
    return list(read_turn(turn).statements)


def only_asks(turn: TurnText) -> bool:
    """Whether the turn is a question and nothing else: it has nothing to find again."""
    said = [one for one in clauses(talk_of(turn.text).text) if any(map(str.isalnum, one.text))]
    return bool(said) and all(one.question for one in said) and not any(one.asserted for one in extract(turn))


def _hints(folded: str, hints: Iterable[str]) -> bool:
    """Whether a text may hold what has one of these in it: most need not be looked at."""
    return any(hint in folded for hint in hints)


def _most(found: list[ExtractedStatement]) -> list[ExtractedStatement]:
    """As many as may be of one turn: what is to be kept stays, then what was said first."""
    if len(found) <= MOST_STATEMENTS:
        return found
    asked = [one for one in found if one.kind in ("note", INSTRUCTION)][:MOST_STATEMENTS]
    others = [one for one in found if one not in asked][: MOST_STATEMENTS - len(asked)]
    return [one for one in found if one in asked or one in others]


class _Language(NamedTuple):
    """How one language is read: its sentences by the script they are in, clause by clause, each by the first rule that fits."""

    han: bool
    clauses: Callable[[str], Iterator[Clause]]
    statement: Callable[[Clause, TurnText], ExtractedStatement | None]
    birthday: Callable[[Clause, TurnText], ExtractedStatement | None]
    keeping: Callable[[], Keeping]
    """How it says that something is to be kept."""
    plain: _Plain
    incidental: Callable[[Clause, TurnText, ExtractedStatement | None], Iterator[ExtractedStatement]] | None = None
    """The facts that a clause mentions in addition to its own statement."""


_ENGLISH = _Language(
    False, english_clauses, english_statement, english_birthday, english_keeping, _PLAIN_ENGLISH, incidental
)
_CHINESE = _Language(True, chinese_clauses, chinese_statement, chinese_birthday, chinese_keeping, _PLAIN_CHINESE)


def _by_language(text: str) -> Iterator[tuple[_Language, list[Clause]]]:
    """The clauses of a text by the language they are in, in order: the English ones, then the Chinese ones."""
    languages = (_ENGLISH, _CHINESE) if holds_han(text) else (_ENGLISH,)
    for language in languages:
        own = text if len(languages) == 1 else _only(text, han=language.han)
        yield language, list(language.clauses(own))


def clauses(text: str) -> list[Clause]:
    """The English and the Chinese clauses of a text, in order, each with whether it is asserted; `talk_of` gives such texts."""
    return sorted((clause for _, said in _by_language(text) for clause in said), key=lambda one: one.start)


def _statements(
    text: str,
    turn: TurnText,
    read_by_language: Sequence[tuple[_Language, list[Clause]]],
    taken: Sequence[tuple[int, int]],
) -> list[ExtractedStatement]:
    """What the clauses state, and what is to be kept in other words than these. `taken`: spans of what is taken back."""
    found: list[ExtractedStatement] = []
    folded = text.casefold().replace("’", "'")
    instructed, asked = _hints(folded, INSTRUCTION_HINTS), _hints(folded, KEEPING_HINTS)
    for language, said in read_by_language:
        stated, read = list[ExtractedStatement](), list(taken)
        for clause in said:
            typed = language.statement(clause, turn) or language.birthday(clause, turn)
            if typed is not None:
                stated.append(typed)
                read.append((clause.start, clause.end))
            if language.incidental is not None:
                stated += language.incidental(clause, turn, typed)
        wanted = list(instructions(said, text, turn, language.keeping(), han=language.han)) if instructed else []
        notes = [*wanted, *(kept(said, text, turn, language.keeping()) if asked else ())]
        notes = [one for one in notes if one in wanted or not any(_within(one.span, asked.span) for asked in wanted)]
        read += [one.span for one in notes]
        for whole in _plain_statements(said, read, text, turn, language.plain):
            part = next((one for one in stated if _begins_with(whole, one)), None)
            stated = [one for one in stated if one is not part]
            stated.append(whole if part is None else part._replace(content=whole.content, span=whole.span))
        read += [one.span for one in stated]
        stated += _answered(said, read, text, turn, han=language.han)
        remaining = [one for one in notes if one in wanted or not _stands_for(stated, one)]
        certain = [one for one in notes if one not in remaining]
        stated = [one for one in stated if not any(_within(one.span, asked.span) for asked in wanted)]
        found += [_noted(one, certain) for one in stated if not any(_replaces(note, one) for note in remaining)]
        found += remaining
    return sorted(found, key=lambda one: one.span)


def _begins_with(whole: ExtractedStatement, one: ExtractedStatement) -> bool:
    """Whether a plain statement says what another one says, and more: the same fact with the clauses behind it."""
    return one.asserted and without_day(whole.content).startswith(without_day(one.content))


def _stands_for(stated: Sequence[ExtractedStatement], note: ExtractedStatement) -> bool:
    """Whether typed statements say nearly all of what is to be kept."""
    (start, end), within = note.span, [one.span for one in stated if one.asserted and _within(one.span, note.span)]
    covered = sum(min(end, b) - max(start, a) for a, b in within)
    return covered >= ENOUGH * (end - start)


def _replaces(note: ExtractedStatement, one: ExtractedStatement) -> bool:
    """Whether what is to be kept says all that a statement which is asserted by nobody says."""
    return _within(one.span, note.span) and not one.asserted and note.asserted


def _noted(one: ExtractedStatement, sure: Sequence[ExtractedStatement]) -> ExtractedStatement:
    confidence = max([one.confidence, *(note.confidence for note in sure if _within(one.span, note.span))])
    return one._replace(confidence=confidence)


def _only(text: str, *, han: bool) -> str:
    """The text with only those sentences that have, or have not, Han characters; all stay in their places."""
    return _SENTENCE.sub(lambda found: found[0] if holds_han(found[0]) == han else "\n" * len(found[0]), text)


def _within(inner: tuple[int, int], outer: tuple[int, int]) -> bool:
    return inner[0] < outer[1] and outer[0] < inner[1]


def questions(turn: TurnText) -> list[str]:
    """The questions that the turn asks, each by itself, as written."""
    if not turn.by_person or not ("?" in turn.text or "？" in turn.text):
        return []
    asked = re.findall(r"[^.!?。！？\n]{6,200}[?？]", talk_of(turn.text).text)
    return [found.strip() for found in asked][:MOST_STATEMENTS]


def _with_keywords(statement: ExtractedStatement) -> ExtractedStatement:
    about = statement.content if statement.triple is None else statement.triple.object
    words = tuple(dict.fromkeys(one.word for one in extracted(about, 5)))
    return statement._replace(keywords=words)
