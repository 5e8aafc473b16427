"""Levels 2 and 1: how somebody is reached, health, orientation, pay and birth date; occupation and education. English and Chinese.

Allergies, diets and intolerances are none of these: whoever cooks or books for someone must know them, and level 2 is left out of
prompts. A word such as `cancer` or `salary` never counts by itself: somebody must be said to have it, or a figure be given.
"""

from __future__ import annotations

import re

from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.scripts import HAN_BLOCK
from engramlog_server.projections.language.sensitivity.rule import (
    NO_SIGN,
    Begun,
    Cues,
    Rule,
    Sign,
    TextReading,
    Words,
    about,
    found_in_lower,
    found_in_text,
    joined,
    listed,
    one_of,
)
from engramlog_server.projections.language.sensitivity.values import digits_in
from engramlog_server.projections.language.times.names import MONTH_STARTS

_EMAIL = regex(r"@(?<=[A-Za-z0-9_+%-]@)(?:[A-Za-z0-9-]{1,63}\.){1,5}[A-Za-z]{2,24}(?![A-Za-z0-9@])")
_LOCAL_PART = regex(
    r"(?:^|[^A-Za-z0-9._+%:/-]|(?:mailto|mail|邮箱)[:：])(?!git@)[A-Za-z0-9._+%-]{1,64}@$", re.IGNORECASE
)

_PHONE_SHAPES = (
    # Chinese mobiles and landlines
    regex(r"(?<![0-9A-Za-z_.-])(?:\+?86[ -]?)?1[3-9][0-9](?:[ -]?[0-9]{4}){2}(?![0-9A-Za-z_-]|\.[0-9])"),
    regex(r"(?<![0-9.-])(?:0[1-9][0-9]{1,2}[- ]|\(0[1-9][0-9]{1,2}\) ?)[2-9][0-9]{6,7}(?![0-9-])"),
    # North America
    regex(
        r"(?<![\w.-])(?:1[ .-])?(?:\([2-9][0-9]{2}\) ?[0-9]{3}[ .-]|[2-9][0-9]{2}(?P<between>[.-])[0-9]{3}(?P=between))"
        r"[0-9]{4}(?![\w-]|\.[0-9])"
    ),
    # British mobiles
    regex(r"(?<![\w.])07[0-9]{3}[ -]?[0-9]{3}[ -]?[0-9]{3}(?!\w)"),
)
_INTERNATIONAL = regex(r"\+(?<![\w+.]\+)(?P<number>[1-9][0-9 ().-]{6,22}[0-9])(?![0-9])")
# From here to the streets, in lower case.
_CALLED_PHONE = regex(
    r"(?:phone|mobile|cell|tel|whatsapp|landline|me at|me on|us at|us on|him at|him on|her at|her on|my number"
    r"|his number|her number|our number|their number|电话|手机|联系方式|座机)(?:\snumber|\sno\.?|号码?)?"
    r"(?:\s{0,4}(?:\bis|\bwas|[:：=]|就?是|为))?\s{0,4}(?P<number>[0-9(][0-9 ().-]{4,20}[0-9])(?![0-9]|\s?[元块])"
)
_CALLED = 64
"""Characters before a long number within which it is called one: `_CALLED_PHONE` needs 52."""
CONTACTS = Cues(listed("qq, wechat, wechatid, weixin, weixinid, telegram, telegramid, skype, skypeid, 微信"))
PLACES = Cues(Words("contact_places"))
BOX = Cues(["box"])
STREETS = Cues(Words("contact_streets"))
ROADS_ZH = Cues(listed("路, 街, 大道, 巷, 弄, 胡同"))
ADDRESSES_ZH = Cues(listed("地址, 住址, 住在, 家在"))
BUILDINGS_ZH = Cues(listed("号楼, 栋, 幢, 座, 单元"))
_MESSENGER = regex(
    r"(?:qq(?<![a-z]qq)号?(?:码)?\s?(?:就?是|为|is|[:：])?\s?[1-9][0-9]{4,10}(?![0-9])"
    r"|(?:微信|wechat|weixin|telegram|skype)(?:号|\s?id)?\s?(?:就?是|为|is|[:：])\s?"
    r"@?(?=[a-z_-]{0,19}[0-9_])[a-z][a-z0-9_-]{5,19}(?![a-z0-9_]))"
)
_AT_STREET = regex(
    lambda: (
        r"(?:\s(?:it\s)?(?:at|to|on)|\sis|\s?:)\s{1,4}(?:[\w.# ]{0,16}, )?(?:no\.? ?)?[0-9]{1,5}[a-z]?,?\s"
        rf"(?:[\w'’.-]{{1,20}} ){{1,4}}(?:{'|'.join(STREETS)})\b"
    )
)
_BOX = regex(r"p\.?\s?o\.? box [0-9]{1,6}\b")
# A capitalised street name says it by itself.
_STREET = regex(
    r"[0-9](?<![\w.$€£:/-][0-9])[0-9]{0,4}[A-Za-z]?,? (?:[NSEW]\.? )?"
    r"(?:[A-Z][\w'’.-]{1,20} |[0-9]{1,3}(?:st|nd|rd|th) ){1,4}"
    r"(?:[Ss]treet|[Ss]t|[Aa]venue|[Aa]ve|[Rr]oad|[Rr]d|[Ll]ane|Ln|[Dd]rive|Dr|[Bb]oulevard|Blvd|[Cc]ourt|Ct|[Tt]errace"
    r"|[Cc]rescent|Close|[Ss]quare|Sq|[Pp]arkway|Pkwy|[Hh]ighway|Hwy|Circle|Alley|Mews|Way|Place|Pl)\b"
)
_ON_STREET = 128
"""Characters within which a street's number, its name and the word stand: `_STREET` needs 110."""
_STATE_AND_ZIP = regex(r", [A-Z]{2} [0-9]{5}(?:-[0-9]{4})?(?![0-9])")

