"""Level 3 by the name that a value is assigned to (`SMTP_PASS=...`), and by what opens a password manager."""

from __future__ import annotations

import re

from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.sensitivity.beside import Piece
from engramlog_server.projections.language.sensitivity.made import made
from engramlog_server.projections.language.sensitivity.reading import Cues, TextReading
from engramlog_server.projections.language.sensitivity.rule import Begun, Rule, either, listed
from engramlog_server.projections.language.sensitivity.values import STAND_IN, TOKEN, bare, strength

NAMES = Cues(listed("pass, passwd, password, passphrase, pwd, pw, psw, secret, token, key, auth, creds"))
MANAGERS = Cues(
    listed("""
    keepass, keepassxc, 1password, one password, bitwarden, lastpass, dashlane, nordpass, proton pass, protonpass, roboform, enpass
    password manager, vaultwarden, password safe, password vault
""")
)
_ASSIGNED = Begun(
    *("_PASS", "_PWD", "_PW", "_PSW", "_SECRET", "_TOKEN", "_KEY", "_AUTH", "_CREDS"),
    then=r"(?:WORD|WD|PHRASE)?(?:_(?:KEY|KEY_BASE|PROD|LIVE|DEV|STAGING|[0-9]))?\s?[=:]\s?(?P<quote>[\"'`]?)(?P<value>[!-~]{6,256})",
)
_NAME_BEFORE = regex(r"[A-Z0-9_]{1,40}$")
_OF_ELSE = regex("PUBLIC|PRIMARY|FOREIGN|PARTITION|SORT|CACHE|MAX|MIN|LIMIT|OBJECT|FILE|S3|HOT|INDEX|SHARD|TEST|TYPE")
_REFERENCE = regex(
    r"[$<{%*/~.\[(]|[a-z][a-z0-9+.-]{1,20}://|[a-z_]+[.(\[]|os\.|process\.|[\w/.-]+\.(?:pem|key|crt|json|ya?ml|txt|env|png|jpe?g|md|py|ts|js)$",
    re.IGNORECASE,
)
_PASSWORD = regex("_P(?:ASS|WD|W|SW)")
_OPENS = regex(
    r"(?:'s)?(?:\s(?:master|vault|file|database|db|account|app|main|key|pass|passphrase|password|phrase|pw|login|unlocks?|is|now|still)(?:'s)?){0,5}\s?"
    r"(?:\bis|:|=|'s|\bwith|\bnow|\bto|\buse|\bare|->|\u2192|,)?\s{1,2}(?:now |still |just |my |use )?[\"'(]?"
)
_LEADS = regex(either("master, vault, opens, unlocks, opened, passphrase, phrase, password, login, pw, pass"))
_JOINED = regex(r"[A-Za-z]{3,14}(?:[-_. ][A-Za-z]{3,14}){2,7}(?:[-_. ]\d{1,4})?")
_PHRASE = regex(r"[a-z]{3,12}(?: [a-z]{3,12}){3,7}(?=\s{0,2}(?:$|[.,;!?)\n]))")
_SPOKEN_OF = frozenset(
    listed("""
    the, and, for, not, you, with, that, this, have, has, was, are, but, can, will, too, very, just, better, easy, long, same, from
    need, needs, should, must, what, how, where, because, than, our, your, their, his, her, all, any, its, use, which, when
""")
)


def holds_an_assigned_secret(read: TextReading) -> bool:
    """Whether a value that is no stand-in is assigned to a variable that is named for a password, a secret, a token or a key."""
    return (
        "_" in read.text
        and any(_assigned(read.text, match) for match in _ASSIGNED.finditer(read.text))
        and bool(read.places(NAMES))
    )


def _assigned(text: str, match: re.Match[str]) -> bool:
    before = _NAME_BEFORE.search(text, max(0, match.start() - 40), match.start())
    if before is None or _OF_ELSE.search(before[0]):
        return False
    quote, value = match["quote"], match["value"]
    value = value.partition(quote)[0] if quote else value.rstrip(",;)\"'`")
    if len(value) < 6 or _REFERENCE.match(value) or STAND_IN.search(value):
        return False
    digits, cased = sum(map(str.isdigit, value)), value.lower() != value and value.upper() != value
    letters = sum(map(str.isalpha, value))
    if letters < 3:
        return False
    if _PASSWORD.match(match[0]):
        return digits > 0 or cased or re.search(r"[a-z][!@#$%^&*+?~/][a-z]", value.lower()) is not None
    return digits > 0 and len(value) >= 8 and (cased or (digits >= 3 and len(value) >= 16))


def says_a_master_password(read: TextReading) -> bool:
    """Whether what opens a password manager is told."""
    return any(map(_opens_a_manager, read.pieces(MANAGERS, before=32, after=110)))


def _opens_a_manager(piece: Piece) -> bool:
    if not _LEADS.search(piece.lower, max(0, piece.at - 24)):
        return False
    led = _OPENS.match(piece.after.replace("opens", "vault").replace("unlocks", "unlock "))
    after = piece.text[piece.end :]
    for token in TOKEN.finditer(after, 0, 72):
        value = bare(token[0])
        gap = after[: token.start()].lower()
        if _LEADS.search(gap) and (made(value) or strength(value) >= 2 or ("-" in value and _worded(value))):
            return True
    phrase = _PHRASE.match(piece.after, led.end()) if led and _LEADS.search(led[0]) else None
    return phrase is not None and _SPOKEN_OF.isdisjoint(phrase[0].split())


def _worded(value: str) -> bool:
    """Whether words are joined as in a passphrase."""
    words = re.split("[-_. ]", value.lower())
    return _JOINED.fullmatch(value) is not None and _SPOKEN_OF.isdisjoint(words)


RULES = (Rule("password", 3, holds_an_assigned_secret, NAMES), Rule("password", 3, says_a_master_password, MANAGERS))
