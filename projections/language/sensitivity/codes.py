"""Level 3: codes of doors, locks, phones and cards, combinations, and codes that are sent once; in English and Chinese.

A code is announced by a word such as code or 密码, or by what the number opens: an alarm is disarmed with it, a lock is set to it,
a cash machine asks for it.
"""

from __future__ import annotations

import re

from engramlog_server.projections.language.patterns import HAN_BLOCK, regex
from engramlog_server.projections.language.sensitivity.rule import (
    DICTATED,
    DIGIT_WORD,
    NAMED_FOR,
    NAMED_IS,
    SPOKEN,
    Cues,
    Piece,
    Rule,
    Sign,
    TextReading,
    Words,
    about,
    either,
    found_in_lower,
    listed,
    one_of,
)

_OWN = frozenset(listed("puk, passcode, otp, cvv, cvv2, cvc, cvc2, keycode, host key, mtan"))
"""Words that say by themselves that what follows is a secret code."""
_NOUNS = Words("codes_nouns")
"""Words for a code of any kind: something to get into must stand near."""
_PADS = frozenset(
    listed("keypad, lockbox, lock box, keysafe, key safe, key box, padlock, deadbolt, buzzer, call box, callbox")
)
_PINS = frozenset(["pin", "pins"])
_LOCKS = frozenset(listed("safe, lock, combo, combination, padlock, locker, vault, suitcase, code, tumbler, dial"))
CODES = Cues(
    *(_OWN, _NOUNS, _PADS, _PINS, _LOCKS),
    listed("voicemail, alarm, garage, gate, intercom, buzzer, door, unlock, unlocks, lobby, entrance, elevator"),
)
PATTERNS = Cues(["pattern"])

_DIGIT = regex("[0-9]")
_ACCESS = regex(lambda: one_of("codes_access", r"unlock[a-z]*", r"verif[a-z]+"))
_OTHER_CODES = regex(lambda: one_of("codes_other_codes", r"promo[a-z]*", r"dial[a-z]* code"))
_OTHER_PINS = regex(lambda: one_of("codes_other_pins"))
_OWNED = regex(either("my, our, his, her, their, mum's, mom's, dad's"))
_NO_UNIT = r"(?![\w%\"]|[.,:/]\d|-\d| ?" + either("""
    am, pm, a\\.m, p\\.m, mins?, minutes, hours, hrs, seconds, secs, days, weeks, months, years, times, km, miles
    feet, ft, sq, mm, cm, lbs, kg, people, users, lines, characters, chars, digits, dollars, bucks, euros, pounds
    usd, yen, street, st, ave, avenue, road, rd, of them, errors, files, words, degrees, volts, mph, watts
""") + ")"  # fmt: skip
_KEYED = (
    r"(?<![\w.$\u00a3\u20ac/:@-])#?\*?(?P<value>\d(?:[ -]?\d){2,8}[#*]?|\d{1,6}[#*]\d{1,6}[#*]?|(?=[a-z]*\d)[a-z0-9]{5,8}"
    r"|[a-d]?\d{3,6}[a-z]?[#*]?|\d{4}[a-z]{2})"
)
_AFTER = regex(rf"(?P<gap>[^\n$\u00a3\u20ac]{{0,44}}?){_KEYED}{_NO_UNIT}")
_BEFORE = regex(rf"{_KEYED}\s?(?:,|is|was|opens|unlocks|for|=|gets|on|to|as|disarms|works)?\s?(?:\w+ ){{0,4}}$")
_TOLD = regex(lambda: one_of("codes_told") + r"|'s\b|:|=|->|\u2192|-\s|,")
_TOLD_SHORTLY = regex(r"\s?(?:is|'s|:|=|->|\u2192|-|to|with|by|using|via|goes|on|code is)\s?")
_TIMED = regex(lambda: one_of("codes_timed") + r"\s$")
_CODE_SAID = regex(either("code, digits, keypad, combo, number is, pin"))
_TURNS = regex(either("left, right, clockwise, (?:counter|anti)-?clockwise, turns?, twice, once, stop at, past"))
_LETTERED_TURNS = regex(r"\b[lr]\s?\d{1,2}\b")
_PRESSED = regex(either("press, punch, dial, enter, type, key in, hit, tap, push") + r"\s$")
_TURNED = regex(r"(?<![\d:.])\d{1,2}(?![\d:.%])")
_THREE = regex(r"(?<![\d/.:-])\d{1,2}(?:(?:\s?[-/,]\s?|\s|\s?then\s|\s?->\s?)\d{1,2}){2,4}(?![\d/.:])")
_DRAWN = regex(r"(?<![\d/.-])\d(?:\s?(?:[-,>]|->|\u2192| to | then )\s?\d){3,8}(?![\d/.-])")
_DRAWN_SPACED = regex(r"(?<![\d.])\d(?: \d){4,8}(?![\d.])")
_DRAWN_ON = regex(either("android, unlock, phone, lock, swipe, dots?, tablet, screen"))