_NUMBER_ZH = "[0-9一二三四五六七八九十百零〇]"
_ROAD_ZH = regex(rf"(?:路|街|大道|巷|弄|胡同|街道)\s?{_NUMBER_ZH}{{1,5}}\s?[号弄](?![线车楼选])")
_BUILDING_ZH = regex(
    rf"(?:号楼(?<={_NUMBER_ZH}号楼)|[栋幢座](?<={_NUMBER_ZH}[栋幢座])|单元(?<={_NUMBER_ZH}单元))"
    r"(?:[^,，。;；!！?？\n]{0,8}?[0-9]{1,4}\s?(?:室|号房|户|单元)|\s?[0-9]{3,4}(?![0-9]))"
)
_CALLED_ADDRESS_ZH = regex(
    rf"(?:地址|住址|住在|家在)(?:就?是|为|[:：])?\s?(?=[{HAN_BLOCK}]{{1,12}}?[省市区县镇乡])[{HAN_BLOCK}]{{4,40}}?"
    r"(?:路|街|大道|巷|弄|胡同|小区|花园|公寓|苑|村|家园)"
)


def holds_email(read: TextReading) -> bool:
    """Whether the text holds an e-mail address; a login in a URL or `git@host` is none."""
    return any(
        _LOCAL_PART.search(read.text, max(0, at.start() - 72), at.start() + 1) for at in _EMAIL.finditer(read.text)
    )


def holds_phone(read: TextReading) -> bool:
    """Whether the text holds a telephone number by its form, or digits called one."""
    for start, end in read.numbers:
        if any(shape.search(read.text, start, end) for shape in _PHONE_SHAPES):
            return True
    for match in _INTERNATIONAL.finditer(read.text) if "+" in read.text else ():
        number = match["number"]
        if 8 <= digits_in(number) <= 15 and number.count(".") != 1:
            return True
    return any(
        7 <= digits_in(match["number"]) <= 15
        for window in joined((max(0, start - _CALLED), end + 2) for start, end in read.numbers)
        for match in _CALLED_PHONE.finditer(read.lower, *window)
    )


def says_where_someone_lives(read: TextReading) -> bool:
    """Whether a number and a street follow a word such as `live at`, in small letters."""
    return any(_AT_STREET.match(read.lower, end) for _, end in read.places(PLACES))


def names_a_street(read: TextReading) -> bool:
    """Whether a number and a street's name with a capital stand before a word for a street."""
    windows = joined((max(0, end - _ON_STREET), end + 1) for end in sorted(read.ends(STREETS)))
    return any(_STREET.search(read.text, *window) for window in windows)


_CONTACT = (
    Rule("e-mail", 2, holds_email, signs=Sign.AT),
    Rule("telephone", 2, holds_phone, signs=Sign.SEVEN_DIGITS),
    Rule("messenger", 2, found_in_lower(_MESSENGER), CONTACTS),
    Rule("address", 2, names_a_street, STREETS, needs=Sign.DIGIT),
    Rule("address", 2, found_in_text(_STATE_AND_ZIP), signs=Sign.FIVE_DIGITS),
    Rule("address", 2, says_where_someone_lives, PLACES, needs=Sign.DIGIT),
    Rule("address", 2, found_in_lower(_BOX), BOX, needs=Sign.DIGIT),
    Rule("address", 2, found_in_text(_BUILDING_ZH), BUILDINGS_ZH, needs=Sign.WIDE_DIGIT),
    Rule("address", 2, found_in_text(_ROAD_ZH), ROADS_ZH),
    Rule("address", 2, found_in_text(_CALLED_ADDRESS_ZH), ADDRESSES_ZH),
)

