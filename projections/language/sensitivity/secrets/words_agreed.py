"""Level 3 in plain words: a passphrase of a few words, and the word agreed with an alarm company, a bank or a school."""

from __future__ import annotations

from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.scripts import HAN_BLOCK
from engramlog_server.projections.language.sensitivity.beside import Piece
from engramlog_server.projections.language.sensitivity.reading import Cues, TextReading
from engramlog_server.projections.language.sensitivity.rule import Rule, either, listed

PHRASES = Cues(listed("passphrase, passphrases"))
AGREED = Cues(
    listed("""
    duress word, duress password, duress code, distress word, banking word, alarm word, alarm company, alarm people
    monitoring company
    monitoring centre, monitoring center, security company, call centre password, telephone banking, phone banking
    collection password
""")
)
AGREED_ZH = Cues(listed("暗语, 暗号, 口令, 密语"))
_IS = r"(?:\s(?:is|was|are)(?:\snow|\sstill)?\s?:?|\s?[:=]|\s?(?:->|\u2192))\s{0,2}"
_PHRASE = regex(
    rf"(?:\s(?:on|for|to|of|at|in)\s[^.,:;=!?\n]{{1,36}}?)?(?P<link>{_IS})(?P<open>\"?)"
    r"(?P<value>[a-z'-]{1,14}(?: [a-z'-]{1,14}){2,9})"
    r"(?=\s{0,2}(?:$|[.!\"\n(,;]))"
)
_SPOKEN_OF = frozenset(
    listed("""
    something, anything, nothing, one, same, it, its, it's, you, your, you'll, we, written, stored, saved, kept
    hidden, lost, gone, wrong
    required, needed, too, very, not, case, also, longer, shorter, weak, strong, long, short, random, secure, never
    always, only, known
    set, asked, different, easy, hard, derived, used, encrypted, incorrect, correct, invalid, empty, optional, what
    which, where, when, how
    why, if, because, passphrase, password, words, characters, least, should, must, correctly, here, there, somewhere
    being, that, this
    safe, unknown, missing, forgotten, old, new, just, like, such, similar, about, called, as, at, by, for, from, in
    on, with, to, of
""")
)
"""A sentence that begins with one of these is about a passphrase; it is none."""
_ABOUT = regex(
    either("""
    characters, must, should, remember, forgot, forget, passphrase, password, e\\.g, example, at least, words, letters
    same, before
    usual, above, below, earlier
""")
)
_WORD = regex(
    rf"(?:\s(?:for|with|at|of|on)\s[^.,:=\n]{{1,28}}?)?{_IS}[\"']?"
    rf"(?P<value>[a-z][a-z'-]{{3,24}}(?: [a-z'-]{{2,16}}){{0,3}})[\"']?\s{{0,2}}(?:$|[.,;!)\n]|and\b)"
)
_QUOTED = regex(r"[^.\n]{0,24}?\"(?P<value>[a-z][a-z' -]{3,32})\"")
_ASKED = regex(either("ask, asks, word, say, tell, give, code, password, question"))
_SAID_ZH = regex("[报说答念]一?[下个句]?$")
_AFTER_ZH = regex(
    rf"(?:就?[报说答念]|就?是|[:=])?\s?(?:\"[{HAN_BLOCK}a-z]{{2,12}}\"|[ :][{HAN_BLOCK}]{{2,8}}(?=$|[\s,。!;\n]))"
)
_REPORTED_ZH = regex(
    rf"(?:就|要)?(?:说|答|报|念)(?:的?是)?(?:\"[{HAN_BLOCK}]{{2,12}}\"|\s[{HAN_BLOCK}]{{2,8}}(?=$|[\s,。!;\n]))"
)


def says_agreed_words(read: TextReading) -> bool:
    """Whether a passphrase of plain words or a word agreed with who watches over something is told."""
    if any(map(_phrase_in, read.pieces(PHRASES))) or any(map(_agreed_in, read.pieces(AGREED))):
        return True
    return any(map(_agreed_in_chinese, read.pieces(AGREED_ZH, before=16, after=32)))


def _phrase_in(piece: Piece) -> bool:
    found = _PHRASE.match(piece.after)
    if found is None or _ABOUT.search(found["value"]):
        return False
    words = found["value"].split()
    told = len(words) >= 4 or found["open"]
    plainly = found["open"] or found["link"].strip()[-1:] in ":=>" or "\u2192" in found["link"]
    return bool(told and plainly and words[0] not in _SPOKEN_OF and words[-1] not in _SPOKEN_OF)


def _agreed_in(piece: Piece) -> bool:
    if piece.word.endswith(("company", "people", "centre", "center", "banking")):
        quoted = _QUOTED.match(piece.after)
        return quoted is not None and _ASKED.search(piece.lower) is not None
    found = _WORD.match(piece.after)
    return (
        found is not None
        and found["value"].split()[0] not in _SPOKEN_OF
        and not found["value"].startswith(("a ", "the "))
    )


def _agreed_in_chinese(piece: Piece) -> bool:
    if _SAID_ZH.search(piece.before) and _AFTER_ZH.match(piece.after):
        return True
    return _REPORTED_ZH.match(piece.after) is not None


RULES = (Rule("password", 3, says_agreed_words, Cues(PHRASES, AGREED, AGREED_ZH)),)
