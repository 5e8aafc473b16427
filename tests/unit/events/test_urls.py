"""What of an address is shown: where it leads, never what it lets in with."""

from __future__ import annotations

from engramlog_server.events.errors import BadSetting, InvalidBatch, InvalidEvent
from engramlog_server.events.text import holds_secret, shown, without_secrets
from tests.rows import each_row

MARK = "s3cret-MARK"
SECRET = [
    f"redis://:{MARK}@localhost:6379/0",
    f"redis://app:{MARK}@localhost",
    f"rediss://{MARK}@host/0",
    f"redis://app:{MARK}/with@a:slash@host:6379",
    f"redis://app:{MARK}#hash@host:6379",
    f"redis://app:{MARK}?ask@host:6379",
    f"unix://:{MARK}@/run/redis.sock",
    f"unix:///run/redis.sock?db=1&password={MARK}",
    f"redis://host?PassWord={MARK}&db=0",
    f"https://{MARK}@models.example/v1",
    f"https://models.example/v1?api_key={MARK}",
    f"https://models.example/v1?x=1;access_token={MARK}",
    f"sentinel+redis://:{MARK}@a:1,b:2/mymaster",
]


@each_row("url", SECRET)
def test_no_way_of_writing_a_password_into_a_url_is_shown(url: str) -> None:
    for text in (url, f"no connection to {url}: refused", f"'{url}'", f"{{'url': '{url}', 'n': 1}}"):
        assert MARK not in without_secrets(text)
        assert "***" in without_secrets(text)
    assert holds_secret(url)
    assert MARK not in shown(url)
    assert MARK not in str(BadSetting(f"got {url}", got=url, all=[{"url": url}]).as_dict())


def test_where_a_url_leads_is_still_shown() -> None:
    assert without_secrets(f"redis://app:{MARK}@host:6379/2?db=1") == "redis://***@host:6379/2?db=1"
    assert without_secrets(f"unix:///run/s?password={MARK}&db=1") == "unix:///run/s?password=***&db=1"


@each_row(
    "text",
    [
        "redis://localhost:6379/0",
        "unix:///run/user/0/redis.sock",
        "http://127.0.0.1:8733/docs",
        "https://models.example/v1?version=2",
        "ada@example.org wrote; see http://127.0.0.1:8733",
        "the password is hunter2",
        "早上 redis://主机 晚上",
    ],
)
def test_what_holds_no_secret_is_left_as_it_is(text: str) -> None:
    assert without_secrets(text) == text


@each_row(
    "value",
    [
        f":{MARK}@host:6379",
        f"app:{MARK}@host",
        f"host?password={MARK}",
        f"redis://:pa ss {MARK}@host",
        f"redis://:'{MARK}'@host",
        f"REDIS_URL=redis://:{MARK}@host",
        f"redis://app:x@y {MARK}",
    ],
)
def test_a_value_that_is_no_url_at_all_is_hidden_rather_than_quoted(value: str) -> None:
    assert MARK not in shown(value)


def test_a_plain_mistake_is_quoted() -> None:
    assert shown("localhost:6379") == "'localhost:6379'"
    assert shown("http://localhost") == "'http://localhost'"


def test_several_errors_told_as_one_hide_it_too() -> None:
    error = InvalidBatch([InvalidEvent("data.url", repr(SECRET[0]), "a place", index=0)])
    assert MARK not in str(error.as_dict())
    assert MARK not in str(error)
