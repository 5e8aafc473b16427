"""Which server answers: its product and version, and what depends on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Product = Literal["Redis", "Valkey"]
OLDEST: Mapping[Product, tuple[int, int]] = {"Redis": (7, 0), "Valkey": (7, 2)}
"""The oldest server of each product that is supported; Valkey has no older one."""
WAITS_FROM = (7, 2)
"""The first version, of both products, that waits for the disk when it is asked to (WAITAOF)."""
OWN_FILES_FROM = (7, 4)
"""The first version of Redis whose files Valkey cannot read."""


@dataclass(frozen=True, slots=True)
class Release:
    """A server's product and version, such as Valkey 9.1.2."""

    product: Product
    version: str

    @property
    def minor(self) -> tuple[int, int]:
        """(9, 1) of "9.1.2". Raises ValueError for text that is no version."""
        major, minor, *_ = self.version.split(".")
        return int(major), int(minor)

    @property
    def is_supported(self) -> bool:
        """Whether Engramlog works with it. Raises ValueError."""
        return self.minor >= OLDEST[self.product]

    @property
    def waits_for_disk(self) -> bool:
        """Whether it has WAITAOF. Raises ValueError."""
        return self.minor >= WAITS_FROM

    def reads(self, writer: Release) -> bool:
        """Whether it can load the files that `writer` wrote. Raises ValueError."""
        if self.product == writer.product:
            return self.minor >= writer.minor
        return self.product == "Valkey" and writer.minor < OWN_FILES_FROM

    def __str__(self) -> str:
        return f"{self.product} {self.version}"


def release_of(server: Mapping[str, str]) -> Release:
    """The release by INFO's section `server`: Valkey has fields of its own, and 7.2.4 in `redis_version` for old clients."""
    if server.get("server_name") == "valkey":
        return Release("Valkey", server.get("valkey_version", "unknown"))
    return Release("Redis", server.get("redis_version", "unknown"))
