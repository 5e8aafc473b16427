"""Level 3 as people say it in English: the codes of doors, locks, phones and cards, combinations, codes sent once."""

from __future__ import annotations

import re

from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.sensitivity.beside import Piece
from engramlog_server.projections.language.sensitivity.reading import Cues, TextReading
from engramlog_server.projections.language.sensitivity.rule import Rule, either, listed
from engramlog_server.projections.language.sensitivity.sign import Sign
from engramlog_server.projections.language.sensitivity.values import SPOKEN

_OWN = frozenset(listed("puk, passcode, otp, cvv, cvv2, cvc, cvc2, keycode, host key, mtan"))
"""Words that say by themselves that what follows is a secret code."""
_NOUNS = frozenset(
    listed("""
    code, codes, combo, combination, digits, cid, tan, 2fa, four on the front, three on the back, four digits
    three digits
    """)
)
"""Words for a code of any kind: something to get into must stand near."""
_PADS = frozenset(
    listed("keypad, lockbox, lock box, keysafe, key safe, key box, padlock, deadbolt, buzzer, call box, callbox")
)
_PINS = frozenset(["pin", "pins"])
_LOCKS = frozenset(listed("safe, lock, combo, combination, padlock, locker, vault, suitcase, code, tumbler, dial"))
CODES = Cues(
    sorted(_OWN | _NOUNS | _PADS | _PINS | _LOCKS),
    listed("voicemail, alarm, garage, gate, intercom, buzzer, door, unlock, unlocks, lobby, entrance, elevator"),
)
PATTERNS = Cues(["pattern"])

_DIGIT = regex("[0-9]")
_ACCESS = regex(
    either("""
    doors?, gate, garage, alarm, safe, locks?, lockers?, lock ?box, key ?box, key ?safe, padlock, deadbolt, entry
    entrance, building, apartment, apt, flat, front, back, side, basement, keypad, voice ?mail, phone, iphone, ipad
    tablet, unlock[a-z]*, verif[a-z]+, guard, security, access, log-?in, sign-?in, sms, 2fa, mfa, two[- ]factor
    authenticator, one[- ]time, otp, backup, recovery, reset, host, sim, card, debit, atm, bank, burglar, disarm
    arm, profile, netflix, drive, kids, child, tesla, zoom, meeting
    wechat pay, wechat, alipay, cash app, venmo, trezor, ledger, tv, badge, steam, discord, xbox, playstation, paypal, revolut
    lobby, intercom, buzzer, call ?box, gym, shed, suitcase, luggage, bike, airbnb, cottage, cabin, storage
    parental, screen ?time, pairing, bluetooth, whatsapp, telegram, signal, apple, car, trunk, glove ?box, upi
    elevator, lift, pool, mail ?box, mailroom, fob, vault, cash ?box, drawer, cupboard, closet, staff, office
    studio, warehouse, loading dock, stairwell, parking, carport, barn, trailer, van, truck, scooter, briefcase
    smart ?lock, opens?, get in, gets you in, let yourself in, panic, duress, conference, bridge, uber, lyft
    doordash, airtag, bouncer, never share, don't share, expires
    """)
)
_OTHER_CODES = regex(
    either("""
    error, status, zip, postal, post, promo[a-z]*, discount, coupon, voucher, dress, area, country, dial[a-z]* code
    source, bar, qr, colou?r, hex, https?, exit, response, product, stock, sku, tax, swift, sort, hs, icd, cpt, iata
    morse, penal, civil, course, class, event, referral, gift, lines? of, building code, postcode, room code, fault
    warning, return, unicode, ascii, machine, flight, gate number, offer, game code, cheat, team code, konami, naics
    style, paint, batch, lot
    """)
)
_OTHER_PINS = regex(
    either("""
    gpio, connector, relay, header, solder, bowling, wire, ground, board, arduino, esp32, raspberry, drop a, map
    lapel, hair, diodes?, bobby, rolling, pcb, jumper, chip, india, bangalore, mumbai, delhi, postal, knocked
    strike, spare
    """)
)
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
_TOLD = regex(
    either("""
    is, was, are, be, its, it's, to, use, punch, press, type, enter, dial, hit, try, with, now, set, changed, says
    tap, key in, still, then, for
    """)
    + r"|'s\b|:|=|->|\u2192|-\s|,"
)
_TOLD_SHORTLY = regex(r"\s?(?:is|'s|:|=|->|\u2192|-|to|with|by|using|via|goes|on|code is)\s?")
_TIMED = regex(
    either("""
    at, until, by, since, around, before, after, about, in, over, from, every, than, row, aisle, number, no\\., page
    line, room, level, floor, flight, bus, terminal, version, model
    """)
    + r"\s$"
)
_CODE_SAID = regex(either("code, digits, keypad, combo, number is, pin"))
_TURNS = regex(either("left, right, clockwise, (?:counter|anti)-?clockwise, turns?, twice, once, stop at, past"))
_LETTERED_TURNS = regex(r"\b[lr]\s?\d{1,2}\b")
_PRESSED = regex(either("press, punch, dial, enter, type, key in, hit, tap, push") + r"\s$")
_TURNED = regex(r"(?<![\d:.])\d{1,2}(?![\d:.%])")
_THREE = regex(r"(?<![\d/.:-])\d{1,2}(?:(?:\s?[-/,]\s?|\s|\s?then\s|\s?->\s?)\d{1,2}){2,4}(?![\d/.:])")
_DRAWN = regex(r"(?<![\d/.-])\d(?:\s?(?:[-,>]|->|\u2192| to | then )\s?\d){3,8}(?![\d/.-])")
_DRAWN_SPACED = regex(r"(?<![\d.])\d(?: \d){4,8}(?![\d.])")
_DRAWN_ON = regex(either("android, unlock, phone, lock, swipe, dots?, tablet, screen"))


