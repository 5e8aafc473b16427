"""Whose certificates are believed: those that every client believes, or those of one authority, such as a company's own.

There is no way to believe any: who reads along would read the key.
"""

from __future__ import annotations

import os
import ssl
from pathlib import Path

from engramlog.errors import InputError

ALLOWED = "the path of a file of PEM with the certificate of an authority, or the service's own where it signed itself"


def trusting(authority: str | os.PathLike[str] | None) -> ssl.SSLContext | bool:
    """What checks the service's certificate: the authority in this file, else in that of `SSL_CERT_FILE`, else the usual ones.

    Raises InputError for a file that holds none.
    """
    named = authority if authority is not None else os.environ.get("SSL_CERT_FILE") or None
    if named is None:
        return True
    try:
        context = ssl.create_default_context(cafile=Path(named).expanduser())
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        got = getattr(error, "strerror", None) or str(error)
        name = "authority" if authority is not None else "SSL_CERT_FILE"
        raise InputError(
            f"{name}: got {named} ({got}); allowed: {ALLOWED}", field="authority", allowed=ALLOWED
        ) from None
    return context