def _pattern_in(piece: Piece) -> bool:
    """Whether the dots of a phone's unlock pattern follow."""
    drawn = _DRAWN.search(piece.lower) or _DRAWN_SPACED.search(piece.after)
    return drawn is not None and _DRAWN_ON.search(piece.lower) is not None


def _code_in(piece: Piece) -> bool:
    if not _DIGIT.search(piece.lower):
        return _spoken_in(piece)
    if _OTHER_CODES.search(piece.lower, max(0, piece.at - 16), piece.end + 8):
        return False
    code = _AFTER.match(piece.after)
    if code and not _TIMED.search(code["gap"]) and _announced(piece, code["gap"], code["value"]):
        return True
    if (piece.word in _LOCKS and _turned(piece)) or _spoken_in(piece):
        return True
    named = piece.word in _OWN or piece.word in _NOUNS
    return named and _BEFORE.search(piece.before) is not None and _ACCESS.search(piece.lower) is not None


def _spoken_in(piece: Piece) -> bool:
    """Whether a code is told in number words after a word for one."""
    if not SPOKEN.search(piece.after[:72]):
        return False
    if piece.word in _PINS:
        return _OTHER_PINS.search(piece.lower) is None
    return piece.word in _OWN or (piece.word in _NOUNS and _ACCESS.search(piece.lower) is not None)


def _turned(piece: Piece) -> bool:
    """Whether a combination is told: three numbers, or numbers with turns to the left and right."""
    after = piece.after
    if len(_TURNS.findall(after)) >= 2 and len(_TURNED.findall(after)) >= 2:
        return True
    if len(_LETTERED_TURNS.findall(after)) >= 3:
        return True
    named = "combo" in piece.word or "combination" in piece.word or re.search("combo|combination", piece.before)
    return bool(named and _THREE.search(after) and _TOLD.search(after))


def _announced(piece: Piece, gap: str, value: str) -> bool:
    """Whether the words about a code of digits say that it is one."""
    linked = _TOLD.search(gap) is not None
    if piece.word in _PINS:
        return _announced_pin(piece, gap, value, linked)
    if piece.word in _OWN:
        return len(gap) <= 30
    if piece.word in _NOUNS:
        return (len(gap) <= 24 or linked) and _ACCESS.search(piece.lower) is not None
    padded = piece.word in _PADS and (linked or len(gap) <= 20)
    shortly = len(value) >= 4 and _TOLD_SHORTLY.fullmatch(gap) is not None
    return (
        padded or shortly or value[-1] in "#*" or _CODE_SAID.search(gap) is not None or _PRESSED.search(gap) is not None
    )


def _announced_pin(piece: Piece, gap: str, value: str, linked: bool) -> bool:
    if _OTHER_PINS.search(piece.lower):
        return False
    if value[-1] in "#*" or (len(gap) <= 24 and _ACCESS.search(piece.lower)):
        return True
    owned = _OWNED.search(piece.before) is not None or ":" in gap or "is" in gap.split()
    return len(value) >= 4 and owned and (linked or not gap.strip())


_OWNERS = frozenset(["my", "our", "his", "her", "their", "your"])

