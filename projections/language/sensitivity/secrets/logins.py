"""Level 3 by a place where somebody logs in and a value that only a password looks like, with no word for one between.

`vpn, mine is Larch_2023#`, `OA登录 我用的 ...`, `nas admin / ...`, `wifi 是 ...`.
"""

from __future__ import annotations

import re

from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.sensitivity.beside import Piece
from engramlog_server.projections.language.sensitivity.reading import Cues, TextReading
from engramlog_server.projections.language.sensitivity.rule import Rule, listed
from engramlog_server.projections.language.sensitivity.values import TOKEN, bare, strength

PLACES = Cues(
    listed("""
    vpn, login, logins, log in, sign in, portal, account, acct, sticker, router, modem, nas, admin, root, wifi, wi-fi, hotspot
    database, server, ssh, ftp, smtp, oa, erp, crm, protected, unlock, zip, pdf, excel, bitwarden, keepass, lastpass, webmail
    登录, 登陆, 账号, 账户, 用户, 后台, 服务器, 数据库, 无线, 热点, 网银, 群晖, 路由, 解压, 系统, 邮箱, 管理员
""")
)
_SIGN = regex(r"[!@#$%^&*+?]")
_GAP = regex(
    r"[^\n]{0,40}?"
    r"(?:\b(?:mine is|mine's|i use|use|with|is|says|are)|我?的?(?:就?是|用的?是?)|后面是?|然后是?|[/|:=,\u2192-]|\s)\s{0,2}[\"'(]?$"
)
_WIRELESS = regex(
    r"(?:wi-?fi|无线|热点|hotspot)(?:\s?(?:的|就)?\s?(?:是|:|=)\s?|\s)(?P<value>[a-z]{2,16}\d{3,12}[a-z]{0,4}|\d{8,12})(?![\w.%-])"
    r"|(?:wi-?fi|无线|热点)\s?(?:名?叫|是|名|:)\s?[^\s,/|]{2,24}\s?(?:然后|后面|,|/|\||;|\s)\s?是?\s?(?:\d{8,12}|[a-z]{3,16}\d{2,12})(?![\w.%])"
)
_DEVICE = regex(r"(?:tp-?link|ax|be|ac|wr|mi|archer|asus|rt|ubnt|mesh|iphone|version)\w{0,4}\d")


def says_a_login(read: TextReading) -> bool:
    """Whether what only a password looks like stands after a place where somebody logs in."""
    return any(_told(piece) or _wireless(piece) or _opened(piece) for piece in read.pieces(PLACES, before=12, after=72))


def _told(piece: Piece) -> bool:
    after = piece.text[piece.end :]
    return _SIGN.search(after) is not None and any(
        _typed(bare(token[0])) and _GAP.match(after[: token.start()].lower()) for token in TOKEN.finditer(after)
    )


_FILE_OPENED = regex(
    r"[^\n]{0,24}?(?:\b(?:zip|pdf|excel|file|doc|archive|rar|spreadsheet|attachment|folder|drive|disk)\b[^.\n]{0,20}?)?"
    r",?\s(?:with|use|using)\s(?P<value>(?=[a-z]{0,20}\d)[a-z0-9]{6,24})(?![\w.])"
)
_FILES = regex(r"\b(?:zip|pdf|excel|file|doc|archive|rar|spreadsheet|attachment|folder|drive|disk)\b")


def _opened(piece: Piece) -> bool:
    """Whether a file is opened or protected with a word with digits."""
    found = _FILE_OPENED.match(piece.after) if piece.word in ("unlock", "protected") else None
    return found is not None and strength(found["value"]) > 0 and _FILES.search(piece.lower) is not None


def _typed(value: str) -> bool:
    """Whether a value has a sign amid or after letters of both cases or with digits, as only a password has."""
    if not 8 <= len(value) <= 40 or not _SIGN.search(value[1:]) or "://" in value or re.search(r"@[\w-]+\.\w", value):
        return False
    kinds = sum(any(map(kind, value)) for kind in (str.isupper, str.islower, str.isdigit))
    letters = sum(map(str.isalpha, value))
    if kinds < 2 or letters < 3 or re.search(r"[()<>{}=/\\|]", value):
        return False
    return kinds == 3 or strength(value) >= 2


def _wireless(piece: Piece) -> bool:
    found = _WIRELESS.search(piece.lower)
    return found is not None and not _DEVICE.match(found["value"] or "")


RULES = (Rule("login", 3, says_a_login, PLACES),)
