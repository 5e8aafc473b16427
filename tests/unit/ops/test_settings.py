"""Settings: every wrong one says its name, what was got and what is allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from engramlog_server.events.errors import BadSetting
from engramlog_server.ops.environment import unknown_settings
from engramlog_server.ops.settings import Settings, load_settings, of_its_own
from tests.rows import each_row


@each_row(
    ("name", "value", "allowed"),
    [
        ("PARTITIONS", "0", "a whole number from 1 to 1024"),
        ("PARTITIONS", "many", "a whole number from 1 to 1024"),
        ("PARTITIONS", "100000", "a whole number from 1 to 1024"),
        ("REDIS_URL", "http://example.org", "redis://, rediss://, unix://, redis+cluster:// or rediss+cluster://"),
        ("WAIT_FSYNC", "perhaps", "true or false"),
        ("MIN_REPLICAS", "11", "a whole number from 0 to 10"),
        ("REDIS_URL", "redis://:a:b:c", "redis://localhost:6379/0"),
        ("REDIS_URL", "redis://localhost:99999", "redis://localhost:6379/0"),
        ("PORT", "70000", "a whole number from 0 to 65535"),
        ("WORKERS", "0", "a whole number from 1 to 64"),
        ("LOG_LEVEL", "loud", "debug, info, warning or error"),
        ("REDIS_TIMEOUT", "0", "a number of seconds, more than 0 up to 600"),
        ("EMBEDDER", "magic", "none, auto, minilm, use, openai:MODEL or package:object"),
        ("EMBEDDER", "openai:", "none, auto, minilm, use, openai:MODEL or package:object"),
        ("EMBEDDER_URL", "localhost:8080", "http:// or https://"),
        ("REDIS_MAXMEMORY", "12", "a whole number of bytes, at least 8388608 (8 MiB)"),
        ("REDIS_MAXMEMORY", "1gb", "a whole number of bytes, at least 8388608 (8 MiB)"),
        ("PORT", "abc", "a whole number from 0 to 65535"),
        ("REJECTIONS", "kept", "the whole path of a folder"),
        ("PRINCIPAL", "job:extract", "1 to 64 letters of any script, digits and . _ @ / -, a letter or a digit first"),
        ("PRINCIPAL", "审计 王", "1 to 64 letters of any script, digits and . _ @ / -, a letter or a digit first"),
        ("PRINCIPAL", "x" * 65, "1 to 64 letters of any script, digits and . _ @ / -, a letter or a digit first"),
        ("PRINCIPAL", "a\u3164b", "1 to 64 letters of any script, digits and . _ @ / -, a letter or a digit first"),
        ("PRINCIPAL", "王：审计", "1 to 64 letters of any script, digits and . _ @ / -, a letter or a digit first"),
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


CLUSTER = "redis+cluster://app:of-the-nodes@a:6379,b:6379"


@each_row(
    ("told", "name", "allowed"),
    [
        ({"REDIS_URL": CLUSTER}, "QUEUE_URL", "a URL of one Redis, because jobs do not run on a Cluster"),
        ({"REDIS_URL": CLUSTER, "QUEUE_URL": CLUSTER}, "QUEUE_URL", "jobs do not run on a Cluster"),
        ({"REDIS_URL": CLUSTER + "/1"}, "REDIS_URL", "a Cluster has the database 0 alone"),
    ],
)
def test_an_address_of_several_that_cannot_be_is_refused_by_name_without_its_password(
    monkeypatch: pytest.MonkeyPatch, told: dict[str, str], name: str, allowed: str
) -> None:
    for one, value in told.items():
        monkeypatch.setenv(f"ENGRAMLOG_{one}", value)
    with pytest.raises(BadSetting) as refusal:
        load_settings()
    assert refusal.value.context["setting"] == f"ENGRAMLOG_{name}"
    assert allowed in refusal.value.message
    assert "of-the-nodes" not in str(refusal.value.as_dict())


def test_a_cluster_with_a_queue_beside_it_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGRAMLOG_REDIS_URL", CLUSTER)
    monkeypatch.setenv("ENGRAMLOG_QUEUE_URL", "redis://jobs:6379/1")
    monkeypatch.setenv("ENGRAMLOG_WAIT_FSYNC", "true")
    settings = load_settings()
    assert (settings.redis_url, settings.wait_fsync, settings.min_replicas) == (CLUSTER, True, 0)
    assert not of_its_own(settings, settings.data).wait_fsync


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


@each_row(
    ("name", "meant"),
    [
        ("ENGRAMLOG_REDISURL", "ENGRAMLOG_REDIS_URL"),
        ("ENGRAMLOG_REDIS_URI", "ENGRAMLOG_REDIS_URL"),
        ("ENGRAMLOG_TOKKEN", "ENGRAMLOG_TOKEN"),
        ("ENGRAMLOG_MIN_REPLICA", "ENGRAMLOG_MIN_REPLICAS"),
        ("ENGRAMLOG_DATA_DIR", "ENGRAMLOG_DATA"),
        ("engramlog_jobworkers", "ENGRAMLOG_JOB_WORKERS"),
        ("ENGRAMLOG_XYZZY", None),
        ("ENGRAMLOG_", None),
    ],
)
def test_a_misspelt_name_is_refused_with_the_one_it_may_be_meant_for_and_without_its_value(
    monkeypatch: pytest.MonkeyPatch, name: str, meant: str | None
) -> None:
    monkeypatch.setenv(name, "s3cret-MARK")
    with pytest.raises(BadSetting) as refusal:
        load_settings()
    told = refusal.value.as_dict()
    assert (told["setting"], told["suggestion"]) == (name, meant)
    assert name in told["message"]
    assert meant is None or f"there is {meant}" in told["message"]
    assert "s3cret-MARK" not in str(told)


def test_every_setting_is_known_by_its_name_in_any_case_and_an_empty_one_means_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in Settings.model_fields:
        assert not list(
            unknown_settings({f"ENGRAMLOG_{name.upper()}": "1", f"engramlog_{name}": "1"}, Settings.model_fields)
        )
    monkeypatch.setenv("ENGRAMLOG_MISSPELT", "")
    monkeypatch.setenv("ENGRAMLOG_PRINCIPAL", "ada")
    assert load_settings().principal == "ada"


@each_row(
    ("name", "value", "url", "key"),
    [
        ("ENGRAMLOG_MODEL", "gpt-4o", "ENGRAMLOG_MODEL_URL", "ENGRAMLOG_MODEL_KEY"),
        ("ENGRAMLOG_EMBEDDER", "openai:small", "ENGRAMLOG_EMBEDDER_URL", "ENGRAMLOG_EMBEDDER_KEY"),
    ],
)
def test_a_model_that_nobody_could_ask_is_refused_at_the_start(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, url: str, key: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(BadSetting, match=rf"{name}.*set {url} .*{key}"):
        load_settings()
    monkeypatch.setenv(url, "https://user:s3cret-MARK@models.example/v1")
    with pytest.raises(BadSetting, match=rf"{name}.*without user") as refusal:
        load_settings()
    assert "s3cret-MARK" not in str(refusal.value.as_dict())
    monkeypatch.setenv(url, "http://127.0.0.1:1/v1")
    load_settings()
    monkeypatch.delenv(url)
    monkeypatch.setenv(key, "sk-of-mine")
    load_settings()
    monkeypatch.setenv(key, "sk of mine")
    with pytest.raises(BadSetting, match="endpoint cannot be used"):
        load_settings()


@each_row("name", ["审计/王", "Jürgen", "ops_1", "ada@desk-2"])
def test_whoever_brings_events_has_a_name_in_any_script(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("ENGRAMLOG_PRINCIPAL", name)
    assert load_settings().principal == name


def test_a_metrics_place_has_loopback_as_its_default_host(monkeypatch: pytest.MonkeyPatch) -> None:
    for told, place in (("9464", ("127.0.0.1", 9464)), ("0.0.0.0:0", ("0.0.0.0", 0)), ("[::1]:9464", ("::1", 9464))):
        monkeypatch.setenv("ENGRAMLOG_METRICS", told)
        assert load_settings().metrics == place
    assert load_settings().metrics_on(1) == ("::1", 1)


def test_what_clients_read_is_no_unknown_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGRAMLOG_URL", "http://127.0.0.1:9000")
    assert load_settings()


def test_a_demo_or_a_measurement_has_nothing_of_the_operators_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told = {
        "DATA": str(tmp_path / "mine"), "REDIS_URL": "redis://localhost:1/0", "QUEUE_URL": "redis://localhost:1/1",
        "REJECTIONS": str(tmp_path / "kept"), "EMBEDDER": "openai:one", "EMBEDDER_URL": "http://127.0.0.1:1/v1",
        "MIN_REPLICAS": "2",
    }  # fmt: skip
    for name, value in told.items():
        monkeypatch.setenv(f"ENGRAMLOG_{name}", value)
    settings = of_its_own(load_settings(), tmp_path / "its")
    assert settings.data == tmp_path / "its"
    asked = (settings.redis_url, settings.queue_url, settings.rejections, settings.embedder, settings.min_replicas)
    assert asked == (None, None, None, "none", 0)
    assert settings.redis_timeout == load_settings().redis_timeout
