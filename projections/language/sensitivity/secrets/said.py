"""Level 3 as people say it in English: passwords and logins, by a word for one and a value that fits it.

How alike a value must be to a password depends on how plainly the word announces one. `passwords` reads fixed
sentences; here what stands near is read.
"""

from __future__ import annotations

import re

from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.sensitivity.beside import Piece
from engramlog_server.projections.language.sensitivity.reading import Cues, TextReading
from engramlog_server.projections.language.sensitivity.rule import Begun, Rule, either, listed
from engramlog_server.projections.language.sensitivity.sign import Sign
from engramlog_server.projections.language.sensitivity.values import (
    DICTATED,
    SPOKEN,
    STAND_IN,
    TOKEN,
    may_be_strong,
    random_letters,
    strength,
    strength_told,
)

PASSWORDS = Cues(
    listed("""
    password, password's, passwords, passwd, passwrd, pasword, passcode, pass code, passphrase, passkey, pass, psw
    pswd, pwd, pw, pword, p/w, psk, creds, credentials, mima, pgpassword, requirepass, masterauth, sshpass, dbpass
    keypass, storepass, passnumber, pass number, dbpassword, userpassword, rootpassword, mypassword, passwort
    contraseña, wpa_passphrase
""")
)
WORDS_KEPT = Cues(
    listed("""
    alarm password, alarm word, bank password, voice password
    code word, safe word, safeword, verbal password, phone password, telephone password, family password
    security phrase, pickup password, pick-up password, watchword, memorable word, memorable name
    memorable place
    security word, codeword, pickup word, pickup code word
    passphrase, master password, master passphrase, psk, requirepass, masterauth, wpa_passphrase
""")
)
"""Words whose value may be any word: a bank's, a nursery's, a network's."""
LOGINS = Cues(
    listed("login, logins, user, username, usr, account, acct, creds, credentials, admin, 账号, 账户, 用户名")
)
USERS = Cues(listed("admin, administrator, root, sa, pi, user, guest, ubuntu, postgres, sysadmin, deploy"))
COMMANDS = Cues(
    listed("""
    mysql, mysqldump, mongo, mongosh, psql, sshpass, mariadb, redis-cli, curl, wget, docker login, smbclient, sqlcmd
""")
)
OVERALL = Cues(listed("for everything, on everything, with everything, everywhere, for all of them, for most sites"))
SERVICES = Cues(
    listed("""
    apple id, icloud, gmail, steam, netflix, spotify, hulu, paypal, facebook, instagram, outlook, 淘宝, 微博, 抖音
    支付宝, 京东, 爱奇艺, 优酷, 苹果账号
""")
)
GIVEN = Cues(SERVICES, COMMANDS, OVERALL)
"""Words where a password may be given without being named."""
_WIRELESS = regex(either("wi-?fi, network, ssid, hotspot, router, wpa2?, modem"))
# Between the word and its value: "for the router is now", " ->", "'s".
_LINK = regex(
    r"(?:[ '\"]{0,2}(?:for|on|to|of|at|in)\s[^.,:;=!?\n]{1,32}?)?\s?(?:\((?!s\))[^()\n]{1,24}\))?\s{0,2}"
    r"(?P<link>is|was|are|be|=|:|->|\u2192|-|'s|now|set to|changed to|to)?\s{0,2}"
    r"(?:is|now|still|just|again|back to|:|->)?\s{0,2}[\"'(`]?$"
)
_RULES_SAID = regex(
    either("""
    must, should, at least, contains?, requires?, characters?, chars, minimum, digits long, policy, e\\.g
    for example, such as, like, forgot, generator, strength, wrong, never, don't share, length, uppercase and
    one uppercase
    """)
)
_DIGITS_SAID = regex(
    r"\s{0,2}(?:for [^.,:;\d]{1,24}? )?(?:is|was|:|=|->|\u2192|-)?\s{0,2}(?:now |still |just )?[\"']?\d{4,12}[#*]?"
    r"(?![\w%]|[-.,:/]\d| ?(?:characters|chars|digits|times|bits|words|users|people|days|years|months|of|or|and)\b)"
)
_PHRASE = regex(
    r"[^.:=\u2192\n]{0,40}?(?:\bis|\bwas|:|=|->"
    r"|\u2192)\s{0,2}[\"']?(?P<value>[a-z]{2,12}(?:[ -][a-z]{2,12}){3,7})[\"']?"
    r"(?=\s*(?:$|[.,;!)\n(]|\band\b))"
)
_QUOTED_PHRASE = regex(r"\s?[=:]?\s?\"[a-z]{3,12}(?: [a-z]{3,12}){2,7}\"")
_GROUPS = regex(r"\b[a-z]{4}(?:[ -][a-z]{4}){3}\b")
_FUNCTION_WORDS = frozenset(
    listed("""
    a, an, and, are, as, at, be, but, by, can, do, for, from, get, has, have, he, her, his, how, i, if, in, is, it
    its, just, like, me, my, no, not, of, on, one, or, our, out, she, so, some, than, that, the, their, them, then
    there, they, this, to, too, up, was, we, what, when, where, which, who, will, with, you, your, really, very
    also, only, always, never, still, same, must, should, would, could, need, needs, want, again, please, thanks
    """)
)
_SAID_BEFORE = regex(
    r"\s{0,2}[\"')`]{0,2},?\s{0,2}(?:is|as|was|for|=|\(|being)?\s{0,2}"
    r"(?:(?:my|the|our|his|her|their|your|that)\s)?(?:[\w'-]{1,16}\s){0,2}$"
)
_LOOSE = frozenset(["pass", "creds", "credentials"])
"""Words for a password that are said of much else."""


