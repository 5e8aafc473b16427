"""Level 2: a street address, a telephone number, an e-mail address or an account at a messenger, in English and Chinese."""

from __future__ import annotations

import re

from projections.sensitivity_rule import Rule, Sign

_EMAIL = re.compile(r"(?<=[A-Za-z0-9_+%-])@(?:[A-Za-z0-9-]{1,63}\.){1,5}[A-Za-z]{2,24}(?![A-Za-z0-9@])")
_LOCAL_PART = re.compile(
    r"(?:^|[^A-Za-z0-9._+%:/-])(?!git@)[A-Za-z0-9._+%-]{1,64}@$|(?:mailto|[Ee]-?mail|邮箱)[:：][^\s@]{1,64}@$"
)

_MOBILE_ZH = re.compile(r"(?<![0-9A-Za-z_.-])(?:\+?86[ -]?)?1[3-9][0-9](?:[ -]?[0-9]{4}){2}(?![0-9A-Za-z_-]|\.[0-9])")
_LANDLINE_ZH = re.compile(
    r"(?<![0-9.-])(?:0[1-9][0-9]{1,2}[- ][2-9][0-9]{6,7}|\(0[1-9][0-9]{1,2}\) ?[2-9][0-9]{6,7})(?![0-9-])"
)
_INTERNATIONAL = re.compile(r"(?<![\w+.])\+(?P<number>[1-9][0-9 ().-]{6,22}[0-9])(?![0-9])")
_NORTH_AMERICAN = re.compile(
    r"(?<![\w.-])(?:1[ .-])?(?:\([2-9][0-9]{2}\) ?[0-9]{3}[ .-]|[2-9][0-9]{2}(?P<between>[.-])[0-9]{3}(?P=between)"
    r"|[2-9][0-9]{2} [2-9][0-9]{2}[ -])[0-9]{4}(?![\w-]|\.[0-9])"
)
_BRITISH_MOBILE = re.compile(r"(?<![\w.])07[0-9]{3}[ -]?[0-9]{3}[ -]?[0-9]{3}(?!\w)")
_CALLED_PHONE = re.compile(
    r"(?:\b(?:(?:tele)?phone|mobile|cell(?:phone)?|tel|whatsapp|landline)(?:\s+(?:number|no\.?))?|\b(?:call|text|ring|reach|phone)"
    r"\s+(?:me|us|him|her|them)\s+(?:at|on)|\b(?:my|his|her|our|their)\s+number|电话|手机|联系方式|座机)(?:号码?)?"
    r"(?:\s*(?:\bis|\bwas|[:：=]|就?是|为))?\s*(?P<number>[0-9(][0-9 ().-]{4,20}[0-9])(?![0-9]|\s?[元块])",
    re.IGNORECASE,
)
_MESSENGER = re.compile(
    r"(?:(?<![A-Za-z])QQ号?(?:码)?\s?(?:就?是|为|is|[:：])?\s?[1-9][0-9]{4,10}(?![0-9])"
    r"|(?:微信|(?<![a-z])wechat|(?<![a-z])weixin|(?<![a-z])telegram|(?<![a-z])skype)(?:号|\s?id)?\s?(?:就?是|为|is|[:：])\s?"
    r"@?(?=[a-z_-]{0,19}[0-9_])[a-z][a-z0-9_-]{5,19}(?![a-z0-9_]))",
    re.IGNORECASE,
)

