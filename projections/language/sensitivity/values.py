"""What a secret's value looks like by itself: a password's mixture of characters, a key's randomness, a number said in words. Pure.

Nothing here decides alone: the rules ask beside a word for a secret, so these may be generous about what people type and strict
about what programs, addresses, dates and names of things look like. Every text here is folded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.sensitivity.rule import Words, listed
from engramlog_server.projections.language.times.names import MONTH_STARTS, WEEKDAY

TOKEN = regex(r"[!-~\u00a3\u20ac]{4,256}")
"""A run without white space and without Han: what a password is typed as."""

_WRAPPING = "\"'`([{<>}])"
_ENDING = ".,;:?()]}>\"'`"
# What programs, addresses, files, numbers with units and the like look like.
_ADDRESS = regex(
    r"[a-z][a-z0-9+.-]{1,20}://|www\.|[\w.+-]{1,64}@[\w-]{1,64}\.[a-z.]{2,}|[@#][a-z_][\w-]*$|[./~]?(?:[\w.-]*/){2}"
    r"|[\w-]+\.(?:com|net|org|io|cn|dev|py|js|ts|md|txt|json|ya?ml|toml|csv|pdf|png|jpe?g|html?|css|rs|go|java|sh|log"
    r"|sql|xml"
    r"|env|lock|zip|gz|local|exe|php|rb|c|h|cpp)\b|\d{1,3}(?:\.\d{1,3}){3}",
    re.IGNORECASE,
)
_CODE = regex(r"[(){}\[\]<>|\\;`]|\*\*|==|=>|->|::|&&|\|\||^[^A-Z]*\.\w+\.|\w=|[!%+*&^]=|^[$%*_.-]+\w*$|\w\+\+|^--?\w")
_RECKONED = regex(r"[\w+^*%&~#]+")  # 2x+3y, 365^n, R&D2
_FILLED_IN = regex(r"\$?\{[^\"']*\}")  # {elapsed:.2f}
_NAME = regex(
    r"(?:[A-Z][a-z]+-){1,3}[A-Z]?[a-z]+\d{1,2}|[a-z0-9]{2,12}[:]sha\d+.*|[\w./-]+@v?\d+(?:\.\d+)*|(?:UTC|GMT)[+-]\d.*"
    r"|\d+(?:am|pm)@\w+|.*\b[Ss]\d\d[Ee]\d\d"
)  # Flask-Argon2
_CONTRACTION = regex(r"[a-z]+['\u2019](?:s|t|m|d|re|ve|ll)\b", re.IGNORECASE)
_MEASURE = regex(
    r"[~<>+#$\u00a3\u20ac-]*\d[\d.,:/x*-]*(?:st|nd|rd|th|s|x|k|m|b|am|pm|%|\+|km|kg|mb|gb|tb|ms|px|min|hrs?|gbps|mbps"
    r"|hz"
    r"|mm|cm|ft|lbs?|oz|ml|bit|fps|p|w|v|mah|years?|days?|d|h|g|l|usd|rmb|eur)?[.!?,]*$",
    re.IGNORECASE,
)
_TECHNICAL = regex(
    r"(?:sha|md|aes|rsa|des|3des|utf|base|wpa|wep|argon|pbkdf|blake|rfc|iso|oauth|http|v|ed|totp|fido|web|x|ip|mp|h"
    r"|usb|ps"
    r"|win|windows|python|py|es|vue|log4j|covid|iphone|ipad|ios|macos|android|mate|b2b|p2p|w3c|i18n|k8s|s3|ec2|h2o|co2"
    r"|level|lvl|route|room|bus|section|step|part|chapter|unit|user|admin|test|file|item|page|var|arg|name|key|id|col"
    r"|row"
    r"|field|param|node|server|host|port|type|class|line|table|image|img|foo|bar|baz|example|sample|demo)"
    r"[-_]?\d[\w./-]*",
    re.IGNORECASE,
)
STAND_IN = regex(
    r"your|passw|example|placeholder|changeme|xxx|dummy|sample|insert|replace|redact|secret|token|\*\*|\.\.\.|<|{"
    r"|username"
    r"|api_?key|hidden|masked|confirm|valid|require|encrypt"
    r"|(?:field|input|hash|string)(?!(?<=[a-z]{9})\d)",
    re.IGNORECASE,
)
_INNER_SIGN = regex(
    r"[A-Za-z0-9][!#$%^&*~?@+][A-Za-z0-9!#$%^&*~?@+_-]*[A-Za-z0-9]|[A-Za-z0-9]{3,}[!#$%^&*~@]+[A-Za-z0-9]"
)
_MIXED_CASE = regex(r"[A-Za-z]\d+[A-Za-z]|[a-z]\d*[A-Z]|[_-]\w")
_MIXED_DIGITS = regex(r"[A-Za-z]\d+[A-Za-z]|\d[A-Za-z]+\d")
_RARE_PAIRS = regex(r"[bcdfghjklmnpqrstvwxz]{4}|q[^u]|[jvxz][bcdfghjklmnpqrstvwxz]|[bcdfghjkmpqvwxz]{3}")
NUMBER_WORDS = frozenset(
    listed("""
    zero, oh, one, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve, thirteen, fourteen, fifteen, sixteen
    seventeen, eighteen, nineteen, twenty, thirty, forty, fifty, sixty, seventy, eighty, ninety, hundred, double, triple, nought
    naught, niner
    """)
)
_NUMBER_WORD = f"(?:{'|'.join(sorted(NUMBER_WORDS - {'naught'}))})"
DIGIT_WORD = "(?:zero|oh|one|two|three|four|five|six|seven|eight|nine|nought|naught|double|triple)"
SPOKEN = regex(rf"\b{_NUMBER_WORD}(?:[ ,-]{{1,3}}{_NUMBER_WORD}){{2,24}}\b")
"""A number said word by word, at least three words of it: `four oh seven, sixty-two`."""
_SIGN_WORD = (
    "capital|uppercase|upper case|lowercase|lower case|underscore|hyphen|dash|hash ?(?:tag|sign|key)|exclamation(?: mark"
    "| point)?|ampersand"
    "|at sign|dollar(?: sign)?|asterisk|star|pound(?: sign)?|percent(?: sign)?|question mark|full stop|all caps"
    "|all lowercase"
)
DICTATED = regex(rf"\b(?:{_SIGN_WORD})\b(?:(?!\n).){{1,60}}?(?:\b(?:{_SIGN_WORD})\b|\b{_NUMBER_WORD}\b|\d)")
"""A password spelled aloud: `capital r, k, four nine, dash`."""
DICTATED_ZH = regex("(?:大写|小写|下划线|感叹号|艾特|井号|星号|减号|横杠|全拼|首字母)")


NAMED_FOR = r"(?:\s{1,4}(?:for|to|of|on|at)\b[^\n.:=!?;,0-9]{0,30}?)?"
NAMED_IS = r"(?:\s{0,4}(?:\bis|\bwas|['’]s|[:：=])(?:\s(?:now|still))?\s{0,4})"
"""Between the name of a code or a number and it: what it is for, and that it is."""


def bare(token: str) -> str:
    """A token without the quotes and brackets about it and the stop after it."""
    return token.lstrip(_WRAPPING).rstrip(_ENDING)


def digits_in(value: str) -> int:
    """How many characters of a value are digits."""
    return sum(map(str.isdigit, value))


def strength(token: str) -> int:
    """How much a token looks like a password: 0 not at all, 1 a word with digits, 2 mixed, 3 like nothing else.

    0 for anything under 5 characters, without a letter, or shaped as code, an address, a measure, a stand-in.
    """
    if (len(token) < 10 and token.isalpha()) or not _STRONG.search(token):  # most words of most texts
        return 0
    value = bare(token)
    if not 5 <= len(value) <= 64 or _FILLED_IN.match(token) or _is_something_else(value):
        return 0
    digits, letters = sum(map(str.isdigit, value)), sum(map(str.isalpha, value))
    if not letters:
        return 0
    cased = any(map(str.isupper, value)) and any(map(str.islower, value))
    if sign := _INNER_SIGN.search(value):
        return _strength_by_sign(value, sign[0], letters, mixed=digits > 0 or (cased and not value.istitle()))
    if not digits:
        return 1 if random_letters(value) else 0
    return _strength_by_digits(value, cased)


_HASHED = regex(r"\W{0,2}(?:pbkdf2|scrypt|argon2\w{0,2}|bcrypt|sha\d{1,3})[:$]|\$2[aby]\$")


_PLAIN = regex(rf"[{re.escape(_WRAPPING)}]*[A-Za-z]{{0,9}}[{re.escape(_ENDING)}]*")
_STRONG = regex(r"[0-9]|[A-Za-z0-9][!#$%^&*~?@+]|[A-Za-z]{10}")


def may_be_strong(text: str) -> bool:
    """Whether a token of the text can have any strength: it takes a digit, a sign after a letter, or many letters."""
    return _STRONG.search(text) is not None


def strength_told(token: str) -> int:
    """The strength of a token, or of what it assigns, as in `pwd:tiger+88`; a hash is none."""
    if _PLAIN.fullmatch(token):
        return 0
    if (grade := strength(token)) or _HASHED.match(token):
        return grade
    return max(map(strength, re.split("[:=,\u2192]+", token)[1:]), default=0)


def _is_something_else(value: str) -> bool:
    return bool(
        _NAME.fullmatch(value)
        or _ADDRESS.match(value)
        or _CODE.search(value)
        or _MEASURE.match(value)
        or STAND_IN.search(value)
        or _TECHNICAL.fullmatch(value)
        or _CONTRACTION.match(value)
    )


def _strength_by_sign(value: str, around: str, letters: int, *, mixed: bool) -> int:
    if not mixed:
        return 2 if len(value) >= 8 else 1
    reckoned = len(value) < 6 or _RECKONED.fullmatch(around) is not None
    return 1 if reckoned and (len(value) < 8 or letters < 4) else 3


def _strength_by_digits(value: str, cased: bool) -> int:
    if len(value) >= 8 and cased and _MIXED_CASE.search(value):
        return 2
    if len(value) >= 6 and _MIXED_DIGITS.search(value):
        return 2
    return 2 if len(value) >= 8 and (value.endswith(tuple("!$#@*&%")) or re.search("[._-]", value)) else 1


def word_with_digits(value: str) -> bool:
    """Whether a token has any strength and a digit."""
    return strength(value) > 0 and any(map(str.isdigit, value))


def random_letters(value: str) -> bool:
    """Whether a run of letters is no word of a language: too few vowels, or pairs that words do not have."""
    run = value.lower()
    if not run.isalpha() or not run.isascii() or len(run) < 10:
        return False
    return len(_RARE_PAIRS.findall(run)) >= 2 or sum(map("aeiou".count, run)) * 6 <= len(run)


def random_key(value: str) -> bool:
    """Whether a run is random as a key is: at least 12 characters, letters and digits mixed; no stand-in.

    A UUID, a word with a year, or a path is none.
    """
    if len(value) < 12:
        return False
    runs = re.split("[^A-Za-z0-9]+", value)
    longest = max(runs, key=len)
    digits = sum(map(str.isdigit, longest))
    mixed = len(longest) >= 8 and 2 <= digits < len(longest) and len(set(longest.lower())) >= 6
    long = len(longest) >= 20 and len(set(longest)) >= 12 and any(map(str.isupper, longest[1:])) and not _camel(longest)
    return (mixed or long) and not STAND_IN.search(value)  # last: it takes a hundred times as long as the rest


def _camel(run: str) -> bool:
    """Whether a run is words joined by their capitals."""
    words = re.findall("[A-Z]?[a-z]{3,}", run)
    return sum(map(len, words)) * 4 >= 3 * len(run)


JOINED, WORDS = 1, 2
"""A word with digits; words joined as hardly anything else is."""

_LEAST, _MOST = 7, 40
_WORD = regex("[A-Za-z]{2,}")
_PRODUCTS = Words("values_products")
_SOMETHING_ELSE = regex(
    lambda: (
        rf"(?:{'|'.join(_PRODUCTS)})(?:pro|air|max|plus|ultra|mini|se|lite|gen)*(?:[\d.+_-]|$)"
        r"|.*[_-](?:5|2\.4|2)g$|.*[_.-]v\d+(?:\.\d+)*$|.*\bs\d\de\d\d|.*\d(?:gb|tb|mb|mhz|ghz|mah|px|hz|bit|fps)\b|.*\.\d+\.\d|.*-\d+\.\d+$"
        r"|.*[_.-](?:rc|beta|alpha|pre|rev|fix|dev|prod|test|staging|node|copy|final|draft|img|dsc|pic|photo|chapter|part|page)[_.-]?\d*$"
        r"|(?:img|dsc|pic|scr|rfc|cve|iso|ieee|pep|jira|bug|pr|eq|fig|img|ver|rev|gen|lv|us|eu|ap|ca)[_-]"
        rf"|(?:{WEEKDAY})\d|(?:{MONTH_STARTS})[a-z]{{0,6}}[-_.]?\d"
    )
)
_LEET = regex("[A-Za-z][0-9][A-Za-z]{2}|[0-9][A-Za-z]{3}")
_AT_NUMBER = regex("[a-z]{6,16}@[0-9]{2,6}")
_HUMP = regex("[a-z][A-Z][a-z]")
_NUMBERED = regex("[A-Z][a-z]+[-.][0-9]{1,3}")
"""As a crew, a plane, an error is: Apollo-11."""
_ENDS = regex(r"[A-Za-z]{6,24}[0-9]{1,8}")


def candidates(text: str, kinds: bytes) -> Iterator[tuple[int, str]]:
    """What may be made up as a password in a text: where it begins, and the run of letters, digits and signs.

    `kinds` are those of the text (`TextReading.kinds`).

    A digit follows a letter in it, at once or after one sign, or it begins with a digit and a letter.
    """
    for numbered in (b"a0", b"a-0", b" 0a"):
        at = kinds.find(numbered)
        while at >= 0:
            start, end = kinds.rfind(b" ", 0, at + 1) + 1, kinds.find(b" ", at + 1)
            end = len(text) if end < 0 else end
            if _LEAST <= end - start <= _MOST + 8:
                yield start, text[start:end]
            at = kinds.find(numbered, end)


def made(token: str) -> int:
    """0 for what is nothing a person made up as a password, else `JOINED` or `WORDS`."""
    value = bare(token)
    if not _LEAST <= len(value) <= _MOST or sum(map(str.islower, value)) < 3 or _SOMETHING_ELSE.match(value.lower()):
        return 0
    grade = 3 if _AT_NUMBER.fullmatch(value) else strength(value)
    letters = sum(map(len, _WORD.findall(value)))
    if not grade or letters < 5:
        return 0
    if grade == 3 or (letters >= 6 and _of_words(value)):
        return WORDS
    return JOINED if len(value) >= 8 or _ENDS.fullmatch(value) else 0


def _of_words(value: str) -> bool:
    """Whether words are joined by capitals, or by signs and with a capital or a digit for a letter."""
    cased = value.lower() != value
    if cased and len(value) >= 10 and _HUMP.search(value):
        return True
    parts = [part for part in re.split("[._-]", value) if part]
    joined = len(parts) >= 2 and max(map(len, parts)) >= 4 and (cased or _LEET.search(value) is not None)
    return joined and not _NUMBERED.fullmatch(value)
