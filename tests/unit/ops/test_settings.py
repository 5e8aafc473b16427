"""Settings: every wrong one says its name, what was got and what is allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from events.errors import BadSetting
from ops.settings import load_settings


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("PARTITIONS", "0", "greater than or equal to 1"),
        ("PARTITIONS", "many", "a valid integer"),
        ("PARTITIONS", "100000", "less than or equal to 1024"),
        ("REDIS_URL", "http://example.org", "redis://, rediss:// or unix://"),
        ("REDIS_URL", "redis://:a:b:c", "redis://localhost:6379/0"),
        ("REDIS_URL", "redis://localhost:99999", "redis://localhost:6379/0"),
        ("PORT", "70000", "less than or equal to 65535"),
        ("WORKERS", "0", "greater than or equal to 1"),
        ("LOG_LEVEL", "loud", "debug, info, warning or error"),
        ("REDIS_TIMEOUT", "0", "greater than 0"),
        ("EMBEDDER", "magic", "none, minilm, sentence:NAME or openai:MODEL"),
        ("EMBEDDER", "openai:", "none, minilm, sentence:NAME or openai:MODEL"),
        ("EMBEDDER_URL", "localhost:8080", "http:// or https://"),
        ("REDIS_MAXMEMORY", "12", "greater than or equal to 8388608"),
    ],
)
def test_a_wrong_setting_is_named_with_what_is_allowed(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, allowed: str
) -> None:
    monkeypatch.setenv(f"ENGRAMLOG_{name}", value)
    with pytest.raises(BadSetting) as refusal:
        load_settings()
    assert f"ENGRAMLOG_{name}" in refusal.value.message
    assert value in refusal.value.message
    assert allowed in refusal.value.message


def test_the_environment_chooses_the_folder_and_the_redis(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ENGRAMLOG_DATA", str(tmp_path))
    monkeypatch.setenv("ENGRAMLOG_REDIS_URL", "redis://localhost:6379/3")
    settings = load_settings()
    assert (settings.data, settings.redis_url) == (tmp_path, "redis://localhost:6379/3")


def test_empty_settings_mean_the_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGRAMLOG_DATA", "")
    monkeypatch.setenv("ENGRAMLOG_REDIS_URL", "")
    settings = load_settings()
    assert settings.redis_url is None
    assert settings.data.name == "engramlog"


def test_the_key_of_an_embedder_is_printed_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGRAMLOG_EMBEDDER", "openai:some-model")
    monkeypatch.setenv("ENGRAMLOG_EMBEDDER_KEY", "sk-of-mine")
    settings = load_settings()
    assert "sk-of-mine" not in f"{settings!r} {settings} {settings.model_dump_json()}"
    assert settings.embedder_key is not None
    assert settings.embedder_key.get_secret_value() == "sk-of-mine"
