"""Level 3: numbers of accounts and papers. Levels 2 and 1: how somebody is reached, health, orientation, pay and birth date;
occupation and education. And whether a text tells of somebody's money, of which an owner's parameter makes a level. English and
Chinese.

Allergies, diets and intolerances have no level: whoever cooks or books for someone must know them, and level 2 is left out of
prompts. A word such as `cancer` or `salary` never counts by itself: somebody must be said to have it, or a figure be given.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from engramlog_server.projections.language.patterns import HAN_BLOCK, holds_han, in_han_block, regex
from engramlog_server.projections.language.sensitivity.rule import (
    NAMED_FOR,
    NAMED_IS,
    NO_SIGN,
    SPOKEN,
    Begun,
    Cues,
    Piece,
    Rule,
    Sign,
    TextReading,
    Words,
    about,
    digits_in,
    either,
    found_in_lower,
    found_in_text,
    joined,
    letter_at,
    listed,
    one_of,
    positions,
)
from engramlog_server.projections.language.times.calendar import MONTH_STARTS

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


_CARD = regex(
    r"(?<![0-9A-Za-z_.#$€£¥+-])(?:"
    r"[2-6][0-9]{3}([ .-]?)[0-9]{4}\1[0-9]{4}\1[0-9]{1,4}(?:\1[0-9]{1,3})?"  # 13 to 19 digits in fours, or unbroken
    r"|3[47][0-9]{2}([ .-])[0-9]{6}\2[0-9]{5}|3[068][0-9]{2}([ -])[0-9]{6}\3[0-9]{4}"  # 4-6-5, 4-6-4
    r")(?![0-9A-Za-z_-]|\.[0-9]| [0-9]{4})"
)
# Issuers by prefix and length (ISO/IEC 7812): UnionPay, Visa, Mastercard, American Express, Discover, JCB, Diners, Mir.
_ISSUER = regex(
    r"62\d{14,17}|4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}"
    r"|6(?:011|5\d\d|4[4-9]\d)\d{12}|35(?:2[89]|[3-8]\d)\d{12}|3(?:0[0-5]|[68]\d)\d{11}|220[0-4]\d{12}"
)
_IBAN = regex(
    r"[0-9](?<=[A-Za-z]{2}[0-9])(?<![0-9A-Za-z][A-Za-z]{2}[0-9])[0-9](?: ?[0-9A-Za-z]{4}){2,7}"
    r"(?: ?[0-9A-Za-z]{1,3})?(?![0-9A-Za-z])"
)
_IBAN_LENGTHS_TEXT = """
AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20 EG29 ES24 FI18 FO18 FR27
GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27
MD24 ME22 MK19 MR27 MT31 MU30 NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 SA24 SC31 SE24 SI19 SK24 SM27 ST25 SV28 TL23
TN24 TR26 UA29 VA22 VG24 XK20
"""
_IBAN_LENGTHS = {entry[:2]: int(entry[2:]) for entry in _IBAN_LENGTHS_TEXT.split()}
_CHINESE_ID = regex(
    r"(?<![0-9A-Za-z])[1-8][0-9]{5}(?:18|19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])[0-9]{3}[0-9Xx]"
    r"(?![0-9A-Za-z])"
)
_ID_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)


def holds_card_number(text: str, where: Iterable[tuple[int, int]]) -> bool:
    """Whether a number of a known issuer's prefix and length passes the Luhn check; `where` are the text's regions."""
    for start, end in where:
        for match in _CARD.finditer(text, start, end):
            digits = re.sub("[ .-]", "", match[0])
            if _ISSUER.fullmatch(digits) and luhn(digits):
                return True
    return False


def holds_iban(text: str) -> bool:
    """Whether a bank account number of its country's length has the remainder 1 of 97 (ISO 13616)."""
    return any(iban(text[match.start() - 2 : match.end()].replace(" ", "")) for match in _IBAN.finditer(text))


