"""Level 3 by what a number opens: an alarm is disarmed with it, a lock is set to it, a cash machine asks for it.

Here no word such as code or 密码 is needed: the thing that is locked, or what is done to it, says what the number is for.
"""

from __future__ import annotations

import re

from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.sensitivity.rule import (
    Cues,
    Piece,
    Sign,
    Words,
    about,
    either,
    listed,
    one_of,
)
from engramlog_server.projections.language.sensitivity.values import DIGIT_WORD

OPENING = Cues(Words("locks_opening"))
LOCKS = Cues(Words("locks_locks"))
MACHINES = Cues(listed("atm, cash machine, cashpoint, cash point, debit card, bank card, cashcard, pin pad"))
SENT = Cues(listed("text, texted, sms, sent, messaged, message, code, authenticator, verification"))
BACKS = Cues(listed("digits, back, exp, expires, expiry, cvv, cvc"))
CONTROLS = Cues(Words("locks_controls"))

_UNIT = r"(?![a-z0-9_%]|[.,:/-]\d|\s?[$\u20ac\u00a3]|\s?" + either("""
    am, pm, mins?, minutes, hours, hrs, seconds, secs, days, weeks, months, years, times, km, miles, feet, ft, sq, mm, cm, lbs
    kg, g, people, users, lines, characters, dollars, bucks, euros, pounds, usd, street, st, ave, avenue, road, rd, of, errors
    files, words, watts, gems, flight, calls, doors, gates, keys, points, gold, coins, steps, stores, shops, countries, more
""") + ")"  # fmt: skip
_CODE = rf"(?<![\w.$\u00a3\u20ac/:-])(?<!\d )[#*]?\d(?:[ -]?\d){{2,7}}[#*]?{_UNIT}"
_KEYED = (
    r"(?:enter|press|punch|punch in|type|type in|use|dial|hit|tap|key in|with|by|code|codes|try|is|its|it's|to|on"
    r"|[,:=\u2192-])"
)
_BEFORE = regex(
    rf"(?:\b|(?<=\s)|(?<=[:,=-])){_KEYED}\s{{0,3}}(?:code\s)?{_CODE}\s?(?:,|and|then|it|will|should|to|which|that)?\s?"
    r"(?:to |also |will )?$"
)
_AFTER = regex(
    rf"(?:\s[^\d.\n$]{{0,40}}?|\s?)(?:\b(?:it's|its|is|are|punch|punch in|press|enter|dial|type|use|key in|hit|tap|with|by)"
    rf"|[:=\u2192-])\s{{0,2}}(?:the code |code )?{_CODE}"
)
_TIMED = regex(r"(?:19|20)\d\d\s?$")
_LOCKED = regex(lambda: one_of("locks_locked"))
_STANDS = regex(
    r"(?:(?:\s?\((?!s\))[^()\n]{1,24}\))?(?:\s(?:on|to|of|by|for|at|in)\s(?:the |my |our |his |her )?[a-z' -]{2,28}?)?)"
    r"(?:\s?(?:\b(?:digits?|numbers?|code|combo|combination|(?:i |we )?set to|set|opens? (?:with|to|on)"
    r"|are|is|was|now|still|to)\b|'s\b|[:=,\u2192-]))"
    rf"{{0,4}}\s{{0,2}}{_CODE}"
)
_THREE = regex(
    r"(?:\s(?:at|in|by|on) (?:the|my|our) [a-z]{2,12})?\s?(?:combo|is|:|=)?\s?\d{1,2}-\d{1,2}-\d{1,2}(?![\w-]|\.\d)"
)
_APART = regex(r"[^\d\n]{0,24}?(?<![\d.])\d(?:[ -]\d){3,7}[#*]?" + _UNIT)
_LATER = regex(rf"[^\n]{{0,64}}?\b(?:numbers|digits|combo|code)\s?(?:is|are|:|=)\s?(?:set to )?{_CODE}")
_OF_ELSE = regex(lambda: one_of("locks_of_else") + r"\s?$")
_SPOKEN = regex(rf"[^.\n]{{0,28}}?\b{DIGIT_WORD}(?:[ ,-]{{1,2}}{DIGIT_WORD}){{3,7}}\b")
_ASKED = regex(
    rf"[^.\n\d$]{{0,24}}?(?:\b(?:it's|its|is|use|uses|enter|type|punch in)\b|[:=\u2192])\s?\d{{4}}(?:\d\d)?{_UNIT}"
)
_SENT = regex(r"(?<![\w.$#/:-])\d{3}[ -]?\d{3}(?![\w%]|[-.,:/]\d)")
_LOGGED = regex(lambda: one_of("locks_logged", r"verif[a-z]+"))
_YOURS = regex(
    r"your (?!(?:promo|discount|voucher|coupon|referral|gift|area|zip|postal|order|booking|reference|tracking|error|qr|bar|post)\b)"
    r"(?:[\w.]+ ){1,3}$"
)
_YOUR_CODE = regex(r"(?: is|:|'s)?\s{1,2}(?:g-)?\d{3}[ -]?\d{1,5}(?![\w%]|[-.,:/]\d)")
_BACK = regex(
    r"(?:exp\w{0,5}\.?:?\s?\d{1,2}/\d{2,4}[^.\n]{0,40}?\b(?:digits|back|code|sec\w*)\b[^.\n\d]{0,16}\d{3,4}\b(?![-/.,:]\d)"
    r"|(?:three|3|last) (?:digits|numbers) (?:on the back |of the card |of it ){0,2}(?:are|is|:|=)\s?\d{3}\b(?![-/.,:]\d))"
)
_SET = regex(rf"[^.\n\d]{{0,20}}?(?:\b(?:is|are|to|with|by)\b|[:=\u2192-])\s?(?:code |pin )?\d{{4,6}}{_UNIT}")


