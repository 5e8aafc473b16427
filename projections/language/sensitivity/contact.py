"""Level 2: a street address, a telephone number, an e-mail address, a messenger account; in English and Chinese."""

from __future__ import annotations

import re

from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.scripts import HAN_BLOCK
from engramlog_server.projections.language.sensitivity.reading import Cues, Sign, TextReading, Words, joined
from engramlog_server.projections.language.sensitivity.rule import Rule, found_in_lower, found_in_text, listed

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
        if 8 <= _digits(number) <= 15 and number.count(".") != 1:
            return True
    return any(
        7 <= _digits(match["number"]) <= 15
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


def _digits(number: str) -> int:
    return sum(character.isdigit() for character in number)


RULES = (
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
