"""Random jobs with deadlines for the tests of guarantees."""

from random import Random

from heuristics.policies.elasticflow.profile import Request

LENGTH = 60.0


def drawn(random: Random, most: int = 8, gpus: int = 8) -> list[Request]:
    """Draw jobs whose deadlines are somewhat later than they need alone, on levels that are powers of 2."""
    requests = []
    for number in range(random.randint(1, most)):
        levels = (1, 2, 4, 8)[: random.randint(1, gpus.bit_length())]
        speeds = tuple(level ** random.choice([0.5, 0.75, 0.9]) for level in levels)
        speeds = tuple(sorted(speeds))
        slots = random.randint(1, 40)
        work = random.uniform(0.2, 0.9) * slots * LENGTH * speeds[-1] * random.choice([0.3, 1.0])
        if len(set(speeds)) == len(speeds):
            requests.append(Request(number, work, levels, speeds, slots))
    return requests
