"""What texts are before anybody reads them: damaged, hidden, doubled, secret, an address, a name. Pure.

**Names in JSON**: readers keep the last of two same names, or the first, so that two of them read two things. Reading with a
reader that tells would cost a quarter of validation's time. But a reader that keeps the last drops the rest, and at least the
two quotation marks of a name with it. So the marks of a text are counted, and those of what was read from it: they are as many,
unless a name stood twice or a mark was written as \\u0022. Only such a text is read again.

**Secrets**: no log line or refusal may show a password of a URL, or a token or key of ours.

**Invisible characters** show nothing, or change what other characters show: one table for all who must not be deceived by them.
Controls (C0, C1), formats (zero-width, bidirectional, tags, soft hyphen, annotation marks) and what Unicode calls default
ignorable (variation selectors, Hangul fillers, the combining grapheme joiner), with the blank signs that it leaves out.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterator
from ipaddress import ip_address
from typing import Any, NamedTuple

import msgspec

UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""For `except`, around every decoding of bytes that lie somewhere: in Redis, in a file, in a request."""


MOST_DIGITS = 15
"""Of what every reader of JSON reads exactly."""


def whole(told: str) -> int | None:
    """The whole number that ASCII digits spell, at most 15 of them; None of anything else."""
    return int(told) if told.isascii() and told.isdigit() and len(told) <= MOST_DIGITS else None


_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


def many(count: int, one: str, several: str | None = None) -> str:
    """A count with its word: `1 key`, `2,000 keys`; `several`: a plural that is not made with an s."""
    return f"{count:,} {one if count == 1 else several or f'{one}s'}"


def late_words(seconds: float) -> str:
    """`recorded 263 days later`: in the largest unit of which there are two."""
    size, unit = next((one for one in _UNITS if seconds >= 2 * one[0]), _UNITS[-1])
    return f"recorded {int(seconds // size):,} {unit}s later"


def bytes_told(raw: bytes | str) -> str | None:
    """The words for a line that is no UTF-8, with where; None where it is."""
    try:
        _ = raw.decode() if isinstance(raw, bytes) else raw
    except UnicodeDecodeError as error:
        return f"bytes that are not UTF-8, from byte {error.start + 1} on"
    return None


def name_given_twice(raw: bytes | str, read: bytes, added: int = 0) -> str | None:
    """A name that an object of `raw` has twice; None where there is none.

    `read`: what a reader made of it, written as JSON again with no mark hidden; `added`: its names that `raw` does not have.
    """
    text = raw if isinstance(raw, bytes) else raw.encode("utf-8", "replace")
    if text == read or (text.count(b'"') == read.count(b'"') - 2 * added and b"\\u0022" not in text):
        return None
    return name_seen_twice(raw)


def name_seen_twice(raw: bytes | str) -> str | None:
    """The same, by reading all of it."""
    found: list[str] = []

    def members(pairs: list[tuple[str, Any]]) -> None:
        seen: set[str] = set()
        found.extend(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]

    json.loads(raw, object_pairs_hook=members)
    return found[0] if found else None


MASKED = "***"
_PARAMETER = r"[\w.-]*(?:pass|pwd|secret|token|key|auth|credential|signature|username|user)[\w.-]*"
_USER = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*://)[^\s\"'<>`|\\]*@")
_QUERY = re.compile(rf"(?P<name>[?&;]{_PARAMETER}=)[^\s&;#\"'<>`|\\]+", re.IGNORECASE)
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[\w.~:/%\[\]*@,+?=&;-]*")


_OURS = re.compile(r"(?P<kind>eg[cst]1_|egl_(?:[a-z0-9]{8}_)?)[A-Za-z0-9_-]{16,}")
"""Tokens, sessions, codes and keys; of a key its id may be shown."""
_BEGUN = ("egl_", "egt1_", "egs1_", "egc1_")
"""How they begin."""
_SIGNED = re.compile(r"eyJ[\w-]{8,}\.eyJ[\w-]{4,}\.[\w-]{16,}")
"""A token made of a key, or of an identity provider."""


