"""Release 0.2.0 itself, for tests of what comes after it: run as a process on a store, and a store that it made, pinned.

`tests/releases/engramlog-0.2.0.tar.xz` holds its packages as they were tagged (`git archive` of events, projections, consumers,
api, ops). `tests/golden/store_0_2_0.json.xz` is every key of a store that `STORY` made with it, so that the upgrade stays
testable where 0.2.0 no longer runs; `python -m tests.release_0_2_0` writes it anew.
"""

from __future__ import annotations

import json
import lzma
import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import redis

from tests.acceptance.helpers.cli import Ran
from tests.patience import PATIENCE
from tests.servers import RedisServer, wheel_server

ARCHIVE = Path(__file__).parent / "releases" / "engramlog-0.2.0.tar.xz"
PINNED = Path(__file__).parent / "golden" / "store_0_2_0.json.xz"
PARTITIONS = 3

STORY = r'''
"""A store with something of everything, made by the commands of 0.2.0 in one process."""
import io, json, sys, uuid
from events.envelope import canonical, new_event_id, prepare_body
from ops.main import main
from ops.settings import load_settings
from ops.wiring import open_application

NOTES = {
    "ada": ["I moved to Basel in spring.", "I like oat milk in my coffee.", "The stand-up is at half past nine.",
            "My brother Tom lives in Oslo.", "I was wrong about the train.", "The train leaves at seven."],
    "lin-yue": ["我叫林月，朋友们叫我小月。", "我喜欢喝咖啡。", "垃圾每周二晚上拿下楼。", "女儿的舞蹈课在周六下午三点。",
                "编辑器请一直用深色主题。", "我对花生过敏。"],
    "团队": ["评审在周四上午十点。", "The nightly build runs on the third machine."],
    "mallory": ["I know somebody else's ids."],
}

def run(*words, stdin=()):
    text = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in stdin)
    sys.stdin = io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8")
    code = main(list(words))
    sys.stdout.flush()
    if code not in (0, 3):
        sys.exit(f"{words} ended with {code}")

def event(owner, number, type_, day, **data):
    event_id = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{owner} {type_} {number}"))
    return {"event_id": event_id, "type": type_, "schema_version": 1, "owner": owner, "actor": "user",
            "occurred_at": f"2026-01-{day:02}T08:00:00Z", "data": {"memory_id": f"m{number}"} | data}

events = [event(owner, number, "MemoryCreated", 5 + number, content=text, category="fact", kind="note", source="user")
          for owner, texts in NOTES.items() for number, text in enumerate(texts, 1)]
events += [event(owner, 2, "MemoryMentioned", 12) for owner in NOTES if owner != "mallory"]
run("append", "-", stdin=events)
run("import", "turns", "-", stdin=[
    {"conversation": "ada", "turn_id": f"t{n}", "session": "s1", "occurred_at": f"2026-01-20T08:{n:02}:00Z",
     "speaker": "user", "text": text}
    for n, text in enumerate(["I want to learn Norwegian.", "明天我去成都出差。", "My card number is 4111 1111 1111 1111."])])
run("negate", "lin-yue", "m2", "--reason", "我不喝咖啡了", "--correction", "我现在喝茶。")
run("delete", "ada", "m5")
run("merge", "ada", "m3", "m6", "--summary", "Stand-up at half past nine, train at seven.", "--into", "times")
run("profile", "团队", "ebbinghaus")
run("synonym", "lin-yue", "茶", "龙井")
run("search", "ada", "oat milk")
run("search", "lin-yue", "舞蹈课")
with open_application(load_settings()) as application:
    event_id = new_event_id()
    document = {"event_id": event_id, "type": "MemoryCreated", "schema_version": 9, "owner": "mallory", "data": {}}
    application.writer.settle(application.log.append([
        prepare_body(event_id, "MemoryCreated", 9, "mallory", canonical(document))]))
'''

ASK = r"""
import io, json, sys
from ops.main import main
answers = []
for words in json.loads(sys.argv[1]):
    sys.stdout = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    if main([*words, "--json"]):
        sys.exit(f"{words} failed")
    sys.stdout.flush()
    answers.append(json.loads(sys.stdout.buffer.getvalue()))
sys.__stdout__.write(json.dumps(answers))
"""
"""Several commands in one process."""