def says_a_code(read: TextReading) -> bool:
    """Whether the digits of a PIN, a door, a lock, a combination or a one-time code stand beside a word for it."""
    return any(map(_code_in, read.pieces(CODES)))


def says_a_pattern(read: TextReading) -> bool:
    """Whether the dots of a phone's unlock pattern are told."""
    return any(
        _DRAWN_ON.search(near.lower) and (_DRAWN.search(near.lower) or _DRAWN_SPACED.search(near.after))
        for near in read.pieces(PATTERNS)
    )


def _code_in(piece: Piece) -> bool:
    if not _DIGIT.search(piece.lower):
        return _spoken_in(piece)
    if _OTHER_CODES.search(piece.lower, max(0, piece.at - 16), piece.end + 8):
        return False
    said = _AFTER.match(piece.after)
    if said and not _TIMED.search(said["gap"]) and _announced(piece, said["gap"], said["value"]):
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
    told = _TOLD.search(gap) is not None
    if piece.word in _PINS:
        return _announced_pin(piece, gap, value, told)
    if piece.word in _OWN:
        return len(gap) <= 30
    if piece.word in _NOUNS:
        return (len(gap) <= 24 or told) and _ACCESS.search(piece.lower) is not None
    padded = piece.word in _PADS and (told or len(gap) <= 20)
    shortly = len(value) >= 4 and _TOLD_SHORTLY.fullmatch(gap) is not None
    return (
        padded or shortly or value[-1] in "#*" or _CODE_SAID.search(gap) is not None or _PRESSED.search(gap) is not None
    )


def _announced_pin(piece: Piece, gap: str, value: str, told: bool) -> bool:
    if _OTHER_PINS.search(piece.lower):
        return False
    if value[-1] in "#*" or (len(gap) <= 24 and _ACCESS.search(piece.lower)):
        return True
    owned = _OWNED.search(piece.before) is not None or ":" in gap or "is" in gap.split()
    return len(value) >= 4 and owned and (told or not gap.strip())


RULES = (
    Rule("pin", 3, says_a_code, CODES, needs=Sign.DIGIT | Sign.SPOKEN),
    Rule("unlock-pattern", 3, says_a_pattern, PATTERNS, needs=Sign.DIGIT),
)
