"""Settings from the environment, each named ENGRAMLOG_*; a wrong one says what is allowed.

Unless others are named, the service is this machine's alone, and a new store is encrypted under a master key in the data folder.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple, get_args
from urllib.parse import urlsplit

from annotated_types import Ge, Gt, Le, Lt
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    field_validator,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from engramlog_server.events.envelope import LOCAL
from engramlog_server.events.errors import BadSetting
from engramlog_server.events.partitions import DEFAULT_PARTITIONS, MAX_PARTITIONS
from engramlog_server.events.redis.address import read_address
from engramlog_server.events.text import AUTO, INVISIBLE, NONE, is_loopback, place_of, shown
from engramlog_server.events.trust import ASSERTED
from engramlog_server.events.validation import allowed_words
from engramlog_server.events.vocabulary import Trust
from engramlog_server.ops.environment import data_folder, told_by, unknown_settings
from engramlog_server.projections.choices import VIEW_BYTES
from engramlog_server.projections.embedding.endpoint_wire import base_url, checked_key
from engramlog_server.projections.embedding.names import NAMED, embedder_kind

SECRET = ("_KEY", "_TOKEN")
"""What the names of settings that are secrets end with."""

MIN_TOKEN, MAX_TOKEN = 32, 512
"""Characters of a token of one's own."""
_SHOWN = re.compile(r"[A-Za-z0-9._~+/=-]+")
_PRINCIPAL = re.compile(r"[^\W_][\w.@/-]{0,63}")


MOST_SINKS = 8


_WAYS = {
    "extraction": (("off", "rules"), "off, rules, or"),
    "reviewer": (("rule",), "rule, or"),
    "summaries": (("off", "extractive"), "off or extractive, or"),
    "expansion": (("off",), "off, or"),
}
"""Who does it where no model does, and the same in words."""


MOST_PORT = 65_535
MOST = 64
"""Of proxies, and of names of the service."""
Network = IPv4Network | IPv6Network


def asked_name(told: str) -> tuple[str, int | None] | None:
    """A host, with a port where one is written; None for what is neither."""
    found = place_of(f"https://{told}")
    if found is None:
        return None
    bare = told.endswith("]") or ":" not in told.rpartition("]")[2]
    return found.host, None if bare else found.port


class Place(NamedTuple):
    """Where a port listens."""

    host: str
    port: int


def _read_place(value: object) -> object:
    """The place that `PORT` or `HOST:PORT` names: loopback if no host is given. Raises ValueError."""
    if not isinstance(value, str):
        return value
    host, _, port = value.rpartition(":")
    if not (port.isascii() and port.isdigit() and int(port) <= MOST_PORT) or value.startswith(":"):
        raise ValueError(f"a port from 0 to {MOST_PORT}, or host:port such as 0.0.0.0:9464")
    return Place(host.removeprefix("[").removesuffix("]") or "127.0.0.1", int(port))


PlaceSetting = Annotated[Place | None, BeforeValidator(_read_place)]


def _fits(fits: Callable[[str], object], allowed: str) -> AfterValidator:
    """A rule for a text. An empty text counts as unset."""

    def checked(value: str | None) -> str | None:
        if value and not fits(value):
            raise ValueError(allowed)
        return value or None

    return AfterValidator(checked)


def _absolute(kind: str) -> AfterValidator:
    """The rule that a path is absolute; `~` is resolved."""

    def checked(value: Path | None) -> Path | None:
        if value is not None and not value.expanduser().is_absolute():
            raise ValueError(f"the whole path of a {kind}")
        return None if value is None else value.expanduser()

    return AfterValidator(checked)


FilePath = Annotated[Path | None, _absolute("file")]
WebAddress = Annotated[
    str | None,
    Field(repr=False),
    _fits(lambda told: told.startswith(("http://", "https://")), "a URL that begins with http:// or https://"),
]
_WORD = _fits(
    lambda told: told.isprintable() and " " not in told and len(told) <= 250,
    "printable characters without a space, at most 250",
)


