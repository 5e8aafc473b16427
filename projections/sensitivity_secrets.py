"""Level 3: keys, PINs, codes, card and account numbers themselves.

Identity numbers (Chinese identity card, social security, passport) are level 3 too: like a card number they open accounts
in their owner's name, and unlike an address or a telephone number they cannot be changed once known.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from projections.sensitivity_numbers import holds_card_number, holds_chinese_id, holds_iban
from projections.sensitivity_rule import Rule, Sign

_ABOUT = r"(?:\s+(?:for|to|of|on|at)\b[^\n.:=!?;,0-9]{0,30}?)?"
_IS = r"(?:\s*(?:\bis|\bwas|['’]s|[:：=])(?:\s+(?:now|still))?\s*)"

_PRIVATE_KEY = re.compile(
    r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:\\n|\s){0,8}(?:[A-Za-z-]{1,20}: [^\n]{0,200}\n\s{0,8}){0,4}[A-Za-z0-9+/=]{20}"
)
_JWT = re.compile(r"(?<![\w-])eyJ[\w-]{8,4096}\.eyJ[\w-]{4,8192}\.[\w-]{16}")
_TOKEN = re.compile(
    r"(?<![A-Za-z0-9_-])(?:sk-|gh[opsru]_|github_pat_|glpat-|xox[abprs]-|[sr]k_(?:live|test)_|npm_|hf_|pypi-|ya29\.|SG\.|shpat_"
    r"|dop_v1_|whsec_)(?P<value>[A-Za-z0-9_.-]{16,256})"
)
_CLOUD_KEY = re.compile(
    r"(?<![A-Za-z0-9])(?:(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[\w-]{35}|LTAI[A-Za-z0-9]{16,24})(?![A-Za-z0-9])"
)
_ASSIGNED_KEY = re.compile(
    r"(?:(?:api|app|access|auth|account|bearer|client|consumer|encryption|private|product|licen[sc]e|refresh|recovery|secret"
    r"|session|signing|subscription|webhook)[ _-]?(?:access[ _-]?)?(?:key|token|secret)(?:[ _-]?id)?|backup[ _-]codes?"
    r"|recovery[ _-]codes?|bearer|\bsecret|\btoken|密钥|秘钥|私钥|令牌|授权码|激活码|恢复码)"
    r"[\"'\])]{0,2}(?:\s*(?:\bis|\bwas|\bare|是|为|=>|[:=：])\s{0,4}|\s+)[\"'“`]?(?P<value>[A-Za-z0-9+/_=-]{12,256})",
    re.IGNORECASE,
)
_LICENCE = re.compile(r"(?:[A-Z0-9]{4,6}-){3,7}[A-Z0-9]{4,6}")
_STAND_IN = re.compile(r"your|example|placeholder|changeme|xxxx|dummy|sample|insert|replace|redacted", re.IGNORECASE)
_URL_LOGIN = re.compile(r"://(?P<user>[^\s:/@]{0,64}):(?P<value>[^\s:/@]{4,128})@")
_URL_STAND_IN = re.compile(
    r"[<$%{*\[]|.*(?:pass|pwd|pw$|secret|user|your|xxx|token|example|postgres|mysql|root|admin|guest|test)",
    re.IGNORECASE,
)

_PIN = re.compile(
    rf"\b(?:(?:my|our|his|her|their|your|the)\s+(?:[\w'-]{{1,20}}\s+){{0,2}}pin(?:\s+(?:code|number|no\.?))?{_ABOUT}"
    rf"(?:{_IS}|\s+)|pin(?:\s+(?:number|no\.?))?{_ABOUT}{_IS}|(?-i:PIN)\s+)(?P<value>[0-9](?:[ -]?[0-9]){{3,7}})\b(?![-.,/][0-9])",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"\b(?:cvv2?|cvc2?|otp|(?:security|verification|access|entry|door|gate|alarm|lock|unlock|garage|safe|vault|passcode|2fa"
    rf"|one[- ]time|keypad)\s+(?:pass)?code|passcode){_ABOUT}(?:{_IS}|\s+)#?(?P<value>[0-9](?:[ -]?[0-9]){{2,7}})\b(?![.,/%][0-9])",
    re.IGNORECASE,
)
_COMBINATION = re.compile(
    rf"\b(?:safe|lock(?:er)?|vault|padlock)(?:['’]s)?\s+combination{_ABOUT}{_IS}[0-9]{{1,2}}(?:[ -]+[0-9]{{1,2}}){{2,4}}\b",
    re.IGNORECASE,
)
_ZH_CODE = re.compile(
    r"(?:PIN码?|pin码|验证码|校验码|动态码|安全码|开门码|门禁码|CVV2?码?|cvv)\s?(?:就?是|为|[:：=])?\s?"
    r"(?P<value>[0-9]{3,8})(?![0-9]|\s?[位个分秒次年月天])"
)
_ACCOUNT = re.compile(
    rf"\b(?:(?:account|acct|a/c)\.?\s*(?:number|no\.?|num\.?|#){_ABOUT}(?:{_IS}|\s*)"
    rf"|(?:bank|checking|savings|current)\s+account{_ABOUT}(?:{_IS}|\s+)|\bcard\s+(?:number|no\.?){_ABOUT}(?:{_IS}|\s+))"
    r"#?(?P<value>[0-9](?:[ -]?[0-9]){5,19})\b(?![.,][0-9])",
    re.IGNORECASE,
)
_ZH_ACCOUNT = re.compile(
    r"(?:(?:银行卡|银行[账帐][号户]|储蓄卡|信用卡|借记卡|存折|卡号|户头)(?:卡号|[账帐][号户]|号)?(?:号?码)?\s?(?:就?是|为|[:：=])?\s?"
    r"[0-9](?:[ -]?[0-9]){7,22}|[账帐][号户](?:号?码)?\s?(?:就?是|为|[:：=])?\s?[0-9](?:[ -]?[0-9]){11,22})(?![0-9元块万])"
)
_SSN = re.compile(
    rf"\b(?:ssn|social\s+security(?:\s+(?:number|no\.?))?){_ABOUT}(?:{_IS}|\s+)[0-9]{{3}}[- ]?[0-9]{{2}}[- ]?[0-9]{{4}}\b",
    re.IGNORECASE,
)
_PASSPORT = re.compile(
    rf"(?:\bpassport\s*(?:number|no\.?|num|#){_ABOUT}(?:{_IS}|\s*)|护照(?:号码?)?\s?(?:就?是|为|[:：])?\s?)"
    r"[A-Z]{0,2}[0-9]{6,9}(?![0-9A-Za-z])",
    re.IGNORECASE,
)


def _found(*patterns: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda text: any(pattern.search(text) for pattern in patterns)


def holds_api_key(text: str) -> bool:
    """Whether the text holds a key by its issuer's prefix, or a random-looking value called a key, token or secret."""
    if _CLOUD_KEY.search(text):
        return True
    values = (match["value"] for pattern in (_TOKEN, _ASSIGNED_KEY) for match in pattern.finditer(text))
    return any(_looks_random(value) for value in values)


