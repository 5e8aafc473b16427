"""Level 3 as people say it in Chinese: 密码, 解锁码, 柜子的四位数字 and the value beside it.

Texts are folded: 密碼 is 密码, 四八二一 is 4821.
"""

from __future__ import annotations

from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.scripts import HAN_BLOCK
from engramlog_server.projections.language.sensitivity.beside import Piece
from engramlog_server.projections.language.sensitivity.reading import Cues, TextReading
from engramlog_server.projections.language.sensitivity.rule import Rule, listed
from engramlog_server.projections.language.sensitivity.sign import Sign
from engramlog_server.projections.language.sensitivity.values import DICTATED_ZH, TOKEN, strength_told

SECRECY = Cues(listed("密码, 密钥, 秘钥, 锁屏, 解锁, 口令, 通行码, 暗号, 暗语, 密语"))
CODES = Cues(
    listed("""
    码, 令牌, 口令, 暗号, 暗语, 验证器, 锁, 柜, 门, 保险, 箱, 车库, 屏, 手势, 图案, 九宫格, 后三位, 背面, 密, pin, puk, cvv, cvc
    """)
)

_KEYS = frozenset(["密钥", "秘钥"])
_LINK = r"(?:就?是|系|为|[:=→]|->|[改换设填输用叫记写按念报定配](?:成了?|为|的就?是?|了)?|成了?|给你|还是|依旧|照旧)"
_NO_UNIT = (
    r"(?!\d|[.:/]\d|\s?(?:[位个分秒次年月天日号楼元块层栋室路米点章页寸级版颗条人度%万亿件斤把种折岁期名张回部场平升字集代季届]"
    r"|小时|公里|分钟|以内|以上))"
)
_DIGITS = regex(rf"(?<![\d.a-z])\d(?:[ -]?\d){{3,15}}[#*]?{_NO_UNIT}")
_OF_ELSE = regex("客服|电话|热线|拨打|致电|编号|订单|版本|短信|发送|第|工号|学号|邮编|qq|群|年|元")
_COUNTED = regex("(?:1(?:2(?:34?5?)?)?){2,}|12345?")
_LINKED = regex(rf"{_LINK}[{HAN_BLOCK}]{{0,6}}\s?[\"'(]?$")
_LETTERS = regex(rf"[^。\n,!?]{{0,12}}?(?:{_LINK}|\s)\s?[\"'(]?(?P<value>[a-z]{{6,20}})(?![a-z0-9])")
_QUOTED = regex(rf"[^。\n,?]{{0,10}}?{_LINK}\s?\"(?P<value>[^\"\n]{{2,24}})\"")
_SHORT = regex(rf"[^。\n,a-z\d]{{0,8}}?(?:{_LINK}|\s)\s?(?=[a-z]{{0,3}}\d)(?=\d{{0,3}}[a-z])[a-z0-9]{{4}}(?![\w.])")
_OPENED = regex(rf"[^。\n,\w]{{0,8}}?(?:{_LINK})?\s?[a-z0-9][\w.@-]{{3,40}}")
_REPEATED = regex(r"[^。\n]{0,12}?(?<![\d两])[\d一二三四五六七八九十]个[\d零一二三四五六七八九](?![\d个位月天人次])")
_COMMON = frozenset(
    listed("""
    manager, google, chrome, windows, iphone, android, wechat, alipay, password, private, public, system, admin
    github, apple, server, router, netflix, safari, bitwarden, lastpass, keepass, hash, bcrypt, spring, mysql, redis
    docker, access, account, secret, token, please, wrong, error, login, default, unknown, manage, change, reset
    forget, forgot, expired, argon, scrypt, oauth, passkey
    """)
)
_RULES_SAID = regex(
    "忘|至少|不能|不要|必须|位数|长度|要求|强度|错误|例如|比如|不少于|组成|是什么|多少|怎么|加密|算法|过期|规则|找回"
)


def says_a_password(read: TextReading) -> bool:
    """Whether a password stands after a Chinese word for one: mixed, of digits, in letters, quoted or spelled out."""
    return any(_password_in(piece) for piece in read.pieces(SECRECY, before=24, after=72))


def _password_in(piece: Piece) -> bool:
    after, text = piece.after, piece.text[piece.end :]
    if piece.before.endswith("淘") or after.startswith(("红包", "学", "锁", "子", "管理")):
        return False
    for token in TOKEN.finditer(text):
        found = strength_told(token[0])
        gap = text[: token.start()]
        if found == 3 or (found == 2 and len(gap) <= 30):
            return True
        if found and len(gap) <= 12 and not _RULES_SAID.search(gap):
            return True
    if _RULES_SAID.search(after[:16]):
        return False
    if piece.word in _KEYS:
        return False
    return _digits_in(after) or _words_in(piece.lower[: piece.end], after)