HEALTH = Cues(Words("private_health"))
"""One of these stands in every English text that the rule for health can match; so with the next ones."""
_SOMEBODY = (
    "(?:wife|sister|daughter|girlfriend|mom|mum|mother|son|brother|husband|dad|father|partner|friend|boss|cousin)"
)
_ILL = regex(
    lambda: (
        r"\bdiagnosed (?:me |him |her )?(?:with|as)\s\w"
        r"|\b(?:have|has|had|having|'ve|got|suffer(?:s|ed|ing)? from|living with|treat(?:ed|ment) for|struggl\w{1,4} with"
        r"|battl\w{1,4}|positive for|recovering from|remission from|my|his|her|their)"
        rf"\s(?:[a-z0-9'-]{{1,14}} ){{0,3}}?{one_of('personal_illness')}"
        rf"|\b(?:take|takes|taking|took|on|prescribed|started|back on)\s(?:\w{{1,12}} ){{0,3}}?{one_of('personal_medicine')}"
        rf"|\b(?:i'm|i am|i was|she's|she is|he's|he is|they're|{_SOMEBODY}(?:'s| is"
        rf"| was))\s(?:[\w-]{{1,12}} ){{0,3}}?{one_of('personal_state')}"
        rf"|\b(?:had|having|have|after|need|needed|getting)\s(?:an? |my |her )?{one_of('personal_treated')}"
        r"|\b(?:my|see|sees|seeing|saw)\s(?:an? |my )?(?:psychiatrist|oncologist|psychotherapist)\b"
    )
)

ORIENTATION = Cues(Words("private_orientation"))
_ORIENTED = regex(
    r"\b(?:i'm|i am|he's|he is|she's|she is|they're|identif(?:y|ies) as|came out(?: to \w{1,12}(?: \w{1,12})?)? as"
    rf"|{_SOMEBODY}(?:'s| is))\s(?:[a-z]{{1,10}} ){{0,2}}?(?:gay|lesbian|bisexual|bi(?=[.,!]|$| and)|queer"
    rf"|transgender|trans(?=[\s.,!]|$)|asexual"
    r"|pansexual|non-?binary|homosexual|heterosexual)"
    r"|sexual orientation is\b|\b(?:trans|gay|queer|lesbian) (?:woman|man|person) (?:like )?(?:me|myself)\b"
)

PAY = Cues(Words("private_pay"))
_PAID = regex(
    r"\b(?:salary|salaries|wages?|paycheck|take[- ]home|base pay|gross pay|net pay|income|comp|compensation|my pay"
    r"|hourly rate|bonus)\b"
    r"[^\n.!?\d]{0,40}?[$\u00a3\u20ac\u00a5]?\s?\d[\d,.]{1,9}\s?k?\b(?! ?(?:%|percent|days|weeks|months|people"
    r"|employees))"
    r"|\b(?:i|he|she|we|they|wife|husband)(?:'m| am|'s| is)?\s(?:now |only |currently )?"
    r"(?:make|makes|making|earn|earns|earning|get paid|gets paid|paid|bring home|brings home|take home)\s"
    r"(?:about |around |roughly |just |over |under )?[$\u00a3\u20ac\u00a5]?\s?\d[\d,.]{0,9}\s?"
    r"(?:k\b|grand|usd|eur|dollars|euros|pounds|bucks|a year|per year|a month|an hour|/)"
)

BIRTH = Cues(listed("born, birthday, bday, b-day, birthdate, dob, date of birth, birth date"))
_MONTH = f"(?:{MONTH_STARTS})[a-z]{{0,6}}"
_DAY = (
    rf"(?:\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}"
    rf"|{_MONTH}\.? \d{{1,2}}(?:st|nd|rd|th)?\b|\d{{1,4}}[-/.]\d{{1,2}}[-/.]\d{{1,4}})"
)
_BORN = regex(
    rf"(?:\b(?:i|he|she|you|baby|kid|{_SOMEBODY})(?:'s| was|'m| am| were) born (?:on )?(?:the )?"
    r"|(?:\b(?:my|his|her|their|our|your)|'s) (?:\w{1,12} )?(?:birthday|b-?day|birth ?date|date of birth|dob) (?:is"
    r"|was|falls)(?: on)? (?:the )?"
    r"|\b(?:dob|d\.o\.b\.?|date of birth|birth ?date)\s?(?:is|[:=-])?\s{0,2}(?:the )?)"
    rf"(?:[a-z]{{3,9}},? )?{_DAY}"
)

