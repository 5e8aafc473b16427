"""Level 3: keys, tokens, codes of recovery and words of a wallet: beside a word for them, or in forms that only issuers use."""

from __future__ import annotations

import re
from functools import cache

from engramlog_server.projections.language.lexicon import words
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.scripts import HAN_BLOCK
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
    found_in_text,
    listed,
    one_of,
)
from engramlog_server.projections.language.sensitivity.values import bare, random_key, random_letters

KEYS = Cues(Words("keys_keys"))
"""Words for a key, a token, a secret or a code of recovery."""
_FIRM = regex(
    r"secret|private|api|access|auth|client|signing|bearer|recovery|licen[sc]e|activation|product|bitlocker|filevault|encryption"
    r"|session|refresh|webhook|wallet|seed|account|app pass|token|\btok\b|\b[as]k\b"
    r"|totp|2fa|serial|host key|master|root|deploy|ssh|gpg|pgp|windows"
    r"|office|steam|game|cd key|priv|pk\b|seckey|\bwif\b|metamask|keystore"
    r"|[密秘私]钥|令牌|授权码|激活码|恢复码|备用码|救援码|备份码|加签|序列号|注册码|凭证|钱包"
)
"""What makes a random value beside it a secret; `key` alone is said of much else."""
_NO_KEY = regex(
    r"(?:commit|digest|checksum|sha-?\d*|sha256sum|hash|md5|uuid|guid|build|tracking|image|revision|fingerprint|etag|primary key"
    r"|public[ _]key|foreign key|cache key|object ?id|\brev|version|npub|address|contract|tx|transaction"
    r"|公钥|地址|哈希|摘要|校验和|镜像|提交|指纹|交易|订单|单号)"
    r"[\"']?\s{0,2}(?:id|hash|is|:|=)?\s{0,2}[\"']?(?:sha256:|0x)?$"
)
_DIGIT = regex("[0-9]")
_WITHOUT_DIGITS = 20
"""Characters of the shortest key without a digit."""
_TOKEN = regex(r"(?<![\w/+.-])[A-Za-z0-9_+/=.~-]{12,512}")
_MAY_BE_KEY = regex(r"[0-9]|[A-Za-z0-9_+/=.~-]{20}")
_UUID = regex(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_HEX = regex(r"(?:0x)?[0-9a-f]{32,128}", re.IGNORECASE)
_GROUPED = regex(r"(?<![\w-])(?=[a-z-]*\d)[a-z0-9]{4,8}(?:-[a-z0-9]{4,8}){2,9}(?![\w-])")
_RECOVERY = regex(r"back-?up|recovery|rescue|scratch|emergency|one[- ]time|2fa|mfa|备用|恢复|救援|备份|应急")
_CODES_SAID = regex(r"codes?|码|^\W{0,3}(?:is |are |keys? )?\W{0,3}(?=[a-z]*\d)")
_CODES = regex(
    r"(?<![\w.-])(?:(?=[a-z]{0,7}\d)[a-z0-9]{4,6}[ -](?=[a-z]{0,7}\d)[a-z0-9]{4,6}|\d{6,10}"
    r"|(?=[a-z]{0,9}\d)[a-z0-9]{8,10}|[a-z]\d{5,6})(?![\w.-])"
)
_LETTERS = regex(r"(?<![\w./@-])(?:[a-z]{10,24}|[a-z]{4}(?:[ -][a-z]{4}){3})(?![\w./@-])")
_LETTERED = Words("keys_lettered")
"""Words for keys that may be nothing but letters."""

_ISSUED = regex(
    r"(?<![A-Za-z0-9_-])(?:"
    r"\d{8,10}:[A-Za-z0-9_-]{34,36}(?![A-Za-z0-9_-])"  # Telegram
    r"|[A-Za-z0-9_-]{23,28}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,48}(?![A-Za-z0-9_-])"  # Discord
    r"|SEC[0-9a-f]{64}(?![0-9A-Za-z])"  # DingTalk
    r"|AKID[A-Za-z0-9]{32}(?![0-9A-Za-z])"  # Tencent Cloud
    r"|(?=[A-Z-]*[0-9])(?:[A-Z0-9]{5}-){4}[A-Z0-9]{5}(?![A-Za-z0-9-])"  # a product key
    r"|AGE-SECRET-KEY-1[0-9A-Z]{20,}"
    r"|(?:[0-9]{6}-){7}[0-9]{6}(?![0-9-])"  # BitLocker
    r"|sk\.eyJ[A-Za-z0-9_-]{20,512}"  # Mapbox
    r"|[5KL][1-9A-HJ-NP-Za-km-z]{50,51}(?![0-9A-Za-z])|[xyz]prv[1-9A-HJ-NP-Za-km-z]{107,108}"  # wallets
    r"|(?:dckr_pat|glsa|lin_api|sq0(?:atp|csp)|figd|nfp|vercel|rk_live|pat_live|tok_live|dapi|phc|secret|ntn|xai|gsk|r8|pplx"
    r"|tvly|fc|EAAC|shpss|PMAK|rnd|ATATT3)[_-](?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{20,512}"
    r"|(?:sk|pk|rk|key|tok)-(?=[A-Za-z-]{0,30}\d)[A-Za-z0-9_-]{24,512}"
    r")"
)
_HOOK = r"/\S{0,60}?(?:access_token=|key=|/hook/)[\w-]{16}"
_ARGUMENT = (
    r"(?:sig|signature|access_token|api_?key|auth_token|client_secret|password|passwd|pwd)="
    r"(?![<{$%*\[]|test|your|pass|demo|example|secret|xxx|foo)[\w%+/=.-]{8}"
)
_ADDRESSED = Begun(
    r"hooks\.slack\.com/(?:services|workflows)/[\w/]{20}",
    r"discord(?:app)?\.com/api/webhooks/\d{10,24}/[\w-]{20}",
    r"oapi\.dingtalk\.com" + _HOOK,
    r"qyapi\.weixin\.qq\.com" + _HOOK,
    r"open\.(?:feishu|larksuite)\.c\w{1,3}" + _HOOK,
    r"api\.telegram\.org/bot\d{8,10}:",
    r"otpauth://\S{1,200}?secret=[a-z2-7]{10}",
    r"wifi:(?:[a-z]:[^;\n]{0,40};){0,3}p:[^;\n]{4,64};",
    r"accountkey=[a-z0-9+/]{40}",
    r"sharedaccess\w{0,12}=[^\s;]{20}",
    *(rf"\{sign}{_ARGUMENT}" for sign in "?&;"),
)


def holds_issued_key(read: TextReading) -> bool:
    """Whether the text holds what only an issuer makes: a bot's token, a webhook's address, a wallet's key."""
    runs = read.long_runs
    return (_ISSUED.search(runs) or _ADDRESSED.search(runs.lower())) is not None


RECOVERING = Cues(Words("keys_recovering"))
_ROWS = regex(
    r"[^\n]{0,16}?(?:codes?|码)[^\n]{0,60}\n"
    r"(?:[ \t]{0,8}(?:\d{1,2}[.):] ?|[-*] ?)?(?:(?=[a-z]{0,7}\d)[a-z0-9]{4,6}[ -][a-z0-9]{4,6}|\d{6,10}"
    r"|(?=[a-z]{0,15}\d)[a-z0-9]{8,16})\s{0,3}(?:\n|$)){2,16}"
)


def lists_codes(read: TextReading) -> bool:
    """Whether codes of recovery stand below words for them, one a line."""
    return "\n" in read.lower and any(_ROWS.match(read.lower, end) for _, end in read.places(RECOVERING))


def _key_in(piece: Piece) -> bool:
    if not _MAY_BE_KEY.search(piece.text) and piece.word not in _LETTERED:
        return False
    tokens = [
        token
        for token in _TOKEN.finditer(piece.text)
        if len(token[0]) >= _WITHOUT_DIGITS or _DIGIT.search(token[0])  # no word of most texts
    ]
    digits = _DIGIT.search(piece.after)
    firm = bool(tokens or digits) and _FIRM.search(piece.lower, max(0, piece.at - 16), piece.end + 12) is not None
    if any(_is_key(piece, token, firm) for token in tokens) or (digits and _holds_codes(piece, piece.after, firm)):
        return True
    runs = _LETTERS.finditer(piece.after) if piece.word in _LETTERED else ()
    return any(random_letters(re.sub("[ -]", "", run[0])) for run in runs)


def _holds_codes(piece: Piece, after: str, firm: bool) -> bool:
    """Whether a code in groups, or codes of recovery, follow the word; all of them hold a digit."""
    grouped = _GROUPED.search(after) if firm else None
    if grouped and not _UUID.match(grouped[0]) and not _NO_KEY.search(after, 0, grouped.start()):
        return True
    codes = _RECOVERY.search(piece.lower, max(0, piece.at - 12), piece.end)
    return bool(codes and ("码" in piece.word or _CODES_SAID.search(after[:24])) and _CODES.search(after))


def _is_key(piece: Piece, token: re.Match[str], firm: bool) -> bool:
    """Whether a token after the word, or just before a firm one, is random as a key is and not called something else."""
    start, end = token.span()
    if end <= piece.at and (end < piece.at - 24 or not firm):
        return False
    if (piece.at <= start and end <= piece.end) or token[0].startswith("AAAA"):  # the word itself; a public key of SSH
        return False
    return _random(bare(token[0]), firm=firm, beside=0 <= start - piece.end <= 4) and not _NO_KEY.search(
        piece.lower, max(0, start - 32), start
    )


def _random(value: str, *, firm: bool, beside: bool) -> bool:
    value = value.partition("=")[2] if re.match(r"\w+=.", value) else value
    if _UUID.fullmatch(value):
        return firm
    if _HEX.fullmatch(value):
        return (firm or beside) and any(map(str.isdigit, value))
    return random_key(value) and (firm or len(value) >= 20)


_PRIVATE_KEY = Begun(
    r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:\\n|\s){0,8}(?:[A-Za-z-]{1,20}: [^\n]{0,200}\n\s{0,8}){0,4}[A-Za-z0-9+/=]{20}"
)
_JWT = Begun(r"eyJ(?<![A-Za-z0-9_-]eyJ)[A-Za-z0-9_-]{8,4096}\.eyJ[A-Za-z0-9_-]{4,8192}\.[A-Za-z0-9_-]{16}")
_ISSUED_TOKEN = Begun(
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


def holds_issued_token(read: TextReading) -> bool:
    """Whether the text holds a key by its issuer's prefix."""
    text = read.long_runs
    if not text:
        return False
    if any(_starts_a_word(text, match) for match in _CLOUD_KEY.finditer(text)):
        return True
    return any(_starts_a_word(text, match) and _looks_random(match["value"]) for match in _ISSUED_TOKEN.finditer(text))


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


REDEEMED = Cues(Words("keys_redeemed"))
GUARDED = Cues(listed("steam guard, steamguard"))
SET_UP = Cues(Words("keys_set_up"))
_GROUPS = regex(
    r"(?<![\w./-])(?:[a-z0-9]{5}(?:-[a-z0-9]{5}){2,5}|[a-z0-9]{4}(?:-[a-z0-9]{4}){2,7}|[a-z0-9]{4}-[a-z0-9]{6}-[a-z0-9]{4,5}"
    r"|[a-z0-9]{6}(?:-[a-z0-9]{6}){2,5})(?![\w/-]|\.\w)"
)
_RUN = regex(r"(?<![\w./-])(?=[A-Z]{0,12}\d)[A-Z0-9]{13,18}(?![\w./-])")
_MIXED = regex(r"(?=[a-z]{0,5}\d)(?=\d{0,5}[a-z])[a-z0-9]{4,6}")
_OF_ELSE = regex(lambda: one_of("keys_of_else"))
_CARD = regex(either("card, code, codes, voucher, redeem, pin") + "|[码卡]")
_GUARD = regex(
    r"(?:\s(?:code|says|said|is|was|now|it's|shows|=|just)){0,3}\s?:?\s{1,2}(?=[A-Z]{0,4}\d)(?=\d{0,4}[A-Z])[A-Z0-9]{5}(?!\w)"
)
_BASE_32 = regex(r"(?<![a-z0-9-])[a-z2-7]{4}(?:[ -][a-z2-7]{4}){3,15}(?![a-z0-9-])")
_RUN_OF_BASE_32 = regex(r"(?<![\w./+-])[A-Z2-7]{16,64}(?![\w./+=-])")


def _redeemed(piece: Piece) -> bool:
    for groups in _GROUPS.finditer(piece.lower):
        mixed = [group for group in groups[0].split("-") if _MIXED.fullmatch(group)]
        if len(mixed) >= 2 and not _OF_ELSE.search(piece.lower, max(0, groups.start() - 32), groups.start()):
            return True
    return any(
        sum(map(str.isdigit, run[0])) >= 3
        and sum(map(str.isalpha, run[0])) >= 5
        and _CARD.search(piece.lower) is not None
        and not _OF_ELSE.search(piece.lower)
        for run in _RUN.finditer(piece.text)
    )


def _set_up(piece: Piece) -> bool:
    for groups in _BASE_32.finditer(piece.lower):
        if any(_MIXED.fullmatch(group) for group in re.split("[ -]", groups[0])):
            return True
    return any(len(re.findall("[2-7]", run[0])) >= 2 for run in _RUN_OF_BASE_32.finditer(piece.text))


@cache
def wallet_words() -> frozenset[str]:
    """The words of which wallets make recovery phrases."""
    return frozenset(words("wallet_words", "english"))


SEEDS = Cues(Words("keys_seeds"))
_WORD = regex("[a-z]+")
_LISTED = regex(
    r"(?:\d{1,2}[.):]?\s?)?[a-z]{3,8}(?:(?:[\s,、]{1,3}|[;/|-]|\s[-/|>]\s)(?:\d{1,2}[.):]?\s?)?[a-z]{3,8}){11,24}"
)
_LISTED_ZH = regex(f"[{HAN_BLOCK}](?:[ ,、.-][{HAN_BLOCK}]){{11,23}}")
ROW = 12
"""Words: the shortest recovery phrase."""
_LEAST = 6
"""Whole words of a wallet that lists must hold: two in three of `ROW` for each, of which the first and the last may be parts of
longer words."""


def _wallet_words_in(piece: Piece) -> bool:
    """Whether a list of words or of single characters follows a word for a seed; two in three are a wallet's words."""
    if _LISTED_ZH.search(piece.lower):
        return True
    if sum(word in wallet_words() for word in _WORD.findall(piece.after)) < _LEAST:
        return False  # spares the search for lists, which costs ten times as much
    words_listed = [word for run in _LISTED.finditer(piece.after) for word in _WORD.findall(run[0])]
    return sum(word in wallet_words() for word in words_listed) * 3 >= 2 * max(ROW, len(words_listed))


def holds_wallet_words(read: TextReading) -> bool:
    """Whether `ROW` words of a wallet's list follow each other, numbered or not."""
    row, wallet = 0, wallet_words()
    for word in read.lower.split():
        plain = word if word in wallet else word.strip(".,;:\"'()0123456789")
        row = row + 1 if plain in wallet else 0 if plain else row
        if row >= ROW:
            return True
    return False


RULES = (
    Rule("private-key", 3, found_in_text(_PRIVATE_KEY), signs=Sign.LONG),
    Rule("api-key", 3, holds_issued_token, signs=Sign.LONG),
    Rule("api-key", 3, holds_cloud_secret, NAMED, signs=Sign.WIDE_DIGIT),
    Rule("api-key", 3, holds_named_key, NAMED, needs=Sign.DIGIT, signs=Sign.WIDE_DIGIT),
    Rule("json-web-token", 3, found_in_text(_JWT), signs=Sign.LONG),
    about("api-key", REDEEMED, _redeemed, before=80, after=96, needs=Sign.DIGIT),
    about("api-key", GUARDED, lambda piece: _GUARD.match(piece.text, piece.end), needs=Sign.DIGIT),
    about("api-key", SET_UP, _set_up, before=72, after=110, needs=Sign.DIGIT),
    about("api-key", KEYS, _key_in, before=72, after=128),
    Rule("recovery-codes", 3, lists_codes, RECOVERING, needs=Sign.DIGIT),
    Rule("issued-key", 3, holds_issued_key, signs=Sign.LONG),
    about("recovery-phrase", SEEDS, _wallet_words_in, before=8, after=280),
    Rule("recovery-phrase", 3, holds_wallet_words, SEEDS),
)
