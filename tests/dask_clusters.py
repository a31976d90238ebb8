"""Clusters of Dask, as the tests have them: on this machine, and silent."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from distributed import Client, LocalCluster


@contextmanager
def dask_client(workers: int = 1, *, threads: int = 1, processes: bool = False) -> Iterator[Any]:
    """Yield a client of a new cluster; its workers are threads of this process unless they are to be killed."""
    with (
        LocalCluster(
            n_workers=workers,
            threads_per_worker=threads,
            processes=processes,
            protocol="tcp",
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


def pids(client: Any) -> list[int]:
    """Return the process ids of the workers that are there."""
    return list(client.run(os.getpid).values())
