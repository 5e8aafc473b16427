"""The scene in which the socket's file is removed under a running `up`: put back, or an end in order."""

from __future__ import annotations

from pathlib import Path

from engramlog_server.events.redis.server import connect
from engramlog_server.ops.embedded.process import kept_names
from tests.chaos.cast import wait_until
from tests.chaos.scene import on_up
from tests.chaos.traffic import Traffic
from tests.chaos.verdict import Verdict


def a_socket_gone(folder: Path, seed: int) -> Verdict:
    """A cleaner removes the socket's file; later it takes the second name too, from which the file was put back."""
    with on_up(folder, seed) as (up, traffic, start):
        traffic.flows()
        socket = Path(up.redis_url.removeprefix("unix://"))
        socket.unlink()
        alarm = traffic.alarmed("socket_removed", str(up.data))
        assert "put back" in alarm.text
        _reached_anew(traffic, up.redis_url)
        traffic.goes_on(traffic.partitions)
        assert up.command("alarms", "--clear", alarm.name, alarm.subject)[0] == 0
        for name in (*kept_names(up.data, socket), socket):
            name.unlink(missing_ok=True)
        wait_until(lambda: up.code is not None, "up ends")
        assert up.code == 1, up.told()
        assert "was removed or replaced, and cannot be put back" in up.told()
        assert up.facts("workers stopped"), "it ended in order"
        acknowledged = traffic.ledger.highest()
        again = start()
        wait_until(lambda: all(traffic.checkpoint(p) >= seq for p, seq in acknowledged.items()), "all is folded again")
        traffic.goes_on(traffic.partitions)
        verdict = traffic.settled()
        code, answer = again.command("verify")
        assert (code, answer["ok"]) == (0, True), answer
        return verdict


def _reached_anew(traffic: Traffic, url: str) -> None:
    """Who connects only now reaches the server that was there all along, and so do the producers on new connections."""
    before = traffic.client.info("server")["run_id"]
    with connect(url) as fresh:
        assert fresh.info("server")["run_id"] == before
    traffic.log.close()
