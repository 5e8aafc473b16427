"""Keys of this store, and tokens made of them, are secrets wherever they stand; what only speaks of them is none."""

from __future__ import annotations

from datetime import UTC, datetime
from hashlib import sha256

from engramlog_server.api.checks import label_objection
from engramlog_server.events.catalogue import SynonymDefined
from engramlog_server.events.envelope import micros
from engramlog_server.events.errors import InputError
from engramlog_server.events.text import without_secrets
from engramlog_server.events.validation import make_event
from engramlog_server.projections.access.keys import make_key, make_token
from engramlog_server.projections.language.sensitivity.level import SECRET, detect_sensitivity
from tests.rows import each_row

NOW = datetime(2026, 11, 22, tzinfo=UTC)
GRANTS = [{"verbs": ["read"], "owners": ["*"]}]
AROUND = ("{}", "use {} from now on", "用{}登录", "密钥({})", "'{}'", "{}.", "key={}\n", "新的令牌是{}。")
PLAIN = ("egl_ is how a key begins", "egl_k7m2p9qa was revoked", "eggs and leggings", "密钥以 egl_ 开头")


def keys_and_tokens() -> list[str]:
    found = []
    for number in range(8):
        key = make_key(lambda size, number=number: sha256(bytes([number, size])).digest()[:size]).text  # type: ignore[misc]
        found += [key, make_token(key, GRANTS, now=1_800_000_000 + number, seconds=900, subject="alice@example.org")]
    return found


@each_row("around", AROUND)
def test_a_key_and_a_token_made_of_it_are_secrets_in_any_sentence(around: str) -> None:
    assert {detect_sensitivity(around.format(one)) for one in keys_and_tokens()} == {SECRET}


@each_row("around", AROUND)
def test_neither_stands_in_a_log_line_or_a_refusal(around: str) -> None:
    for one in keys_and_tokens():
        shown = without_secrets(around.format(one))
        assert one[16:] not in shown
        assert "***" in shown
        assert one[16:] not in str(InputError(f"got {around.format(one)}", got=one).as_dict())


@each_row("text", PLAIN)
def test_what_only_speaks_of_keys_is_no_secret_and_is_shown_whole(text: str) -> None:
    assert detect_sensitivity(text) < SECRET
    assert without_secrets(text) == text


def test_a_label_that_is_one_is_refused() -> None:
    for one in keys_and_tokens()[::2]:  # a token is longer than any label
        named = make_event(
            SynonymDefined(keyword="coffee", synonym=one, similarity=0.5),
            owner="alice",
            occurred_at=NOW,
            actor="user",
            now=micros(NOW),
        )
        objection = label_objection(named)
        assert objection is not None
        assert one[16:] not in str(objection)