_ILLNESS_ZH = (
    "(?:抑郁|焦虑症|双相|躁郁|糖尿病|高血压|高血脂|[胃肝肺肠乳腺血胰]癌|癌症?|肿瘤|艾滋|hiv|乙肝|丙肝|肝炎|肝硬化|白血病|心脏病|冠心病|哮喘"
    "|癫痫|精神分裂|强迫症|自闭症|多动症|adhd|痛风|甲亢|甲减|中风|脑梗|肾炎|肾病|尿毒症|红斑狼疮|帕金森|阿尔茨海默|老年痴呆|梅毒|淋病|不孕"
    "|不育|肺结核|创伤后应激|厌食症|暴食症|子宫肌瘤|多囊|甲状腺结节|失眠症|阳痿|早泄|痔疮|尖锐湿疣|腰椎间盘突出)"
)
_MEDICINE_ZH = "(?:抗抑郁|舍曲林|百忧解|胰岛素|二甲双胍|利培酮|碳酸锂|安眠药|降压药|帕罗西汀|优甲乐)"
_ILL_ZH = regex(
    r"(?:确诊|患上?了?|得了|查出|诊断[为出]?|被诊|罹患|检查出|有|因为?|治疗?|复发)"
    rf"[^,。!?\n没无防预]{{0,8}}?{_ILLNESS_ZH}|[我他她](?:是|有)?{_ILLNESS_ZH}(?:患者|病人)?"
    rf"|{_ILLNESS_ZH}(?:[一二三四]期|晚期|早期|复发|确诊|住院)|[我她](?:\w{{0,4}})?(?:怀孕|流产|人流|堕胎|做试管)了?"
    rf"|(?:在吃|服用|吃着|每天吃|停了)[^,。\n]{{0,6}}{_MEDICINE_ZH}|[我他她]\w{{0,6}}(?:化疗|透析|戒毒|截肢)"
)
_ORIENTED_ZH = regex(
    r"[我他她](?:\w{0,4})?(?:是|叫)(?:个|一个|一名)?(?:同性恋|双性恋|跨性别|无性恋|男同|女同|拉拉|同志(?![们,]))"
    r"|[我他她]\w{0,4}出柜|性取向是?|喜欢同性"
)
_PAID_ZH = regex(
    r"(?:工资|月薪|年薪|薪水|薪资|底薪|月收入|年收入|税后|税前|年终奖|到手|时薪|公积金缴存额)"
    r"[^,。!?\n\d一二三四五六七八九]{0,8}?(?:\d[\d,.]{2,9}|[\d一二三四五六七八九十两]{1,3}[万千])(?!\s?[人天名%])"
)
_BORN_ZH = regex(
    r"(?:生日|出生日期|出生年月日?|生辰|出生于|生于)[^,。!?\n\d一二三四五六七八九十]{0,8}?(?:\d{4}[-年./]?)?(?:农历|阴历|阳历)?"
    r"(?:\d{1,2}[-月./]\d{1,2}|\d{8}|[一二三四五六七八九十]{1,2}月[初十一二三四五六七八九]{1,3})"
    r"|[我他她](?:是)?\d{4}[-年./]\d{1,2}[-月./]\d{1,2}日?(?:出)?生"
)
HEALTH_ZH = Cues(Words("private_health_zh"))
ORIENTATION_ZH = Cues(listed("性恋, 跨性别, 男同, 女同, 拉拉, 同志, 出柜, 性取向, 同性"))
PAY_ZH = Cues(listed("工资, 薪, 收入, 税后, 税前, 年终奖, 到手, 公积金"))
BIRTH_ZH = Cues(listed("生日, 出生, 生辰, 生于, 日生"), (f"{digit}生" for digit in range(10)))


def _private(name: str, cues: Cues, shape: re.Pattern[str], needs: Sign = NO_SIGN) -> Rule:
    """A rule of level 2: the pattern about one of the cues."""
    return about(name, cues, lambda piece: shape.search(piece.lower), level=2, needs=needs)


