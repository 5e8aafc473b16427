"""Level 3 by what somebody is told to key in, beside the thing that opens: `dial 7391`, `unlock it w 198625`."""

from __future__ import annotations

import re

from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.sensitivity.beside import Piece
from engramlog_server.projections.language.sensitivity.reading import Cues, TextReading
from engramlog_server.projections.language.sensitivity.rule import Rule, either, listed
from engramlog_server.projections.language.sensitivity.sign import Sign

ENTERING = Cues(
    listed("""
    dial, dial in, punch, punch in, key in, tap, tap in, type in, put in, enter, press, spin, spin it, roll, rolls, wheels
    buzz in, opener, unlock, unlocks, unlocked, opens, let yourself in, buzz yourself in, thumb in, poke in
""")
)
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
_THING = regex(
    either("""
    lock ?box(?:es)?, key ?box, key ?safe, lock, locks, locked, padlock, padlocked, padlocks, alarm, burglar alarm, gates?, garage
    keypad, key pad, safe, door, doors, handle, shed, locker, intercom, lobby, entrance, front desk panel, panel, cupboard, cabinet
    storage, barrier, unit, building, vault, chest, briefcase, suitcase, barn, elevator, lift, gym, cottage, airbnb, bnb
""")
)
_DEVICE = regex(
    either(
        "phone, phone's, iphone, ipad, ipad's, tablet, android, pixel, samsung, watch, laptop, screen, lockscreen, lock screen"
        ", mobile, cell"
    )
)
_CALLED = regex(
    either("""
    call, calls, calling, extension, ext, reception, operator, hotline, speak, ring, landline, room service, radio, phone
    emergency, clock, wake up, wake me, minutes, timer, snooze, pairing mode
""")
)
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
    told = _OPENED.match(after) if word.startswith(_UNLOCKING) else None
    device = told is not None and _DEVICE.search(piece.lower) is not None
    told = told or _ENTERED.match(after)
    return told is not None and _believed(piece, told["number"], device=device)


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


RULES = (Rule("pin", 3, says_what_is_entered, ENTERING, needs=Sign.DIGIT),)