def without_secrets(text: str) -> str:
    """`text` with user, password and secret parameters of every URL in it shown as `***`, and tokens and keys of ours too.

    All that stands before the last @ of a URL is hidden: what was not escaped as it should be is no less secret.
    """
    if any(begun in text for begun in _BEGUN):
        text = _OURS.sub(rf"\g<kind>{MASKED}", text)
    if "eyJ" in text:
        text = _SIGNED.sub(MASKED, text)
    if "://" not in text:
        return text
    return _QUERY.sub(rf"\g<name>{MASKED}", _USER.sub(rf"\g<scheme>{MASKED}@", text))


def holds_secret(url: str) -> bool:
    """Whether a setting that is an address holds more than an address, as far as one can see."""
    return without_secrets(url) != url or ("@" in url and "://" not in url)


def shown(value: str) -> str:
    """A value that was meant as an address and cannot be used as one: cleaned where it is plainly one, else hidden."""
    cleaned = without_secrets(value)
    if _PLAIN.fullmatch(cleaned) or (cleaned == value and not set("@?=#\\ ") & set(value)):
        return repr(cleaned)
    scheme = re.match(r"[A-Za-z][A-Za-z0-9+.-]{0,15}://", value)
    return f"'{scheme[0] if scheme else ''}{MASKED}'"


_PORTS = {"http": 80, "https": 443}
_PLACE = re.compile(
    r"(https?)://([a-z0-9._-]+|\[[0-9a-f:.]*:[0-9a-f:.]*\])(?::([1-9][0-9]{0,4}))?", re.IGNORECASE | re.ASCII
)
"""A scheme, a host and a port as they are spelled, and nothing else: no zero before a port, no zone, nothing behind it."""


class Origin(NamedTuple):
    """A scheme, a host and a port."""

    scheme: str
    host: str
    port: int


def place_of(address: str) -> Origin | None:
    """What an origin names: nothing but scheme, host and port; None for `null` and whatever is spelled otherwise."""
    found = _PLACE.fullmatch(address)
    if found is None:
        return None
    scheme, host = found[1].lower(), found[2].lower().strip("[]")
    return Origin(scheme, host, _PORTS[scheme] if found[3] is None else int(found[3]))


def is_loopback(host: str) -> bool:
    """Whether a host name, without its port, is this machine alone."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


NONE = "none"
"""Words alone."""
AUTO = "auto"
"""By the letters of an owner's memories: `use` where enough hold others than Latin, else `minilm`."""
STORE = "store"
"""What the process is set to use, else what the store was made with."""
MINILM, USE = "minilm", "use"
BUILT_IN = (MINILM, USE)
"""Run within the process, ask no network, and compute in numpy: an owner may choose them."""
MOST_NAMED = 200
"""Characters of a name."""
RULE = "none, auto, minilm, use, openai:MODEL or package:object"
OWNERS_RULE = "store, none, auto, minilm, use; openai:MODEL, package:object where the process is set to it"
_WORDS = "|".join((NONE, AUTO, *BUILT_IN))
_NAMED = r"[^\x00-\x20\x7f](?:[^\x00-\x1f\x7f]{0,180}[^\x00-\x20\x7f])?"
_DOTTED = r"[A-Za-z_][A-Za-z0-9_]{0,60}(?:\.[A-Za-z_][A-Za-z0-9_]{0,60}){0,7}"
NAMES = rf"^(?:{_WORDS}|openai:{_NAMED}|{_DOTTED}:{_DOTTED})$"
"""As RULE says."""
OWNERS_NAMES = NAMES.replace("(?:none", f"(?:{STORE}|none", 1)
_NAME = re.compile(NAMES[1:-1], re.ASCII)


def is_embedder_name(text: str) -> bool:
    """Whether `text` names an embedder, `none` or `auto`, as RULE says."""
    return len(text) <= MOST_NAMED and _NAME.fullmatch(text) is not None


_BLANK_TEXT = (
    # Default_Ignorable_Code_Point (Unicode 16, DerivedCoreProperties.txt), assigned or not
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    # other formats, blank signs and separators of lines
    "\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u2028\u2029\u2800\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001345f"
    "\U00016fe4\U0001d159"
)
_CONTROL_TEXT = "\x00-\x1f\x7f-\x9f"