class Release:
    """The programs of 0.2.0, unpacked in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with tarfile.open(ARCHIVE) as archive:
            archive.extractall(folder, filter="data")

    def start(self, words: list[str], **environment: str) -> subprocess.Popen[bytes]:
        """`engramlog` of 0.2.0 as a process, or python's own words where the first is `-c`."""
        program = words if words[0] == "-c" else ["-m", "ops.main", *words]
        return subprocess.Popen(
            [sys.executable, "-P", *program],
            env={**os.environ, "ENGRAMLOG_REDIS_URL": "", "PYTHONPATH": str(self.folder), **environment},
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def run(self, *words: str, code: int = 0, **environment: str) -> Ran:
        """The same, waited for; it must end with this exit code."""
        process = self.start(list(words), **environment)
        try:
            out, err = process.communicate(timeout=4 * PATIENCE)
        finally:
            process.kill()
        told = Ran(process.returncode, out.decode(), err.decode())
        assert told.code == code, f"0.2.0 {words[0]} ended with {told.code}\n{told.out}\n{told.err}"
        return told

    def ask(self, *commands: list[str], **environment: str) -> list[Any]:
        """What these commands answer with --json."""
        answers: list[Any] = json.loads(self.run("-c", ASK, json.dumps(commands), **environment).out)
        return answers

    def tell_story(self, **environment: str) -> None:
        """Make the store of `STORY`."""
        self.run("-c", STORY, ENGRAMLOG_PARTITIONS=str(PARTITIONS), **environment)


def dump(client: redis.Redis) -> dict[str, Any]:
    """Every key of a Redis with its type and value; bytes as latin-1, which loses none."""
    return {_text(key): _value(client, key) for key in sorted(client.scan_iter(count=1_000))}


def _text(raw: bytes) -> str:
    return raw.decode("latin-1")


def _value(client: redis.Redis, key: bytes) -> list[Any]:
    kind = client.type(key).decode()  # type: ignore[union-attr]
    match kind:
        case "hash":
            return [kind, sorted((_text(k), _text(v)) for k, v in client.hgetall(key).items())]  # type: ignore[union-attr]
        case "stream":
            return [
                kind,
                [(_text(at), [(_text(k), _text(v)) for k, v in one.items()]) for at, one in client.xrange(key)],
            ]  # type: ignore[union-attr]
        case "zset":
            return [kind, sorted((_text(one), score) for one, score in client.zrange(key, 0, -1, withscores=True))]  # type: ignore[union-attr]
        case "list":
            return [kind, [_text(one) for one in client.lrange(key, 0, -1)]]  # type: ignore[union-attr]
    return [kind, _text(client.get(key))]  # type: ignore[arg-type]


def let_go(client: redis.Redis) -> None:
    """End all other connections: what earlier tests of this process left open is nobody's."""
    client.client_kill_filter(_type="normal", skipme=True)


def restore(client: redis.Redis, dumped: dict[str, Any]) -> None:
    """The reverse of `dump`, into an empty Redis."""
    raw = str.encode
    for name, (kind, value) in dumped.items():
        key = raw(name, "latin-1")
        match kind:
            case "hash":
                client.hset(key, mapping={raw(k, "latin-1"): raw(v, "latin-1") for k, v in value})
            case "stream":
                for at, fields in value:
                    client.xadd(key, {raw(k, "latin-1"): raw(v, "latin-1") for k, v in fields}, id=at)  # type: ignore[misc]
            case "zset":
                client.zadd(key, {raw(one, "latin-1"): score for one, score in value})
            case "list":
                client.rpush(key, *(raw(one, "latin-1") for one in value))
            case _:
                client.set(key, raw(value, "latin-1"))


def pinned() -> dict[str, Any]:
    """Every key of the store that 0.2.0 made, and what it told of it under `told`."""
    found: dict[str, Any] = json.loads(lzma.decompress(PINNED.read_bytes()))
    return found


@contextmanager
def unpacked() -> Iterator[Release]:
    """The release in a folder of its own."""
    with TemporaryDirectory(prefix="engramlog-0.2.0-") as folder:
        yield Release(Path(folder))


def main() -> None:
    """Write the pinned store anew."""
    server = RedisServer(wheel_server())
    try:
        with unpacked() as release, server.client() as client:
            environment = {"ENGRAMLOG_REDIS_URL": server.url}
            release.tell_story(**environment)
            verify, status = release.ask(["verify"], ["status"], **environment)
            document = {"told": {"verify": verify, "status": status}, "keys": dump(client)}
    finally:
        server.stop()
    PINNED.write_bytes(lzma.compress(json.dumps(document, sort_keys=True).encode(), preset=9))


if __name__ == "__main__":
    main()
