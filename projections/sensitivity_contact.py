"""Level 2: a street address, a telephone number, an e-mail address, a messenger account; in English and Chinese."""

from __future__ import annotations

import re

from projections.sensitivity_numbers import regions
from projections.sensitivity_rule import Rule, Sign, found_in_lower, found_in_text, listed

_EMAIL = re.compile(r"@(?<=[A-Za-z0-9_+%-]@)(?:[A-Za-z0-9-]{1,63}\.){1,5}[A-Za-z]{2,24}(?![A-Za-z0-9@])")
_LOCAL_PART = re.compile(
    r"(?:^|[^A-Za-z0-9._+%:/-]|(?:mailto|mail|邮箱)[:：])(?!git@)[A-Za-z0-9._+%-]{1,64}@$", re.IGNORECASE
)

_PHONE_SHAPES = (
    # Chinese mobiles and landlines
    re.compile(r"(?<![0-9A-Za-z_.-])(?:\+?86[ -]?)?1[3-9][0-9](?:[ -]?[0-9]{4}){2}(?![0-9A-Za-z_-]|\.[0-9])"),
    re.compile(r"(?<![0-9.-])(?:0[1-9][0-9]{1,2}[- ]|\(0[1-9][0-9]{1,2}\) ?)[2-9][0-9]{6,7}(?![0-9-])"),
    # North America
    re.compile(
        r"(?<![\w.-])(?:1[ .-])?(?:\([2-9][0-9]{2}\) ?[0-9]{3}[ .-]|[2-9][0-9]{2}(?P<between>[.-])[0-9]{3}(?P=between))"
        r"[0-9]{4}(?![\w-]|\.[0-9])"
    ),
    # British mobiles
    re.compile(r"(?<![\w.])07[0-9]{3}[ -]?[0-9]{3}[ -]?[0-9]{3}(?!\w)"),
)
_INTERNATIONAL = re.compile(r"\+(?<![\w+.]\+)(?P<number>[1-9][0-9 ().-]{6,22}[0-9])(?![0-9])")
# From here to the streets, in lower case.
_CALLED_PHONE = re.compile(
    r"(?:phone|mobile|cell|tel|whatsapp|landline|me at|me on|us at|us on|him at|him on|her at|her on|my number"
    r"|his number|her number|our number|their number|电话|手机|联系方式|座机)(?:\snumber|\sno\.?|号码?)?"
    r"(?:\s{0,4}(?:\bis|\bwas|[:：=]|就?是|为))?\s{0,4}(?P<number>[0-9(][0-9 ().-]{4,20}[0-9])(?![0-9]|\s?[元块])"
)
CONTACTS = frozenset(listed("qq, wechat, weixin, telegram, skype"))
PLACES = frozenset(
    listed("""
    live, lives, lived, living, reside, resides, resided, residing, stay, stays, staying, move, moved, moving
    located, delivered, shipped, ship, deliver, mail, address, box
    """)
)
"""One of these words stands in every English text that the rules for messengers and addresses can match."""
PLACES_ZH = "大道|胡同|住在|家在|路|街|巷|弄|址|微信"
_MESSENGER = re.compile(
    r"(?:qq(?<![a-z]qq)号?(?:码)?\s?(?:就?是|为|is|[:：])?\s?[1-9][0-9]{4,10}(?![0-9])"
    r"|(?:微信|wechat|weixin|telegram|skype)(?:号|\s?id)?\s?(?:就?是|为|is|[:：])\s?"
    r"@?(?=[a-z_-]{0,19}[0-9_])[a-z][a-z0-9_-]{5,19}(?![a-z0-9_]))"
)
_LIVES = re.compile(
    r"(?:live[sd]?|living|reside[sd]?|residing|stay(?:s|ing)?|mov(?:ed|ing)|located|delivered|shipped|ship|deliver|mail"
    r"|address)(?:\s(?:it\s)?(?:at|to|on)|\sis|\s?:)\s{1,4}(?:[\w.# ]{0,16}, )?(?:no\.? ?)?[0-9]{1,5}[a-z]?,?\s"
    r"(?:[\w'’.-]{1,20} ){1,4}(?:street|st|avenue|ave|road|rd|lane|ln|drive|dr|boulevard|blvd|court|ct|terrace|crescent"
    r"|close|square|sq|parkway|pkwy|highway|hwy|circle|alley|mews|way|place|pl)\b"
)
_BOX = re.compile(r"p\.?\s?o\.? box [0-9]{1,6}\b")
# A capitalised street name says it by itself.
_STREET = re.compile(
    r"[0-9](?<![\w.$€£:/-][0-9])[0-9]{0,4}[A-Za-z]?,? (?:[NSEW]\.? )?"
    r"(?:[A-Z][\w'’.-]{1,20} |[0-9]{1,3}(?:st|nd|rd|th) ){1,4}"
    r"(?:[Ss]treet|[Ss]t|[Aa]venue|[Aa]ve|[Rr]oad|[Rr]d|[Ll]ane|Ln|[Dd]rive|Dr|[Bb]oulevard|Blvd|[Cc]ourt|Ct|[Tt]errace"
    r"|[Cc]rescent|Close|[Ss]quare|Sq|[Pp]arkway|Pkwy|[Hh]ighway|Hwy|Circle|Alley|Mews|Way|Place|Pl)\b"
)
_STATE_AND_ZIP = re.compile(r", [A-Z]{2} [0-9]{5}(?:-[0-9]{4})?(?![0-9])")

