"""A running `engramlog up` that serves the console, with the store that the browser's tests look at."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request, urlopen

from tests.integration.live import wait_until
from tests.patience import PATIENCE


class Service:
    """The service, asked as a program of its user asks it."""

    def __init__(self, folder: Path, *, port: int = 0, python_path: str | None = None, cwd: Path | None = None) -> None:
        self.folder = folder
        self.log = folder.parent / f"{folder.name}.log"
        self.environment = {**os.environ, "ENGRAMLOG_DATA": str(folder), "ENGRAMLOG_REDIS_URL": ""}
        if python_path is not None:
            self.environment["PYTHONPATH"] = python_path
        with self.log.open("ab") as log:
            began = log.tell()
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", "engramlog_server.ops.main", "up", "--port", str(port), "--json"],
                env=self.environment,
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self._began = began
        self.url = str(wait_until(lambda: self.facts("service started") or self._ended())[0]["url"])
        self.token = self.command("token", "--json")["token"]

    def facts(self, name: str) -> list[dict[str, Any]]:
        """The log lines of this process that tell a fact."""
        lines = []
        for line in self.log.read_bytes()[self._began :].decode().splitlines():
            try:
                lines.append(json.loads(line))
            except json.JSONDecodeError:
                continue
        return [line for line in lines if line.get("event") == name]

    def _ended(self) -> None:
        assert self.process.poll() is None, self.log.read_text()

    def command(self, *arguments: str) -> Any:
        """A command beside it, on the same folder; its answer as JSON."""
        done = subprocess.run(
            [sys.executable, "-P", "-m", "engramlog_server.ops.main", *arguments],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=True,
        )
        return json.loads(done.stdout)

    def ask(self, path: str, body: Any = None, *, after: str | None = None) -> Any:
        """GET, or POST where there is a body."""
        address = f"{self.url}{path}" + (f"{'&' if '?' in path else '?'}after={after}" if after else "")
        headers = {"authorization": f"Bearer {self.token}", "content-type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        try:
            with urlopen(Request(address, data, headers), timeout=PATIENCE) as answer:
                return json.loads(answer.read())
        except HTTPError as error:
            raise AssertionError(f"{path}: {error.code} {error.read().decode()}") from None

    def key(self, principal: str, *grants: dict[str, Any], **told: Any) -> dict[str, Any]:
        """A new key, as an administrator makes it."""
        made: dict[str, Any] = self.ask("/v1/keys", {"principal": principal, "grants": list(grants), **told})
        return made

    def status_of(self, key: str, path: str) -> int:
        """What is answered to a key."""
        try:
            with urlopen(
                Request(f"{self.url}{path}", headers={"authorization": f"Bearer {key}"}), timeout=PATIENCE
            ) as answer:
                return int(answer.status)
        except HTTPError as error:
            return error.code

    def events(self, owner: str) -> int:
        """How many events of an owner are folded."""
        return int(self.ask(f"/v1/owners/{quote(owner, safe='')}/stats")["events"])

    def link(self, to: str = "/") -> str:
        """A link as `engramlog console` shows it: with a code that works once."""
        code = self.ask("/v1/console/codes", {})["code"]
        return f"{self.url}/#code={code}&to={quote(to, safe='')}"

    def workers(self) -> list[int]:
        """The ids of its fold workers, the newest last."""
        return [fact["pid"] for fact in self.facts("worker process started") if "job" not in fact.get("kind", "")]

    def stop(self) -> None:
        """End it in order, by its id; what does not end is killed."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.process.wait(PATIENCE)


@contextmanager
def served(folder: Path, **options: Any) -> Iterator[Service]:
    """A service that is ended at the end."""
    service = Service(folder, **options)
    try:
        yield service
    finally:
        service.stop()
