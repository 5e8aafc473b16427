"""Level 3 by a word of another language, or pinyin, for a password: `la clave es`, `wifi mima shi`."""

from __future__ import annotations

from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.sensitivity.beside import Piece
from engramlog_server.projections.language.sensitivity.reading import Cues, TextReading
from engramlog_server.projections.language.sensitivity.rule import Rule, listed
from engramlog_server.projections.language.sensitivity.values import TOKEN, may_be_strong, strength_told

LATIN = Cues(
    listed("""
    clave, contraseña, contrasena, mdp, mot de passe, motdepasse, passwort, passwörter, kennwort, kennwörter, senha, mima, mi ma
    wachtwoord, hasło, haslo, lösenord, losenord, parola, şifre, sifre, sandi, passord, salasana, adgangskode, mật khẩu, mat khau
    heslo, jelszó, jelszo, kouling, palavra-passe, codice segreto
""")
)
OTHER = Cues(listed("ароль, парол, パスワード, 暗证番号, 비밀번호, 비번, رمز, كلمة المرور, सिम, רוסיסמ, κωδικ"))
WORDS = Cues(LATIN, OTHER)
_IS = r"(?:es|is|ist|est|é|e'|shi|jiu shi|is now|jest|är|är|to|:|=|->|→|-|是|は|는|은|это)"
_DIGITS = regex(rf"[^\d\n.!?]{{0,32}}?(?:^|\s|(?<=[^a-z])){_IS}\s{{0,2}}[\"']?\d(?:[ -]?\d){{3,11}}(?![\w%]|[-.,:/]\d)")
_LINKED = regex(rf"(?:^|[^\n]{{0,40}}?\s|\s?)(?:{_IS})\s{{0,2}}[\"'(]?$")


def says_a_password(read: TextReading) -> bool:
    """Whether a password follows a foreign word for one: mixed, or a word with digits or digits just after `is`."""
    return any(map(_password_in, read.pieces(WORDS, before=0, after=72)))


def _password_in(piece: Piece) -> bool:
    after = piece.text[piece.end :]
    for token in TOKEN.finditer(after) if may_be_strong(after) else ():
        found = strength_told(token[0])
        if not found:
            continue
        gap = after[: token.start()].lower()
        if not any(map(str.isdigit, token[0])):
            found = max(0, found - 1)
        if len(gap) <= 40 and (found >= 2 or (found == 1 and (not gap.strip() or _LINKED.match(gap)))):
            return True
    return _DIGITS.match(piece.after) is not None


RULES = (Rule("password", 3, says_a_password, WORDS),)
