"""Best fit: eight-GPU servers on which workers are placed one by one."""

from collections.abc import Iterable, Mapping


class BestFit:
    """Equal servers, on which every worker is placed where it leaves the fewest GPUs free.

    Ties go to the server with the lowest index. `free` holds the number of free GPUs on each server, and
    `free_gpus` is the sum of these numbers.
    """

    def __init__(self, servers: int, gpus: int = 8) -> None:
        self.free = [gpus] * servers
        self.free_gpus = gpus * servers
        # Bit s of entry g is set when server s has exactly g free GPUs: finding the lowest server with g free
        # GPUs is then one operation on an integer, for hundreds of servers as fast as for one.
        self._with_free = [0] * gpus + [(1 << servers) - 1]

    def place(self, workers: Iterable[int]) -> dict[int, int] | None:
        """Place workers, given their GPUs; return the GPUs used on each server, or None if not all fit."""
        placement: dict[int, int] = {}
        for gpus in workers:
            server = self._best(gpus)
            if server is None:
                self.release(placement)
                return None
            self._use(server, gpus)
            placement[server] = placement.get(server, 0) + gpus
        return placement

    def release(self, placement: Mapping[int, int]) -> None:
        """Free the GPUs of a placement."""
        for server, gpus in placement.items():
            self._use(server, -gpus)

    def _best(self, gpus: int) -> int | None:
        for servers in self._with_free[gpus:]:
            if servers:
                return (servers & -servers).bit_length() - 1
        return None

    def _use(self, server: int, gpus: int) -> None:
        free = self.free[server]
        self._with_free[free] ^= 1 << server
        self._with_free[free - gpus] ^= 1 << server
        self.free[server] = free - gpus
        self.free_gpus -= gpus
