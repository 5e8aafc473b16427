"""Level 3 by how a code comes to somebody: sent, shown or running out, whatever word stands for it; in English and Chinese."""

from __future__ import annotations

import re

from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.scripts import HAN_BLOCK
from engramlog_server.projections.language.sensitivity.reading import Cues, TextReading
from engramlog_server.projections.language.sensitivity.rule import Rule, either, listed
from engramlog_server.projections.language.sensitivity.sign import Sign

SENT = Cues(
    listed("""
    texted, text, sms, sent, sends, messaged, popped, came, code, verification, authenticator, expires, expire
    times out, just got
    just in, arrived, digit, digits, login, log in, passcode, valid, whatsapp, sign in
""")
)
SENT_ZH = Cues(
    listed(
        "短信, 收到, 发来, 发了, 发我, 发给, 验证, 动态, 登录码, 谷歌, 两步, 双重, 令牌, 六位, 六个数, 6位, 校验, 有效, 过期"
    )
)
_UNIT = r"(?![\w%]|[.,:/-]\d|\s?[$\u20ac\u00a3]|\s\d|\s?" + either("""
    times, people, users, lines, files, words, dollars, bucks, euros, pounds, usd, yen, won, rupees, km, miles, feet
    ft, sq, steps
    points, views, followers, subscribers, rows, records, tokens, bytes, residents, years, inhabitants, items, units
    shares
""") + ")"  # fmt: skip
_SIX = regex(
    rf"[0-9](?<![\w.$\u00a3\u20ac#/:+-].)(?<!\d .)(?:\d\d[ -]\d{{3}}|\d{{5}}|(?: \d){{5}}|\d \d\d \d\d){_UNIT}"
)
_PREFIXED = regex(r"-(?<=[a-z]-)(?<![a-z\d][a-z]-)\d{6}(?![\w%]|[.,:/-]\d)")
_OF_ELSE = regex(
    either("""
    order, invoice, ticket, tracking, ref, reference, case, booking, zip, postal, postcode, bug, issue, pr, commit
    error, item, sku
    model, part, promo, discount, coupon, voucher, referral, extension, ext, donation, cheque, check, budget, sold
    page, product
    article, population, parcel, package, shipment, bus, flight, quote, po
""")
    + r"\s?(?:number|no\.?|code|id|#)?(?:\s(?:is|was|for|of))?[ :,#]{0,2}$"
)
_CAME = regex(
    either(
        "it (?:just )?texted, texted, they sent, sent me"
        ", (?:it|they|text|sms|code|message)(?: just| has)? (?:came|arrived)(?: through| in)?, popped up, just got, just in"
    )
    + r"|\b(?:what|code(?: that)?) [a-z]{2,16} sent\b"
    r"|\b(?:whatsapp|telegram|signal|google|apple|paypal|authenticator|app) (?:says?|said|shows)\b"
    r"|\b(?:sms|text|message)\b[^.\n]{0,24}\b(?:says?|said|is)\b"
)
_TO_BE_USED = regex(
    either("""
    times? out, expires?, runs out, quick(?:ly)?, hurry, valid, log-?in, log in, logging in, sign in, sign-in, sign, confirm, verify
    verifying, verification, two[- ]factor, 2fa, mfa, otp, one[- ]time, authenticator, account, bank, chase, barclays
    paypal, google, apple
    microsoft, amazon, whatsapp, telegram, venmo, revolut, monzo, hsbc, santander, wells fargo, halifax, instagram
    facebook, steam, uber
    passcode, code, types? it in, put it in, enter it, read it (?:back|out), before it (?:dies|goes|runs), don't tell
""")
)
_RUNS_OUT = regex(
    either("times out, time out, expires?, runs out, valid (?:for )?\\d+, don't share, never share, do not share")
)
_CODED = regex(
    either(
        "code, codes, verification, passcode, otp, 2fa, authenticator, login, log-?in, log in, six[- ]digits?, 6[- ]digits?"
    )
)

