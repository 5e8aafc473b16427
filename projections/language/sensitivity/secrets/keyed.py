"""Level 3 by what is keyed in, digit by digit, with its star or hash, or spelled aloud, and the thing that it is keyed into."""

from __future__ import annotations

from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.sensitivity.beside import Piece
from engramlog_server.projections.language.sensitivity.reading import Cues, TextReading
from engramlog_server.projections.language.sensitivity.rule import Rule, either, listed
from engramlog_server.projections.language.sensitivity.sign import Sign
from engramlog_server.projections.language.sensitivity.values import DICTATED

KEYED = Cues(
    listed("""
    keypad, lockscreen, lock screen, screen lock, gate, garage, alarm, door, lockbox, ipad, tablet, phone, laptop, intercom, safe
    padlock
""")
)
DICTATION = Cues(listed("capital, uppercase, exclamation, underscore, lowercase"))
KEYED_ZH = Cues(
    listed("""
    开机, 锁屏, 解锁, 屏幕, 平板, 柜, 房门, 大门, 门锁, 门禁, 箱, 密码盒, 机械锁, 提取码, 验证码, 恢复代码, 恢复码, 救援代码
    初始, 默认
""")
)
_DIGIT = "(?:zero|oh|one|two|three|four|five|six|seven|eight|nine|nought|naught|double|triple)"
_SIGNED = regex(
    r"[^.\n]{0,32}?\b(?:star|hash|asterisk|pound(?: sign| key)?)\s\d{3,8}\b|[^.\n\d]{0,24}?\b\d{3,8},?\s(?:then |and )?(?:the )?"
    r"(?:star|hash|asterisk|bell|pound (?:sign|key))\b(?! of|s)"
)
_SPOKEN = regex(
    rf"[^.\n]{{0,20}}?\b{_DIGIT}(?:[ ,-]{{1,2}}{_DIGIT}){{3,7}}"
    r"(?:,? (?:then )?(?:enter|hash|star|pound|to get in|gets you in|opens)\b)"
)
_APART = regex(
    r"(?:'s)?(?: code| pin| number)?\s?(?:is|are|:|=|unlocks with|opens with|with)\s{0,2}\d(?: \d){3,5}(?![\w%]| \d|[.,:/-]\d)"
)
_GOES_OFF = regex(
    r"[^.\n\d]{0,12}?\b(?:kicks? off|goes off|beeps|starts|screams)[^.\n\d]{0,16}?"
    r"(?:its|it's|code is|do|press|use)\s\d{4,6}(?![\w%]|[.,:/-]\d)"
)
_ON_SCREEN = regex(r"(?: code| pin)?\s?(?:is|:|=)?\s{0,2}\d{4,8}(?![\w%]|[.,:/-]\d)")
_PIN = regex(r"\spin\s?(?:is|:|=)?\s{0,2}\d{4,8}(?![\w%]|[.,:/-]\d)")
_APART_ZH = regex(
    r"[^\d。\n]{0,6}?(?<![\d.])\d(?: \d){3,7}\s?[#*]?(?!\d| \d|[.:/%]\d|\s?[位个次年月天号楼层元块分秒度米])"
)
_SAME_ZH = regex(r"[^\d。\n]{0,3}?[四六八468]个\d(?![\d个位月天人次])")
_SHARED_ZH = regex(r"\s?[:是]?\s?(?=[a-z]{0,3}\d)[a-z0-9]{4}(?![a-z0-9.])")
_ENGRAVED_ZH = regex(r"\s?[:是]?\s?[a-z]{6}(?![a-z0-9])")
_CAMERA_ZH = regex("摄像|机身|监控|门铃|萤石")
_RESCUE_ZH = regex(r"\s?[:是]?\s?[a-z]\d{5}(?![a-z0-9])")
_PRESSED_ZH = regex(r"[^。\n]{0,6}?先按[^。\n]{0,8}?再[^。\n]{0,12}?(?:拧|转|开|推|拉|按下)")
_UNCHANGED_ZH = regex(r"(?:的|密码|没改)?[^。\n\d]{0,6}?就?是\s?(?=[a-z]*\d{3})[a-z0-9]{5,12}(?![a-z0-9])")
_SYSTEM_ZH = regex("系统|登[录陆入]|账号|邮箱|路由|门户|后台|平台")
_TYPED_INTO = regex(
    either(
        "login, log-?in, log in, sign in, laptop, wi-?fi, router, unlock[a-z]*, password, account, vpn, passphrase, netflix"
    )
)


def says_what_is_keyed(read: TextReading) -> bool:
    """Whether digits are told as they are keyed in at a door, an alarm or a phone."""
    return any(map(_keyed, read.pieces(KEYED)))


def _keyed(piece: Piece) -> bool:
    after = piece.after
    if piece.word in ("lockscreen", "lock screen", "screen lock") and _ON_SCREEN.match(after):
        return True
    if piece.word in ("ipad", "tablet", "phone", "laptop"):
        return (_APART.match(after) or _PIN.match(after)) is not None
    if piece.word == "alarm" and _GOES_OFF.match(after):
        return True
    return (_SIGNED.match(after) or _SPOKEN.match(after)) is not None


def spells_what_is_typed(read: TextReading) -> bool:
    """Whether a password is spelled aloud, sign by sign, and where it is typed is told: `capital j, then ... my laptop login`."""
    return DICTATED.search(read.lower) is not None and any(
        _TYPED_INTO.search(piece.lower) and len(DICTATED.findall(piece.lower)) > 0
        for piece in read.pieces(DICTATION, before=48, after=96)
    )


def says_what_is_keyed_in_chinese(read: TextReading) -> bool:
    """Whether digits are told in Chinese as they are keyed in, or what a shared file, a camera or an account asks for."""
    return any(map(_keyed_in_chinese, read.pieces(KEYED_ZH, before=16, after=40)))


def _keyed_in_chinese(piece: Piece) -> bool:
    word, after = piece.word, piece.after
    if word == "提取码":
        return _SHARED_ZH.match(after) is not None
    if word == "验证码":
        return _CAMERA_ZH.search(piece.before) is not None and _ENGRAVED_ZH.match(after) is not None
    if word in ("恢复代码", "恢复码", "救援代码"):
        return _RESCUE_ZH.match(after) is not None
    if word in ("初始", "默认"):
        return _SYSTEM_ZH.search(piece.before) is not None and _UNCHANGED_ZH.match(after) is not None
    return any(shape.match(after) for shape in (_APART_ZH, _SAME_ZH, _PRESSED_ZH))


RULES = (
    Rule("pin", 3, says_what_is_keyed, KEYED, needs=Sign.DIGIT | Sign.SPOKEN),
    Rule("password", 3, spells_what_is_typed, DICTATION),
    Rule("pin-zh", 3, says_what_is_keyed_in_chinese, KEYED_ZH, needs=Sign.WIDE_DIGIT | Sign.WIDE),
)
