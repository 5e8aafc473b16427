"""Level 3: keys, PINs, codes, card and account numbers themselves.

Identity numbers (Chinese identity card, social security, passport) are level 3 too: like a card number they open
accounts in their owner's name, and unlike an address or a telephone number they cannot be changed once known.
"""

from __future__ import annotations

import re

from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.sensitivity.numbers import holds_card_number, holds_chinese_id, holds_iban
from engramlog_server.projections.language.sensitivity.reading import Cues, TextReading
from engramlog_server.projections.language.sensitivity.rule import Begun, Rule, found_in_lower, found_in_text, listed
from engramlog_server.projections.language.sensitivity.secrets.keys import KEYS
from engramlog_server.projections.language.sensitivity.sign import Sign

_ABOUT = r"(?:\s{1,4}(?:for|to|of|on|at)\b[^\n.:=!?;,0-9]{0,30}?)?"
_IS = r"(?:\s{0,4}(?:\bis|\bwas|['’]s|[:：=])(?:\s(?:now|still))?\s{0,4})"

_OWNERS = frozenset(["my", "our", "his", "her", "their", "your"])

_PRIVATE_KEY = Begun(
    r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:\\n|\s){0,8}(?:[A-Za-z-]{1,20}: [^\n]{0,200}\n\s{0,8}){0,4}[A-Za-z0-9+/=]{20}"
)
_JWT = Begun(r"eyJ(?<![A-Za-z0-9_-]eyJ)[A-Za-z0-9_-]{8,4096}\.eyJ[A-Za-z0-9_-]{4,8192}\.[A-Za-z0-9_-]{16}")
_TOKEN = Begun(
    *listed(
        "sk-, gh[opsru]_, github_pat_, glpat-, xox[abprs]-, sk_(?:live|test)_, rk_(?:live|test)_, npm_, hf_, pypi-"
    ),
    *listed(r"ya29\., SG\., shpat_, dop_v1_, whsec_"),
    then=r"(?P<value>[A-Za-z0-9_.-]{16,256})",
)
_CLOUD_KEY = Begun(
    *("AKIA[A-Z0-9]{16}", "ASIA[A-Z0-9]{16}", r"AIza[\w-]{35}", "LTAI[A-Za-z0-9]{16,24}", r"eg[cst]1_[\w-]{43}"),
    r"egl_[a-z0-9]{8}_[\w-]{43}_[0-9a-f]{6}",
    then="(?![A-Za-z0-9])",
)
# In lower case from here on.
_ASSIGNED_KEY = Begun(
    *listed(
        "key, token, secret, bearer, backup[ _-]codes?, recovery[ _-]codes?, 密钥, 秘钥, 私钥, 令牌, 授权码, 激活码, 恢复码"
    ),
    then=r"(?:[ _-]?id)?[\"'\])]{0,2}(?:\s{0,4}(?:\bis|\bwas|\bare|是|为|=>|[:=：])\s{0,4}|\s{1,4})"
    r"[\"'“`]?(?P<value>[a-z0-9+/_=-]{12,256})",
)
_CLOUD_SECRET = regex(r"secret[ _-]?access[ _-]?key[^a-z0-9]{1,8}[a-z0-9/+]{40}(?![a-z0-9/+])")
_KIND_OF_KEY = regex(
    r"(?:api|app|access|auth|account|bearer|client|consumer|encryption|private|product|licen[sc]e|refresh|recovery"
    r"|secret"
    r"|session|signing|subscription|webhook)[ _-]?$"
)
_LICENCE = regex(r"(?=.*[0-9])(?:[a-z0-9]{4,6}-){3,7}[a-z0-9]{4,6}")
_STAND_IN = regex(r"your|example|placeholder|changeme|xxxx|dummy|sample|insert|replace|redacted")
_URL_LOGIN = regex(r"://(?P<user>[^\s:/@]{0,64}):(?P<value>[^\s:/@]{4,128})@")
_URL_STAND_IN = regex(
    r"[<$%{*\[]|.*(?:pass|pwd|pw$|secret|user|your|xxx|token|example|postgres|mysql|root|admin|guest|test)",
    re.IGNORECASE,
)

