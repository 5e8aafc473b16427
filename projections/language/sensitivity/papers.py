"""Level 3: numbers of papers, cards and accounts: by a checksum of their own, or beside the word for what they belong to.

Such numbers are long or mixed, so a number beside the word is enough where it is no date, no telephone, no amount. Identity numbers
are level 3 too: they open accounts in their owner's name, and cannot be changed once known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.scripts import in_han_block
from engramlog_server.projections.language.sensitivity.rule import (
    Begun,
    Cues,
    Piece,
    Rule,
    Sign,
    TextReading,
    Words,
    about,
    either,
    found_in_lower,
    letter_at,
    listed,
    one_of,
    positions,
)
from engramlog_server.projections.language.sensitivity.values import NAMED_FOR, NAMED_IS, SPOKEN, digits_in

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


SURE = Cues(
    Words("papers_sure"),
    by_word=True,
)
WEAK = Cues(
    listed("account, acc, licence, license, social, bank, visa, chequing, savings, transfer to, wire"), by_word=True
)
"""Words that say it of a long number just beside them."""
SPELLED = Cues(Words("papers_spelled"))
"""What numbers that are told word by word are said of."""
_DIGIT = regex("[0-9]")
_FOUR_DIGITS = regex(r"[0-9](?:[ ().-]{0,2}[a-z]{0,3}[0-9]){3}")
_NUMBER = regex(
    r"(?P<value>[0-9](?<![0-9][0-9])[\da-z]*(?:[ .-][a-z]{0,3}\d[\da-z]*){0,7}(?:[ -][a-z]{1,2}\b)?)"
    r"(?![a-z0-9_%@]|[-/.:]\d|,\d{3})(?! ?"
    + either(
        "years, days, months, hours, minutes, am, pm, people, users, dollars, usd, euros, characters, digits, miles, points, km"
    )
    + ")"
)
_SHAPES = {
    "nie|nif|dni|tie": r"[xyz]?-?\d{7,8}-?[a-z]",
    "nric|fin": r"[stfgm]\d{7}[a-z]",
    "hkid|hk id": r"[a-z]{1,2}\d{6} ?\(?[\da]\)?",
    "rfc": r"[a-z&]{3,4}-?\d{6}-?[a-z0-9]{3}",
    "rut|run": r"\d{1,2}\.?\d{3}\.?\d{3}-[\dk]",
    "pan": r"[a-z]{5} ?\d{4} ?[a-z]",
    "ni|nino": r"[a-z]{2} ?(?:\d{2} ?){3}[a-z]",
    "cnp|egn|oib|cpr|amka|tckn|tc|nik|ktp|jmbg": r"\d{6}[- ]?\d{4,10}",
    "ahv|avs": r"756(?:[. ]?\d{4}){2}[. ]?\d\d",
    "nir|insee": r"[12](?: ?\d\d){3}(?: ?\d{3}){2}(?: ?\d\d)?",
    "tin|itin|ein": r"\d{2,3}-\d{2,3}-?\d{2,4}(?:-\d{3})?",
    "ic|mykad": r"\d{6}-\d{2}-\d{4}",
    "cpf": r"\d{3}\.?\d{3}\.?\d{3}-?\d\d",
}
"""Names that are also words or other things, by the numbers that they have as identity numbers."""
_SHAPE_OF = {
    name: regex(rf"{name}(?<![a-z]{name})(?![a-z])[^\n\d]{{0,28}}?(?<![a-z0-9]){shape}(?![a-z0-9]|[-.]\d)")
    for names, shape in _SHAPES.items()
    for name in names.split("|")
}
ABROAD = Cues(_SHAPE_OF, by_word=True)
_ID = Cues(["id"])
PAPERS = Cues(SURE, WEAK, ABROAD, _ID, by_word=True)
_BY_LETTERS = regex(r"\b(?P<value>[a-z]{2} ?(?:\d{2} ?){3}[a-z]|[a-z]{5}\d{4}[a-z])\b")  # NINO, PAN
_NO_NUMBER = regex(
    r"(?:19|20)\d\d[-./ ]\d{1,2}(?:[-./ ]\d{1,2})?$|\d{1,2}[-./ ]\d{1,2}[-./ ](?:19|20)?\d\d$|(?:19|20)\d{2}$|1[- ]8\d\d[- ]"
    r"|\d+(?:\.\d+){1,3}$"
)
_OF_ELSE = regex(lambda: one_of("papers_of_else") + r"\s?(?:number|no\.?|#|id)?[ :]{1,2}$")

SURE_ZH = Cues(Words("papers_sure_zh"))
WEAK_ZH = Cues(listed("账号, 账户, 帐号, 帐户, 户头, 开户, 存折, 信用卡, 外国人, 学籍号, 准考证, 档案号, 病案号"))
_NUMBER_ZH = regex(
    r"(?<![a-z0-9_$.@/-])(?P<value>[a-z]{0,3}\(?\d[\da-z]*(?:[ -]\d[\da-z]*){0,6}(?:\([\da]\))?)(?![a-z0-9%@]|[./:]\d)"
    r"(?!\s?[元块万年月个天次位人分亿])"
)
_NO_NUMBER_ZH = regex(r"\(?(?:19|20)\d\d(?:[-/. ]?(?:0?[1-9]|1[0-2])(?:[-/. ]?\d{1,2})?)?$|1[3-9]\d(?:[ -]?\d{4}){2}$")
_OF_ELSE_ZH = regex("电话|手机号|客服|热线|订单|余额|额度|快递|单号|预约|办|元|群|qq")


_SURE_ZH_BEFORE, _WEAK_ZH_BEFORE = regex(lambda: "|".join(SURE_ZH)), regex(lambda: "|".join(WEAK_ZH))
_ID_BEFORE = regex(r"(?<![a-z])id(?: number| no\.?)?(?: is)?[: ]{1,2}$")
FAR, FAR_ZH = 72, 26
"""Characters before a number that are searched for what it is the number of."""
_LETTERS_OF_ITS_OWN = 6


def says_a_paper(read: TextReading) -> bool:
    """Whether the number of a paper, a tax or bank account stands beside the English word for it."""
    if not _FOUR_DIGITS.search(read.lower):
        return False
    if any(_SHAPE_OF[read.lower[start:end]].match(read.lower, start) for end, start in read.ends(ABROAD).items()):
        return True
    sure, weak = read.cues(SURE), read.cues(WEAK)
    ends = (at + len(name) for name in (*sure, *weak, *read.cues(_ID)) for at in positions(read.lower, name))
    if not any(_DIGIT.search(read.lower, end, end + FAR + _LETTERS_OF_ITS_OWN) for end in ends):
        return False
    return any(
        least <= (digits := digits_in(match["value"])) <= 20
        and _begins(read.lower, match.start())
        and not _NO_NUMBER.match(match["value"])
        and _called(read.lower[max(0, match.start() - FAR) : match.start()], digits, sure, weak)
        for numbers, least in ((_NUMBER, 5), (_BY_LETTERS, 4))
        for match in numbers.finditer(read.lower)
    )


def _begins(lower: str, at: int) -> bool:
    """Whether a number begins here, with up to six letters of its own before its first digit."""
    first = at
    while first and at - first < _LETTERS_OF_ITS_OWN and "a" <= lower[first - 1] <= "z":
        first -= 1
    before = lower[first - 1 : first]
    return not (before.isalnum() and before.isascii()) and before not in tuple("_$\u00a3\u20ac@/.-")


def _called(before: str, digits: int, sure: list[str], weak: list[str]) -> bool:
    """Whether the words before a number say that it is a paper's or an account's, on its line or at the end of the one before."""
    line = before.rstrip().rpartition("\n")[2]
    called = (
        any(_stands(line, name, 0) for name in sure)
        or (digits >= 7 and any(_stands(line, name, len(line) - 10) for name in weak))
        or (digits >= 9 and _ID_BEFORE.search(line))
    )
    return bool(called) and not _OF_ELSE.search(before)


def _stands(line: str, name: str, least: int) -> bool:
    """Whether a name ends there or later with no letter beside it."""
    ends = ((at, at + len(name)) for at in positions(line, name))
    return any(end >= least and not (letter_at(line, at - 1) or letter_at(line, end)) for at, end in ends)


def _spelled(piece: Piece) -> bool:
    """Whether such a number follows in words: `my social's four oh seven, sixty-two, nine one three eight`."""
    spoken = SPOKEN.search(piece.after[:64])
    return spoken is not None and len(re.findall("[a-z]+", spoken[0])) >= 5


def says_a_paper_in_chinese(read: TextReading) -> bool:
    """Whether the number of a paper, a social, tax or bank account stands beside the Chinese word for it."""
    return any(
        (digits := digits_in(match["value"])) >= 6
        and not _unproved(read.lower, match)
        and not _NO_NUMBER_ZH.match(match["value"])
        and _called_in_chinese(read.lower[max(0, match.start() - FAR_ZH) : match.start()], digits)
        for match in _NUMBER_ZH.finditer(read.lower)
    )


def _unproved(lower: str, match: re.Match[str]) -> bool:
    """Whether a number of the length of an identity card stands close to a word without its check: that is asked elsewhere."""
    return len(match["value"]) == 18 and in_han_block(lower[match.start() - 1 : match.start()])


def _called_in_chinese(before: str, digits: int) -> bool:
    ends = [called.end() for called in _SURE_ZH_BEFORE.finditer(before)]
    if digits >= 10:
        ends += [called.end() for called in _WEAK_ZH_BEFORE.finditer(before)]
    return bool(ends) and len(before) - max(ends) <= 18 and not _OF_ELSE_ZH.search(before, max(ends))


_ACCOUNT = regex(
    rf"(?:(?:account|acct|a/c|card)\.?\s?(?:number|no\.?|num\.?|#){NAMED_FOR}(?:{NAMED_IS}|\s{{0,4}})"
    rf"|(?:bank|checking|savings|current)\saccount{NAMED_FOR}(?:{NAMED_IS}|\s{{1,4}}))"
    r"#?[0-9](?:[ -]?[0-9]){5,19}(?![0-9a-z]|[.,][0-9])"
)
_ZH_ACCOUNT = regex(
    r"(?:(?:银行卡|银行[账帐][号户]|储蓄卡|信用卡|借记卡|存折|卡号|户头)(?:卡号|[账帐][号户]|号)?(?:号?码)?\s?"
    r"(?:就?是|为|[:：=])?\s?[0-9](?:[ -]?[0-9]){7,22}"
    r"|[账帐][号户](?:号?码)?\s?(?:就?是|为|[:：=])?\s?[0-9](?:[ -]?[0-9]){11,22})(?![0-9元块万])"
)
_SSN = Begun(
    "ssn",
    "social security",
    then=rf"(?:\s(?:number|no\.?))?{NAMED_FOR}(?:{NAMED_IS}|\s{{1,4}})"
    r"[0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4}(?![0-9])",
)
_PASSPORT = Begun(
    rf"passport\s?(?:number|no\.?|num|#){NAMED_FOR}(?:{NAMED_IS}|\s{{0,4}})",
    r"护照(?:号码?)?\s?(?:就?是|为|[:：])?\s?",
    then=r"[a-z]{0,2}[0-9]{6,9}(?![0-9a-z])",
)


ACCOUNTS = Cues(listed("account, acct, a/c, card"))


RULES = (
    Rule("card-number", 3, lambda read: holds_card_number(read.text, read.numbers), signs=Sign.SEVEN_DIGITS),
    Rule("iban", 3, lambda read: b"aa00" in read.kinds and holds_iban(read.text), signs=Sign.SEVEN_DIGITS),
    about("account-number", ACCOUNTS, lambda piece: _ACCOUNT.search(piece.lower), before=10, needs=Sign.FIVE_DIGITS),
    Rule("account-number-zh", 3, found_in_lower(_ZH_ACCOUNT), signs=Sign.WIDE_DIGIT),
    Rule("identity-number", 3, lambda read: holds_chinese_id(read.text, read.numbers), signs=Sign.SEVEN_DIGITS),
    Rule("identity-number", 3, found_in_lower(_SSN, _PASSPORT), signs=Sign.FIVE_DIGITS),
    Rule("paper", 3, says_a_paper, PAPERS, needs=Sign.DIGIT),
    about("paper", SPELLED, _spelled, needs=Sign.SPOKEN),
    Rule("paper-zh", 3, says_a_paper_in_chinese, Cues(SURE_ZH, WEAK_ZH), needs=Sign.WIDE_DIGIT),
)