def holds_chinese_id(text: str, where: Iterable[tuple[int, int]]) -> bool:
    """Whether an 18-character identity number has a possible birthday and its check character (GB 11643)."""
    return any(chinese_id(match[0]) for start, end in where for match in _CHINESE_ID.finditer(text, start, end))


def luhn(digits: str) -> bool:
    """Luhn's check (ISO/IEC 7812-1) of a text of ASCII digits."""
    doubled = sum(sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (doubled + sum(int(digit) for digit in digits[::-2])) % 10 == 0


def iban(number: str) -> bool:
    """The length and mod 97 check of an IBAN without spaces."""
    if _IBAN_LENGTHS.get(number[:2]) != len(number):
        return False
    return int("".join(str(int(c, 36)) for c in number[4:] + number[:4])) % 97 == 1


def chinese_id(number: str) -> bool:
    """The check character of a Chinese identity number of 18 characters."""
    total = sum(weight * int(digit) for weight, digit in zip(_ID_WEIGHTS, number[:17], strict=True))
    return "10X98765432"[total % 11] == number[17].upper()


SURE = Cues(
    Words("papers_sure"),
    by_word=True,
)
WEAK = Cues(
    listed("account, acc, licence, license, social, bank, visa, chequing, savings, transfer to, wire"), by_word=True
)
"""Words that say it of a long number just beside them."""
SPELLED = Cues(Words("papers_spelled"))
"""What numbers that are told word by word are said of."""
_DIGIT = regex("[0-9]")
_FOUR_DIGITS = regex(r"[0-9](?:[ ().-]{0,2}[a-z]{0,3}[0-9]){3}")
_NUMBER = regex(
    r"(?P<value>[0-9](?<![0-9][0-9])[\da-z]*(?:[ .-][a-z]{0,3}\d[\da-z]*){0,7}(?:[ -][a-z]{1,2}\b)?)"
    r"(?![a-z0-9_%@]|[-/.:]\d|,\d{3})(?! ?"
    + either(
        "years, days, months, hours, minutes, am, pm, people, users, dollars, usd, euros, characters, digits, miles, points, km"
    )
    + ")"
)
_SHAPES = {
    "nie|nif|dni|tie": r"[xyz]?-?\d{7,8}-?[a-z]",
    "nric|fin": r"[stfgm]\d{7}[a-z]",
    "hkid|hk id": r"[a-z]{1,2}\d{6} ?\(?[\da]\)?",
    "rfc": r"[a-z&]{3,4}-?\d{6}-?[a-z0-9]{3}",
    "rut|run": r"\d{1,2}\.?\d{3}\.?\d{3}-[\dk]",
    "pan": r"[a-z]{5} ?\d{4} ?[a-z]",
    "ni|nino": r"[a-z]{2} ?(?:\d{2} ?){3}[a-z]",
    "cnp|egn|oib|cpr|amka|tckn|tc|nik|ktp|jmbg": r"\d{6}[- ]?\d{4,10}",
    "ahv|avs": r"756(?:[. ]?\d{4}){2}[. ]?\d\d",
    "nir|insee": r"[12](?: ?\d\d){3}(?: ?\d{3}){2}(?: ?\d\d)?",
    "tin|itin|ein": r"\d{2,3}-\d{2,3}-?\d{2,4}(?:-\d{3})?",
    "ic|mykad": r"\d{6}-\d{2}-\d{4}",
    "cpf": r"\d{3}\.?\d{3}\.?\d{3}-?\d\d",
}
"""Names that are also words or other things, by the numbers that they have as identity numbers."""
_SHAPE_OF = {
    name: regex(rf"{name}(?<![a-z]{name})(?![a-z])[^\n\d]{{0,28}}?(?<![a-z0-9]){shape}(?![a-z0-9]|[-.]\d)")
    for names, shape in _SHAPES.items()
    for name in names.split("|")
}
ABROAD = Cues(_SHAPE_OF, by_word=True)
_ID = Cues(["id"])
PAPERS = Cues(SURE, WEAK, ABROAD, _ID, by_word=True)
_BY_LETTERS = regex(r"\b(?P<value>[a-z]{2} ?(?:\d{2} ?){3}[a-z]|[a-z]{5}\d{4}[a-z])\b")  # NINO, PAN
_NO_NUMBER = regex(
    r"(?:19|20)\d\d[-./ ]\d{1,2}(?:[-./ ]\d{1,2})?$|\d{1,2}[-./ ]\d{1,2}[-./ ](?:19|20)?\d\d$|(?:19|20)\d{2}$|1[- ]8\d\d[- ]"
    r"|\d+(?:\.\d+){1,3}$"
)
_OF_ELSE = regex(lambda: one_of("papers_of_else") + r"\s?(?:number|no\.?|#|id)?[ :]{1,2}$")

SURE_ZH = Cues(Words("papers_sure_zh"))
WEAK_ZH = Cues(listed("账号, 账户, 帐号, 帐户, 户头, 开户, 存折, 信用卡, 外国人, 学籍号, 准考证, 档案号, 病案号"))
_PAPER_NUMBER_ZH = regex(
    r"(?<![a-z0-9_$.@/-])(?P<value>[a-z]{0,3}\(?\d[\da-z]*(?:[ -]\d[\da-z]*){0,6}(?:\([\da]\))?)(?![a-z0-9%@]|[./:]\d)"
    r"(?!\s?[元块万年月个天次位人分亿])"
)
_NO_NUMBER_ZH = regex(r"\(?(?:19|20)\d\d(?:[-/. ]?(?:0?[1-9]|1[0-2])(?:[-/. ]?\d{1,2})?)?$|1[3-9]\d(?:[ -]?\d{4}){2}$")
_OF_ELSE_ZH = regex("电话|手机号|客服|热线|订单|余额|额度|快递|单号|预约|办|元|群|qq")


_SURE_ZH_BEFORE, _WEAK_ZH_BEFORE = regex(lambda: "|".join(SURE_ZH)), regex(lambda: "|".join(WEAK_ZH))
_ID_BEFORE = regex(r"(?<![a-z])id(?: number| no\.?)?(?: is)?[: ]{1,2}$")
FAR, FAR_ZH = 72, 26
"""Characters before a number that are searched for what it is the number of."""
_LETTERS_OF_ITS_OWN = 6


def says_a_paper(read: TextReading) -> bool:
    """Whether the number of a paper, a tax or bank account stands beside the English word for it."""
    if not _FOUR_DIGITS.search(read.lower):
        return False
    if any(_SHAPE_OF[read.lower[start:end]].match(read.lower, start) for end, start in read.ends(ABROAD).items()):
        return True
    sure, weak = read.cues(SURE), read.cues(WEAK)
    ends = (at + len(name) for name in (*sure, *weak, *read.cues(_ID)) for at in positions(read.lower, name))
    if not any(_DIGIT.search(read.lower, end, end + FAR + _LETTERS_OF_ITS_OWN) for end in ends):
        return False
    return any(
        least <= (digits := digits_in(match["value"])) <= 20
        and _begins(read.lower, match.start())
        and not _NO_NUMBER.match(match["value"])
        and _called(read.lower[max(0, match.start() - FAR) : match.start()], digits, sure, weak)
        for numbers, least in ((_NUMBER, 5), (_BY_LETTERS, 4))
        for match in numbers.finditer(read.lower)
    )


def _begins(lower: str, at: int) -> bool:
    """Whether a number begins here, with up to six letters of its own before its first digit."""
    first = at
    while first and at - first < _LETTERS_OF_ITS_OWN and "a" <= lower[first - 1] <= "z":
        first -= 1
    before = lower[first - 1 : first]
    return not (before.isalnum() and before.isascii()) and before not in tuple("_$\u00a3\u20ac@/.-")


def _called(before: str, digits: int, sure: list[str], weak: list[str]) -> bool:
    """Whether the words before a number say that it is a paper's or an account's, on its line or at the end of the one before."""
    line = before.rstrip().rpartition("\n")[2]
    called = (
        any(_stands(line, name, 0) for name in sure)
        or (digits >= 7 and any(_stands(line, name, len(line) - 10) for name in weak))
        or (digits >= 9 and _ID_BEFORE.search(line))
    )
    return bool(called) and not _OF_ELSE.search(before)


def _stands(line: str, name: str, least: int) -> bool:
    """Whether a name ends there or later with no letter beside it."""
    ends = ((at, at + len(name)) for at in positions(line, name))
    return any(end >= least and not (letter_at(line, at - 1) or letter_at(line, end)) for at, end in ends)


def _spelled(piece: Piece) -> bool:
    """Whether such a number follows in words: `my social's four oh seven, sixty-two, nine one three eight`."""
    spoken = SPOKEN.search(piece.after[:64])
    return spoken is not None and len(re.findall("[a-z]+", spoken[0])) >= 5


def says_a_paper_in_chinese(read: TextReading) -> bool:
    """Whether the number of a paper, a social, tax or bank account stands beside the Chinese word for it."""
    return any(
        (digits := digits_in(match["value"])) >= 6
        and not _unproved(read.lower, match)
        and not _NO_NUMBER_ZH.match(match["value"])
        and _called_in_chinese(read.lower[max(0, match.start() - FAR_ZH) : match.start()], digits)
        for match in _PAPER_NUMBER_ZH.finditer(read.lower)
    )


def _unproved(lower: str, match: re.Match[str]) -> bool:
    """Whether a number of the length of an identity card stands close to a word without its check: that is asked elsewhere."""
    return len(match["value"]) == 18 and in_han_block(lower[match.start() - 1 : match.start()])


def _called_in_chinese(before: str, digits: int) -> bool:
    ends = [called.end() for called in _SURE_ZH_BEFORE.finditer(before)]
    if digits >= 10:
        ends += [called.end() for called in _WEAK_ZH_BEFORE.finditer(before)]
    return bool(ends) and len(before) - max(ends) <= 18 and not _OF_ELSE_ZH.search(before, max(ends))


_ACCOUNT = regex(
    rf"(?:(?:account|acct|a/c|card)\.?\s?(?:number|no\.?|num\.?|#){NAMED_FOR}(?:{NAMED_IS}|\s{{0,4}})"
    rf"|(?:bank|checking|savings|current)\saccount{NAMED_FOR}(?:{NAMED_IS}|\s{{1,4}}))"
    r"#?[0-9](?:[ -]?[0-9]){5,19}(?![0-9a-z]|[.,][0-9])"
)
_ZH_ACCOUNT = regex(
    r"(?:(?:银行卡|银行[账帐][号户]|储蓄卡|信用卡|借记卡|存折|卡号|户头)(?:卡号|[账帐][号户]|号)?(?:号?码)?\s?"
    r"(?:就?是|为|[:：=])?\s?[0-9](?:[ -]?[0-9]){7,22}"
    r"|[账帐][号户](?:号?码)?\s?(?:就?是|为|[:：=])?\s?[0-9](?:[ -]?[0-9]){11,22})(?![0-9元块万])"
)
_SSN = Begun(
    "ssn",
    "social security",
    then=rf"(?:\s(?:number|no\.?))?{NAMED_FOR}(?:{NAMED_IS}|\s{{1,4}})"
    r"[0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4}(?![0-9])",
)
_PASSPORT = Begun(
    rf"passport\s?(?:number|no\.?|num|#){NAMED_FOR}(?:{NAMED_IS}|\s{{0,4}})",
    r"护照(?:号码?)?\s?(?:就?是|为|[:：])?\s?",
    then=r"[a-z]{0,2}[0-9]{6,9}(?![0-9a-z])",
)


ACCOUNTS = Cues(listed("account, acct, a/c, card"))


_PAPERS = (
    Rule("card-number", 3, lambda read: holds_card_number(read.text, read.numbers), signs=Sign.SEVEN_DIGITS),
    Rule("iban", 3, lambda read: b"aa00" in read.kinds and holds_iban(read.text), signs=Sign.SEVEN_DIGITS),
    about("account-number", ACCOUNTS, lambda piece: _ACCOUNT.search(piece.lower), before=10, needs=Sign.FIVE_DIGITS),
    Rule("account-number-zh", 3, found_in_lower(_ZH_ACCOUNT), signs=Sign.WIDE_DIGIT),
    Rule("identity-number", 3, lambda read: holds_chinese_id(read.text, read.numbers), signs=Sign.SEVEN_DIGITS),
    Rule("identity-number", 3, found_in_lower(_SSN, _PASSPORT), signs=Sign.FIVE_DIGITS),
    Rule("paper", 3, says_a_paper, PAPERS, needs=Sign.DIGIT),
    about("paper", SPELLED, _spelled, needs=Sign.SPOKEN),
    Rule("paper-zh", 3, says_a_paper_in_chinese, Cues(SURE_ZH, WEAK_ZH), needs=Sign.WIDE_DIGIT),
)


RULES = (*_PAPERS, *_CONTACT, *_PRIVATE, *_BACKGROUND)


MONEY_READ = 4_000
"""Characters of a text that are read."""
_MONEY = (
    r"(?:salary|salaries|wages?|paychecks?|income|earn(?:s|ed|ing|ings)?|bonus|pension|savings?|saved|debts?|owe[sd]?|owing"
    r"|loans?|lent|borrow(?:ed)?|mortgage|overdraft|net worth|invest(?:ed|ment|ments)?|shares|stocks?|bonds?|funds?|portfolio"
    r"|crypto|bitcoin|rent|taxe?s|bank(?: account)?|balance|deposit|inherit(?:ed|ance)?|alimony|credit|assets|insurance|dividends?)"
)
_SUM = (
    r"(?:[$£€¥]\s?\d[\d,.]*\s?(?:k|m|million|thousand)?\b|\d[\d,.]*\s?(?:k\b|grand|dollars|euros?|pounds|bucks|francs|yuan|usd|eur"
    r"|gbp|chf|million|thousand)|\d{1,3}(?:,\d{3})+|(?!(?:19|20)\d\d\b)\d{4,9}(?!\s?(?:people|shares|points|steps|km|miles)))"
)
_OF_MONEY = regex(
    rf"\b{_MONEY}\b[^\n.!?]{{0,40}}?(?<![\w-]){_SUM}|(?<![\w-]){_SUM}[^\n.!?]{{0,40}}?\b{_MONEY}\b"
    r"|\b(?:in debt|bankrupt|insolvent|went broke|in arrears)\b",
    re.IGNORECASE,
)
_MONEY_HAN = (
    "(?:工资|月薪|年薪|薪水|薪资|底薪|收入|年终奖|奖金|存款|存了|积蓄|储蓄|定期|贷款|房贷|车贷|欠|债|借|炒股|股票|基金|理财|定投|国债"
    "|租金|房租|公积金|养老金|退休金|生活费|保险|赔|亏|税|余额|身家|资产|遗产|投资|分红|月供|还款)"
)
_SUM_HAN = (
    r"(?:\d[\d,.]*\s?(?:[元块万千亿]|k|美元|美金|欧元|台币|港币)|[一二两三四五六七八九十百千万几]{1,7}(?:[元块万亿]|千(?!克|米|瓦)|台币)"
    r"|[$£€¥]\s?\d[\d,.]*|[一二两三四五六七八九十]{1,3}[万亿])"
)
_OF_MONEY_ZH = regex(
    rf"{_MONEY_HAN}[^。！？\n]{{0,14}}?{_SUM_HAN}|{_SUM_HAN}[^。！？\n]{{0,14}}?{_MONEY_HAN}|破产|负债|欠债|资不抵债"
)


def tells_of_money(text: str) -> bool:
    """Whether a text is about somebody's money, in English or Chinese. It reads the first `MONEY_READ` characters."""
    read = text[:MONEY_READ]
    return _OF_MONEY.search(read) is not None or (holds_han(read) and _OF_MONEY_ZH.search(read) is not None)