_NUMBER_ZH = "[0-9一二三四五六七八九十百零〇]"
_ROAD_ZH = re.compile(rf"(?:路|街|大道|巷|弄|胡同|街道)\s?{_NUMBER_ZH}{{1,5}}\s?[号弄](?![线车楼选])")
_BUILDING_ZH = re.compile(
    rf"(?:号楼(?<={_NUMBER_ZH}号楼)|[栋幢座](?<={_NUMBER_ZH}[栋幢座])|单元(?<={_NUMBER_ZH}单元))"
    r"(?:[^,，。;；!！?？\n]{0,8}?[0-9]{1,4}\s?(?:室|号房|户|单元)|\s?[0-9]{3,4}(?![0-9]))"
)
_CALLED_ADDRESS_ZH = re.compile(
    r"(?:地址|住址|住在|家在)(?:就?是|为|[:：])?\s?(?=[\u4e00-\u9fff]{1,12}?[省市区县镇乡])[\u4e00-\u9fff]{4,40}?"
    r"(?:路|街|大道|巷|弄|胡同|小区|花园|公寓|苑|村|家园)"
)


def holds_email(text: str, _lower: str) -> bool:
    """Whether the text holds an e-mail address; a login in a URL or `git@host` is none."""
    return any(_LOCAL_PART.search(text, max(0, at.start() - 72), at.start() + 1) for at in _EMAIL.finditer(text))


def holds_phone(text: str, lower: str) -> bool:
    """Whether the text holds a telephone number by its form, or digits called one."""
    for start, end in regions(text):
        if any(shape.search(text, start, end) for shape in _PHONE_SHAPES):
            return True
    for match in _INTERNATIONAL.finditer(text):
        number = match["number"]
        if 8 <= _digits(number) <= 15 and number.count(".") != 1:
            return True
    return any(7 <= _digits(match["number"]) <= 15 for match in _CALLED_PHONE.finditer(lower))


def _digits(number: str) -> int:
    return sum(character.isdigit() for character in number)


RULES = (
    Rule("e-mail", 2, Sign.AT, holds_email),
    Rule("telephone", 2, Sign.SEVEN_DIGITS, holds_phone),
    Rule("messenger", 2, Sign.CONTACT | Sign.ZH_PLACE, found_in_lower(_MESSENGER)),
    Rule("address", 2, Sign.DIGIT, found_in_text(_STREET, _STATE_AND_ZIP)),
    Rule("address", 2, Sign.PLACE, found_in_lower(_LIVES, _BOX)),
    Rule("address", 2, Sign.ZH_DIGIT, found_in_text(_BUILDING_ZH)),
    Rule("address", 2, Sign.ZH_PLACE, found_in_text(_ROAD_ZH, _CALLED_ADDRESS_ZH)),
)
