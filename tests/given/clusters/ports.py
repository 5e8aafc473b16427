"""Ports of loopback for servers that must be found again at the same place after they were killed."""

from __future__ import annotations

import socket
from random import SystemRandom

HOST = "127.0.0.1"
LOWEST, HIGHEST = 12_000, 21_999
"""Below the ports that the system gives away by itself, and so is the bus of each (`BUS_ABOVE`)."""
BUS_ABOVE = 10_000
"""The bus of a cluster's node listens on its port and this, unless it is set."""


def free_ports(count: int) -> list[int]:
    """So many different ports; each is free now, and so is the one of its bus."""
    drawn = SystemRandom().sample(range(LOWEST, HIGHEST), HIGHEST - LOWEST)
    free = (port for port in drawn if _is_free(port) and _is_free(port + BUS_ABOVE))
    return [port for _, port in zip(range(count), free, strict=False)]


def _is_free(port: int) -> bool:
    with socket.socket() as tried:
        tried.setsockopt(
            socket.SOL_SOCKET, socket.SO_REUSEADDR, 1
        )  # as redis-server does: what just ended holds nothing
        try:
            tried.bind((HOST, port))
        except OSError:
            return False
        return True
