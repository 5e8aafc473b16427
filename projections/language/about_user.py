"""What a statement says about the user: its class in a profile, and whether it lasts or passes. English and Chinese. Pure.

Most sentences of talk tell what was done, felt or wanted once. By its form a sentence lasts if its subject is the user, somebody
whom the user lives with or somebody named, and it says one of these:

- who or what somebody is, whom or which animal one has, an illness, a home, a work, a degree
- what somebody does in the present, except thinking, wanting and saying, and except with something that only the talk names
- a change that leaves a state behind: moved, married, left a job, gave up smoking

In Chinese what passes is told by its words of time and completion. What speaks to its reader lasts in neither.

`doings` finds activities and likings: "I joined a pottery class" has the verb `joined` and the object `a pottery class`.
A clause counts if the speaker states it about themselves or their group. Questions, suppositions, wishes and plans do not count.
The verbs are the list `doing`. The object follows the verb: at most eight English words or twelve Han characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Final, NamedTuple

from engramlog_server.projections.language import kin
from engramlog_server.projections.language.extraction.english_rules import DOCTORS, PEOPLE, pets, workers
from engramlog_server.projections.language.keywords import sentences, without_day
from engramlog_server.projections.language.kin import chinese as chinese_kin
from engramlog_server.projections.language.kin import english as english_kin
from engramlog_server.projections.language.lexicon import either, rows, words
from engramlog_server.projections.language.patterns import holds_han, regex
from engramlog_server.projections.language.times.calendar import MONTH

_ADVERB = r"(?:(?:also|still|now|always|often|sometimes|never|not|only|(?!early|family)\w+ly) ){0,3}"
_NUMBER = r"(?:\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty(?:-\w+)?)"
_TRAIT = (
    r"(?:called|named|from|based in|married|divorced|single|engaged|widowed|retired|self-employed|vegan|vegetarian|muslim|jewish"
    r"|deaf|blind|dyslexic|autistic|bilingual|diabetic|coeliac|celiac|asthmatic|transgender|gay|left-handed|colou?r-?blind"
    r"|\w+ intolerant|(?:afraid|scared|terrified|part|one|allergic) (?:of|to)|allergic"
    r"|off (?!to|for|on|work|today|sick|school|now|the)|raising|dating|working (?:as|at|for)|teaching|living|studying (?!for))\b"
)
_MIND = (
    r"(?:think|believe|feel|want|need|hope|expect|look|keep|know|understand|agree|plan|intend|aim|ask|mean|say|see|find|wonder"
    r"|worrie|remember|reali[sz]e|consider|seem|hear|suggest|recommend|propose|argue|claim|envision|imagine|suppose|guesse|assume|misse"
    r"|notice|appreciate|apologi[sz]e|review|anticipate|trust|wishe|gotta|trie|struggle|require|request|insist|confirm|accept"
    r"|approve|await|continue|submit|conclude|decide|lean|face|swear|start|begin|sound|resonate)"
)
"""Verbs of the moment without their ending."""
_NO_HABIT = rf"(?:{_MIND}|doe|goe|get|take|make|give|come|bring|put|turn|i|ha|wa)"
"""The same, and verbs that say little by themselves."""
_OF_THE_TALK = r"(?:the|this|that|these|those) (?![^,]*[A-Z])"
"""Something that a conversation named before."""
_CHANGED = (
    r"(?:moved (?:to|in|out|from|house|away|back|here)|relocated|emigrated|immigrated|settled (?:in|down)"
    r"|(?:got )?(?:married|divorced|engaged)|separated|retired|graduated|converted to|qualified|quit|stopped \w+ing"
    r"|(?:gave|given) up|dropped [A-Z]|(?:switched|swapped) (?:\w+ )*?(?:to|from|for)"
    r"|changed (?:jobs?|their name|careers?|schools?)|left (?:their|school|university|[A-Z])"
    rf"|joined (?!.*(?:\d|\b(?:{MONTH})\b))|inherited|sold their|bec[ao]me|grew up|w(?:as|ere) born"
    r"|lost (?:their )?(?:job|home|hearing|sight|mother|father|husband|wife)|used to"
    r"|passed away|died|lived|worked (?:as|for|at)|studied (?:at|in|[a-z]+ (?:at|in))\b|spoke [A-Z]"
    r"|had (?:twins?|a (?:baby|son|daughter|twin|stroke|heart attack)|their [\w ]+ (?:out|removed|replaced)))"
)
_TO_HAVE = (
    r"asthma|diabetes|\w*allerg\w+|migraines?|epilepsy|arthritis|adhd|disease|syndrome|disorder"
    r"|degree|phd|master's|bachelor's|licen[cs]e|citizenship"
)
_ENGLISH = regex(
    lambda: (
        r"^(?:[A-Z][\w ]{2,25}, )?(?:"
        # the user
        rf"User {_ADVERB}(?:(?:is|are) {_ADVERB}(?:{_TRAIT}|[A-Z][\w'-]+(?=$|,| from)|{_NUMBER}(?: years? old)?(?=$|,| and)"
        rf"|\w+ sighted|the (?:\w+ ){{0,2}}{workers()}\b"
        r"|an? (?!bit\b|little\b|lot\b|few\b|couple\b|(?:\w+ )?fan$|week\b|day\b|month\b|step\b)\w)"
        r"|has been (?:an? |(?:in|with|at) .*\b(?:for|since)\b)"
        r"|(?:has (?:got )?|got |bought |adopted )(?!to\b|been\b|\w+ed\b)(?!.*\d{3})[^,]*?"
        rf"\b(?:{kin.english()}|{pets()}|{_TO_HAVE})\b"
        rf"|(?:has {_ADVERB})?{_CHANGED}"
        rf"|(?:does not|doesn't|cannot|can't) (?!{_NO_HABIT}\b)\w+ (?!{_OF_THE_TALK})"
        rf"|(?!{_NO_HABIT}s\b)[a-z]+s (?!{_OF_THE_TALK})\S)"
        # the user with others
        rf"|User and (?:others|their [\w' -]{{1,30}}?) (?:(?:live|work) (?:in|at|for)\b|speak|own|run"
        rf"|have (?:[\w-]+ ){{1,3}}(?:{kin.english()}|{pets()})\b|(?:have )?{_CHANGED})"
        # the user's people and animals
        rf"|User's (?:[\w-]+ ){{0,2}}?(?:{kin.english()}|{pets()}|partner|family|(?:{PEOPLE})(?= (?:is called )?[A-Z]))"
        rf"(?:'s family)?(?:,? [A-Z][\w'-]+)?,? {_ADVERB}"
        rf"(?:(?:is|are|was) {_ADVERB}(?:{_TRAIT}|{_NUMBER}\b|an? )|has (?!been\b|to\b|\w+ed\b)"
        rf"|(?:has )?{_CHANGED}|does(?:n't| not)? (?!{_NO_HABIT}\b)|(?!{_NO_HABIT}s\b)[a-z]+s \S)"
        # what belongs to the user
        r"|User's (?:\w+ ){0,2}?(?:name|birthday|anniversary|home|house|flat|apartment|address|hometown|job|company|employer"
        r"|pronouns|native language|mother tongue|blood type|car|bike) (?:is|are) "
        rf"|(?:The|User's) (?:{DOCTORS}) (?:put|diagnosed|prescribed) "
        # somebody named
        rf"|[A-Z][a-z]+ is (?:{_NUMBER}\b|an? (?:\w+ ){{0,2}}(?:{workers()}|{pets()})\b)"
        rf"|(?!User)[A-Z][a-z]+ (?:doesn't|does not) (?!{_NO_HABIT}\b)"
        rf"|(?!User)[A-Z][a-z]+'s \w+ (?!{_NO_HABIT}s\b)[a-z]+s \S"
        r")"
    )
)
_OF_THE_MOMENT = regex(rf"^User {_ADVERB}(?:{_MIND}s\b|(?:likes|enjoys|prefers) {_OF_THE_TALK})")
_SOMEBODY = regex("^用户的?(?:室友|舍友|同桌|邻居|朋友|同事|同学)(?![^，。]{0,4}叫)")
"""One of many, without a name."""
_TO_ITS_READER = regex(r"\b(?:you|your)\b|[你您]", 2)
_SURE = ("identity", "stable_preference", "skill")
"""Categories whose forms say that something lasts."""


class Drawn(NamedTuple):
    """What rules made of a statement that they read in talk."""

    category: str
    kind: str
    speaker: str | None = None
    """Who is named in it in place of *User*."""


def lasts(text: str, drawn: Drawn) -> bool:
    """Whether a statement in the third person ("User moved to Lyon") describes something that lasts."""
    said = without_day(text)
    if drawn.speaker is not None and said.startswith(drawn.speaker):
        said = ("用户" if holds_han(said) else "User") + said[len(drawn.speaker) :]
    if _TO_ITS_READER.search(said):
        return False
    if drawn.kind == "note" or drawn.category in _SURE:
        return drawn.category == "identity" or _OF_THE_MOMENT.match(said) is None
    return _SOMEBODY.match(said) is None if holds_han(said) else _ENGLISH.match(said) is not None


CLASSES: Final = ("name", "household and health", "home", "work", "preferences", "plans", "rest")
"""In the order of a profile."""
MOST_READ = 1_000
"""Characters of a statement that are read; a longer one is no line of a profile."""
STATE_DAYS, EVENT_DAYS = 7, 30
"""Days for which a state without a day counts, and what the speaker did once."""

_PATTERNS = (
    regex(
        r"\b(?:my (?:full |first |last |middle )?name(?:'s| is)|call me|i(?:'m| am) called|i go by|my pronouns"
        r"|user's name|is called .{1,40} by)\b"
        r"|我(?:的名字)?叫|叫我|称呼我|我的?名字|我姓|用户(?:的名字)?叫",
        2,
    ),
    regex(
        lambda: (
            rf"\b(?:{english_kin()}|partner|fianc[eé]e?|boyfriend|girlfriend|spouse|kids?|child|children|baby|twins"
            rf"|widow(?:er)?|married|divorced|engaged"
            r"|allerg\w+|coeliac|celiac|diabet\w+|asthma\w*|inhaler|epipen|migraines?|blood pressure|medic(?:ine|ation)s?"
            r"|tablets?|pills?|insulin|pregnan\w+"
            r"|vegan|vegetarian|halal|kosher|intoleran\w+|disab\w+|wheelchair|deaf|blind|sighted|surgery|diagnos\w+"
            r"|depress\w+|anxi\w+|adhd|autis\w+"
            r"|dog|cat|puppy|kitten|pets?|rabbit|parrot|hamster|horse)\b"
            rf"|{chinese_kin()}|对象|男朋友|女朋友|爱人|太太|先生|孩子|宝宝|双胞胎|过敏|哮喘|糖尿病|痛风|高血压|药|怀孕"
            rf"|吃素|清真|忌口|手术|病|猫|狗|宠物"
        ),
        2,
    ),
    regex(
        r"\b(?:i|we) (?:live|moved?|rent|own|bought|stay)\b|\bmy (?:flat|house|home|apartment|address|lease|landlord"
        r"|mortgage|rent|place)\b"
        r"|\blives? in\b|住在|搬到|搬来|租|房|老家|家在|地址",
        2,
    ),
    regex(
        r"\b(?:i|we) (?:work|teach|taught|run|manage|study|studied|freelance)\b|\bmy (?:job|boss|manager|team|company"
        r"|shift|office|work|employer|colleague)"
        r"|\bi(?:'m| am) (?:an?|the) \w+|\bat work\b|works? (?:as|at|for)|上班|工作|公司|老板|同事|职业|我(?:们)?组"
        r"|我是.{0,12}(?:师|员|医生|经理|学生|老师)|教",
        2,
    ),
    regex(
        r"\b(?:prefer|like|love|enjoy|hate|dislike|favou?rite|avoid|can'?t stand|never|always|only (?:drink|eat|use|wear)"
        r"|don'?t (?:eat|drink|like|want))\b"
        r"|喜欢|偏好|爱[吃喝看听]|讨厌|不[吃喝爱喜]|从不|总是|最爱|习惯",
        2,
    ),
    regex(
        r"\b(?:i(?:'m| am) (?:going|planning|having|getting|flying)|we(?:'re| are) (?:going|planning|flying|getting)"
        r"|going to|plan(?:ning)? to|booked|appointment"
        r"|deadline|trip|holiday|wedding|exam)\b|打算|计划|预约|准备|要去|考试|婚礼|旅行",
        2,
    ),
)
_PASSING = regex(
    r"\b(?:am|is|are|been|'m|'s|'re|feel|feels|feeling) (?:\w+ ){0,2}(?:tired|exhausted|swamped|burn(?:ed|t) out|relieved|deep into"
    r"|hungry|thirsty|sleepy|sick|ill|busy"
    r"|stressed|bored|annoyed|upset|angry|furious|raging|worried|anxious about|happy|sad|excited|nervous|stuck|confused|travel+ing"
    r"|on (?:my|the|his|her|their) way|in a (?:hurry|meeting)|in (?:the )?hospital|out of town)\b"
    r"|\b(?:ha(?:ve|s)|'ve|'s) (?:got )?an? (?:\w+ )?(?:cold|headache|fever|cough|hangover)\b"
    r"|\b(?:ears?|head|tooth|back|throat|eyes?) (?:is|are|has been|have been) (?:ringing|hurting|aching|sore|itching|swollen)\b"
    r"|\b(?:has|have|got) (?:[\w'-]+ ){1,3}overnight\b"
    r"|\bnot (?:really |very )?(?:keen on|into|up for) \w+ing\b.*\b(?:when|until|even|again|yet)\b"
    r"|\b(?:right now|at the moment|today|tonight|this week|so far|all (?:morning|afternoon|day|night))\b"
    r"|\b(?:am|is|are|'m|'re) (?:checking in|following up|reaching out|eager|keen|curious|initiating"
    r"|uploading|waiting|looking forward|still \w+ing)\b"
    r"|^(?:i|user) (?:particularly|specifically|especially) \w+|\b(?:days?|weeks?|hours?) left(?=$| \(said)"
    r"|^(?:i|user) (?:\w+ly )?(?:asked (?!to remember)|requested|demanded|instructed)"
    r"|(?:我|用户|用戶)(?:今天|现在|刚|有点|好|很|太)?(?:累|困|饿|渴|烦|忙|感冒|发烧|头疼|难受|出差)(?!的时候)"
    r"|(?:儿子|女儿|孩子|爸|妈|先生|太太|老公|老婆)(?:今天|现在|刚|有点)?(?:感冒|发烧|头疼|生病|病|住院)了|(?:我|用户|用戶)(?:刚刚|剛剛|现在没有|現在沒有)|今天|今晚|此刻|这周|這週"
    r"|(?:感到|觉得|感觉|感覺|覺得)(?:自己|很|非常|有点|特别|都|也){0,2}(?:乏味|无聊|疲惫|焦虑|迷茫|失落|沮丧|压力|没有进步)",
    2,
)
_FORMULA = regex(r"\\\(|[=≈×÷] ?[\d(]|`|\b(?:do|have|has|got|agreed) \d[\d,.]*(?=$| \(said )")
_INTENDED = regex(
    r"\b(?:i|we|user|others|(?:my|our|user's) (?:[\w-]+ ){1,3}?) ?(?:'m|am|is|are|'re) "
    r"(?:about to\b|(?:still|now|just|currently|also) )?(?!(?:liv|work|teach|learn|rais|dat|grow|will|us"
    r"|amaz|interest|miss|lov|car|outstand|someth|noth|anyth)ing\b)\w+ing\b"
    r"|\b(?:i|we|user|others) will\b|\b(?:lately|these days|this (?:month|year)|coming up|upcoming|over budget|behind schedule)\b"
    r"|\b(?:budget|goal (?:of|to)|busy schedule)\b|\d ?% (?:to|towards?|done|of the way)\b"
    r"|\basked to remember: (?!.*\b(?:user|they|their|them)\b)|要求记住：(?!.*(?:我|用户|自己))"
    r"|\b(?:i|we|user|others) (?:really |also |just )?(?:wants?|would like|hopes?|intends?|aims?|plans?) to\b"
    r"|\b(?:ha(?:s|ve)|'ve|already) (?:[\w'-]+ ){0,5}?(?:booked|planned|scheduled|lined up)\b"
    r"|\b(?:ha(?:s|ve)|'ve) (?:been (?!\w+ing .{0,60}\b(?:for .*(?:years?|months?|decades?|life)|since)\b)\w+ing\b"
    r"|(?:just |already )?(?:started|begun) (?:with|on|off)\b"
    r"|(?:the )?(?:[\w'-]+ ){1,4}(?:ready|helping)\b|decided\b"
    r"|never (?!been (?:able|good|an?)\b|(?:eaten|drunk|smoked|learn\w+|liked|married|driven)\b)\w+)"
    r"|今年|最近开始|从来?[没未]有?[^，。]{1,12}过|(?:一直|还|也|很|用户|用戶|我)想(?:去|看|买|買|学|學|换|換)|没有(?:太多|足够)的?(?:时间|预算|钱)"
    r"|(?:最近|近来|近來)[^，。]{0,8}(?:在|正|有些|有点|有點|总|總|经常|經常)|正(?:在)?(?:打算|计划|准备|忙着)|(?:打算|计划|准备|将|将要|一定会|会去)(?=[^了]{1,40}$)|想炖|想去吃"
    r"|要[^，。（(]{1,8}(?:了|[天周])(?=$|[，。（(])",
    2,
)
"""An intention without a day, or what was so at the time it was said."""
_LASTING = (
    r"mov|relocat|settl|marr|divorc|separat|retir|graduat|switch|swap|chang|quit|left|trad|pull|dropp|stopp|start|join|adopt"
    r"|learn(?!ed that)|studi|train|work|liv|rais|founded|open|clos|suffer|surviv|experienc"
    r"|contract|injur|diagnos|emigrat|immigrat|qualifi|convert|promis"
    r"|nam|call|us(?=ed to)|need|lik|lov|hat|want|limit|impair|mix|shar(?=ed (?:custody|flat|house|office))|certifi|advanc|inherit"
    r"|decid|agree(?!d (?:to|with))|ask|becom|serv|bred|seed|need|indeed"
    r"|accept(?!ed .*\b(?:fee|contract)\b)|own|prefer|play|enjoy|suit|bas|licen[cs]|regist|allow|stay|pass"
    r"|book|plann|schedul|arrang|order|regist|sign|enrol|invit|reserv|promis|hir"
)
_EVENT = regex(
    r"^(?:i|we|user)(?: and (?:others|their (?:[\w-]+ )?[\w-]+))?(?:'ve| have| has)?"
    r"(?: \w+ly| already| just| also| once)* "
    rf"(?!(?:{_LASTING})\w*\b)(?!.*\b(?:now|any ?more|instead|degree|phd|master'?s?|bachelor'?s?|apprenticeship)\b)"
    r"(?:\w{2,}ed|taken|took|written|wrote|spent|found|came|did|made|given|gave|seen|saw|met|chosen|chose|sent|went|built|held"
    r"|heard|felt|told|said|re\w*(?:wrote|did|made)|led|co-led|learned that|agreed (?:to|with)|worked with .{1,60} on"
    r"|began by|started by|was in the middle"
    r"|had (?:to|another|an? (?:\w+ )?(?:look|time|discussion|meeting|disagreement|chat|talk|call|conversation|review))"
    r"|got (?:the|invited|feedback|confirmation|\w+ (?:shipped|open)|.{1,40} shipped)|been (?:invited|offered))\b"
    rf"|^(?!.*\b(?:born|birthday|anniversary|every|since|moved|married|switched|changed|joined|retired|quit|left|adopted"
    r"|am|is|are|will|have|has|going|booked|need|must)\b|.*'(?:m|s|re|ll|ve)\b)"
    rf".*\b(?:on|by|starting|from) (?:{MONTH}) \d"
    r"|^(?:i|user) once \w+(?:ed|t)\b"
    r"|^user's (?:[\w-]+ ){1,4}(?:(?:dis)?agrees?|objects?|supports|opposes|insists|prefers (?-i:[A-Z])\w+(?=$| \())\b"
    r"|^user's (?:[\w-]+,? ){1,9}(?:recommended|suggested|complimented|invited|congratulated|was surprised)\b"
    r"|^(?:我|用户|用戶)(?!.*(?:[换改搬升考结离辞戒养卖換結離養賣]|现在|現在|以后|不再))[^，。]{0,24}?(?:去看了|去了|看了|看完了|参加了|參加了|注册了"
    r"|去(?![年世])[^，。]{1,8}了|感受到了|学到了|度过了|完成了|收到了|遇到了|遇见了|聊了|见了|拍了|走着|享受着|把[^，。]{1,20}分给)",
    2,
)
"""Something that the speaker did once and that leaves no state: a document that was read, a meeting, an outing."""
_LED = regex(r"^(?:User |用户|I |我)")
_BEGINS = r"(?:^|[,，] ?(?:now |现在)?|^现在)"
_ENDS = r"(?=$|[,，;；]| (?:to|in|on|at|for|with|because|when|and|so|since|from|called|who)\b)"
INTENTION_DAYS = 180
"""Days for which an intention counts, or what was so of late."""


@lru_cache(maxsize=1 << 12)
def about_user(text: str) -> int | None:
    """The place of a statement in `CLASSES`; None if it is too long to be a line of a profile, or has a formula or code."""
    if len(text) > MOST_READ or _FORMULA.search(text):
        return None
    return next((place for place, pattern in enumerate(_PATTERNS) if pattern.search(text)), len(CLASSES) - 1)


@lru_cache(maxsize=1 << 12)
def passing_days(text: str, drawn: Drawn | None = None) -> int | None:
    """Days for which a state ("I'm tired") or an intention ("I'm planning a trip") counts; None if the statement lasts.

    `drawn`: what rules made of it, if they read it in talk: then only what lasts by its form lasts.
    """
    days = ((_PASSING, STATE_DAYS), (_EVENT, EVENT_DAYS), (_INTENDED, INTENTION_DAYS))
    found = next((most for pattern, most in days if pattern.search(text[:MOST_READ])), None)
    if drawn is None or found == STATE_DAYS or lasts(text[:MOST_READ], drawn):
        return found
    return INTENTION_DAYS if drawn.kind == "plan" else EVENT_DAYS


def parts_of_others(texts: Sequence[str]) -> set[int]:
    """Places of texts that another one says from the beginning of a clause to the end of one, with more beside it."""
    bare = [_LED.sub("", without_day(text)).rstrip(".。") for text in texts]

    def is_part(one: str, other: str) -> bool:
        return one in other != one and re.search(_BEGINS + re.escape(one) + _ENDS, other) is not None

    return {at for at, one in enumerate(bare) if one and any(is_part(one, other) for other in bare)}


MOST_OF_DOINGS = 4_000
"""Characters of a text that are read."""
_APOSTROPHES = str.maketrans("‘’", "''")
_BEFORE = (
    "(?:'m|'ve|'re|'d| am| are| was| were| have| had| also| just| really| always| often| usually| been| finally| recently| still"
    "| love| enjoy| started| a| an| big| huge)*"
)
_DOING_ENGLISH = regex(
    lambda: (
        rf"\b(?:I|[Ww]e){_BEFORE} (?P<doing>(?:{either(words('doing', 'english'))})\b(?P<what>(?:[ '-]+[\w'&+]+){{1,8}}))"
    )
)
_I_CHINESE = (
    "(?:我(?:们)?(?!的?(?:{0}|朋友|同[事学桌]|邻居|室友|老师|老板))[^，。！？,!?我想会要算望没不别可能如若]{{0,{1}}}?)"
)
"""The speaker and up to so many characters behind, but not one of their people."""
_WHEN_CHINESE = (
    "(?:最近|今[天早晚]|昨[天晚]|前天|[早晚]上|上午|中午|下午|傍晚|睡前|饭后|上?周末|[这上]周|周[一二三四五六日天]|假期|国庆|春节|平时|有空|经常|常常"
    "|每[天周晚]|天天|一直|第[一二三四五六七八九十]+次|终于|又|也|还|正在|在|刚刚?|自己|偷偷|顺便|随便|开始|坚持"
    "|[和跟带陪](?!我)[^，。！？,!?不没]{1,6}?(?=一?起?去)|(?:[^，。！？,!?]{1,4}[完后时])?大家一起|一起|老是|总是|用[^，。！？,!?]{1,6}?(?=[炖煮烤炒蒸做拍]))"
)
"""What stands before a verb without a subject, which then is the speaker's: 晚上吃了烧烤, 带女儿去爬山."""
_DOING_CHINESE = regex(
    lambda: (
        rf"(?:{_I_CHINESE.format(chinese_kin(), 6)}|^{_WHEN_CHINESE}+)"
        rf"(?<![大中小同])(?!学[校生期院历])(?P<doing>(?:{either(words('doing', 'chinese'))})[了过着]?"
        r"(?P<what>[^，。！？,!?]{1,12}))"
    )
)
_BARE = regex(
    lambda: (
        rf"^(?P<doing>(?:{either(words('doing', 'chinese'))})(?<!了)[了过](?![你您吗吧没])(?P<what>[^，。！？,!?]{{1,12}}))"
    )
)
"""A sentence that begins with what was done is about its speaker: 买了一把吉他."""
_ACTIVE = regex(
    lambda: (
        rf"(?:(?<![让叫劝])(?!我们?[^，。]{{0,3}}[给教]){_I_CHINESE.format(chinese_kin(), 10)}|^{_WHEN_CHINESE}+)"
        rf"(?P<doing>(?P<what>{either(words('activities', 'chinese'))}))"
    )
)
_GOES_ON = regex(
    lambda: (
        rf"^(?:一起|又|还|也|就|然后|再|后来|最后|并|并且)*(?P<doing>(?:{either(words('doing', 'chinese'))})[了过着]"
        r"(?P<what>[^，。！？,!?]{1,12}))"
    )
)
"""A clause without a subject behind one in which the speaker does something: 我去了电影院，看了一部电影."""
_CLAUSES = regex("(?<=[，；。！？])")
_UNREAL = regex(r"\?|？|(?i:\b(?:if|would|could|might|never|used to)\b)|要是|如果|假如|打算|计划|准备(?!了)|以前")


class Doing(NamedTuple):
    """Something that the speaker does or likes."""

    what: str
    """The object, as written."""
    told: str
    """The verb and the object."""


@cache
def verbs() -> frozenset[str]:
    """The verbs in their first form. None of them is an object."""
    return frozenset(row[language][0] for row in rows("doing") for language in ("english", "chinese") if row[language])


def doings(text: str) -> Iterator[Doing]:
    """Activities and likings of the speaker of a text, in order."""
    for sentence in sentences(text[:MOST_OF_DOINGS].translate(_APOSTROPHES)):
        led = False
        for number, clause in enumerate(_CLAUSES.split(sentence)):
            more = (_GOES_ON,) if led else () if number else (_BARE,)
            forms = (_DOING_ENGLISH, _DOING_CHINESE, _ACTIVE, *more)
            found = [] if _UNREAL.search(clause) else [one for form in forms for one in form.finditer(clause)]
            led = bool(found)
            yield from dict.fromkeys(Doing(one["what"].strip(), one["doing"].strip()) for one in found)