def holds_login_in_url(text: str) -> bool:
    """Whether an address such as `scheme://user:password@host` holds a password that is no stand-in."""
    for match in _URL_LOGIN.finditer(text):
        value = match["value"]
        if not _URL_STAND_IN.match(value) and value.lower() != match["user"].lower():
            return True
    return False


def holds_pin(text: str) -> bool:
    """Whether the text holds the digits of a PIN, a one-time code, a door code or a combination."""
    for match in _PIN.finditer(text):
        # In India "PIN code" is the postal code of six digits: a secret only if said to be someone's own.
        postal = re.match(r"pin code", match[0], re.IGNORECASE) and len(re.sub("[^0-9]", "", match["value"])) == 6
        if not postal:
            return True
    return any(pattern.search(text) for pattern in (_CODE, _COMBINATION, _ZH_CODE))


def _looks_random(value: str) -> bool:
    """A licence key, or a run of at least eight letters with two digits and six different characters; no stand-in."""
    if _STAND_IN.search(value):
        return False
    if _LICENCE.fullmatch(value):
        return True
    for run in re.split("[^A-Za-z0-9]", value):
        digits = sum(c.isdigit() for c in run)
        if len(run) >= 8 and 2 <= digits < len(run) and len(set(run)) >= 6:
            return True
    return False


def holds_identity_number(text: str) -> bool:
    """Whether the text holds a Chinese identity number, a social security number or a passport number."""
    return holds_chinese_id(text) or _SSN.search(text) is not None or _PASSPORT.search(text) is not None


RULES = (
    Rule("private-key", 3, Sign.DIGIT, _found(_PRIVATE_KEY)),
    Rule("api-key", 3, Sign.DIGIT, holds_api_key),
    Rule("json-web-token", 3, Sign.DIGIT, _found(_JWT)),
    Rule("login-in-url", 3, Sign.AT, holds_login_in_url),
    Rule("pin", 3, Sign.DIGIT, holds_pin),
    Rule("card-number", 3, Sign.SEVEN_DIGITS, holds_card_number),
    Rule("iban", 3, Sign.SEVEN_DIGITS, holds_iban),
    Rule("account-number", 3, Sign.DIGIT, _found(_ACCOUNT, _ZH_ACCOUNT)),
    Rule("identity-number", 3, Sign.SEVEN_DIGITS, holds_identity_number),
)