_PIN = regex(
    rf"pin(?<![a-z0-9]pin)(?P<code>\scode)?(?:\s(?:number|no\.?))?{_ABOUT}(?P<link>{_IS}|\s{{1,4}})"
    r"(?P<value>[0-9](?:[ -]?[0-9]){3,7})(?![0-9a-z]|[-.,/%][0-9])"
)
_CODE = regex(
    r"(?:cvv2?|cvc2?|otp|(?:security|verification|access|entry|door|gate|alarm|lock|unlock|garage|safe|vault|2fa"
    rf"|one[- ]time|keypad)\s(?:pass)?code|passcode"
    r"|code (?:to|for|of) (?:the|my|our|his|her) (?:[a-z]{1,12} ){0,2}(?:door|gate|garage|alarm|safe|lock|building))"
    rf"{_ABOUT}(?:{_IS}|\s{{1,4}})"
    r"#?[0-9](?:[ -]?[0-9]){2,7}(?![0-9a-z]|[-.,/%][0-9])"
)
_COMBINATION = regex(
    r"(?:combination(?<=(?:safe|lock|ault|cker) combination)"
    rf"|combination (?:to|of|for|on) (?:the|my|our|his|her) (?:[a-z]{{1,12}} ){{0,2}}(?:safe|locker|lock|vault))"
    rf"{_ABOUT}{_IS}"
    r"[0-9]{1,2}(?:[ -]{1,3}[0-9]{1,2}){2,4}(?![0-9])"
)
_ZH_CODE = regex(
    r"(?:pin码?|验证码|校验码|动态码|安全码|开门码|门禁码|cvv2?码)\s?(?:就?是|为|[:：=])?\s?"
    r"(?P<value>[0-9]{3,8})(?![0-9]|\s?[位个分秒次年月天])"
)
_ACCOUNT = regex(
    rf"(?:(?:account|acct|a/c|card)\.?\s?(?:number|no\.?|num\.?|#){_ABOUT}(?:{_IS}|\s{{0,4}})"
    rf"|(?:bank|checking|savings|current)\saccount{_ABOUT}(?:{_IS}|\s{{1,4}}))"
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
    then=rf"(?:\s(?:number|no\.?))?{_ABOUT}(?:{_IS}|\s{{1,4}})"
    r"[0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4}(?![0-9])",
)
_PASSPORT = Begun(
    rf"passport\s?(?:number|no\.?|num|#){_ABOUT}(?:{_IS}|\s{{0,4}})",
    r"护照(?:号码?)?\s?(?:就?是|为|[:：])?\s?",
    then=r"[a-z]{0,2}[0-9]{6,9}(?![0-9a-z])",
)


def holds_issued_token(read: TextReading) -> bool:
    """Whether the text holds a key by its issuer's prefix."""
    text = read.long_runs
    if not text:
        return False
    if any(_starts_a_word(text, match) for match in _CLOUD_KEY.finditer(text)):
        return True
    return any(_starts_a_word(text, match) and _looks_random(match["value"]) for match in _TOKEN.finditer(text))


NAMED = Cues(KEYS, by_word=True)


def holds_cloud_secret(read: TextReading) -> bool:
    """Whether the text holds what is called a secret access key and is as long as one."""
    return "secret" in read.lower and _CLOUD_SECRET.search(read.lower) is not None


def holds_named_key(read: TextReading) -> bool:
    """Whether the text holds a random-looking value called a key, a token or a secret."""
    for match in _ASSIGNED_KEY.finditer(read.lower):
        # "Key" alone says nothing: "the key is ..."; a token, a secret or any kind of key does.
        named = not match[0].startswith("key") or _KIND_OF_KEY.search(
            read.lower, max(0, match.start() - 16), match.start()
        )
        if named and _looks_random(match["value"]):
            return True
    return False


