"""Certificates of the tests, each its own authority, made anew: nothing of them is kept."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

NOW = datetime.now(UTC)
NAMES = ("memory.example.org", "127.0.0.1")


class Pair(NamedTuple):
    """The files of a certificate."""

    chain: Path
    key: Path


def certificate(
    folder: Path,
    *names: str,
    begins: datetime = NOW - timedelta(days=1),
    ends: datetime = NOW + timedelta(days=90),
    password: bytes | None = None,
    called: str = "service",
) -> Pair:
    """A certificate for hosts (`NAMES` unless told) that signed itself, in two files."""
    folder.mkdir(parents=True, exist_ok=True)
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "tests")])
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begins)
        .not_valid_after(ends)
        .add_extension(x509.SubjectAlternativeName([_name(one) for one in names or NAMES]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    pair = Pair(folder / f"{called}.pem", folder / f"{called}.key")
    pair.chain.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    secret = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
    pair.key.touch(0o600)
    pair.key.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, secret))
    return pair


def _name(told: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(told))
    except ValueError:
        return x509.DNSName(told)
