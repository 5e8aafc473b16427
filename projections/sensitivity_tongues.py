"""Level 3 by a word of another language, or pinyin, for a password: `la clave es`, `wifi mima shi`."""

from __future__ import annotations

import re

from projections.sensitivity_beside import Piece, pieces
from projections.sensitivity_rule import Rule, Sign, listed
from projections.sensitivity_values import TOKEN, strength_told

LATIN = listed("""
    clave, contraseña, contrasena, mdp, mot de passe, motdepasse, passwort, passwörter, kennwort, kennwörter, senha, mima, mi ma
    wachtwoord, hasło, haslo, lösenord, losenord, parola, şifre, sifre, sandi, passord, salasana, adgangskode, mật khẩu, mat khau
    heslo, jelszó, jelszo, kouling, palavra-passe, codice segreto
""")
OTHER = listed("ароль, парол, パスワード, 暗证番号, 비밀번호, 비번, رمز, كلمة المرور, सिम, רוסיסמ, κωδικ")
WORDS = (*LATIN, *OTHER)
_IS = r"(?:es|is|ist|est|é|e'|shi|jiu shi|is now|jest|är|är|to|:|=|->|→|-|是|は|는|은|это)"
_DIGITS = re.compile(
    rf"[^\d\n.!?]{{0,32}}?(?:^|\s|(?<=[^a-z])){_IS}\s{{0,2}}[\"']?\d(?:[ -]?\d){{3,11}}(?![\w%]|[-.,:/]\d)"
)
_LINKED = re.compile(rf"(?:^|[^\n]{{0,40}}?\s|\s?)(?:{_IS})\s{{0,2}}[\"'(]?$")


def says_a_password(text: str, lower: str) -> bool:
    """Whether a password follows a foreign word for one: mixed, or a word with digits or digits just after `is`."""
    return any(map(_password_in, pieces(text, lower, WORDS, before=0, after=72)))


def _password_in(piece: Piece) -> bool:
    after = piece.text[piece.end :]
    for token in TOKEN.finditer(after):
        gap = after[: token.start()].lower()
        found = strength_told(token[0])
        if not any(map(str.isdigit, token[0])):
            found = max(0, found - 1)
        if len(gap) <= 40 and (found >= 2 or (found == 1 and (not gap.strip() or _LINKED.match(gap)))):
            return True
    return _DIGITS.match(piece.after) is not None


RULES = (Rule("password", 3, Sign.TONGUE | Sign.ZH_SECRET, says_a_password),)
