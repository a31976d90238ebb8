"""Adapting: a decider that divides the GPUs of all nodes among all jobs by a rule, at every interval."""

from collections import Counter
from collections.abc import Callable, Iterable

from gsopt.core.errors import InvalidInput
from gsopt.problems.goodput import Goodput, GoodputJob, GoodputSolution
from gsopt.simulation.parts.instants import Instants
from gsopt.simulation.policy import Action, Assign, State, Wake
from heuristics.policies.pollux.nodes import Nodes
from heuristics.policies.pollux.outlook import Caps, JobOutlook

#: A rule that divides the GPUs by solving the problem.
Divide = Callable[[Goodput], GoodputSolution]


class Adapting:
    """A decider that solves `gsopt.problems.goodput.Goodput` for all present jobs at every interval.

    Jobs are listed in ascending order of attained GPU time. No job starts between decisions.

    GPUs of several kinds are rejected, unless the decider is `blind` to kinds. In that case, it divides them as
    if they were alike, a larger machine counts as several nodes of the smallest machine's size, and each job
    keeps GPUs of only one type.

    Raises
    ------
    InvalidInput
        The interval is not a valid number of seconds, or GPUs are of several kinds.
    """

    preemptive = True

    def __init__(
        self,
        state: State,
        divide: Divide,
        *,
        interval: float,
        caps: Caps,
        power: int,
        restart_time: float,
        blind: bool = False,
    ) -> None:
        machines = state.cluster.machines
        kinds = {(machine.gpu_type, machine.memory) for machine in machines}
        self._is_blind = blind and len(kinds) > 1
        self._most = min(machine.gpus for machine in machines) if self._is_blind else None
        if len(kinds) > 1 and not blind:
            rule = "must be alike: this policy divides GPUs of one kind"
            raise InvalidInput("cluster", f"GPUs of {len(kinds)} kinds", rule)
        self._divide, self._caps = divide, caps
        self._instants = Instants(interval)
        self._power, self._restart_time = power, restart_time
        self._there: dict[int, JobOutlook] = {}
        self._starts = Counter[int]()  # how often each job was given GPUs

    def decide(self, state: State) -> Iterable[Action]:
        """Divide the GPUs if a decision is due, and ask to be woken for the next one."""
        for job in state.completed:
            del self._there[job]
            self._starts.pop(job, None)
        self._there |= {job: JobOutlook(state, job, self._caps) for job in state.arrived}
        is_time = self._instants.reached(state.now)
        if not self._there:
            return
        if is_time:
            yield from self._divided(state)
        yield Wake(self._instants.ask(state.now))

    def _divided(self, state: State) -> Iterable[Action]:
        """Divide the available GPUs, if there are any, and assign them."""
        nodes = Nodes(state, self._most)
        if not nodes.sizes:
            return
        before = {job: nodes.vector(state, job) for job in self._there}
        numbers = sorted(self._there, key=lambda job: (state.service(job), state.jobs[job].release_date, job))
        problem = Goodput(
            nodes=nodes.sizes,
            jobs=[self._job(state, nodes, job, before[job]) for job in numbers],
            power=self._power,
            restart_time=self._restart_time,
        )
        gpus = self._divide(problem).gpus
        divided = {job: tuple(gpus.get(state.jobs[job].name, ())) for job in numbers}
        if self._is_blind:
            divided = {job: nodes.of_one_type(vector) for job, vector in divided.items()}
        wanted = {job: self._there[job].within(vector) for job, vector in divided.items()}
        if wanted == before:
            return
        for job, vector in wanted.items():
            if vector and vector != before[job]:
                self._starts[job] += 1
                self._there[job].note(sum(vector))
        places = nodes.places(state, {job: vector for job, vector in wanted.items() if vector})
        modes = {job: self._there[job].mode(sum(wanted[job])) for job in places}
        yield Assign({job: (allocation, modes[job]) for job, allocation in places.items()})

    def _job(self, state: State, nodes: Nodes, job: int, vector: tuple[int, ...]) -> GoodputJob:
        item, outlook = state.jobs[job], self._there[job]
        fair = -(-sum(nodes.sizes) // len(self._there))
        return GoodputJob(
            name=item.name,
            speedups=outlook.speedups(state, nodes, fair),
            current=vector,
            age=float(state.now - type(state.now)(item.release_date)),
            restarts=max(self._starts[job] - 1, 0),
            max_gpus=outlook.most(state),
        )
