"""Level 3 by codes written in groups of equal length: gift cards, licences, the key that sets an authenticator up."""

from __future__ import annotations

import re

from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.sensitivity.beside import Piece
from engramlog_server.projections.language.sensitivity.reading import Cues, TextReading
from engramlog_server.projections.language.sensitivity.rule import Rule, either, listed
from engramlog_server.projections.language.sensitivity.sign import Sign

REDEEMED = Cues(
    listed("""
    voucher, vouchers, gift, giftcard, gift card, gift code, redeem, redeems, redeemed, redeeming, steam, itunes, google play
    xbox, playstation, psn, nintendo, eshop, roblox, robux, fortnite, licence, license, licences, activation
    cd key, serial key, topup, prepaid
    礼品卡, 兑换码, 激活码, 点卡, 充值卡, 序列号, 卡密, 储值卡
""")
)
GUARDED = Cues(listed("steam guard, steamguard"))
SET_UP = Cues(
    listed("""
    setup, 2fa, mfa, totp, otp, authenticator, authy, manual entry, enter manually
    qr, 两步, 双重, 验证器, 令牌, 二次验证
""")
)
_GROUPS = regex(
    r"(?<![\w./-])(?:[a-z0-9]{5}(?:-[a-z0-9]{5}){2,5}|[a-z0-9]{4}(?:-[a-z0-9]{4}){2,7}|[a-z0-9]{4}-[a-z0-9]{6}-[a-z0-9]{4,5}"
    r"|[a-z0-9]{6}(?:-[a-z0-9]{6}){2,5})(?![\w/-]|\.\w)"
)
_RUN = regex(r"(?<![\w./-])(?=[A-Z]{0,12}\d)[A-Z0-9]{13,18}(?![\w./-])")
_MIXED = regex(r"(?=[a-z]{0,5}\d)(?=\d{0,5}[a-z])[a-z0-9]{4,6}")
_OF_ELSE = regex(
    either("""
    order, tracking, part, model, serial number, ref, reference, booking, uuid, commit, sku, invoice, parcel, parcels, receipt
    confirmation, ticket, reservation, imei
""")
)
_CARD = regex(either("card, code, codes, voucher, redeem, pin") + "|[码卡]")
_GUARD = regex(
    r"(?:\s(?:code|says|said|is|was|now|it's|shows|=|just)){0,3}\s?:?\s{1,2}(?=[A-Z]{0,4}\d)(?=\d{0,4}[A-Z])[A-Z0-9]{5}(?!\w)"
)
_BASE_32 = regex(r"(?<![a-z0-9-])[a-z2-7]{4}(?:[ -][a-z2-7]{4}){3,15}(?![a-z0-9-])")
_RUN_OF_BASE_32 = regex(r"(?<![\w./+-])[A-Z2-7]{16,64}(?![\w./+=-])")


def holds_a_grouped_code(read: TextReading) -> bool:
    """Whether a code in groups stands beside a word for a gift card or a licence, or a second factor's key."""
    return (
        any(_redeemed(piece) for piece in read.pieces(REDEEMED, before=80, after=96))
        or any(_GUARD.match(piece.text, piece.end) for piece in read.pieces(GUARDED))
        or any(_set_up(piece) for piece in read.pieces(SET_UP, before=72, after=110))
    )


def _redeemed(piece: Piece) -> bool:
    for groups in _GROUPS.finditer(piece.lower):
        mixed = [group for group in groups[0].split("-") if _MIXED.fullmatch(group)]
        if len(mixed) >= 2 and not _OF_ELSE.search(piece.lower, max(0, groups.start() - 32), groups.start()):
            return True
    return any(
        sum(map(str.isdigit, run[0])) >= 3
        and sum(map(str.isalpha, run[0])) >= 5
        and _CARD.search(piece.lower) is not None
        and not _OF_ELSE.search(piece.lower)
        for run in _RUN.finditer(piece.text)
    )


def _set_up(piece: Piece) -> bool:
    for groups in _BASE_32.finditer(piece.lower):
        if any(_MIXED.fullmatch(group) for group in re.split("[ -]", groups[0])):
            return True
    return any(len(re.findall("[2-7]", run[0])) >= 2 for run in _RUN_OF_BASE_32.finditer(piece.text))


RULES = (Rule("api-key", 3, holds_a_grouped_code, Cues(REDEEMED, GUARDED, SET_UP), needs=Sign.DIGIT),)