_NAMED_PIN = regex(
    rf"pin(?<![a-z0-9]pin)(?P<code>\scode)?(?:\s(?:number|no\.?))?{NAMED_FOR}(?P<link>{NAMED_IS}|\s{{1,4}})"
    r"(?P<value>[0-9](?:[ -]?[0-9]){3,7})(?![0-9a-z]|[-.,/%][0-9])"
)
_NAMED_CODE = regex(
    r"(?:cvv2?|cvc2?|otp|(?:security|verification|access|entry|door|gate|alarm|lock|unlock|garage|safe|vault|2fa"
    rf"|one[- ]time|keypad)\s(?:pass)?code|passcode"
    r"|code (?:to|for|of) (?:the|my|our|his|her) (?:[a-z]{1,12} ){0,2}(?:door|gate|garage|alarm|safe|lock|building))"
    rf"{NAMED_FOR}(?:{NAMED_IS}|\s{{1,4}})"
    r"#?[0-9](?:[ -]?[0-9]){2,7}(?![0-9a-z]|[-.,/%][0-9])"
)
_COMBINATION = regex(
    r"(?:combination(?<=(?:safe|lock|ault|cker) combination)"
    rf"|combination (?:to|of|for|on) (?:the|my|our|his|her) (?:[a-z]{{1,12}} ){{0,2}}(?:safe|locker|lock|vault))"
    rf"{NAMED_FOR}{NAMED_IS}"
    r"[0-9]{1,2}(?:[ -]{1,3}[0-9]{1,2}){2,4}(?![0-9])"
)
_ZH_CODE = regex(
    r"(?:pin码?|验证码|校验码|动态码|安全码|开门码|门禁码|cvv2?码)\s?(?:就?是|为|[:：=])?\s?"
    r"(?P<value>[0-9]{3,8})(?![0-9]|\s?[位个分秒次年月天])"
)


PINS = Cues(listed("pin, cvv, cvv2, cvc, cvc2, otp, code, passcode, combination"))


def _pin_in(text: str, lower: str) -> bool:
    for match in _NAMED_PIN.finditer(lower):
        own = not _OWNERS.isdisjoint(lower[max(0, match.start() - 40) : match.start()].split()[-3:])
        if own:
            return True
        # In India "PIN code" is the postal code of six digits: a secret only if said to be someone's own.
        postal = match["code"] and sum(character.isdigit() for character in match["value"]) == 6
        # Without "is" or a colon it must be written as an abbreviation: "pin 2020" may be a wire.
        if not postal and (match["link"].strip() or text[match.start() : match.start() + 3] == "PIN"):
            return True
    return _NAMED_CODE.search(lower) is not None or _COMBINATION.search(lower) is not None


