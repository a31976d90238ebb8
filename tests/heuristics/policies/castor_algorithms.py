"""Algorithms 1 and 2 of Castor, line by line as they are read here, without memory of what was refused."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from gsopt.simulation import Action, Decider, Start, State


class _Algorithm1:
    """Algorithm 1: all waiting jobs, all running ones and all GPUs are looked at at every event."""

    preemptive = False

    def __init__(self) -> None:
        self._pending: list[int] = []

    def decide(self, state: State) -> Iterable[Action]:
        """Go through the pending jobs by remaining time."""
        self._pending += [*state.evicted, *state.arrived]
        for job in sorted(self._pending, key=lambda job: (state.remaining(job), job)):
            item = state.jobs[job]
            if state.fits(job):  # lines 6 and 7
                start: Start | None = Start(job, state.offer(job))
            else:
                start = beside(state, job, item.gpus)
            if start is not None:
                self._pending.remove(job)
                yield start


def beside(state: State, job: int, need: int) -> Start | None:
    """Lines 9 to 18: shared GPUs by the mean of the pair, then free ones."""
    cluster, kind = state.cluster, state.jobs[job].gpu_type
    types = [cluster.machines[machine].gpu_type for machine in cluster.machine_of]
    right = [gpu for gpu in range(cluster.gpus) if kind in ("", types[gpu])]
    smallest = min((state.jobs[job].memory_in(mode) or 0) for mode in _modes(state, job))
    free = [gpu for gpu in state.free_gpus() if gpu in right and (state.memory(gpu) or 0) >= smallest]
    alone = {gpu: state.users(gpu)[0] for gpu in right if len(state.users(gpu)) == 1}
    share = []
    for partner in sorted(set(alone.values())):
        gpus = [gpu for gpu in alone if alone[gpu] == partner]
        found = algorithm_2(state, job, partner, gpus)
        if found is not None:
            share.append((found[0], partner, found[1], gpus))
    shared: list[int] = []
    steps = []
    for _, _, mode, gpus in sorted(share):
        if len(shared) < need:
            shared += gpus[: need - len(shared)]
            steps.append(_steps(state, job, mode))
    machine_of = cluster.machine_of
    own = {machine_of[gpu] for gpu in shared}
    count = [sum(machine_of[other] == machine_of[gpu] for other in free) for gpu in free]
    order = sorted((machine_of[gpu] not in own, -count[at], gpu) for at, gpu in enumerate(free))
    gpus = shared + [gpu for _, _, gpu in order[: need - len(shared)]]
    if not shared or len(gpus) < need:
        return None
    for mode in _modes(state, job):
        if _steps(state, job, mode) >= max(steps) and _fits(state, job, mode, gpus):
            return Start(job, tuple(sorted(gpus)), mode)
    return None


def algorithm_2(state: State, job: int, partner: int, gpus: list[int]) -> tuple[Any, str] | None:
    """Return the mean of the pair and the mode, from the whole batch down; None where waiting is better."""
    item = state.jobs[job]
    tier = state.tier(gpus[: item.gpus])
    speed = state.rate(partner, state.placement(partner), state.mode(partner))
    p_a = state.remaining(partner) / speed
    xi_a = state.rate(partner, state.jobs[partner].gpus) / state.rate(
        partner, state.jobs[partner].gpus, beside=[job]
    )
    xi_b = state.rate(job, item.gpus) / state.rate(job, item.gpus, beside=[partner])
    best: tuple[Any, str] | None = None
    whole = state.remaining(job) / state.rate(job, item.gpus, tier=tier)
    for mode in _modes(state, job):
        if not _fits(state, job, mode, gpus):
            continue
        p_b = state.remaining(job) / state.rate(job, item.gpus, mode, tier=tier)
        if xi_a * p_a >= xi_b * p_b:
            shared = 2 * xi_b * p_b + p_a - xi_b * p_b / xi_a
        else:
            shared = 2 * xi_a * p_a + p_b - xi_a * p_a / xi_b
        if shared <= 2 * p_a + whole and (best is None or shared / 2 < best[0]):
            best = shared / Fraction(2), mode
    return best


def _modes(state: State, job: int) -> list[str]:
    names = ["", *(mode.name for mode in state.jobs[job].modes)]
    return sorted(names, key=lambda mode: _steps(state, job, mode))


def _steps(state: State, job: int, mode: str) -> int:
    return next((each.steps for each in state.jobs[job].modes if each.name == mode), 1)


def _fits(state: State, job: int, mode: str, gpus: list[int]) -> bool:
    need = state.jobs[job].memory_in(mode)
    left = [memory for gpu in gpus if (memory := state.memory(gpu)) is not None]
    return need is None or not left or need <= min(left)


def literal(state: State) -> Decider:
    """Make a decider of Algorithm 1."""
    del state
    return _Algorithm1()
