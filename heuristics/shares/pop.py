"""POP: a heuristic that randomly partitions the jobs, divides the GPUs, and solves each part separately."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import heapify, heappop, heappush

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.errors import number_of, require
from gsopt.core.method import MethodLike, NoSolution, heuristic
from gsopt.core.numbers.grid import decimal
from gsopt.core.problem import Sense
from gsopt.evaluation.catalogue import find_method
from gsopt.problems.shares import Shares, TimeShares, TypedJob
from gsopt.scenario.job import LEAST
from heuristics.common.partition import check_partition, dealt, divided, solutions

#: Criteria in which the terms of a job's pieces add up to the term of the job. The others depend on the number
#: of jobs.
_DIVISIBLE = ("max_min", "makespan", "max_sum")

#: Largest number of pieces of a job that is larger than its part. A job needs at most one piece per GPU.
_MOST_PIECES = 64


@heuristic
def pop(
    problem: Shares,
    *,
    parts: int = 2,
    seed: int = 0,
    even: bool = True,
    split: float = 0.0,
    solver: MethodLike | str = "exact",
    budget: Budget = UNLIMITED,
) -> TimeShares | NoSolution:
    """Distribute the jobs over parts at random, divide the GPUs evenly, and solve each part separately.

    Each part gets the number of GPUs of each type divided by the number of parts, rounded down. The remaining
    GPUs stay idle. Reference values of a criterion, such as isolated shares, are those of the part.

    A part stands for a share of the time of all GPUs. A job that needs more GPUs of a type than its part has is
    therefore replaced by equal pieces that fit, at most 64. If that is impossible, or if the criterion is
    `fifo` or `finish_time`, the job runs only on types of which its part has enough GPUs. A job that does not
    run in its part gets no time. If the criterion minimizes times, there is then no solution.

    Complexity for k parts: k times that of `solver` on problems with 1/k of the jobs (or pieces) and GPUs.

    Parameters
    ----------
    problem
        The problem.
    parts
        Number of parts.
    seed
        Seed of the partition, which depends on the positions of the jobs, not on their names.
    even
        Whether the parts' numbers of jobs (or pieces created by `split`) differ by at most one, as in the
        paper's Figure 2. Otherwise, the part of each job is drawn independently, as in the authors' program.
    split
        Client splitting: number of additional pieces, as a share of the number of jobs, between 0 and 1. To
        create each piece, the largest job or piece with an even number of GPUs is halved. With `even`, a job's
        pieces go to as many parts as possible. Must be 0 for `fifo` and `finish_time`.
    solver
        The method that solves each part, or its name.
    budget
        Time limit. Each part may use an equal share of the remaining time.

    Raises
    ------
    InvalidInput
        The number of parts or the seed is invalid, `split` is out of range or not supported by the criterion,
        or there is no such method.

    Notes
    -----
    Source: POP (SOSP 2021), section 3. The rounding of GPUs, the treatment of jobs larger than their part, and
    the order of splits are those of the authors' program.

    Departure: the authors' program splits network demands; here, jobs are split.

    Examples
    --------
    >>> from formulations.shares import exact
    >>> from instances.shares import typed_jobs
    >>> problem = typed_jobs(jobs=64, gpus=8, seed=1)
    >>> round(float(pop(problem, parts=2).objective / exact(problem).objective), 3)
    0.965
    """
    check_partition(parts, seed)
    require(0 <= number_of(split) <= 1, "split", split, "must be between 0 and 1")
    is_split = not split or problem.criterion in _DIVISIBLE
    require(
        is_split, "split", split, f"must be 0 for {problem.criterion}, whose terms depend on the number of jobs"
    )
    method = find_method(problem.word, solver, field="solver")
    gpus = {kind: count for kind, count in divided(problem.gpus, parts).items() if count}
    hands = dealt(_split(problem, split), parts, seed, even=even)
    hands = [[each for piece in hand for each in _fitting(problem, piece, gpus)] for hand in hands]
    hands = [hand for hand in hands if hand]
    problems = (_part(problem, hand, gpus) for hand in hands)
    given: dict[str, dict[str, Fraction]] = {job.name: {} for job in problem.jobs}
    for hand, solution in zip(hands, solutions(problems, method, budget), strict=True):
        for number, piece in enumerate(hand):
            for kind, share in ({} if solution is None else solution.shares.get(str(number), {})).items():
                own = given[piece.job.name]
                own[kind] = own.get(kind, Fraction(0)) + piece.size * Fraction(decimal(share))
    shares = problem.fitted(given)
    if problem.sense is Sense.MINIMIZE and not all(any(own.values()) for own in shares.shares.values()):
        return NoSolution("jobs that do not run in their part would never end")
    return shares


@dataclass(frozen=True)
class _Piece:
    """A piece of a job that has a fraction of its GPUs and counts as a separate job."""

    job: TypedJob
    size: Fraction = Fraction(1)

    @property
    def gpus(self) -> int:
        """Number of GPUs of the piece."""
        return int(self.job.gpus * self.size)

    def divided(self, count: int) -> list["_Piece"]:
        """Return the given number of equal pieces into which the piece is divided."""
        return [_Piece(self.job, self.size / count)] * count

    def as_job(self, name: str, kinds: Sequence[str]) -> TypedJob:
        """Return a job that stands for the piece and runs only on the given types.

        Its shares are shares of the piece's time. If each piece of a job reaches a level, the job reaches it,
        too.
        """
        return TypedJob(
            name=name,
            gpus=self.gpus,
            throughputs={kind: self._of(self.job.throughputs[kind]) for kind in kinds},
            steps=self._of(self.job.steps),
            weight=self._of(self.job.weight),
            age=self.job.age,
            isolated=self.job.isolated,
        )

    def _of(self, number: float) -> float:
        return number if self.size == 1 else max(float(decimal(number) * self.size), LEAST)


def _split(problem: Shares, split: float) -> list[list[_Piece]]:
    """Return the pieces of each job after repeatedly halving the largest piece with an even number of GPUs."""
    pieces: list[list[_Piece]] = [[_Piece(job)] for job in problem.jobs]
    even = [(-job.gpus, place) for place, job in enumerate(problem.jobs) if job.gpus % 2 == 0]
    heapify(even)
    for _ in range(round(split * len(problem.jobs))):
        if not even:
            break
        largest, place = heappop(even)
        halved = next(each for each in pieces[place] if each.gpus == -largest)
        pieces[place].remove(halved)
        pieces[place] += halved.divided(2)
        if largest // 2 % 2 == 0:
            heappush(even, (largest // 2, place))
            heappush(even, (largest // 2, place))
    return pieces


def _fitting(problem: Shares, piece: _Piece, gpus: Mapping[str, int]) -> Iterator[_Piece]:
    """Yield the piece if it can run on the GPUs of a part, else equal pieces that can, else nothing."""
    counts = [gpus[kind] for kind in problem.rates[piece.job.name] if kind in gpus]
    if not counts:
        return
    needed = _fewest(piece.gpus, min(counts))
    if problem.criterion in _DIVISIBLE and needed <= _MOST_PIECES:
        yield from piece.divided(needed)
    elif piece.gpus <= max(counts):
        yield piece


def _fewest(gpus: int, most: int) -> int:
    """Return the minimum number of equal pieces into which `gpus` GPUs split with at most `most` GPUs each."""
    return next(count for count in range(-(-gpus // most), gpus + 1) if gpus % count == 0)


def _part(problem: Shares, pieces: Sequence[_Piece], gpus: Mapping[str, int]) -> Shares:
    """Return the problem of a part, in which jobs are named by their positions."""
    jobs = [
        piece.as_job(str(number), [kind for kind in problem.rates[piece.job.name] if kind in gpus])
        for number, piece in enumerate(pieces)
    ]
    return Shares(gpus=gpus, jobs=jobs, criterion=problem.criterion)