KEYED = Cues(Words("codes_keyed"))
DICTATION = Cues(listed("capital, uppercase, exclamation, underscore, lowercase"))
KEYED_ZH = Cues(Words("codes_keyed_zh"))
_SIGNED = regex(
    r"[^.\n]{0,32}?\b(?:star|hash|asterisk|pound(?: sign| key)?)\s\d{3,8}\b|[^.\n\d]{0,24}?\b\d{3,8},?\s(?:then |and )?(?:the )?"
    r"(?:star|hash|asterisk|bell|pound (?:sign|key))\b(?! of|s)"
)
_SPOKEN = regex(
    rf"[^.\n]{{0,20}}?\b{DIGIT_WORD}(?:[ ,-]{{1,2}}{DIGIT_WORD}){{3,7}}"
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
_TYPED_INTO = regex(lambda: one_of("codes_typed_into", r"unlock[a-z]*"))


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


ENTERING = Cues(Words("codes_entering"))
_UNLOCKING = ("unlock", "open", "let", "buzz")
_LOOSE = frozenset(listed("type in, put in, enter, press, tap"))
"""What is also done with numbers at a desk: never a year, and at a thing that is locked."""
_NEAR = regex(r"[^\d\n]{1,44}\d")
_END = (
    r"(?![\w%]|[.,:/-]\d)(?=\s{0,2}(?:$|[.,;:!?)\n'\"#*]|-|(?:and|then|to|on|in|into|it|or|which|that|when|while|before|after|so|but|if|you|your"
    r"|the|pls|push|pull|turn|wait|please|its|it's|works|quick|will|for|with|lets|gets|is|till|until|twice|once|there|at|from|by)\b))"
)
_NUMBER = rf"(?P<number>[#*]?\d(?:[ -]?\d){{2,7}})[#*]?{_END}"
_ENTERED = regex(
    r"(?: (?:in|it|them|the|code|pin|number|numbers|digits|wheels|dials?|to|with|on"
    rf"|at the (?:door|gate|keypad|panel))){{0,4}}:? {_NUMBER}"
)
_OPENED = regex(
    r"(?:(?:'s)?(?: (?:it|my|the|her|his|our|your|mine|this|that|screen|code|pin))?(?: [a-z']{2,12}){0,2})"
    rf"(?: w/?| with(?: an?)?| using| by| use| is|:|,? (?:just )?(?:type|enter|punch in|key in|tap)|=)\s{{1,2}}{_NUMBER}"
)
_THING = regex(lambda: one_of("codes_thing"))
_DEVICE = regex(lambda: one_of("codes_device"))
_CALLED = regex(lambda: one_of("codes_called"))
_EMERGENCY = frozenset(listed("911, 999, 112, 000, 110, 119, 120, 100, 101, 311, 411, 511, 611, 711, 811"))
_YEAR = regex(r"(?:19|20)\d\d")
_FROM_SIDE_TO_SIDE = regex(
    r"[^\d.\n]{0,32}?\b(?:to|at|on)\s\d{1,2},?\s(?:then\s|and\s|go\s){0,2}(?:back|round|around|past|left|right|forward)[^.\n\d]{0,20}\d{1,2}"
    r",?\s(?:then|and|finally|to|on)[^.\n\d]{0,16}\s\d{1,2}(?![\d:%])"
)


def says_what_is_entered(read: TextReading) -> bool:
    """Whether digits are told that somebody shall key in at a door, a box, an alarm or a phone."""
    lower = read.lower
    return any(
        _entered(_piece_at(lower, start, end))
        for start, end in read.places(ENTERING)
        if _NEAR.match(lower, end, end + 48)
    )


def _piece_at(lower: str, start: int, end: int) -> Piece:
    """About a verb, from the two sentences before it to what follows, within its line."""
    first = max(0, start - 88, lower.rfind("\n", max(0, start - 88), start) + 1)
    near = lower[first : end + 88]
    line = near.find("\n", end - first)
    near = near if line < 0 else near[:line]
    return Piece(near, near, start - first, end - first)


def _entered(piece: Piece) -> bool:
    word, after = piece.word, piece.after
    if word in ("spin", "spin it", "dial", "safe") and _FROM_SIDE_TO_SIDE.match(after) and _THING.search(piece.lower):
        return True
    if word == "opener":
        return re.match(rf"(?:'s| is| code|:){{0,2}}\s{_NUMBER}", after) is not None and "garage" in piece.before
    number = _OPENED.match(after) if word.startswith(_UNLOCKING) else None
    device = number is not None and _DEVICE.search(piece.lower) is not None
    number = number or _ENTERED.match(after)
    return number is not None and _believed(piece, number["number"], device=device)


def _believed(piece: Piece, number: str, *, device: bool) -> bool:
    """Whether the number is no amount, year or number of a telephone, and what it opens is near."""
    digits, year = re.sub(r"\D", "", number), _YEAR.fullmatch(number) is not None
    if digits in _EMERGENCY or digits.endswith("000") or len(digits) > 8:
        return False
    if device:
        return len(digits) >= 4 and not year
    loose = piece.word in _LOOSE or piece.word.startswith("open")
    if loose and (year or len(digits) < 4):
        return False
    return _THING.search(piece.lower) is not None and _CALLED.search(piece.lower) is None


SENT = Cues(Words("codes_sent"))
SENT_ZH = Cues(Words("codes_sent_zh"))
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
    lambda: one_of("codes_of_else") + r"\s?(?:number|no\.?|code|id|#)?(?:\s(?:is|was|for|of))?[ :,#]{0,2}$"
)
_CAME = regex(
    lambda: (
        one_of("codes_came", r"(?:it|they|text|sms|code|message)(?: just| has)? (?:came|arrived)(?: through| in)?")
        + r"|\b(?:what|code(?: that)?) [a-z]{2,16} sent\b"
        r"|\b(?:whatsapp|telegram|signal|google|apple|paypal|authenticator|app) (?:says?|said|shows)\b"
        r"|\b(?:sms|text|message)\b[^.\n]{0,24}\b(?:says?|said|is)\b"
    )
)
_TO_BE_USED = regex(lambda: one_of("codes_to_be_used"))
_RUNS_OUT = regex(
    either("times out, time out, expires?, runs out, valid (?:for )?\\d+, don't share, never share, do not share")
)
_CODED = regex(lambda: one_of("codes_coded"))

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