_PRIVATE = (
    _private("health", HEALTH, _ILL),
    _private("orientation", ORIENTATION, _ORIENTED),
    _private("pay", PAY, _PAID, Sign.DIGIT),
    _private("birth-date", BIRTH, _BORN, Sign.DIGIT),
    Rule("health", 2, found_in_lower(_ILL_ZH), HEALTH_ZH),
    Rule("orientation", 2, found_in_lower(_ORIENTED_ZH), ORIENTATION_ZH),
    Rule("pay", 2, found_in_lower(_PAID_ZH), PAY_ZH),
    Rule("birth-date", 2, found_in_lower(_BORN_ZH), BIRTH_ZH),
)

PROFESSIONS = Cues(Words("background_professions"))
_SAID_OF = regex(r"(?: am|i'm| is|'s| as) an? (?:[\w-]{1,20} ){0,2}\Z")
_GOES_ON = regex(r"\w")

WORK = Cues(listed("work, works, worked, working, job, profession, occupation, title"))
STUDY = Cues(Words("background_study"))

_OCCUPATION = regex(
    r"work(?<![a-z]work)(?:s|ed|ing)?\s(?:for|at)\s(?:an?|the)\s"
    r"(?!time|moment|same|first|best|future|next|other|most)[a-z]"
    r"|job(?<=[arswy] job) (?:as an?|at|with)\s"
    r"|(?:profession(?<=my profession)|occupation(?<=my occupation)|job(?<=my job)(?: title)?) is\b"
)
_EDUCATION = Begun(
    r"graduat(?:ed|ing|e) (?:from|in|with)\b",
    r"bachelor['’]?s? (?:degree|of|in)\b",
    r"master['’]?s? (?:degree|of|in)\b",
    r"degree in\b",
    r"major(?:ed|ing) in\b",
    r"my (?:[a-z]{1,16} )?(?:degree|major|thesis|dissertation)\b",
    r"stud(?:ied|ies|ying|y) (?:[a-z-]{1,20} ){0,4}at (?:[a-z-]{1,20} ){0,3}(?:university|college|school)",
    r"student(?<=(?:lege|uate|sity|hool| law| phd|ical|grad) student)\b",
    r"student at\b",
)

PROFESSIONS_ZH = Cues(Words("background_professions_zh"))
BACKGROUND_ZH = Cues(Words("background_background_zh"))

_IS_PROFESSION_ZH = regex(
    lambda: (
        r"(?:我|[你他她]|爸|妈|妻子|丈夫|老公|老婆|哥|姐|弟|妹|儿子|女儿|朋友)(?:现在|目前|以前|曾经)?[是当做][过了]?(?:一?[名个位])?"
        rf"[^,，。!！?？\n]{{0,8}}?(?:{'|'.join(PROFESSIONS_ZH)})"
    )
)
_BACKGROUND_ZH = regex(
    r"(?:职业|专业|学历|岗位|职位|职务)(?:是|为|[:：])|[我他她]的?工作(?:单位)?(?:是|为|[:：])"
    r"|在(?<!现在)[^,，。!！?？\n在找哪么想]{1,16}(?:工作|上班|任职|就职|教书|实习)(?!日)|毕业于|(?:大学|学院|中学|高中|专业|本科|硕士|博士)毕业|就读"
    r"|主修|攻读|从事[^,，。!！?？\n]{1,12}(?:工作|行业)|担任|(?:本科|硕士|博士|大专)学[历位]"
    r"|在(?<!现在)[^,，。!！?？\n在哪么]{1,12}(?:大学|学院|中学|高中)[^,，。!！?？\n]{0,4}(?:读|上学|学习)"
)


def says_where_someone_works(read: TextReading) -> bool:
    """Whether the text says for whom or as what someone works, as in "works at the mill"; each way of it begins with a cue."""
    return any(_OCCUPATION.match(read.lower, start) for start in read.ends(WORK).values())


def says_profession(read: TextReading) -> bool:
    """Whether the text says what someone is, as in "I'm a nurse" or "works as an actor"."""
    return any(
        _SAID_OF.search(read.lower, max(0, start - 52), start) and not _GOES_ON.match(read.lower, end)
        for start, end in read.places(PROFESSIONS)
    )


_BACKGROUND = (
    Rule("occupation", 1, says_profession, PROFESSIONS),
    Rule("occupation", 1, says_where_someone_works, WORK),
    Rule("education", 1, found_in_lower(_EDUCATION), STUDY),
    Rule("occupation-zh", 1, found_in_text(_IS_PROFESSION_ZH), PROFESSIONS_ZH),
    Rule("occupation-or-education-zh", 1, found_in_text(_BACKGROUND_ZH), BACKGROUND_ZH),
)

RULES = (*_CONTACT, *_PRIVATE, *_BACKGROUND)
