"""A store on a real private redis-server, folded by a worker in a thread, and a client of its HTTP face."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event as Flag
from threading import Thread
from typing import Any
from urllib.parse import quote

from fastapi import FastAPI
from fastapi.testclient import TestClient

from engramlog_server.api.application import Application
from engramlog_server.api.http.app import create_app
from engramlog_server.api.http.feed import Limits
from engramlog_server.consumers.fold.worker import FoldWorker
from engramlog_server.events.envelope import derived_id
from engramlog_server.ops.catch_up import FoldCatchUp
from engramlog_server.ops.clock import silent
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.store import OpenStore, open_the_store
from engramlog_server.ops.wiring import JoinedApplication, ask_kept_values
from tests.given.shaped import shape_checks

BASE = "http://127.0.0.1:8733"
TOKEN = "a-token-of-the-tests-0123456789-abcdef"
SHOWN = {"authorization": f"Bearer {TOKEN}"}
"""The header by which a request is answered; `client_of` and `tests/client` send it by themselves."""
QUICK = Limits(poll_seconds=0.01, heartbeat_seconds=0.05)
Json = dict[str, Any]


@dataclass
class HttpStore:
    """What an HTTP test stands on."""

    store: OpenStore
    application: Application
    client: TestClient

    def append(self, *events: Json) -> list[str]:
        """Append; the positions."""
        answer = self.client.post("/v1/events", json=list(events))
        assert answer.status_code == 200, answer.text
        return [receipt["position"] for receipt in answer.json()["receipts"]]

    def always_holds(self, owner: str, *memory_ids: str) -> None:
        """As an operator at the store, have these stand in every prompt."""
        for memory_id in memory_ids:
            self.application.writer.promote(owner, memory_id)

    def told(self, owner: str, *events: Json) -> str:
        """Append events of an owner and wait until they are folded; the last position."""
        position = self.append(*(event | {"owner": owner} for event in events))[-1]
        assert self.client.get(f"/v1/owners/{quote(owner, safe='')}/stats").status_code == 200
        self.application.reader.list(owner, after=position)
        return position


def event(
    event_type: str, /, *, owner: str = "alice", key: object = 0, at: str = "2026-01-05T08:00:00Z", **data: Any
) -> Json:
    """An envelope as a producer sends it; its id derives from all that is given."""
    event_id = derived_id(event_type, owner, str(key), at, str(sorted(data.items())))
    return {"event_id": event_id, "type": event_type, "owner": owner, "occurred_at": at, "actor": "user", "data": data}


def created(memory_id: str, content: str = "I drink coffee", **fields: Any) -> Json:
    """A `MemoryCreated`; names of the envelope's fields go there."""
    envelope = {name: fields.pop(name) for name in ("owner", "key", "at") if name in fields}
    data = {"category": "identity", "kind": "fact", "source": "user"} | fields
    return event("MemoryCreated", **envelope, memory_id=memory_id, content=content, **data)


def mentioned(memory_id: str, **fields: Any) -> Json:
    """A `MemoryMentioned`."""
    return event("MemoryMentioned", memory_id=memory_id, **fields)


def admits(shown: str) -> bool:
    """Admits who shows the token of the tests."""
    return shown == TOKEN


def app_of(application: Application, **options: Any) -> FastAPI:
    """The application of the HTTP face that asks for the token of the tests."""
    return create_app(application, admits=admits, **options)


def client_of(app: FastAPI, *, shaped: bool = True, **options: Any) -> TestClient:
    """A client that shows the token, and that its POSTs without a body are meant. Every answer has to have its route's shape."""
    client = TestClient(app, base_url=BASE, headers={**SHOWN, "engramlog-request": "1"}, **options)
    if shaped:
        client.event_hooks = {"response": [shape_checks(app)]}
    return client


@contextmanager
def http_store(
    folder: Path, *, worker: bool = True, sealed_by: str | None = None, **settings: Any
) -> Iterator[HttpStore]:
    """A store in a folder, or on a Redis that is there (`redis_url` of the settings), closed in order; it lies open where it is
    `sealed_by` none."""
    stop = Flag()
    chosen = {"partitions": 4, **settings}
    with open_the_store(Settings(data=folder, sealed_by=sealed_by, **chosen)) as store:
        catch_up = FoldCatchUp(store, silent)
        application = JoinedApplication(store, catch_up, queue_url=settings.get("queue_url")).join()
        ask_kept_values(store, catch_up, silent)
        folding = FoldWorker(store.client, store.identity.tags, "tester", alarms=store.alarms)
        folder_thread = Thread(target=folding.run, args=(stop,))
        if worker:
            folder_thread.start()
        try:
            with client_of(app_of(application, limits=QUICK)) as client:
                yield HttpStore(store, application, client)
        finally:
            stop.set()
            if worker:
                folder_thread.join()
            catch_up.end()


class Message(dict[str, Any]):
    """One server-sent event: `event`, `id`, `data`, or `comment`."""


def messages(lines: Iterator[str]) -> Iterator[Message]:
    """Parsed as the standard says."""
    current = Message()
    for line in lines:
        if not line:
            yield current
            current = Message()
        else:
            name, _, value = line.partition(": ")
            current[name or "comment"] = json.loads(value) if name == "data" else value
