"""Sockets that processes listen at."""

from collections.abc import Iterable, Iterator
from pathlib import Path

#: The address that only this machine reaches, as the system writes it.
LOCALHOST = "0100007F"

_LISTENING = "0A"


def listening(pids: Iterable[int]) -> set[str]:
    """List the addresses, in the system's hexadecimal digits, at which any of some processes listens."""
    owned = {socket for pid in pids for socket in _sockets(pid)}
    return {address for socket, address in _listeners() if socket in owned}


def _sockets(pid: int) -> Iterator[str]:
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        try:
            target = str(descriptor.readlink())
        except OSError:  # closed meanwhile
            continue
        if target.startswith("socket:["):
            yield target[len("socket:[") : -1]


def _listeners() -> Iterator[tuple[str, str]]:
    for kind in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{kind}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == _LISTENING:
                yield fields[9], fields[1]