_SCHEDULER = _fits(
    re.compile(r"tls://[^/@]+:\d+|tcp://(127\.0\.0\.1|\[::1\]|localhost):\d+").fullmatch,
    "tls://HOST:PORT, or tcp://HOST:PORT with 127.0.0.1, [::1] or localhost as the host",
)
"""A scheduler runs what it is sent, and its workers reach the store."""


class BeyondSettings(BaseModel):
    """Settings of a service that other hosts reach."""

    tls_cert_file: FilePath = None
    """Absolute path of the certificate for callers from other hosts: PEM, the certificate first, then the chain."""
    tls_key_file: FilePath = None
    """Absolute path of the certificate's key: PEM without a password, readable by this user, root or a group only."""
    trusted_proxies: tuple[Network, ...] = ()
    """Addresses and networks of the proxy that does TLS, separated by spaces, at most 64. The port answers no other caller."""
    public_names: tuple[str, ...] = ()
    """Names of the service for callers from other hosts, `host` or `host:port`, at most 64. Unset: the names in the
    certificate."""
    operate: PlaceSetting = None
    """Port, or host:port, of the operators' routes while the API is open to other hosts. Unset: only the socket in the data
    folder."""

    @field_validator("trusted_proxies", mode="wrap")
    @classmethod
    def _networks(cls, value: object, handler: ValidatorFunctionWrapHandler) -> tuple[Network, ...]:
        told = _several(value)
        found: tuple[Network, ...] = ()
        try:
            found = handler(told)
        except ValidationError:
            """Told below, in the words of all."""
        if told and (not found or any(one.prefixlen == 0 for one in found)):
            raise ValueError(
                "addresses and networks such as 127.0.0.1 or 10.0.7.0/24, with white space between them; not all"
            )
        return found

    @field_validator("public_names", mode="before")
    @classmethod
    def _hosts(cls, value: object) -> object:
        told = _several(value)
        if isinstance(told, tuple) and any(asked_name(str(one)) is None for one in told):
            raise ValueError(
                "hosts such as memory.example.org, with a port where that is neither 443 nor the service's own"
            )
        return told


def _several(value: object) -> object:
    several = tuple(value.split()) if isinstance(value, str) else value
    if isinstance(several, tuple | list) and len(several) > MOST:
        raise ValueError(f"at most {MOST}, with white space between them")
    return several


ALLOWED = "an address that begins with https:// (http:// on this machine alone), of at most 1,000 characters"
MOST_URL = 1_000


def is_safe(url: str) -> bool:
    """Whether an address may be asked: https, or http of this machine; nothing but a host, a port and a path in it."""
    try:
        parts = urlsplit(url)
        host, _port = parts.hostname, parts.port
    except ValueError:
        return False
    if not host or parts.username is not None or parts.fragment or "#" in url or len(url) > MOST_URL:
        return False
    if not (url.isascii() and url.isprintable() and " " not in url):
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host))


SERVICE = "vault:"
"""What the setting begins with where a key service has the key."""
SEALED_ALLOWED = (
    "the whole path of a file, or vault:https://HOST:8200/MOUNT/KEY (http:// on this machine alone), such as"
    " vault:https://vault.example.com:8200/transit/engramlog; or none: a new store lies open"
)
KEY_SERVERS = ("redis://", "rediss://", "unix://")
KEYS_ALLOWED = (
    "the whole path of a file, or the URL of a Redis that is not the log's, such as redis://keys.example.com:6379/0"
)
_ADDRESS = re.compile(r"(https?://[^/?#]+)/((?:[A-Za-z0-9_.-]+/)*[A-Za-z0-9_.-]+)/([A-Za-z0-9_.-]{1,100})")


class ServiceKey(NamedTuple):
    """A key in the transit engine of a Vault or OpenBao."""

    address: str
    """Scheme, host and port."""
    mount: str
    """Where the engine is mounted: mostly `transit`."""
    key: str

    def __str__(self) -> str:
        return f"{self.key} at {self.address}/{self.mount}"


def service_key(told: str) -> ServiceKey | None:
    """The key of a service that a setting names; None where it names none that could be asked."""
    found = _ADDRESS.fullmatch(told.removeprefix(SERVICE)) if told.startswith(SERVICE) else None
    if found is None or ".." in told or not is_safe(told.removeprefix(SERVICE)):
        return None
    return ServiceKey(found[1], found[2], found[3])


