"""Numbers that prove themselves by a checksum: cards (Luhn), IBAN (mod 97), Chinese identity cards (mod 11)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from engramlog_server.projections.language.patterns import regex

_RUN = regex(r"[0-9][0-9 ().-]{6,}")
_CARD = regex(
    r"(?<![0-9A-Za-z_.#$€£¥+-])(?:"
    r"[2-6][0-9]{3}([ .-]?)[0-9]{4}\1[0-9]{4}\1[0-9]{1,4}(?:\1[0-9]{1,3})?"  # 13 to 19 digits in fours, or unbroken
    r"|3[47][0-9]{2}([ .-])[0-9]{6}\2[0-9]{5}|3[068][0-9]{2}([ -])[0-9]{6}\3[0-9]{4}"  # 4-6-5, 4-6-4
    r")(?![0-9A-Za-z_-]|\.[0-9]| [0-9]{4})"
)
# Issuers by prefix and length (ISO/IEC 7812): UnionPay, Visa, Mastercard, American Express, Discover, JCB, Diners, Mir.
_ISSUER = regex(
    r"62\d{14,17}|4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}"
    r"|6(?:011|5\d\d|4[4-9]\d)\d{12}|35(?:2[89]|[3-8]\d)\d{12}|3(?:0[0-5]|[68]\d)\d{11}|220[0-4]\d{12}"
)
_IBAN = regex(
    r"[0-9](?<=[A-Za-z]{2}[0-9])(?<![0-9A-Za-z][A-Za-z]{2}[0-9])[0-9](?: ?[0-9A-Za-z]{4}){2,7}"
    r"(?: ?[0-9A-Za-z]{1,3})?(?![0-9A-Za-z])"
)
_IBAN_LENGTHS_TEXT = """
AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20 EG29 ES24 FI18 FO18 FR27
GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27
MD24 ME22 MK19 MR27 MT31 MU30 NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 SA24 SC31 SE24 SI19 SK24 SM27 ST25 SV28 TL23
TN24 TR26 UA29 VA22 VG24 XK20
"""
_IBAN_LENGTHS = {entry[:2]: int(entry[2:]) for entry in _IBAN_LENGTHS_TEXT.split()}
_CHINESE_ID = regex(
    r"(?<![0-9A-Za-z])[1-8][0-9]{5}(?:18|19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])[0-9]{3}[0-9Xx]"
    r"(?![0-9A-Za-z])"
)
_ID_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)


def regions(text: str) -> list[tuple[int, int]]:
    """Where long numbers may be: (start, end) about each run of digits, blanks and ( ) . - with at least 7 digits.

    A few characters more on both sides, as patterns look beside the number.
    """
    return [
        (max(0, run.start() - 6), run.end() + 2)
        for run in _RUN.finditer(text)
        if sum(character.isdigit() for character in run[0]) >= 7
    ]


def holds_card_number(text: str, where: Iterable[tuple[int, int]]) -> bool:
    """Whether a number of a known issuer's prefix and length passes the Luhn check; `where` are the text's regions."""
    for start, end in where:
        for match in _CARD.finditer(text, start, end):
            digits = re.sub("[ .-]", "", match[0])
            if _ISSUER.fullmatch(digits) and luhn(digits):
                return True
    return False


def holds_iban(text: str) -> bool:
    """Whether a bank account number of its country's length has the remainder 1 of 97 (ISO 13616)."""
    return any(iban(text[match.start() - 2 : match.end()].replace(" ", "")) for match in _IBAN.finditer(text))


def holds_chinese_id(text: str, where: Iterable[tuple[int, int]]) -> bool:
    """Whether an 18-character identity number has a possible birthday and its check character (GB 11643)."""
    return any(chinese_id(match[0]) for start, end in where for match in _CHINESE_ID.finditer(text, start, end))


def luhn(digits: str) -> bool:
    """Luhn's check (ISO/IEC 7812-1) of a text of ASCII digits."""
    doubled = sum(sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (doubled + sum(int(digit) for digit in digits[::-2])) % 10 == 0


def iban(number: str) -> bool:
    """The length and mod 97 check of an IBAN without spaces."""
    if _IBAN_LENGTHS.get(number[:2]) != len(number):
        return False
    return int("".join(str(int(c, 36)) for c in number[4:] + number[:4])) % 97 == 1


def chinese_id(number: str) -> bool:
    """The check character of a Chinese identity number of 18 characters."""
    total = sum(weight * int(digit) for weight, digit in zip(_ID_WEIGHTS, number[:17], strict=True))
    return "10X98765432"[total % 11] == number[17].upper()
