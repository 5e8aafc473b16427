"""Level 3 by a random value and a word for a key, and by forms that only issuers of keys use; in English and Chinese."""

from __future__ import annotations

import re

from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.sensitivity.beside import Piece
from engramlog_server.projections.language.sensitivity.reading import Cues, TextReading
from engramlog_server.projections.language.sensitivity.rule import Begun, Rule, listed
from engramlog_server.projections.language.sensitivity.sign import Sign
from engramlog_server.projections.language.sensitivity.values import bare, random_key, random_letters

KEYS = Cues(
    listed("""
    key, keys, tok, ak, sk, token, tokens, secret, secrets, apikey, appsecret, appkey, accesskey, secretkey, privatekey
    clientsecret, accesstoken, client_secret, secret_key, access_key, api_key, private_key, bearer, webhook
    recovery, backup, licence, license, activation, signing, wallet, filevault, bitlocker, serial, rescue, scratch
    emergency codes, 2fa, totp, authenticator, credential, decrypt, app password, app pw, mnemonic, seed, privkey
    seckey, wif, authtoken, bottoken, apitoken, priv, keystore, metamask, pk, 密钥, 秘钥, 私钥, 令牌, 授权码, 授权, 激活码
    恢复码, 备用码, 救援码, 备份码, 加签, 序列号, 注册码, 许可证, 凭证, 恢复密钥, 应用密码, 专用密码, 独立密码
    应用专用, 客户端密码, 签名, 钱包
""")
)
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
_OF_A_KEY = bytes(
    120 if byte in b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+/=.~-" else 32
    for byte in range(256)
)
_WITHOUT_DIGITS = 20
"""Characters of the shortest key without a digit."""
_LONG_ENOUGH, _LONG_WITHOUT_DIGITS = b"x" * 12, b"x" * _WITHOUT_DIGITS
"""What `_TOKEN` needs, in kinds of bytes, and what it needs where no digit stands."""
_OF_LETTERS = bytes(97 if byte in b"abcdefghijklmnopqrstuvwxyz" else 45 if byte in b" -" else 32 for byte in range(256))
_TEN_LETTERS, _FOURS = b"a" * 10, b"-".join([b"aaaa"] * 4)
"""What `_LETTERS` needs, so."""
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
_LETTERED = frozenset(
    listed("""
    授权, 授权码, 专用密码, 独立密码, 应用密码, 应用专用, 客户端密码, 密钥, 秘钥, 激活码, app password, app pw, token
    secret, key
    """)
)
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
_ISSUING = bytes(120 if chr(byte).isalnum() or byte in b"_.:-" else 32 for byte in range(128)) + b" " * 128
_LONGER = b"x" * 23
"""What `_ISSUED` needs, in kinds of bytes: no other character stands in what is issued, nor decides where it begins and ends."""
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
    if not runs:
        return False
    kinds = _kinds(runs, _ISSUING)
    at = kinds.find(_LONGER)
    while at >= 0:
        end = kinds.find(b" ", at)
        end = len(runs) if end < 0 else end
        if _ISSUED.search(runs, at, end):
            return True
        at = kinds.find(_LONGER, end)
    return _ADDRESSED.search(runs.lower()) is not None


def says_a_key(read: TextReading) -> bool:
    """Whether a random value stands beside a word for a key, a token, a secret or codes of recovery."""
    return any(_key_in(piece) for piece in read.pieces(KEYS, before=72, after=128))


RECOVERING = Cues(
    listed(
        "backup, back-up, recovery, rescue, scratch, emergency, one-time, one time, 2fa, mfa, 备用, 恢复, 救援, 备份, 应急"
    )
)
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
    after = piece.after
    kinds, digits = _kinds(piece.text, _OF_A_KEY), _DIGIT.search(after)
    long = _LONG_ENOUGH in kinds and (_LONG_WITHOUT_DIGITS in kinds or digits or _DIGIT.search(piece.text))
    firm = (long or digits) and _FIRM.search(piece.lower, max(0, piece.at - 16), piece.end + 12) is not None
    if long and any(_is_key(piece, token, bool(firm)) for token in _TOKEN.finditer(piece.text)):
        return True
    if digits and _holds_codes(piece, after, bool(firm)):
        return True
    return piece.word in _LETTERED and _holds_random_letters(after)


def _kinds(text: str, table: bytes) -> bytes:
    return text.encode("ascii", "replace").translate(table)


def _holds_random_letters(after: str) -> bool:
    """Whether ten letters or more, or four times four, are random as a key's are."""
    kinds = _kinds(after, _OF_LETTERS)
    at = kinds.find(_TEN_LETTERS)
    while at >= 0:
        if (run := _LETTERS.match(after, at)) and random_letters(run[0]):
            return True
        at = kinds.find(_TEN_LETTERS, at + len(kinds[at:]) - len(kinds[at:].lstrip(b"a")))
    return _FOURS in kinds and any(random_letters(re.sub("[ -]", "", run[0])) for run in _LETTERS.finditer(after))


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
    if end - start < _WITHOUT_DIGITS and not _DIGIT.search(token[0]):  # most words of most texts
        return False
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


RULES = (
    Rule("api-key", 3, says_a_key, KEYS),
    Rule("recovery-codes", 3, lists_codes, RECOVERING, needs=Sign.DIGIT),
    Rule("issued-key", 3, holds_issued_key, signs=Sign.LONG),
)
