"""Level 3 as people say it in English: passwords and logins, by a word for one and a value that fits it.

How alike a value must be to a password depends on how plainly the word announces one. `sensitivity_passwords` reads fixed
sentences; here what stands near is read.
"""

from __future__ import annotations

import re

from projections.sensitivity_beside import Piece, pieces
from projections.sensitivity_rule import Rule, Sign, either, listed
from projections.sensitivity_values import DICTATED, SPOKEN, TOKEN, random_letters, strength, strength_told

PASSWORDS = listed("""
    password, password's, passwords, passwd, passwrd, pasword, passcode, pass code, passphrase, passkey, pass, psw
    pswd, pwd, pw, pword, p/w, psk, creds, credentials, mima, pgpassword, requirepass, masterauth, sshpass, dbpass
    keypass, storepass, secret word, memorable word, safe word, codeword
""")
LOGINS = listed("login, logins, user, username, usr, account, acct, creds, credentials, admin, 账号, 账户, 用户名")
USERS = listed("admin, administrator, root, sa, pi, user, guest, ubuntu, postgres, sysadmin, deploy")
COMMANDS = listed("""
    mysql, mysqldump, mongo, mongosh, psql, sshpass, mariadb, redis-cli, curl, wget, docker login, smbclient, sqlcmd
""")
OVERALL = listed(
    "for everything, on everything, with everything, everywhere, for all of them, for every, on every, for most sites"
)
GIVEN = (*LOGINS, *USERS, *COMMANDS, *OVERALL)
"""Words where a password may be given without being named."""
WIRELESS = frozenset(listed("wifi, wi, network, ssid, hotspot, router, wpa, modem"))
_WIRELESS = re.compile(either("wi-?fi, network, ssid, hotspot, router, wpa2?, modem"))
# Between the word and its value: "for the router is now", " ->", "'s".
_LINK = re.compile(
    r"(?:[ '\"]{0,2}(?:for|on|to|of|at|in)\s[^.,:;=!?\n]{1,32}?)?\s?(?:\((?!s\))[^()\n]{1,24}\))?\s{0,2}"
    r"(?P<link>is|was|are|be|=|:|->|\u2192|-|'s|now|set to|changed to|to)?\s{0,2}"
    r"(?:is|now|still|just|again|back to|:|->)?\s{0,2}[\"'(`]?$"
)
_RULES_SAID = re.compile(
    either("""
    must, should, at least, contains?, requires?, characters?, chars, minimum, digits long, policy, e\\.g
    for example, such as, like, forgot, generator, strength, wrong, never, don't share, length, uppercase and
    one uppercase
    """)
)
_DIGITS_SAID = re.compile(
    r"\s{0,2}(?:for [^.,:;\d]{1,24}? )?(?:is|was|:|=|->|\u2192|-)?\s{0,2}(?:now |still |just )?[\"']?\d{4,12}[#*]?"
    r"(?![\w%]|[-.,:/]\d| ?(?:characters|chars|digits|times|bits|words|users|people|days|years|months|of|or|and)\b)"
)
_PHRASE = re.compile(
    r"[^.:=\u2192\n]{0,40}?(?:\bis|\bwas|:|=|->|\u2192)\s{0,2}[\"']?(?P<value>[a-z]{2,12}(?:[ -][a-z]{2,12}){3,7})[\"']?"
    r"(?=\s*(?:$|[.,;!)\n(]|\band\b))"
)
_QUOTED_PHRASE = re.compile(r"\s?[=:]\s?\"[a-z]{3,12}(?: [a-z]{3,12}){2,7}\"")
_GROUPS = re.compile(r"\b[a-z]{4}(?:[ -][a-z]{4}){3}\b")
_FUNCTION_WORDS = frozenset(
    listed("""
    a, an, and, are, as, at, be, but, by, can, do, for, from, get, has, have, he, her, his, how, i, if, in, is, it
    its, just, like, me, my, no, not, of, on, one, or, our, out, she, so, some, than, that, the, their, them, then
    there, they, this, to, too, up, was, we, what, when, where, which, who, will, with, you, your, really, very
    also, only, always, never, still, same, must, should, would, could, need, needs, want, again, please, thanks
    """)
)
_SAID_BEFORE = re.compile(
    r"\s{0,2}[\"')`]{0,2},?\s{0,2}(?:is|as|was|for|=|\(|being)?\s{0,2}"
    r"(?:(?:my|the|our|his|her|their|your|that)\s)?(?:[\w'-]{1,16}\s){0,2}$"
)
_LOOSE = frozenset(["pass", "creds", "credentials"])
"""Words for a password that are said of much else."""


def says_a_password(text: str, lower: str) -> bool:
    """Whether what looks like a password stands beside a word for one."""
    return any(_password_in(piece) for piece in pieces(text, lower, PASSWORDS))


def says_a_wireless_key(text: str, lower: str) -> bool:
    """Whether what looks like a password is called the key of a network."""
    return any(
        _WIRELESS.search(piece.lower) and _mixed_after(piece, plain=True) for piece in pieces(text, lower, ("key",))
    )