_KIND = (
    r"(?:street|st|avenue|ave|road|rd|lane|ln|drive|dr|boulevard|blvd|court|ct|terrace|crescent|close|square|sq|parkway|pkwy"
    r"|highway|hwy|circle|alley|mews|way|place|pl)"
)
# A capitalised street name by itself; any case after words that say where someone lives.
_STREET = re.compile(
    rf"(?<![\w.$€£:/-])[0-9]{{1,5}}[A-Za-z]?,? (?:[NSEW]\.? )?(?:[A-Z][\w'’.-]{{1,20}} |[0-9]{{1,3}}(?:st|nd|rd|th) ){{1,4}}(?i:{_KIND})\b"
)
_LIVES = re.compile(
    r"\b(?:(?:live[sd]?|living|reside[sd]?|residing|stay(?:s|ing)?|mov(?:ed|ing)|located|delivered|shipped|ship|deliver|mail)"
    r"\s+(?:it\s+)?(?:at|to|on)|address(?:\s+is|\s*:)?)\s+(?:[\w.# ]{0,16}, )?(?:no\.? ?)?[0-9]{1,5}[a-z]?,?\s"
    rf"(?:[\w'’.-]{{1,20}} ){{1,4}}{_KIND}\b",
    re.IGNORECASE,
)
_UNIT_OR_BOX = re.compile(
    r"\bP\.?\s?O\.? Box [0-9]{1,6}\b|, [A-Z]{2} [0-9]{5}(?:-[0-9]{4})?\b|\b[A-Z][\w'’]{2,20}(?:straße|strasse|str\.) [0-9]{1,4}\b"
)

_ROAD_ZH = re.compile(
    r"[\u4e00-\u9fff](?:路|街|大道|巷|弄|胡同|街道)\s?[0-9一二三四五六七八九十百零〇]{1,5}\s?[号弄](?![线车楼选])"
)
_BUILDING_ZH = re.compile(
    r"[0-9一二三四五六七八九十]{1,4}\s?(?:号楼|栋|幢|座|单元)[^，。；！？\n]{0,8}?[0-9]{1,4}\s?(?:室|号房|户|单元)|[0-9]{1,3}(?:号楼|栋|幢)\s?[0-9]{3,4}(?![0-9])"
)
_CALLED_ADDRESS_ZH = re.compile(
    r"(?:地址|住址|住在|家在)(?:就?是|为|[:：])?\s?(?:[\u4e00-\u9fff]{1,10}(?:省|市|区|县|镇|乡)){1,4}[\u4e00-\u9fff]{1,12}"
    r"(?:路|街|大道|巷|弄|胡同|小区|花园|公寓|苑|村|家园|新村)"
)


def holds_email(text: str) -> bool:
    """Whether the text holds an e-mail address; a login in a URL or `git@host` is none."""
    return any(_LOCAL_PART.search(text, max(0, at.start() - 72), at.start() + 1) for at in _EMAIL.finditer(text))


def holds_phone(text: str) -> bool:
    """Whether the text holds a telephone number by its form, or digits called one."""
    shapes = (_MOBILE_ZH, _LANDLINE_ZH, _NORTH_AMERICAN, _BRITISH_MOBILE)
    if any(shape.search(text) for shape in shapes):
        return True
    for match in _INTERNATIONAL.finditer(text):
        number = match["number"]
        if 8 <= _digits(number) <= 15 and number.count(".") != 1:
            return True
    return any(7 <= _digits(match["number"]) <= 15 for match in _CALLED_PHONE.finditer(text))


def holds_address(text: str) -> bool:
    """Whether the text says where a house is: a street with a number, a building with a room, a post box."""
    return any(pattern.search(text) for pattern in (_STREET, _LIVES, _UNIT_OR_BOX, _ROAD_ZH, _BUILDING_ZH))


def _digits(number: str) -> int:
    return sum(character.isdigit() for character in number)


RULES = (
    Rule("e-mail", 2, Sign.AT, holds_email),
    Rule("telephone", 2, Sign.SEVEN_DIGITS, holds_phone),
    Rule("messenger", 2, Sign.DIGIT, lambda text: _MESSENGER.search(text) is not None),
    Rule("address", 2, Sign.DIGIT, holds_address),
    Rule("address", 2, Sign.PLACE, lambda text: _CALLED_ADDRESS_ZH.search(text) is not None),
)
