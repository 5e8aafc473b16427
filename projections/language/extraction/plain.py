"""Plain statements: what speakers say about themselves and their people in a sentence that no rule with a class of its own reads.

A head is a clause whose subject is the speaker, or one of their people, things or dates. The clauses behind it in the sentence go
with it, up to a question, a request, a supposition or somebody else's words. The words stay those of the speaker.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from engramlog_server.projections.language.extraction.chinese import LEFT_OPEN as CHINESE_LEFT_OPEN
from engramlog_server.projections.language.extraction.chinese import PEOPLE, about, opened_chinese, says_something
from engramlog_server.projections.language.extraction.chinese import UNSURE as CHINESE_UNSURE
from engramlog_server.projections.language.extraction.chinese_rules import ADVERB, TIME, one_of_ours
from engramlog_server.projections.language.extraction.english import opened, unsure
from engramlog_server.projections.language.extraction.english_rules import (
    DOCTORS,
    INNER_NOW,
    LEADING_TIME,
    NOBODY,
    OF_THE_HOUR,
    one_of_mine,
)
from engramlog_server.projections.language.extraction.english_standing import VAGUE, is_whole, telling_words
from engramlog_server.projections.language.extraction.fleeting import limited_to, of_a_program, of_a_task, of_the_hour
from engramlog_server.projections.language.extraction.shape import Clause, ExtractedStatement, TurnText
from engramlog_server.projections.language.extraction.third_person import in_third, third_person
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.times.names import MONTH, WEEKDAY

CONFIDENCE = 0.6
MOST_SAID = 300
Spans = Sequence[tuple[int, int]]
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


class Plain(NamedTuple):
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


def plain_statements(
    clauses: Sequence[Clause], read: Spans, text: str, turn: TurnText, plain: Plain
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
            plain is ENGLISH or all(_is_read(one, read) or limited_to(one.text) for one in behind)
        ):
            continue
        at = last + 1
        rest = _LINK.sub("", text[head.end : clauses[last].end].rstrip(" .!;,。！；，…"))
        rest = f", {rest.strip()}" if rest and text[head.end - 1] in ".!" else rest
        rest = rest if len(said) + len(rest) <= MOST_SAID else ""
        content = plain.content(said, rest, turn)
        yield ExtractedStatement(content, "fact", "fact", 1, True, CONFIDENCE, (head.start, clauses[last].end))


_LINK = regex(r"(?:^|[ ,;，；]+)(?:so|and|but|or|because|所以|但是?|而且|并且|因为)$", re.IGNORECASE)
"""A conjunction behind which nothing follows that belongs to the statement."""


def _is_read(clause: Clause, read: Spans) -> bool:
    return any(start < clause.end and clause.start < end for start, end in read)


def _head(clause: Clause, plain: Plain) -> str | None:
    """The clause from its subject on if it is a head."""
    if not clause.asserted or clause.question or len(clause.text) > MOST_SAID or _QUOTE.search(clause.text):
        return None
    if clause.before.endswith("吧"):
        return None  # an order goes on: "set it, each day at nine"
    said = plain.opened(clause)
    if plain.head.match(said) is None or plain.fleeting.match(said) or plain.addressed.search(said):
        return None
    return said if plain.says(said, clause) else None


def _goes_with(clause: Clause, text: str, plain: Plain) -> bool:
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
    if ENGLISH.head.match(said) is None:
        behind = (opened(text[one.end() :], elided=False)[0] for one in re.finditer(", ", text))
        said = next((one for one in behind if ENGLISH.head.match(one)), said)
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
            or PEOPLE.search(said)
            or of_the_hour(said)
        )
    )


def _chinese_content(said: str, rest: str, turn: TurnText) -> str:
    name = turn.name or "用户"
    own = re.match(f"(?:{TIME}|{ADVERB}|[再还]?有?就是|还有|另外)*我|(?:{one_of_ours()})", said)
    said = about(said, name) if own or _OF_ONES_OWN.match(said) else re.sub("我(?:[们們](?=全?家))?", name, said)
    sentence = f"{said}{rest.replace('我的', '自己的').replace('我', name)}"
    return re.sub(f"{re.escape(name)}[们們]", f"{name}等人", sentence) + (f"（{turn.day}说）" if turn.day else "")


ENGLISH = Plain(
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
CHINESE = Plain(
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
