"""Procedures of tokens, keys, the master key and certificates: each as it stands on the page."""

from __future__ import annotations

from datetime import timedelta

from tests.acceptance.runbook.given import TEA
from tests.acceptance.runbook.night import Night
from tests.given.access.certificates import NOW, certificate
from tests.given.clusters.ports import free_ports


def test_the_folders_token(night: Night) -> None:
    night.given("systemctl start engramlog")
    before = night.given("engramlog token --header").out
    night.do()
    assert night.given("engramlog token --header").out != before
    night.check()


def test_a_key_leaked(night: Night) -> None:
    night.given("systemctl start engramlog", "engramlog key new app --can use --owners 'team/*' --days 90 > old.key")
    night.setting(KEY_ID=(night.folder / "old.key").read_text().removeprefix("egl_")[:8])
    night.when()
    night.do()
    night.check()


def test_rotate_the_master_key(night: Night) -> None:
    night.given("systemctl start engramlog", f"engramlog add alice '{TEA}'")
    night.do()
    night.check()


def test_the_master_key_cannot_be_had(night: Night) -> None:
    kept, copy = night.folder / "master-key", night.folder / "copy-of-the-key"
    night.setting(ENGRAMLOG_SEALED_BY=kept, COPY_OF_THE_KEY=copy)
    night.given(f"engramlog master-key --new {kept}", f"engramlog add alice '{TEA}'", f"mv {kept} {copy}")
    night.when()
    night.do()
    night.check()


def test_renew_the_certificate(night: Night) -> None:
    old = certificate(night.folder / "tls", "localhost", ends=NOW + timedelta(days=3))
    new = certificate(night.folder / "new", "localhost")
    night.setting(
        ENGRAMLOG_HOST="127.0.0.1",
        ENGRAMLOG_PORT=free_ports(1)[0],
        ENGRAMLOG_TLS_CERT_FILE=old.chain,
        ENGRAMLOG_TLS_KEY_FILE=old.key,
        NEW_CERTIFICATE=new.chain,
        NEW_CERTIFICATE_KEY=new.key,
    )
    night.given("engramlog key new app --can use --owners 'team/*' > key", "systemctl start engramlog")
    night.until(night.told("engramlog", '"name": "certificate_ends"'))
    night.when()
    night.do()
    night.check()