def _starts_a_word(text: str, match: re.Match[str]) -> bool:
    before = text[match.start() - 1] if match.start() else " "
    return not (before.isascii() and (before.isalnum() or before in "_-"))


def holds_login_in_url(read: TextReading) -> bool:
    """Whether an address such as `scheme://user:password@host` holds a password that is no stand-in."""
    for match in _URL_LOGIN.finditer(read.text):
        value = match["value"]
        if not _URL_STAND_IN.match(value) and value.lower() != match["user"].lower():
            return True
    return False


CODES = Cues(listed("pin, cvv, cvv2, cvc, cvc2, otp, code, passcode, combination"))


def holds_pin(read: TextReading) -> bool:
    """Whether the text holds the digits of a PIN, a one-time code, a door code or a combination."""
    return any(_pin_in(piece.text, piece.lower) for piece in read.pieces(CODES, before=40))


def _pin_in(text: str, lower: str) -> bool:
    for match in _PIN.finditer(lower):
        own = not _OWNERS.isdisjoint(lower[max(0, match.start() - 40) : match.start()].split()[-3:])
        if own:
            return True
        # In India "PIN code" is the postal code of six digits: a secret only if said to be someone's own.
        postal = match["code"] and sum(character.isdigit() for character in match["value"]) == 6
        # Without "is" or a colon it must be written as an abbreviation: "pin 2020" may be a wire.
        if not postal and (match["link"].strip() or text[match.start() : match.start() + 3] == "PIN"):
            return True
    return _CODE.search(lower) is not None or _COMBINATION.search(lower) is not None


def _looks_random(value: str) -> bool:
    """A licence key, or a run of at least eight letters with two digits and six different characters; no stand-in."""
    value = value.lower()
    if _STAND_IN.search(value):
        return False
    if _LICENCE.fullmatch(value):
        return True
    for run in re.split("[^a-z0-9]", value):
        digits = sum(c.isdigit() for c in run)
        if len(run) >= 8 and 2 <= digits < len(run) and len(set(run)) >= 6:
            return True
    return False


ACCOUNTS = Cues(listed("account, acct, a/c, card"))


def says_an_account(read: TextReading) -> bool:
    """Whether the number of a bank account or a card follows the word for it."""
    return any(_ACCOUNT.search(piece.lower) for piece in read.pieces(ACCOUNTS, before=10))


RULES = (
    Rule("private-key", 3, found_in_text(_PRIVATE_KEY), signs=Sign.LONG),
    Rule("api-key", 3, holds_issued_token, signs=Sign.LONG),
    Rule("api-key", 3, holds_cloud_secret, NAMED, signs=Sign.WIDE_DIGIT),
    Rule("api-key", 3, holds_named_key, NAMED, needs=Sign.DIGIT, signs=Sign.WIDE_DIGIT),
    Rule("json-web-token", 3, found_in_text(_JWT), signs=Sign.LONG),
    Rule("login-in-url", 3, holds_login_in_url, signs=Sign.AT),
    Rule("pin", 3, holds_pin, CODES, needs=Sign.DIGIT),
    Rule("pin-zh", 3, found_in_lower(_ZH_CODE), signs=Sign.WIDE_DIGIT),
    Rule("card-number", 3, lambda read: holds_card_number(read.text, read.numbers), signs=Sign.SEVEN_DIGITS),
    Rule("iban", 3, lambda read: b"aa00" in read.kinds and holds_iban(read.text), signs=Sign.SEVEN_DIGITS),
    Rule("account-number", 3, says_an_account, ACCOUNTS, needs=Sign.FIVE_DIGITS),
    Rule("account-number-zh", 3, found_in_lower(_ZH_ACCOUNT), signs=Sign.WIDE_DIGIT),
    Rule("identity-number", 3, lambda read: holds_chinese_id(read.text, read.numbers), signs=Sign.SEVEN_DIGITS),
    Rule("identity-number", 3, found_in_lower(_SSN, _PASSPORT), signs=Sign.FIVE_DIGITS),
)