_DIGITS = regex(r"\d[ -]?\d[ -]?\d")


def _opening(piece: Piece) -> bool:
    if not _DIGITS.search(piece.lower):
        return False
    keyed = _BEFORE.search(piece.before)
    sure = piece.word.startswith("disarm") or _LOCKED.search(piece.lower) is not None
    if keyed and (sure or "#" in keyed[0] or "*" in keyed[0]) and not _TIMED.search(keyed[0].rstrip(" ,andtowil")):
        return True
    return sure and piece.word not in ("open", "opens") and _AFTER.match(piece.after) is not None


def _locked(piece: Piece) -> bool:
    if not _DIGITS.search(piece.lower, piece.end):
        return False
    if _THREE.match(piece.after) and piece.word not in ("door", "gate", "alarm", "garage"):
        return True
    stands = _STANDS.match(piece.after)
    firm = piece.word not in (
        "safe",
        "locker",
        "door",
        "gate",
        "alarm",
        "panel",
        "intercom",
        "garage",
        "locks",
        "luggage",
    )
    if stands and not _OF_ELSE.search(piece.before) and not _year(stands[0]):
        gap = re.split(r"\d", stands[0], maxsplit=1)[0]
        if firm or "set to" in gap or (":" in gap and len(re.sub(r"\D", "", stands[0])) >= 4):
            return True
    if _APART.match(piece.after) and not _OF_ELSE.search(piece.before):
        return True
    return firm and _LATER.match(piece.after) is not None


def _year(told: str) -> bool:
    return re.search(r"(?<!\d)(?:in|of|from|since|,)?\s(?:19|20)\d\d$", told) is not None


def _sent(piece: Piece) -> bool:
    """Whether six digits are there that a service has sent to let somebody in."""
    if piece.word == "code":
        return _YOURS.search(piece.before) is not None and _YOUR_CODE.match(piece.after) is not None
    return _SENT.search(piece.after[:40]) is not None and _LOGGED.search(piece.lower) is not None