def says_a_password(read: TextReading) -> bool:
    """Whether what looks like a password stands beside a word for one."""
    return any(_password_in(piece) for piece in read.pieces(PASSWORDS))


_KEY = Cues(["key"])
NETWORKS = Cues(listed("wifi, wi-fi, ssid, hotspot, 热点, 无线"))
_BESIDE_NAME = regex(r"\s?(?:is|:|=|叫|名)?\s?[^\n/|:]{1,24}?\s?[/|]\s?(?P<value>[!-~]{5,64})")
NAMED = Cues(listed("password, passcode, passphrase, pw, pwd"))
_KEPT = regex(
    r"(?:\s(?:for|with|at|of|on)\s[^.,:=\n]{1,28}?)?\s?(?:is|was|:|=|->|\u2192|changed to|now)\s?(?:now\s"
    r"|still\s)?[\"']?"
    r"(?!(?:a|an|the|not|no|any|what|your|my|required|optional|secret|too|very|easy|hard|long|short|weak|strong|just"
    r"|something|wrong|never|always|in|to|one)\b)"
    r"(?P<value>[a-z][a-z'-]{3,24}(?: [a-z'-]{2,16}){0,3})[\"']?\s{0,2}(?:$|[.,;!)\n]|and\b|but\b|key_mgmt|so\b|if\b)"
)
_NAMED_FOR = regex(
    r"\s(?:on|for|to|of)\s(?:the |my |our )?[^.,:=\n]{2,28}?\s(?:is|was"
    r"|=)\s[\"']?(?P<value>[a-z]{5,20})[\"']?\s{0,2}(?:$|[.,;!\n])"
)
_SAYS_NOTHING = regex(
    r".*(?:ed|ing|able|ible|ly|ful|less|ive|ous|ary|al|ent|ant|ic|er|est)$|(?:wrong|right|simple|short|strong|secure"
    r"|unsafe|correct|needed|unknown|there|ready"
    r"|broken|empty|blank|public|private|default|random|unique|missing|weird|funny|online|below|above|inside|written)$"
)


_PLAYED = frozenset(["safe word", "safeword", "code word"])
"""Words that are also told of films and games."""
_PLAYED_AT = regex(
    either("was, game, games, film, movie, book, novel, escape room, sketch, show, party, play, silly, funny")
)


