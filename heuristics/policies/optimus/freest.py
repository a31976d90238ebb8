"""Freest: whose number of GPUs stays keeps its GPUs, all others go to the machines with the most free ones."""

from collections.abc import Mapping

from gsopt.simulation.placer import FreeGpus, emptiest_first
from gsopt.simulation.policy import State


def freest(state: State, counts: Mapping[int, int]) -> dict[int, tuple[int, ...]]:
    """Name the GPUs of jobs from their numbers, in a cluster of racks.

    A running job whose number stays keeps its GPUs; one whose number changes gives all of its own back. Then
    jobs are placed from the fewest GPUs up, the lower number first where they have as many: each takes the
    machine with the most free GPUs, then the next one, until it has its number. Ties go to the lower machine.

    Source: the placement of Optimus in Pollux' simulator (OSDI 2021).
    """
    cluster, running = state.cluster, state.running
    placed = {job: state.placement(job) for job, count in counts.items() if running.get(job) == count}
    given_back = [gpu for job in running if job not in placed for gpu in state.placement(job)]
    free: list[list[int]] = [[] for _ in cluster.machines]
    for gpu in sorted([*state.free_gpus(), *given_back]):
        free[cluster.machine_of[gpu]].append(gpu)
    books = FreeGpus(cluster, range(len(free)), free)
    for job in sorted(counts.keys() - placed.keys(), key=lambda job: (counts[job], job)):
        placed[job] = emptiest_first(books, counts[job])
        for gpu in placed[job]:
            machine = cluster.machine_of[gpu]
            before = len(free[machine])
            free[machine].remove(gpu)
            books.recount(machine, before, before - 1)
    return placed