# In Chinese.
THINGS_ZH = Cues(Words("locks_things_zh"))
_NO_UNIT_ZH = (
    r"(?!\d|[.:/]\d|%|\s?(?:[位个分秒次年月天日号楼元块层栋室路米点章页寸级版颗条人度万亿件斤把种折岁期名张回部场平升字集代季届克股集只台户包]"
    r"|小时|公里|公斤|千克|分钟|以内|以上|多|kg|cm|mm|ml|rmb))"
)
_DIGITS_ZH = rf"(?<![\d.a-z])[#*]?\d(?:[ -]?\d){{2,9}}[#*]?{_NO_UNIT_ZH}"
_LINK_ZH = (
    r"(?:就?是|系|为|[:=→,]|设(?:成|为|的是)?|改(?:成|为|的)?了?|还是|用|按|拨到?|对到?|对码|转到?|先按?|\s){1,3}"
)
_OPENED_ZH = regex(
    rf"(?:输入?了?|按下?|摁|键入|拨|敲|打|刷)\s?(?:密码|数字)?\s?{_DIGITS_ZH}\s?(?:号?键|井号|这几个)?\s?[,、]?\s?(?:然后|再|就|后|即|来|去)?\s?(?:能|可以?|会|直接)?就?\s?"
    r"(?:开|进|解锁|撤防|取出|打开)(?!始|头|车|会|价|度|球|步|货)"
)
_STANDS_ZH = regex(
    r"(?:[单自行电瓶动摩]车锁|密码锁|电子锁|智能锁|指纹锁|挂锁|链条锁|门锁|地锁|本锁|箱锁|柜锁|u型锁|旅行箱|行李箱|拉杆箱|密码箱|保险[箱柜]|钱箱|储物柜|更衣柜|鞋柜|文件柜|信箱|抽屉"
    r"|门禁|单元门|院门|大门|铁门|后门|前门|车库门?|闸机|(?:手机|老人机|平板|ipad|电脑)\s?(?:开锁|解锁|锁屏|开机)|撤防)"
    rf"(?:[^。\n\d元块价换买修装花卖,]{{0,6}}?{_LINK_ZH}|\s)\s?{_DIGITS_ZH}"
)
_SAME_ZH = regex(
    r"(?:平板|锁屏|存折|保险[箱柜]|银行卡|锁)\s?(?:就?是|还是|:)?\s?[四六八468]\s?个\s?\d(?![\d个位月天人次岁核g.])"
)
_PAYS_ZH = regex(
    r"(?:付款|支付|取款|提款|取钱|转账|存折|银行卡|工资卡|储蓄卡|atm|柜员机|提款机|取款机)"
    r"(?:[^。\n\d元块]{0,10}?(?:(?<!后)(?<!尾号)[四六46]\s?位(?:数字?)?|密码|pin)\s?(?:数|的)?(?:就?是|为|[:=])?|[^。\n\d元块]{0,4}卡\s)"
    rf"\s?(?<!\d)(?:\d{{4}}|\d{{6}}|\d{{3}}[ -]\d{{3}}){_NO_UNIT_ZH}"
)
_BEFORE_ZH = regex(
    r"(?<![\d.a-z-])(?!1230[68]|12345|1008[68]|95\d{3}(?!\d))(?:\d{4,8}|\d{3}[ -]\d{3})[\"']?,?\s?(?:(?:就|才)?是|这个|那个|为)"
    r"[^。\n,?]{0,10}?(?:验证码|校验码|动态码|取款密码|支付密码|开门码|门禁码|锁屏密码|密码(?![学管锁生本子])|口令(?!红包))"
)


def _opens_in_chinese(piece: Piece) -> bool:
    """Whether digits open a door, a lock or a phone, or are what a payment asks for."""
    shapes = (_OPENED_ZH, _STANDS_ZH, _PAYS_ZH, _BEFORE_ZH, _SAME_ZH)
    return any(shape.search(piece.lower) for shape in shapes)


RULES = (
    about("pin", OPENING, _opening, needs=Sign.DIGIT),
    about("pin", LOCKS, _locked, needs=Sign.DIGIT),
    about("pin", CONTROLS, lambda piece: _SET.match(piece.after), needs=Sign.DIGIT),
    about(
        "pin",
        MACHINES,
        lambda piece: _SPOKEN.match(piece.after) or _ASKED.match(piece.after),
        after=64,
        needs=Sign.DIGIT | Sign.SPOKEN,
    ),
    about("one-time-code", SENT, _sent, before=40, after=72, needs=Sign.DIGIT),
    about("one-time-code", BACKS, lambda piece: _BACK.search(piece.lower), before=40, needs=Sign.DIGIT),
    about("pin-zh", THINGS_ZH, _opens_in_chinese, before=24, after=40, needs=Sign.WIDE_DIGIT),
)
