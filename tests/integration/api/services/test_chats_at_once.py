"""The same chats imported by several at once, for an owner whom nobody knew: each message is one turn."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from engramlog_server.api.checks import parse_instant
from engramlog_server.api.exchange.chats import import_chats
from engramlog_server.api.exchange.files import open_chats
from engramlog_server.api.exchange.turns import ImportOptions
from engramlog_server.events.partitions import spread_tags
from engramlog_server.events.redis.log import RedisEventLog
from tests.given.chats import file_of
from tests.servers import Servers

AT_ONCE = 4
CHATS = [
    {"messages": [{"role": "user", "content": f"message {n} 第{n}条"} for n in range(many)]} for many in (40, 7, 7)
]


def test_imports_at_once_for_a_new_owner_make_the_same_ids(redis_servers: Servers) -> None:
    begun, server = Barrier(AT_ONCE), redis_servers.get("valkey")

    def imports(_number: int) -> int:
        with server.client() as client:
            log = RedisEventLog(client, spread_tags(2))
            chats = open_chats(iter(file_of(*CHATS)))
            begun.wait()
            answer = import_chats(log, chats, ImportOptions(owner="ada"), parse_instant("2024-01-01T08:00:00Z", "from"))
            log.close()
            assert (answer.imported.done.error, answer.imported.done.conflicts) == (None, [])
            return answer.imported.done.appended

    with ThreadPoolExecutor(AT_ONCE) as threads:
        assert sum(threads.map(imports, range(AT_ONCE))) == 2 * (40 + 7 + 7)