def fits(told: str) -> bool:
    """Whether the setting can be this."""
    if told.startswith(SERVICE):
        return service_key(told) is not None
    return told == NONE or Path(told).expanduser().is_absolute()


class SealingSettings(BaseModel):
    """Settings of an encrypted store and its keys."""

    sealed_by: Annotated[str | None, _fits(fits, SEALED_ALLOWED)] = None
    """Master key of a sealed store: the absolute path of its file, or `vault:https://HOST:8200/MOUNT/KEY` of a key service.
    Unset: a file in the data folder. `none`: a new store is open."""
    vault_token_file: FilePath = None
    """Absolute path of the file (mode 0600) with the token for the key service; read again at each request."""
    keys: Annotated[
        str | None,
        Field(repr=False),
        _fits(lambda told: Path(told).expanduser().is_absolute() or told.startswith(KEY_SERVERS), KEYS_ALLOWED),
    ] = None
    """Key store of a sealed store: the absolute path of a file on this host, or the URL of a Redis that is not the log's if several
    hosts use the store. Unset: a file in the data folder."""
    keys_backup: FilePath = None
    """Absolute path of a file outside the data folder that keeps a copy of the keys. Every erasure writes the file again.
    Unset: no copy."""


class Settings(BeyondSettings, SealingSettings):
    """Everything that can be set from outside: what is not told when it is made is read from the environment."""

    model_config = ConfigDict(validate_default=True, extra="ignore")

    data: Path = Field(default_factory=lambda: data_folder({}))
    """Folder of the embedded store, on a local file system. Unset: the user's data folder."""
    redis_url: Annotated[str | None, Field(repr=False)] = None
    """Your own Redis instead of the embedded one: `redis://`, `rediss://`, `unix://`, or the nodes of a Cluster:
    `redis+cluster://a:6379,b:6379`."""
    redis_server: str | None = None
    """Server to start instead of the bundled Valkey: a path, or a name on PATH such as `redis-server`."""
    redis_maxmemory: Annotated[int, Field(ge=8 * 1024 * 1024)] | None = None
    """Memory of the embedded Redis in bytes. Unset: half of the memory of the machine or container."""
    partitions: Annotated[int, Field(ge=1, le=MAX_PARTITIONS)] = DEFAULT_PARTITIONS
    """Partitions of a store that is created now. An existing store keeps its number."""
    workers: Annotated[int, Field(ge=1, le=64)] = 1
    """Fold workers that `up` starts."""
    queue_url: Annotated[str | None, Field(repr=False)] = None
    """Redis of the job queue. Unset: the store's Redis. Required with a Cluster, because RQ does not run on one."""
    job_workers: Annotated[int, Field(ge=0, le=64)] = 1
    """Job workers that `up` starts. 0: no lifecycle, extraction or embedding jobs run."""
    host: str = "127.0.0.1"
    """Address that the API listens on. Other addresses than loopback need TLS or a declared proxy, and a key."""
    port: Annotated[int, Field(ge=0, le=65_535)] = 8733
    """Port of the API; 0 takes a free one."""
    token: SecretStr | None = None
    """Token that callers of the API send, 32 to 512 characters. Unset: the token in the data folder. Never printed or
    logged."""
    key: SecretStr | None = None
    """Key, or a token made from a key, that `engramlog mcp` over standard input and output is limited to. Never printed or
    logged."""
    identity_issuer: Annotated[str | None, _fits(is_safe, ALLOWED)] = None
    """`iss` of your own identity provider. The service then accepts the provider's tokens next to keys."""
    identity_audience: Annotated[str | None, _WORD] = None
    """`aud` that the provider's tokens must name. Required with the issuer."""
    identity_scopes: Annotated[str | None, _WORD] = None
    """Claim whose scopes limit a token, such as `scope` or `scp`. Unset: scopes limit nothing."""
    metrics: PlaceSetting = None
    """Port, or host:port, of the metrics of a fold worker. Workers of `up` use consecutive ports; 0 takes free ones. Metrics
    need no token."""
    min_replicas: Annotated[int, Field(ge=0, le=10)] = 0
    """Replicas that must confirm an append within a second (WAIT). With fewer the answer is `under_replicated`: written and
    visible, but not confirmed. To go on after the loss of a machine, 1 needs two replicas of each primary."""
    wait_fsync: bool = False
    """Wait up to a second until an append is on disk (WAITAOF, Redis 7.2) if Redis does not guarantee it already."""
    principal: str = LOCAL
    """Principal recorded next to each event that this process appends. Jobs and models add their own names."""
    highest_trust: Trust = ASSERTED
    """Highest trust of events that come over HTTP. Use `inferred` if programs speak for users."""
    redis_timeout: Annotated[float, Field(gt=0, le=600)] = 10.0
    """Seconds to wait for an answer of Redis."""
    head_sinks: Annotated[tuple[str, ...], Field(repr=False)] = ()
    """Further places for kept heads: absolute paths of files, `http://` and `https://` addresses, separated by spaces, at most
    8."""
    rejections: Annotated[Path | None, _absolute("folder")] = None
    """Absolute path of a folder for kept rejections that no copy of the store replaces. Unset: the data folder."""
    view_bytes: Annotated[int, Field(ge=1 << 20, le=1 << 40)] = VIEW_BYTES
    """Bytes of memories that one process keeps ready for requests. A larger owner is refused."""
    log_level: str = "info"
    """Lowest level that is logged: debug, info, warning or error."""
    dask: Annotated[str | None, _SCHEDULER] = None
    """Scheduler of a Dask cluster that runs `replay --all`: `tls://HOST:PORT`, or `tcp://` on this machine. Unset: processes of
    this machine."""
    embedder: Annotated[
        str | None, _fits(lambda told: told == AUTO or embedder_kind(told) is not None, f"none, auto, {NAMED}")
    ] = None
    """Embedder for owners without their own: `none`, `auto`, `minilm`, `use`, `openai:MODEL` or `package:object`. Unset: the
    one that the store was made with."""
    embedder_url: WebAddress = None
    """Base URL of `openai:MODEL`, before `/embeddings`. Unset: OpenAI's own, which needs a key."""
    embedder_key: SecretStr | None = None
    """Key of the embedder. Never printed or logged."""
    model: Annotated[
        str | None,
        _fits(
            lambda told: told.isprintable() and told == told.strip() and len(told) <= 120,
            "a model's name as its endpoint knows it, at most 120 characters",
        ),
    ] = None
    """Language model for tasks that a model may do. Unset: no model is used."""
    model_url: WebAddress = None
    """Base URL of the model, before `/chat/completions`. Unset: OpenAI's own, which needs a key."""
    model_key: SecretStr | None = None
    """Key of the model. Never printed or logged."""
    model_output: Literal["tool", "native", "prompted"] = "tool"
    """How the model returns typed answers: a tool call, a JSON schema, or a prompt."""
    extraction: str = "rules"
    """Extraction of statements from new turns: `rules`, right after the write; `model`, in a job; `off`, only on request."""
    reviewer: str = "rule"
    """Reviewer of memories under the tiered profile, of merges, and of patterns (`cleanup --job abstract`): `rule` or `model`."""
    summaries: str = "extractive"
    """How job workers write episodes: `extractive` or `model`; `off` makes none."""
    expansion: str = "off"
    """Whether the model also rewords questions: `off` or `model`. With `model`, questions are sent to the model's endpoint."""

    @model_validator(mode="before")
    @classmethod
    def _from_the_environment(cls, told: dict[str, Any]) -> dict[str, Any]:
        return told_by(told.get("environment", os.environ), cls.model_fields) | told

    def metrics_on(self, port: int) -> Place:
        """The place of metrics on this port: the host of `metrics`, or loopback."""
        return Place("127.0.0.1" if self.metrics is None else self.metrics.host, port)

    @field_validator("head_sinks", mode="before")
    @classmethod
    def _few_sinks(cls, value: object) -> object:
        sinks = value.split() if isinstance(value, str) else value
        if not isinstance(sinks, list | tuple) or len(sinks) > MOST_SINKS:
            raise ValueError(f"at most {MOST_SINKS} files or addresses, with white space between them")
        for sink in sinks:
            if not (sink.startswith(("http://", "https://")) or Path(sink).expanduser().is_absolute()):
                raise ValueError("whole paths of files, and addresses that begin with http:// or https://")
        return tuple(sinks)

    @field_validator("redis_url")
    @classmethod
    def _known_scheme(cls, value: str | None) -> str | None:
        if value:
            read_address(value)
        return value or None

    @field_validator("queue_url")
    @classmethod
    def _one_redis(cls, value: str | None) -> str | None:
        if value and read_address(value).kind == "cluster":
            raise ValueError("a URL of one Redis: jobs do not run on a Cluster")
        return value or None

    @field_validator("token")
    @classmethod
    def _fit_token(cls, value: SecretStr | None) -> SecretStr | None:
        told = "" if value is None else value.get_secret_value()
        if value is not None and not (
            MIN_TOKEN <= len(told) <= MAX_TOKEN and told.isascii() and _SHOWN.fullmatch(told)
        ):
            raise ValueError(
                f"{MIN_TOKEN} to {MAX_TOKEN} letters, digits and - . _ ~ + / =, such as `openssl rand -hex 32` prints"
            )
        return value

    @field_validator("key")
    @classmethod
    def _fit_key(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and not looks_like_a_key(value.get_secret_value()):
            raise ValueError("egl_... as it was shown once, or a token made from one")
        return value

    @field_validator("summaries", "reviewer", "extraction", "expansion")
    @classmethod
    def _known_way(cls, value: str, found: ValidationInfo) -> str:
        ways, told = _WAYS[found.field_name or ""]
        if value not in (*ways, "model") or (value == "model" and not found.data.get("model")):
            raise ValueError(f"{told} model where ENGRAMLOG_MODEL names one")
        return value

    @field_validator("principal")
    @classmethod
    def _shown_on_one_line(cls, value: str) -> str:
        if not _PRINCIPAL.fullmatch(value) or INVISIBLE.search(value):
            raise ValueError("1 to 64 letters of any script, digits and . _ @ / -, a letter or a digit first")
        return value

    @field_validator("log_level")
    @classmethod
    def _known_level(cls, value: str) -> str:
        if value.lower() not in ("debug", "info", "warning", "error"):
            raise ValueError("debug, info, warning or error")
        return value.lower()


def of_its_own(settings: Settings, data: Path) -> Settings:
    """The settings for a store of its own, of a demo or a measurement: nothing of the operator's but how Redis is started."""
    elsewhere = {"redis_url": None, "keys": None, "queue_url": None, "rejections": None, "head_sinks": ()}
    return settings.model_copy(
        update={"data": data, "embedder": NONE, "min_replicas": 0, "wait_fsync": False, **elsewhere}
    )


def load_settings(environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings of an environment. Raises BadSetting naming the variable, what was got and what is allowed."""
    settings, wrong = read_settings(environment)
    if settings is None or wrong:
        raise wrong[0]
    return settings


def read_settings(environment: Mapping[str, str] = os.environ) -> tuple[Settings | None, list[BadSetting]]:
    """The settings of an environment, as far as they can be read, and everything that is wrong with them, names first."""
    wrong = list(unknown_settings(environment, Settings.model_fields))
    try:
        settings = Settings.model_validate({"environment": environment})
    except ValidationError as error:
        return None, wrong + [_refused(one) for one in error.errors(include_url=False)]
    for check in (_check_identity, _check_queue, _check_model, _check_embedder):
        try:
            check(settings)
        except BadSetting as error:
            wrong.append(error)
    return settings, wrong


def _refused(error: ErrorDetails) -> BadSetting:
    field = str(error["loc"][0])
    name = f"ENGRAMLOG_{field.upper()}"
    allowed = number_allowed(field, Settings.model_fields[field]) or allowed_words(error)
    return BadSetting(f"{name}: got {_shown(name, error['input'])}; allowed: {allowed}", setting=name)


def _check_identity(settings: Settings) -> None:
    if (settings.identity_issuer is None) != (settings.identity_audience is None):
        missing = "ISSUER" if settings.identity_issuer is None else "AUDIENCE"
        name = f"ENGRAMLOG_IDENTITY_{missing}"
        raise BadSetting(
            f"{name}: got none; allowed: both ENGRAMLOG_IDENTITY_ISSUER and _AUDIENCE, or neither", setting=name
        )


def _check_queue(settings: Settings) -> None:
    if settings.redis_url and settings.queue_url is None and read_address(settings.redis_url).kind == "cluster":
        raise BadSetting(
            "ENGRAMLOG_QUEUE_URL: got nothing; allowed with a Redis Cluster (ENGRAMLOG_REDIS_URL): a URL of one Redis, because"
            " jobs do not run on a Cluster",
            setting="ENGRAMLOG_QUEUE_URL",
        )


def _check_model(settings: Settings) -> None:
    if settings.model is not None:
        _reachable(settings.model_url, settings.model_key, "model", "/chat/completions", "ENGRAMLOG_MODEL")


def _check_embedder(settings: Settings) -> None:
    if (settings.embedder or "").startswith("openai:"):
        _reachable(settings.embedder_url, settings.embedder_key, "embeddings", "/embeddings", "ENGRAMLOG_EMBEDDER")


def _reachable(url: str | None, key: SecretStr | None, endpoint: str, path: str, name: str) -> None:
    """Raise BadSetting where nobody could be asked: now, and not when somebody waits for an answer."""
    told = checked_key(key.get_secret_value() if key is not None else None, endpoint)
    try:
        base_url(url, told, endpoint, path, name)
    except BadSetting as error:
        raise BadSetting(f"{name}: {error.message}", setting=name) from None


def _shown(name: str, value: object) -> str:
    """A value as a refusal may show it: no secret of a setting that is one, or that holds one."""
    if name.endswith(SECRET):
        return "a value that is not shown"
    return shown(str(value)) if name.endswith(("_URL", "_SEALED_BY")) else repr(value)


UNITS: Final = {
    "redis_maxmemory": "bytes",
    "view_bytes": "bytes",
    "redis_timeout": "seconds",
}
"""What numbers count, where their names alone do not say it to everybody."""
MIB: Final = 1 << 20
MOST_KEY: Final = 8_192
"""Characters of a key, or of a token made of one."""
_KEY_OR_TOKEN: Final = re.compile(r"egl_[a-z0-9]{8}_[\w-]{43}_[0-9a-f]{6}|[\w-]+\.[\w-]+\.[\w-]+", re.ASCII)


def looks_like_a_key(told: str) -> bool:
    """Whether this is written as a key of a store, or as a token made of one; whether it opens anything, the store says."""
    return len(told) <= MOST_KEY and _KEY_OR_TOKEN.fullmatch(told) is not None


def number_allowed(name: str, setting: FieldInfo) -> str | None:
    """The words for a setting of a number; None where it is none."""
    parts = [setting.annotation, *_inner(setting.annotation)]
    if int not in parts and float not in parts:
        return None
    kind = "a whole number" if int in parts else "a number"
    if name in UNITS:
        kind += f" of {UNITS[name]}"
    least, most = "", ""
    for bound in [*setting.metadata, *(rule for part in parts for rule in _rules(part))]:
        match bound:
            case Ge(ge=value):
                least = _told(value, UNITS.get(name))
            case Gt(gt=value):
                least = f"more than {_told(value, None)}"
            case Le(le=value) | Lt(lt=value):
                most = _told(value, None)
    if least.startswith("more"):
        return f"{kind}, {least}" + (f" up to {most}" if most else "")
    if least and most:
        return f"{kind} from {least} to {most}"
    return f"{kind}, at least {least}" if least else kind


def _inner(annotation: Any) -> Iterator[Any]:
    """What an annotation is made of: `Annotated[int, ...] | None` is made of an int."""
    for part in get_args(annotation):
        yield part
        yield from _inner(part)


def _rules(part: Any) -> list[Any]:
    """The bounds that stand beside a type of a union."""
    return list(part.metadata) if isinstance(part, FieldInfo) else []


def _told(value: Any, unit: str | None) -> str:
    if unit == "bytes" and value % MIB == 0:
        return f"{value} ({value // MIB} MiB)"
    return f"{value:g}" if isinstance(value, float) else str(value)