_SIX_ZH = regex(
    rf"[0-9](?:(?<![\w.$#/+-].)|(?<=[{HAN_BLOCK}].))(?<!\d .)(?:\d\d[ -]\d{{3}}|\d{{3}}|\d{{5}}|(?: \d){{3,5}})"
    r"(?!\d|[.:/%-]\d|\s\d|\s?[号元块万条个人次年月天位名张件度点多米字集票]|\s?(?:分钟|公里|单|秒))"
)
_OF_ELSE_ZH = regex(
    "(?:订单|单号|编号|快递|取件|工单|邮编|学号|工号|尾号|电话|客服|房间|会议|群|第|价|金额|消费|到账|转入|支出|余额)[^。\n]{0,6}$"
)
_CAME_ZH = regex(
    r"(?:(?:刚刚?|才)(?:才)?(?:收到|发来|发我|发给我|发了|来)|短信(?:来了|说|上?写?的?是|里|收到|发来)|(?:登录|登陆|登入)[^。\n\d]{0,6}(?:收到|发来)"
    r"|发来(?:的|了)|收到(?:的|了)?)[^。\n\d]{0,8}$"
)
_TO_BE_USED_ZH = regex(
    "快[输填点报念用]?|你?[输填念报]一?下?|有效|过期|超时|别告诉|勿告知|不要告诉|登[录陆入]|数|码|赶紧"
)
_SHOWN_ZH = regex(
    r"(?:验证器|身份验证|谷歌验证|令牌|动态|两步验证|双重验证|六位数?字?|6位数?字?|六个数字?|登录码|校验码?)[^。\n\d]{0,8}$"
)
_IS_ZH = regex(
    r"\s?(?:就?是|为)[你您我]?的?[^。\n\d]{0,6}(?:登[录陆入]码|验证码|动态码|校验码|口令)|[^。\n\d]{0,8}(?:验证码|登[录陆入]码)"
)
_CODED_ZH = regex("验证|登[录陆入]|校验|谷歌")


def says_a_code_that_came(read: TextReading) -> bool:
    """Whether the digits of a code stand beside how it came, what it is for, or that it runs out."""
    if not read.places(SENT):
        return False
    return any(_came(read.lower, match) for match in _SIX.finditer(read.lower)) or _prefixed(read.lower)


def _prefixed(lower: str) -> bool:
    """`G-615283`, near a word for a code."""
    return any(
        _CODED.search(lower, max(0, match.start() - 64), match.end() + 64)
        and not _OF_ELSE.search(lower, max(0, match.start() - 64), match.start() - 1)
        for match in _PREFIXED.finditer(lower)
    )


def _came(lower: str, match: re.Match[str]) -> bool:
    start, end = match.span()
    first = max(0, lower.rfind("\n", 0, start) + 1, start - 64)
    before, after = lower[first:start], lower[end : end + 72].partition("\n")[0]
    if _OF_ELSE.search(before):
        return False
    around = f"{before} | {after}"
    if _CAME.search(around) and _TO_BE_USED.search(around):
        return True
    return _RUNS_OUT.search(around) is not None and (match[0][3] in " -" or _CODED.search(around) is not None)


def says_a_code_that_came_in_chinese(read: TextReading) -> bool:
    """Whether the digits of a code stand in Chinese beside how it came, what shows it, or what is done with it at once."""
    if not read.places(SENT_ZH):
        return False
    lower = read.lower
    return any(_came_in_chinese(lower, match) for match in _SIX_ZH.finditer(lower)) or any(
        _CODED_ZH.search(lower, max(0, match.start() - 24), match.end() + 24) for match in _PREFIXED.finditer(lower)
    )


def _came_in_chinese(lower: str, match: re.Match[str]) -> bool:
    start, end = match.span()
    before, after = lower[max(0, start - 32) : start].rpartition("\n")[2], lower[end : end + 24].partition("\n")[0]
    if _OF_ELSE_ZH.search(before):
        return False
    six = len(re.sub(r"\D", "", match[0])) == 6
    if six and (_IS_ZH.match(after) or (_SHOWN_ZH.search(before))):
        return True
    came = _CAME_ZH.search(before)
    return came is not None and _TO_BE_USED_ZH.search(came[0] + after) is not None and (six or "登" in before)


RULES = (
    Rule("one-time-code", 3, says_a_code_that_came, SENT, needs=Sign.FIVE_DIGITS),
    Rule("one-time-code", 3, says_a_code_that_came_in_chinese, SENT_ZH, needs=Sign.WIDE_DIGIT),
)