INVISIBLE = re.compile(f"[{_BLANK_TEXT}]")
"""One character that shows nothing; a line break or any other control is none of these."""
HIDDEN = re.compile(f"[{_BLANK_TEXT}{_CONTROL_TEXT}]")
"""One invisible character or control, line breaks and tabs among them."""
VISIBLE = re.compile(rf"[^\s{_BLANK_TEXT}{_CONTROL_TEXT}]")
"""One character that shows something."""


_OBEYED_JSON = re.compile(
    "[\x7f-\x9f\u00ad\u061c\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
"""What of JSON a terminal would obey or hide; controls below a space JSON escapes by itself."""


def shown_json(document: str) -> str:
    """JSON that reads back exactly, with what a terminal would obey or hide written as `\\u`. Chinese stays readable."""
    if document.isascii() and "\x7f" not in document:
        return document
    return _OBEYED_JSON.sub(lambda found: json.dumps(found[0])[1:-1], document)


EMOJI_SHOWN = "\ufe0f"
"""The variation selector that asks for a coloured emoji: after one it is part of what is seen."""
_JOINERS = "\u200c\u200d"
_KEYCAPS = "0123456789#*"


def hidden_in(text: str) -> Iterator[re.Match[str]]:
    """Each character of a text that shows nothing or is a control, where it does not belong to what is seen beside it.

    An emoji's variation selector belongs there, and so do the joiners of emoji and of words in scripts other than Latin.
    """
    return (found for found in HIDDEN.finditer(text) if not _belongs(text, found.start()))


def with_hidden_as(text: str, shown: Callable[[str], str], kept: str = "\n\t") -> str:
    """The text with each character that `hidden_in` finds shown otherwise, but for those that are kept."""
    if text.isascii() and text.isprintable():
        return text
    parts, end = [], 0
    for found in hidden_in(text):
        if found[0] not in kept:
            parts += [text[end : found.start()], shown(found[0])]
            end = found.end()
    return "".join([*parts, text[end:]])


def _belongs(text: str, at: int) -> bool:
    character, before = text[at], text[at - 1 : at]
    if character == EMOJI_SHOWN:
        return is_emoji_base(before, text[at + 1 : at + 2])
    if character in _JOINERS:
        after = text[at + 1 : at + 2]
        return _is_joined(before) and _is_joined(after)
    return False


def is_emoji_base(character: str, after: str = "") -> bool:
    """Whether a variation selector after the character asks for a coloured emoji: a symbol, or a keycap's digit."""
    if character and character in _KEYCAPS:
        return after == "\u20e3"
    return bool(character) and (
        character in "\u203c\u2049\u3030\u303d" or unicodedata.category(character) in ("So", "Sm", "Sk")
    )


def _is_joined(character: str) -> bool:
    return (
        bool(character)
        and not character.isascii()
        and (character == EMOJI_SHOWN or unicodedata.category(character)[0] in "LMS")
    )


def without_hidden(text: str, *, lines: bool = False) -> str:
    """The text without what shows nothing; each control and line break is a space, or a line break where `lines` are kept.

    An emoji keeps its variation selector, nothing keeps its joiners: what is left cannot say anything that is not seen.
    """
    if text.isascii() and text.isprintable():
        return text

    def shown(found: re.Match[str]) -> str:
        character, at = found[0], found.start()
        if character == EMOJI_SHOWN and is_emoji_base(text[at - 1 : at], text[at + 1 : at + 2]):
            return character
        if lines and character in "\n\t":
            return character
        return " " if unicodedata.category(character) in ("Cc", "Zl", "Zp") else ""

    return HIDDEN.sub(shown, text)


def named(character: str) -> str:
    """How an error names a character that cannot be shown: `U+200B ZERO WIDTH SPACE`."""
    name = unicodedata.name(character, "") or ("a control character" if unicodedata.category(character) == "Cc" else "")
    return f"U+{ord(character):04X} {name}".rstrip()


def spelled(character: str) -> str:
    """How a text that is looked at names a character: `\\x1b`, `\\u202e`."""
    point = ord(character)
    return f"\\x{point:02x}" if point < 0x100 else f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"
