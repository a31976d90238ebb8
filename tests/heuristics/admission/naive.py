"""Second versions of the rules, without speed: everything is counted anew after each step.

They take instances with one pending gang that has one part, and no slices, and return the evicted gangs.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import inf

from gsopt.problems.admission import Admission, Running

_Gone = Iterable[Running]


def free(problem: Admission, gone: _Gone) -> list[int]:
    """Return the free GPUs of every machine without some gangs."""
    left = [amounts[0] for amounts in problem.free]
    for gang in gone:
        for part, machines in zip(gang.parts, gang.on, strict=True):
            for name, number in machines.items():
                left[problem.position[name]] += part.needs.gpu * number
    return left


def room(problem: Admission, gone: _Gone) -> dict[int, list[int]]:
    """Return how many workers fit on each machine, for each group with enough room for the pending gang."""
    (gang,) = problem.pending
    (part,) = gang.parts
    left, eligible = free(problem, gone), problem.eligible(part)
    found = {}
    for number, group in enumerate(problem.groups(gang)):
        copies = [left[each] // part.needs.gpu if each in eligible else 0 for each in group.machines]
        if sum(copies) >= part.count:
            found[number] = copies
    return found


def chosen(problem: Admission, gone: _Gone) -> set[str]:
    """Return the names of the machines of the pending gang."""
    (gang,) = problem.pending
    found = room(problem, gone)
    group = min(found, key=lambda group: (sum(found[group]), group))
    machines = problem.groups(gang)[group].machines
    left, names = gang.parts[0].count, set()
    for copies, machine in sorted(
        zip(found[group], machines, strict=True), key=lambda each: (-each[0], each[1])
    ):
        if left > 0:
            names.add(problem.cluster.machines[machine].name)
            left -= copies
    return names


def able(problem: Admission) -> list[Running]:
    """Return the gangs that may be evicted."""
    return [gang for gang in problem.running if problem.evictable(gang)]


def since(gang: Running) -> float:
    """Return when a gang started."""
    return inf if gang.started is None else gang.started


def machines(gang: Running) -> set[str]:
    """Return the names of the machines of a gang."""
    return {name for each in gang.on for name in each}


def kueue(
    problem: Admission, quotas: Mapping[str, int] | None = None, borrow_below: int | None = None
) -> set[str] | None:
    """Try with and without borrowing, in the order that the code says, for one flat cohort."""
    (pending,) = problem.pending
    cohort = _Cohort(problem, dict(quotas or {}))
    order = sorted(able(problem), key=lambda gang: (gang.priority, -since(gang)))
    others = [gang for gang in order if gang.queue != pending.queue and cohort.borrows(gang.queue, [])]
    order = others + [gang for gang in order if gang.queue == pending.queue]
    threshold = -inf if borrow_below is None else borrow_below
    below = cohort.used(pending.queue, []) < cohort.nominal.get(pending.queue, 0)
    if not others or (borrow_below is None and not below):
        attempts = [True]
    elif borrow_below is None and not cohort.entitled([]):
        attempts = [False, True]
    else:
        attempts = [True, False]
    for borrow in attempts:
        gone: list[Running] = []
        for gang in order:
            if gang.queue != pending.queue:
                if borrow and not cohort.entitled([]) and gang.priority > threshold:
                    continue
                if not cohort.borrows(gang.queue, gone):
                    continue
            gone.append(gang)
            if cohort.fits(gone, borrow=borrow):
                for each in gone[-2::-1]:
                    rest = [other for other in gone if other is not each]
                    gone = rest if cohort.fits(rest, borrow=borrow) else gone
                return {each.name for each in gone}
    return None


class _Cohort:
    """Quotas and usage of queues without some gangs."""

    def __init__(self, problem: Admission, nominal: dict[str, int]) -> None:
        self._problem, self.nominal = problem, nominal

    def used(self, queue: str, gone: list[Running]) -> int:
        here = (gang for gang in self._problem.running if gang.queue == queue and gang not in gone)
        return sum(gang.gpus for gang in here)

    def borrows(self, queue: str, gone: list[Running]) -> bool:
        return self.used(queue, gone) > self.nominal.get(queue, 0)

    def entitled(self, gone: list[Running]) -> bool:
        (pending,) = self._problem.pending
        return self.used(pending.queue, gone) + pending.gpus <= self.nominal.get(pending.queue, 0)

    def fits(self, gone: list[Running], *, borrow: bool) -> bool:
        return (borrow or self.entitled(gone)) and bool(room(self._problem, gone))


def kueue_fair(
    problem: Admission, quotas: Mapping[str, int] | None = None, weights: Mapping[str, float] | None = None
) -> set[str] | None:
    """Take gangs from the queue with the largest share, first by one rule and then by the other."""
    (pending,) = problem.pending
    own, cohort = pending.queue, _Cohort(problem, dict(quotas or {}))

    def share(queue: str, gone: list[Running]) -> Fraction:
        used = cohort.used(queue, gone) + (pending.gpus if queue == own else 0)
        beyond = max(used - cohort.nominal.get(queue, 0), 0)
        return beyond / Fraction(str((weights or {}).get(queue, 1)))

    def largest(waiting: list[Running], gone: list[Running]) -> str | None:
        queues = {gang.queue for gang in waiting if gang.queue == own or cohort.borrows(gang.queue, gone)}
        best = max((share(queue, gone) for queue in queues), default=None)
        heads = [
            next(gang for gang in waiting if gang.queue == queue)
            for queue in queues
            if share(queue, gone) == best
        ]
        heads.sort(key=waiting.index)
        heads.sort(key=lambda gang: (gang.queue == own, gang.priority, -since(gang)))
        return heads[0].queue if heads else None

    waiting = [gang for gang in able(problem) if gang.queue == own or cohort.borrows(gang.queue, [])]
    waiting.sort(key=lambda gang: (gang.priority, -since(gang)))
    gone: list[Running] = []
    spared: list[Running] = []
    while not room(problem, gone) and (queue := largest(waiting, gone)) is not None:
        waiting = [gang for gang in waiting if gang.queue == own or cohort.borrows(gang.queue, gone)]
        for gang in [gang for gang in waiting if gang.queue == queue]:
            waiting.remove(gang)
            free_choice = queue == own or cohort.entitled([])
            if free_choice or share(own, gone) <= share(queue, [*gone, gang]):
                gone.append(gang)
                break
            spared.append(gang)
    while not room(problem, gone) and (queue := largest(spared, gone)) is not None:
        first = next(gang for gang in spared if gang.queue == queue)
        spared = [gang for gang in spared if gang.queue != queue]
        if share(own, gone) < share(queue, gone):
            gone.append(first)
    if not room(problem, gone):
        return None
    for each in gone[-2::-1]:
        rest = [other for other in gone if other is not each]
        gone = rest if room(problem, rest) else gone
    return {gang.name for gang in gone}


def workload_aware(problem: Admission) -> set[str] | None:
    """Stop everything, then resume the most important."""
    gone = able(problem)
    if not room(problem, gone):
        return None

    def importance(gang: Running) -> tuple[float, ...]:
        workers = sum(part.count for part in gang.parts)
        return -gang.priority, workers == 1, -workers, since(gang)

    for gang in sorted(gone, key=importance):
        rest = [each for each in gone if each is not gang]
        if room(problem, rest):
            gone = rest
    return {gang.name for gang in gone}


def slurm(
    problem: Admission, *, youngest: bool = False, strict: bool = False, count: int = 1
) -> set[str] | None:
    """Stop candidates until there is room, and change their order after each success."""
    order = able(problem)
    if youngest:
        order.sort(key=lambda gang: -since(gang))
    else:
        order.sort(key=lambda gang: (gang.priority, len(machines(gang))))
    passes = 0
    while True:
        for last in range(len(order)):
            if room(problem, order[: last + 1]):
                break
        else:
            return None
        gone = order[: last + 1]
        names = chosen(problem, gone)
        passes += 1
        if passes - 1 > count or len(order) <= passes:
            return {gang.name for gang in gone if machines(gang) & names}
        if strict:
            order.insert(0, order.pop(last))
        else:
            weight = [len(machines(gang) & names) for gang in gone[:-1]] + [99999]
            weight += [0] * (len(order) - len(weight))
            ranked = sorted(range(len(order)), key=lambda each: -weight[each])
            order = [order[each] for each in ranked]


def volcano(problem: Admission, most: int = 8) -> set[str] | None:
    """Try longer and longer beginnings of the victims of each domain."""
    (pending,) = problem.pending
    queue = [gang for gang in able(problem) if gang.queue == pending.queue]
    tried = 0
    for number, group in enumerate(problem.groups(pending)):
        if sum(problem.rooms[each][0] for each in group.machines) < pending.gpus:
            continue
        tried += 1
        if tried > most:
            return None
        names = {problem.cluster.machines[each].name for each in group.machines}
        gone: list[Running] = []
        while here := [gang for gang in queue if machines(gang) & names and gang not in gone]:
            lowest = [gang for gang in here if gang.priority == min(each.priority for each in here)]
            latest = [gang for gang in lowest if since(gang) == max(map(since, lowest))]
            parts = [Fraction(min(_within(gang, names), pending.gpus), gang.gpus) for gang in latest]
            gone.append(latest[parts.index(max(parts))])
            if number in room(problem, gone):
                return {each.name for each in gone}
    return None


def _within(gang: Running, names: set[str]) -> int:
    """Return how many GPUs of a gang are on the machines with some names."""
    return sum(
        part.needs.gpu * number
        for part, on in zip(gang.parts, gang.on, strict=True)
        for name, number in on.items()
        if name in names
    )


def kube_scheduler(problem: Admission) -> set[str] | None:
    """Place worker after worker, and judge all machines anew for each."""
    (pending,) = problem.pending
    (part,) = pending.parts
    need, eligible = part.needs.gpu, problem.eligible(part)
    groups = problem.groups(pending)
    allowed = [each for group in room(problem, able(problem)) for each in groups[group].machines]
    gone: list[Running] = []
    taken = [0] * len(problem.free)
    for _ in range(part.count):
        left = [has - used for has, used in zip(free(problem, gone), taken, strict=True)]
        best: tuple[tuple[float, ...], int, list[Running]] | None = None
        for machine in allowed:
            if machine not in eligible:
                continue
            victims = _victims(problem, machine, left[machine], need, gone)
            if victims is None:
                continue
            if victims:
                top = max(gang.priority for gang in victims)
                earliest = min(since(gang) for gang in victims if gang.priority == top)
                total = sum(gang.priority + 2**31 for gang in victims)
                score: tuple[float, ...] = (1, top, total, len(victims), -earliest)
            else:
                score = (0, -left[machine])
            if best is None or (score, machine) < best[:2]:
                best = score, machine, victims
        if best is None:
            return None
        taken[best[1]] += need
        gone += [gang for gang in able(problem) if gang in best[2]]
        allowed = next(list(group.machines) for group in groups if best[1] in group.machines)
    return {gang.name for gang in gone}


def _victims(
    problem: Admission, machine: int, left: int, need: int, gone: list[Running]
) -> list[Running] | None:
    """Return the gang of each worker that leaves a machine, or None if the pending worker does not fit."""
    name = problem.cluster.machines[machine].name
    pods = [
        (gang, part.needs.gpu)
        for gang in able(problem)
        if gang not in gone
        for part, on in zip(gang.parts, gang.on, strict=True)
        for _ in range(on.get(name, 0))
    ]
    left += sum(gpus for _, gpus in pods)
    if left < need:
        return None
    victims = []
    for gang, gpus in sorted(pods, key=lambda pod: (-pod[0].priority, since(pod[0]))):
        if left - gpus >= need:
            left -= gpus
        else:
            victims.append(gang)
    return victims
