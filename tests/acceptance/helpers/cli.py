"""The command line as people run it: in this process on a real Redis, or as a process of its own."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import pytest

from engramlog_server.ops.main import main
from tests.patience import PATIENCE


@dataclass(frozen=True)
class Ran:
    """What a command answered."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as the one JSON document that it must be."""
        return json.loads(self.out)


class Cli:
    """Runs commands in this process, on the store that the environment names."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capture = capture

    def __call__(self, *words: str, code: int = 0, stdin: bytes = b"") -> Ran:
        """Run one command; it must end with this exit code."""
        self._capture.readouterr()
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        found = main(list(words))
        told = self._capture.readouterr()
        assert found == code, f"{words} ended with {found}\n{told.out}\n{told.err}"
        return Ran(found, told.out, told.err)

    def json(self, *words: str, code: int = 0, stdin: bytes = b"") -> Any:
        """Run one command with --json and give what it printed; nothing else may be on standard output."""
        return self(*words, "--json", code=code, stdin=stdin).json


def start(words: Sequence[str], environment: Mapping[str, str], **options: Any) -> subprocess.Popen[bytes]:
    """A command as a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "engramlog_server.ops.main", *words],
        env={**os.environ, "ENGRAMLOG_REDIS_URL": "", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )


def run(words: Sequence[str], environment: Mapping[str, str], **options: Any) -> Ran:
    """A command as a process of its own, waited for."""
    process = start(words, environment, **options)
    out, err = process.communicate(timeout=PATIENCE)
    return Ran(process.returncode, out.decode(), err.decode())


def event(number: int, owner: str = "ada", type_: str = "MemoryCreated", **data: Any) -> dict[str, Any]:
    """One envelope; the same number has the same id."""
    fields = {"memory_id": f"m{number}"}
    if type_ == "MemoryCreated":
        fields |= {"content": f"note {number}", "category": "fact", "kind": "note", "source": "user"}
    firm = data.get("tier") in ("core", "system")  # an operator's to say
    return {
        "event_id": str(uuid5(NAMESPACE_URL, f"test {number}")),
        "type": type_,
        "schema_version": 1,
        "owner": owner,
        "occurred_at": "2026-01-05T08:00:00Z",
        "actor": "operator" if firm else "user",
        "data": fields | data,
    }


def turn(number: int, text: str, conversation: str = "ada", **fields: Any) -> dict[str, Any]:
    """One turn of a conversation."""
    return {
        "conversation": conversation,
        "turn_id": f"t{number}",
        "session": "s1",
        "occurred_at": f"2026-01-05T08:{number // 60 % 60:02}:{number % 60:02}Z",
        "speaker": "user",
        "text": text,
    } | fields


def lines(documents: Sequence[Any]) -> bytes:
    """JSON Lines; a text stands for itself."""
    return b"".join(
        (one.encode() if isinstance(one, str) else json.dumps(one, ensure_ascii=False).encode()) + b"\n"
        for one in documents
    )


def written(path: Path, documents: Sequence[Any]) -> str:
    """A file of JSON Lines, by its name."""
    path.write_bytes(lines(documents))
    return str(path)


def flat(table: str) -> str:
    """What was printed, with every run of white space as one space."""
    return " ".join(table.split())