OPENING = Cues(Words("locks_opening"))
LOCKS = Cues(Words("locks_locks"))
MACHINES = Cues(listed("atm, cash machine, cashpoint, cash point, debit card, bank card, cashcard, pin pad"))
TEXTED = Cues(listed("text, texted, sms, sent, messaged, message, code, authenticator, verification"))
BACKS = Cues(listed("digits, back, exp, expires, expiry, cvv, cvc"))
CONTROLS = Cues(Words("locks_controls"))

_LOCK_UNIT = r"(?![a-z0-9_%]|[.,:/-]\d|\s?[$\u20ac\u00a3]|\s?" + either("""
    am, pm, mins?, minutes, hours, hrs, seconds, secs, days, weeks, months, years, times, km, miles, feet, ft, sq, mm, cm, lbs
    kg, g, people, users, lines, characters, dollars, bucks, euros, pounds, usd, street, st, ave, avenue, road, rd, of, errors
    files, words, watts, gems, flight, calls, doors, gates, keys, points, gold, coins, steps, stores, shops, countries, more
""") + ")"  # fmt: skip
_CODE = rf"(?<![\w.$\u00a3\u20ac/:-])(?<!\d )[#*]?\d(?:[ -]?\d){{2,7}}[#*]?{_LOCK_UNIT}"
_LOCK_KEYED = (
    r"(?:enter|press|punch|punch in|type|type in|use|dial|hit|tap|key in|with|by|code|codes|try|is|its|it's|to|on"
    r"|[,:=\u2192-])"
)
_LOCK_BEFORE = regex(
    rf"(?:\b|(?<=\s)|(?<=[:,=-])){_LOCK_KEYED}\s{{0,3}}(?:code\s)?{_CODE}\s?(?:,|and|then|it|will|should|to|which|that)?\s?"
    r"(?:to |also |will )?$"
)
_LOCK_AFTER = regex(
    rf"(?:\s[^\d.\n$]{{0,40}}?|\s?)(?:\b(?:it's|its|is|are|punch|punch in|press|enter|dial|type|use|key in|hit|tap|with|by)"
    rf"|[:=\u2192-])\s{{0,2}}(?:the code |code )?{_CODE}"
)
_LOCK_TIMED = regex(r"(?:19|20)\d\d\s?$")
_LOCKED = regex(lambda: one_of("locks_locked"))
_STANDS = regex(
    r"(?:(?:\s?\((?!s\))[^()\n]{1,24}\))?(?:\s(?:on|to|of|by|for|at|in)\s(?:the |my |our |his |her )?[a-z' -]{2,28}?)?)"
    r"(?:\s?(?:\b(?:digits?|numbers?|code|combo|combination|(?:i |we )?set to|set|opens? (?:with|to|on)"
    r"|are|is|was|now|still|to)\b|'s\b|[:=,\u2192-]))"
    rf"{{0,4}}\s{{0,2}}{_CODE}"
)
_LOCK_THREE = regex(
    r"(?:\s(?:at|in|by|on) (?:the|my|our) [a-z]{2,12})?\s?(?:combo|is|:|=)?\s?\d{1,2}-\d{1,2}-\d{1,2}(?![\w-]|\.\d)"
)
_LOCK_APART = regex(r"[^\d\n]{0,24}?(?<![\d.])\d(?:[ -]\d){3,7}[#*]?" + _LOCK_UNIT)
_LATER = regex(rf"[^\n]{{0,64}}?\b(?:numbers|digits|combo|code)\s?(?:is|are|:|=)\s?(?:set to )?{_CODE}")
_LOCK_OF_ELSE = regex(lambda: one_of("locks_of_else") + r"\s?$")
_LOCK_SPOKEN = regex(rf"[^.\n]{{0,28}}?\b{DIGIT_WORD}(?:[ ,-]{{1,2}}{DIGIT_WORD}){{3,7}}\b")
_ASKED = regex(
    rf"[^.\n\d$]{{0,24}}?(?:\b(?:it's|its|is|use|uses|enter|type|punch in)\b|[:=\u2192])\s?\d{{4}}(?:\d\d)?{_LOCK_UNIT}"
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
_SET = regex(rf"[^.\n\d]{{0,20}}?(?:\b(?:is|are|to|with|by)\b|[:=\u2192-])\s?(?:code |pin )?\d{{4,6}}{_LOCK_UNIT}")


_DIGITS = regex(r"\d[ -]?\d[ -]?\d")


def _opening(piece: Piece) -> bool:
    if not _DIGITS.search(piece.lower):
        return False
    keyed = _LOCK_BEFORE.search(piece.before)
    sure = piece.word.startswith("disarm") or _LOCKED.search(piece.lower) is not None
    if keyed and (sure or "#" in keyed[0] or "*" in keyed[0]) and not _LOCK_TIMED.search(keyed[0].rstrip(" ,andtowil")):
        return True
    return sure and piece.word not in ("open", "opens") and _LOCK_AFTER.match(piece.after) is not None


def _locked(piece: Piece) -> bool:
    if not _DIGITS.search(piece.lower, piece.end):
        return False
    if _LOCK_THREE.match(piece.after) and piece.word not in ("door", "gate", "alarm", "garage"):
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
    if stands and not _LOCK_OF_ELSE.search(piece.before) and not _year(stands[0]):
        gap = re.split(r"\d", stands[0], maxsplit=1)[0]
        if firm or "set to" in gap or (":" in gap and len(re.sub(r"\D", "", stands[0])) >= 4):
            return True
    if _LOCK_APART.match(piece.after) and not _LOCK_OF_ELSE.search(piece.before):
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
_LOCK_SAME_ZH = regex(
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
    shapes = (_OPENED_ZH, _STANDS_ZH, _PAYS_ZH, _BEFORE_ZH, _LOCK_SAME_ZH)
    return any(shape.search(piece.lower) for shape in shapes)


RULES = (
    about("pin", PINS, lambda piece: _pin_in(piece.text, piece.lower), before=40, needs=Sign.DIGIT),
    Rule("pin-zh", 3, found_in_lower(_ZH_CODE), signs=Sign.WIDE_DIGIT),
    about("pin", CODES, _code_in, needs=Sign.DIGIT | Sign.SPOKEN),
    about("unlock-pattern", PATTERNS, _pattern_in, needs=Sign.DIGIT),
    about("pin", KEYED, _keyed, needs=Sign.DIGIT | Sign.SPOKEN),
    Rule("password", 3, spells_what_is_typed, DICTATION),
    about("pin-zh", KEYED_ZH, _keyed_in_chinese, before=16, after=40, needs=Sign.WIDE_DIGIT | Sign.WIDE),
    Rule("pin", 3, says_what_is_entered, ENTERING, needs=Sign.DIGIT),
    Rule("one-time-code", 3, says_a_code_that_came, SENT, needs=Sign.FIVE_DIGITS),
    Rule("one-time-code", 3, says_a_code_that_came_in_chinese, SENT_ZH, needs=Sign.WIDE_DIGIT),
    about("pin", OPENING, _opening, needs=Sign.DIGIT),
    about("pin", LOCKS, _locked, needs=Sign.DIGIT),
    about("pin", CONTROLS, lambda piece: _SET.match(piece.after), needs=Sign.DIGIT),
    about(
        "pin",
        MACHINES,
        lambda piece: _LOCK_SPOKEN.match(piece.after) or _ASKED.match(piece.after),
        after=64,
        needs=Sign.DIGIT | Sign.SPOKEN,
    ),
    about("one-time-code", TEXTED, _sent, before=40, after=72, needs=Sign.DIGIT),
    about("one-time-code", BACKS, lambda piece: _BACK.search(piece.lower), before=40, needs=Sign.DIGIT),
    about("pin-zh", THINGS_ZH, _opens_in_chinese, before=24, after=40, needs=Sign.WIDE_DIGIT),
)