def _password_in(piece: Piece) -> bool:
    plain = piece.word not in _LOOSE
    if _mixed_after(piece, plain=plain) or (plain and _said_before(piece)):
        return True
    digits, groups = _DIGITS_SAID.match(piece.after), _GROUPS.search(piece.after)
    if digits and (plain or not digits[0][:1].isspace()):
        return True
    if groups and random_letters(re.sub("[ -]", "", groups[0])):
        return True
    return plain and not _RULES_SAID.search(piece.after) and _in_words(piece.after)


def _mixed_after(piece: Piece, *, plain: bool) -> bool:
    """Whether a token after the word is strong enough for its distance and for what links it to the word."""
    after = piece.text[piece.end :]
    for token in TOKEN.finditer(after):
        gap = after[: token.start()].lower()
        found = strength_told(token[0])
        if found == 3 or (found == 2 and len(gap) <= 40 and not _RULES_SAID.search(gap)):
            return True
        linked = _LINK.match(gap) if found == 1 else None
        if linked and linked["link"] != "to" and (plain or linked["link"]):
            return True
    return False


def _in_words(after: str) -> bool:
    """Whether a password without digits or signs is told: a phrase, what is spelled out, a number word by word."""
    phrase = _PHRASE.match(after)
    if phrase and _FUNCTION_WORDS.isdisjoint(re.split("[ -]", phrase["value"])):
        return True
    return any((_QUOTED_PHRASE.match(after), DICTATED.search(after), SPOKEN.match(after.lstrip(" :is=-"))))


def _said_before(piece: Piece) -> bool:
    """Whether a mixed token stands just before the word: `use tr0ub4dor as the password`."""
    tokens = TOKEN.finditer(piece.text, 0, piece.at)
    return any(strength(token[0]) >= 2 and _SAID_BEFORE.match(piece.before, token.end()) for token in tokens)


_SIGN_WITHIN = re.compile(r"[!#$%^&*~?@+](?<=[A-Za-z0-9].)[!#$%^&*~?@+_-]{0,3}[A-Za-z0-9]")
_BEFORE_SIGN = re.compile(r"[!-~]{0,64}$")


def holds_a_password(text: str, _lower: str) -> bool:
    """Whether the text holds what is typed as a password and as nothing else: letters, signs and digits mixed."""
    end = 0
    for sign in _SIGN_WITHIN.finditer(text):
        if sign.start() >= end:
            before = _BEFORE_SIGN.search(text, max(end, sign.start() - 64), sign.start())
            token = TOKEN.match(text, before.start() if before else sign.start())
            end = token.end() if token else sign.end()
            if token and strength_told(token[0]) == 3:
                return True
    return False


_CREDENTIALS = re.compile(
    r"\W{0,3}(?:name\b|is\b|are\b|details\b|in\b)?\W{0,3}(?P<user>[\w.@+-]{2,40})\s?(?P<between>/|\||,|;|:|\band\b|\s|->)\s{0,2}"
    r"(?:(?:the )?p\w{0,9}[: ]{1,2}(?:is )?)?(?P<value>[!-~]{5,64})"
)
_AFTER_USER = re.compile(r"\s?[/|:]\s?(?P<value>[!-~]{5,64})")
_OPTION = re.compile(
    r"[^\n]{0,60}?\s(?:-u\s?[\w.@-]{1,40}:|-p\s?|-a\s|--?pass(?:word)?[= ]|-w\s|-P\s)(?P<value>[!-~]{5,64})"
)
_LAST = re.compile(r"(?P<value>[!-~]{5,64})\s?$")


def says_a_login(text: str, lower: str) -> bool:
    """Whether a password stands where one is given: after a user's name, as a command's option, as used for everything."""
    for words, shape in ((USERS, _AFTER_USER), (COMMANDS, _OPTION)):
        for piece in pieces(text, lower, words):
            if (given := shape.match(piece.text, piece.end)) and _word_with_digits(given["value"]):
                return True
    for piece in pieces(text, lower, OVERALL):
        if (given := _LAST.search(piece.text[: piece.at])) and _word_with_digits(given["value"]):
            return True
    return any(map(_credentials_in, pieces(text, lower, LOGINS)))


def _word_with_digits(value: str) -> bool:
    return strength(value) > 0 and any(map(str.isdigit, value))


def _credentials_in(piece: Piece) -> bool:
    """Whether a user's name and a password follow the word: `login: ada / tr0ub4dor`."""
    pair = _CREDENTIALS.match(piece.text, piece.end)
    if pair is None or strength(pair["user"]) == 3:
        return False
    return strength(pair["value"]) >= (1 if pair["between"] in "/|" else 2)


RULES = (
    Rule("password", 3, Sign.PASSWORD, says_a_password),
    Rule("password", 3, Sign.DIGIT | Sign.LOGIN, holds_a_password),
    Rule("password", 3, Sign.WIRELESS, says_a_wireless_key),
    Rule("login", 3, Sign.LOGIN | Sign.ZH_SECRET, says_a_login),
)
