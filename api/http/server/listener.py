"""By which listener a request came, and what follows of that: who may be at the other end, and by which name it is asked.

A listener is told to the connections that it lets in, and by them to each request (`scope["state"]`): nothing that a request
says makes it come by another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from api.http.server.certificate import Certificate

LISTENER: Final = "engramlog.listener"
"""Name in the state of an ASGI scope."""
MOST_HOPS: Final = 16
"""So many addresses of X-Forwarded-For are looked at, from the last one on."""
HTTPS_PORT: Final = 443
Network = IPv4Network | IPv6Network
Address = IPv4Address | IPv6Address


@dataclass(frozen=True, slots=True)
class Listener:
    """What holds for whoever comes by a listener. As it is made it is of this machine alone: a loopback port, or a unix socket."""

    public: bool = False
    """Whether whoever asks may be on another machine: then keys alone open it, and it is asked by `names` alone."""
    operates: bool = True
    """Whether routes about the store as a whole are answered."""
    names: frozenset[tuple[str, int | None]] = frozenset()
    """Hosts and ports that a public one is asked by; a port of None is the listener's own, or 443."""
    proxies: tuple[Network, ...] = ()
    """Where a declared proxy is: nobody else is answered. Without any, the listener has a certificate."""
    direct: bool = False
    """Whether what another passed on is refused: the service is open to others, and this way is not."""
    certificate: Certificate | None = None
    """Its own TLS."""

    @property
    def scheme(self) -> str:
        """By which it is asked, at its own address."""
        return "https" if self.certificate is not None else "http"

    def answers_to(self, host: str, port: int, own_port: int | None) -> bool:
        """Whether a public listener is asked by this name."""
        return (host, port) in self.names or ((host, None) in self.names and port in (HTTPS_PORT, own_port))

    def trusts(self, peer: str) -> bool:
        """Whether an address is a declared proxy's."""
        found = address_of(peer)
        return found is not None and any(found in one for one in self.proxies)


OF_THIS_MACHINE: Final = Listener()


def listener_of(scope: Mapping[str, Any]) -> Listener:
    """By which listener a request came; of this machine where no server of ours tells."""
    found = scope.get("state", {}).get(LISTENER)
    return found if isinstance(found, Listener) else OF_THIS_MACHINE


def address_of(told: str) -> Address | None:
    """An address as it is written, an IPv4 one inside an IPv6 one as the former; None for what is none."""
    try:
        found = ip_address(told)
    except ValueError:
        return None
    if isinstance(found, IPv6Address) and found.ipv4_mapped is not None:
        return found.ipv4_mapped
    return found


def asked_from(peer: str, forwarded: list[str], listener: Listener) -> str:
    """The address that a request came from: the peer's, or behind a declared proxy the nearest one that is no proxy's.

    `forwarded`: the lines of X-Forwarded-For, which nobody else is believed.
    """
    nearest = peer
    if not listener.trusts(peer):
        return nearest
    for told in ",".join(forwarded).rsplit(",", MOST_HOPS)[::-1][:MOST_HOPS]:
        found = address_of(told.strip()[:64])
        if found is None:
            return nearest
        nearest = str(found)
        if not listener.trusts(nearest):
            return nearest
    return nearest