def _digits_in(after: str) -> bool:
    for digits in _DIGITS.finditer(after[:64]):
        near = 24 if len(digits[0]) == 6 else 10
        if _OF_ELSE.search(after, 0, digits.start()) or _COUNTED.fullmatch(digits[0]):
            continue
        if digits.start() <= near or _LINKED.search(after, 0, digits.start()):
            return True
    return _REPEATED.match(after) is not None


def _words_in(before: str, after: str) -> bool:
    """Whether a password without enough digits or signs is told: letters, a short mixture, what is quoted or spelled."""
    letters = _LETTERS.match(after)
    if (letters and letters["value"] not in _COMMON) or len(DICTATED_ZH.findall(after)) >= 2:
        return True
    unpacks = before.endswith(("解压密码", "压缩包密码", "提取密码", "网盘密码")) and _OPENED.match(after)
    quoted = not before.endswith("口令") and _QUOTED.match(after)
    return any((quoted, _SHORT.match(after), unpacks))


# 码 of anything but what is no secret: numbers, barcodes, sizes, codes of sources, of discounts, of parcels.
_CODE = regex(
    r"(?:(?<![号代条维尺鞋编源惠扣券荐请页筹扫数砝件餐货牌区邮均大小中加序推团兑乘登暗量错误态状返a-z\d])(?<!二维)码"
    r"|(?:pin|puk|cvv2?|cvc2?)\s?码?)"
    rf"[\"')]?[^。\n\d$]{{0,10}}?\s?[\"'(]?[a-z]?\d(?:[ -]?\d){{2,7}}[a-z#*]?{_NO_UNIT}(?![a-z0-9])"
)
_LOCKED = regex(
    r"(?:柜|支付宝?|付款|收款|转账|微信|取款|提款|开机|手机(?!尾)|平板|锁|门(?!牌)|[保安][险全][柜箱]|行李箱|旅行箱|箱子?|车库|信箱|屏)[^。\n]{0,24}?"
    r"(?:(?<!尾号)(?<!后)[三四五六八]位数?字?|数字|密码?|按|输入?|拨到?|转到?|对到?|滑)"
    rf"(?:的?是|就是|系|为|[:=])?[^\d。\n]{{0,5}}\d(?:[ -]?\d){{2,7}}[#*]?{_NO_UNIT}"
)
_LOCKED_SIGN = regex(r"(?:锁|门|柜|库|箱)[^。\n]{0,20}?(?<![\d.])(?:[#*]\d{3,8}|\d{3,8}[#*])(?!\d)")
_CARD_BACK = regex(rf"(?:后三位|背面|卡背|三位)[^。\n\d]{{0,10}}\d{{3,4}}{_NO_UNIT}")
_SHAPE = f"[画划][个了]?(?:[a-z\\d]字?|[{HAN_BLOCK}]字)"
_DRAWN = regex(
    r"(?:手势|图案|九宫格|滑动)[^。\n]{0,20}?(?:\d(?:[-,、→> ]{0,2}\d){3,8}(?!\d)|画?个?[a-z]字|[a-z]形)"
    rf"|(?:解锁|锁屏|开机)[^。\n]{{0,12}}?{_SHAPE}|{_SHAPE}[^。\n]{{0,6}}(?:解锁|开机)"
)
_SENT = regex(r"(?:令牌|动态口令|验证器)码?\s?(?:是|:)?\s?(?=[a-z]{0,7}\d)[a-z0-9]{5,8}(?![a-z0-9])")
_CALLED = regex(
    r"(?:接送|接娃|接孩子|接宝宝|进门|入户|回家|防骗|认人|入群|电话银行|口头|家庭|家里)[^。\n]{0,8}?(?:暗号|暗语|口令|密语|密码)"
    rf"\s?(?:就?是|:|为|改成|\s)\s?\"?(?!是|叫|什么|怎|哪|谁|吗|不|没|忘)[{HAN_BLOCK}]{{2,12}}"
)
_TURNED = regex(r"[左右](?:边|转|拧|旋|扭)?[^。\n左右]{0,8}?\d{1,2}")
_LOCK = regex("保险|安全|锁|密|柜|箱")


def says_a_code(read: TextReading) -> bool:
    """Whether the digits of a phone, a door, a locker, a card or a one-time code stand beside a Chinese word for it."""
    for piece in read.pieces(CODES, before=16, after=56):
        near = piece.lower
        if any(shape.search(near) for shape in (_CODE, _LOCKED, _LOCKED_SIGN, _CARD_BACK, _DRAWN, _SENT, _CALLED)):
            return True
        if len(_TURNED.findall(near)) >= 2 and _LOCK.search(near):
            return True
    return False


RULES = (Rule("password-zh", 3, says_a_password, SECRECY), Rule("pin-zh", 3, says_a_code, CODES, needs=Sign.WIDE))