def says_a_kept_word(read: TextReading) -> bool:
    """Whether a word or a phrase without digits is told as a bank's memorable word, a network's or a master password."""
    for piece in read.pieces(WORDS_KEPT):
        if (
            (kept := _KEPT.match(piece.after))
            and not (piece.word in _PLAYED and _PLAYED_AT.search(piece.lower))
            and not _RULES_SAID.search(piece.after)
            and not STAND_IN.search(kept["value"])
        ):
            return True
    return any(
        (named := _NAMED_FOR.match(piece.after)) and not _SAYS_NOTHING.match(named["value"])
        for piece in read.pieces(NAMED)
    )


def says_a_wireless_key(read: TextReading) -> bool:
    """Whether what looks like a password is called the key of a network."""
    return any(_WIRELESS.search(piece.lower) and _mixed_after(piece, plain=True) for piece in read.pieces(_KEY)) or any(
        (beside := _BESIDE_NAME.match(piece.text, piece.end)) and _word_with_digits(beside["value"])
        for piece in read.pieces(NETWORKS)
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
    for token in TOKEN.finditer(after) if may_be_strong(after) else ():
        found = strength_told(token[0])
        if not found:
            continue
        gap = after[: token.start()].lower()
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
    if not may_be_strong(piece.before):
        return False
    tokens = TOKEN.finditer(piece.text, 0, piece.at)
    return any(strength(token[0]) >= 2 and _SAID_BEFORE.match(piece.before, token.end()) for token in tokens)


_SIGN_WITHIN = regex(r"[!#$%^&*~?@+](?<=[A-Za-z0-9].)[!#$%^&*~?@+_-]{0,3}[A-Za-z0-9]")
# The same in bytes of four kinds, where the engine skips to the two that it begins with.
_OF_KIND = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", b"!#$%^&*~?@+", b"_-"
_KINDS = bytes(
    next((kind for kind, of_kind in zip(b"a!-", _OF_KIND, strict=True) if byte in of_kind), 32) for byte in range(256)
)
_SIGN_WITHIN_KINDS = re.compile(b"a![!-]{0,3}a")
_BEFORE_SIGN = regex(r"[!-~]{0,64}$")


def holds_a_password(read: TextReading) -> bool:
    """Whether the text holds what is typed as a password and as nothing else: letters, signs and digits mixed."""
    end = 0
    if not _SIGN_WITHIN_KINDS.search(read.text.encode("utf-8", "replace").translate(_KINDS)):
        return False
    for sign in _SIGN_WITHIN.finditer(read.text):
        if sign.start() >= end:
            before = _BEFORE_SIGN.search(read.text, max(end, sign.start() - 64), sign.start())
            token = TOKEN.match(read.text, before.start() if before else sign.start())
            end = token.end() if token else sign.end()
            if token and strength_told(token[0]) == 3:
                return True
    return False


_CREDENTIALS = regex(
    r"\W{0,3}(?:name\b|is\b|are\b|details\b|in\b)?\W{0,3}(?P<user>(?!(?:is|was|are)\b)[\w.@+-]{2,40})\s?(?P<between>/|\||,|;|:|\band\b|\s"
    r"|->)\s{0,2}"
    r"(?:(?:the )?(?P<named>p\w{0,9})[: ]{1,2}(?:is )?)?(?P<value>[!-~]{5,64})"
)
_AFTER_USER = regex(r"\s?[/|:]\s?(?P<value>[!-~]{5,64})")
_OPTION = regex(
    r"[^\n]{0,60}?\s(?:-u\s?[\w.@-]{1,40}:|-p\s?|-a\s|--?pass(?:word)?[= ]|-w\s|-P\s)(?P<value>[!-~]{5,64})"
)
_LAST = regex(r"(?P<value>[!-~]{5,64})\s?$")


_OF_SERVICE = regex(
    r"(?!\s?(?:user ?|screen ?)?(?:name|id|handle|tag)\b)[^\n]{0,16}?(?:是|\bis|:|=)\s?(?P<value>[!-~]{8,64})"
)
_AFTER_ADDRESS = Begun(
    r"@[\w-]{1,63}(?:\.[\w-]{1,63}){1,3}",
    r"1(?<!\d1)[3-9]\d{9}",
    then=r"(?P<between>\s?[/|,;:]\s?|\s{1,3})(?:(?:and then|then|and) )?"
    r"(?:(?:pw|pwd|pass\w{0,6}|密码)\s?[:是]?\s?)?(?P<value>[!-~]{5,64})",
)


def holds_an_address_and_a_password(read: TextReading) -> bool:
    """Whether a password follows an e-mail address or a telephone number as one: `ada@example.org / Bridge_2`.

    A number is one only among words of other scripts, 手机 13577889900 / Bridge_2, as its signs have it: alone it stands before
    anything.
    """
    if "@" not in read.text and read.lower.isascii():
        return False
    return any(
        strength(pair["value"]) >= (1 if pair["between"].strip() in ("/", "|") else 2)
        and any(map(str.isdigit, pair["value"]))
        for pair in _AFTER_ADDRESS.finditer(read.text)
    )


def says_a_login(read: TextReading) -> bool:
    """Whether a password follows a user's name: `login: ada / tr0ub4dor`, `admin:tr0ub4dor`."""
    for piece in read.pieces(USERS):
        if (given := _AFTER_USER.match(piece.text, piece.end)) and _word_with_digits(given["value"]):
            return True
    return any(map(_credentials_in, read.pieces(LOGINS)))


def gives_a_password(read: TextReading) -> bool:
    """Whether a password stands where one is given: as a command's option, for a service, as used for everything."""
    for piece in read.pieces(COMMANDS) if " -" in read.text else ():
        if (given := _OPTION.match(piece.text, piece.end)) and _word_with_digits(given["value"]):
            return True
    for piece in read.pieces(OVERALL):
        if (given := _LAST.search(piece.text[: piece.at])) and _word_with_digits(given["value"]):
            return True
    return any(map(_of_service, read.pieces(SERVICES)))


def _word_with_digits(value: str) -> bool:
    return strength(value) > 0 and any(map(str.isdigit, value))


def _of_service(piece: Piece) -> bool:
    """Whether what is told of a service is mixed as no name of a user is: capitals, small letters, digits and a sign."""
    told = _OF_SERVICE.match(piece.text, piece.end)
    value = told["value"] if told else ""
    kinds = (str.isupper, str.islower, str.isdigit)
    return (
        all(any(map(kind, value)) for kind in kinds) and re.search("[_.-]", value) is not None and strength(value) >= 2
    )


_NAMES = frozenset(["pass", "pw", "pwd", "psw", "pswd", "password", "passwd"])


def _credentials_in(piece: Piece) -> bool:
    """Whether a user's name and a password follow the word: `login: ada / tr0ub4dor`."""
    pair = _CREDENTIALS.match(piece.text, piece.end) if may_be_strong(piece.text[piece.end :]) else None
    if pair is None or not (found := strength(pair["value"])) or strength(pair["user"]) == 3:
        return False
    return found >= (1 if pair["between"] in "/|" or pair["named"] in _NAMES else 2)


RULES = (
    Rule("password", 3, says_a_password, PASSWORDS),
    Rule("password", 3, holds_a_password, signs=Sign.DIGIT),
    Rule("password", 3, says_a_kept_word, Cues(WORDS_KEPT, NAMED)),
    Rule("password", 3, says_a_wireless_key, Cues(_KEY, NETWORKS), needs=Sign.DIGIT | Sign.WIDE),
    Rule("login", 3, holds_an_address_and_a_password, signs=Sign.AT | Sign.WIDE_DIGIT),
    Rule("login", 3, says_a_login, Cues(USERS, LOGINS), needs=Sign.DIGIT | Sign.WIDE),
    Rule("login", 3, gives_a_password, GIVEN, needs=Sign.DIGIT),
)
