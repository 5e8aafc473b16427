"""The banner of `up` says where it serves, what to try and how it ends, in eighty columns."""

from __future__ import annotations

from engramlog_server.ops.processes.up import Served, banner
from engramlog_server.projections.shapes import ListeningTold

HERE = "http://127.0.0.1:8733"


def test_the_banner_names_the_address_the_docs_what_to_try_and_ctrl_c() -> None:
    told = banner(Served(HERE, "1.2.3", None, "mei"))
    assert f"Engramlog 1.2.3 serves at {HERE}\n" in told
    assert f"{HERE}/docs\n" in told
    assert 'engramlog search mei "coffee"' in told
    assert f"curl -H @<(engramlog token --header) {HERE}/v1/status" in told
    assert "Ctrl-C" in told
    assert "ENGRAMLOG_DATA" not in told


def test_an_owner_s_name_cannot_end_the_command_that_it_stands_in() -> None:
    assert "search 'a;reboot' " in banner(Served(HERE, "1", None, "a;reboot"))


def test_a_service_that_is_open_to_others_says_by_what_and_is_looked_at_by_commands() -> None:
    ends = "2027-02-20T09:30:00+00:00"
    by_tls: ListeningTold = {"by": "tls", "certificate_ends": ends, "operating": "socket"}
    told = banner(Served("https://0.0.0.0:8733", "1", None, "mei", listening=by_tls))
    assert "  open to others by TLS, with a key; its certificate ends 2027-02-20\n" in told
    assert "engramlog status\n" in told
    assert "/v1/status" not in told  # it is not answered there
    by_proxy: ListeningTold = {"by": "proxy", "certificate_ends": None, "operating": "port"}
    behind = banner(Served(HERE, "1", None, "mei", listening=by_proxy))
    assert "  open to others through its declared proxy, with a key\n" in behind
    assert max(map(len, (told + behind).splitlines())) <= 80
