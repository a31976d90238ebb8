"""Exact: the knapsack packed onto nodes, followed by an integer program over the remaining options."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from formulations.common.best import Best
from formulations.goodput.beginning import begin, mean
from formulations.goodput.case import GoodputCase, GoodputOption
from formulations.goodput.counting import Counting
from formulations.goodput.packing import NodePacking, pack
from formulations.goodput.patterned import Patterned
from formulations.goodput.program import OptionProgram
from formulations.goodput.reduced import ReducedOptions
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.core.method import exact_method
from gsopt.core.numbers.grid import Number
from gsopt.core.result import Result, StoppedBy
from gsopt.problems.goodput import Goodput, GoodputSolution
from gsopt.solvers.scaling import optimize


@exact_method()
def exact(problem: Goodput, budget: Budget) -> Result[GoodputSolution]:
    """Try the following techniques until one proves optimality; the message then names it.

    1. The current allocation of GPUs, and a bound that ignores contention.
    2. A knapsack that decides how many GPUs each job gets, and limits only their total number, not the number
       on each node. It yields a bound and GPU counts. These are packed onto the nodes, and the packing is
       improved. If the knapsack's tables would be too large, the result of step 1 is returned.
    3. An integer program over the options of each job: no GPUs, its current ones, or other numbers of nodes and
       GPUs. An option is left out if the knapsack shows that every solution with it is worse than the best one
       found.

    If the solution is optimal, its value and the bound differ by at most
    `gsopt.problems.goodput.Goodput.resolution`.

    Source
    ------
    Pollux (OSDI 2021), section 4.2, which uses a genetic algorithm.

    Parameters
    ----------
    problem
        The problem.
    budget
        Time limit, gap, backend, start, callback and log.

    Examples
    --------
    >>> from instances.goodput import running_jobs
    >>> result = exact(running_jobs(nodes=4, jobs=6, seed=1))
    >>> result.status, result.message
    (<Status.OPTIMAL: 'optimal'>, 'packed counts')
    """
    case = GoodputCase.of(problem)
    best: Best[Goodput, GoodputSolution] = Best(problem, budget, "exact")
    begin(case, best)
    if best.finished:
        return best.result(best.finished, message="current GPUs")
    try:
        counting = Counting.of(case)
    except Unsupported as reason:
        return best.result(StoppedBy.FINISHED, message=f"current GPUs; {reason}")
    best.raise_bound(mean(case, counting.least))
    packing = _packed(case, counting, best)
    if best.finished:
        return best.result(best.finished, message="packed counts")
    return _proven(case, counting, best, packing)


def _packed(case: GoodputCase, counting: Counting, best: Best[Goodput, GoodputSolution]) -> NodePacking:
    """Pack the knapsack's choice onto nodes, and improve the packing until it is optimal or no move helps."""
    orders = [sorted(options, key=lambda option: option.cost) for options in case.options]
    choice, budget = counting.choice(), best.budget
    packing = pack(case, choice)
    packing.improve(orders, budget)
    best.take(case.solution(packing.vectors))
    if not best.finished:
        packing.exchange([job for job, option in enumerate(choice) if option.gpus], orders, budget)
        packing.improve(orders, budget)
        best.take(case.solution(packing.vectors))
    return packing


def _proven(
    case: GoodputCase, counting: Counting, best: Best[Goodput, GoodputSolution], packing: NodePacking
) -> Result[GoodputSolution]:
    """Solve the integer program over the options that solutions at least as good as the best one may use."""
    jobs = len(case.options)
    alive = counting.alive(float(best.known_value) * jobs, best.budget)
    if best.finished:
        return best.result(best.finished, message="packed counts")
    program = _program(case, alive)

    def hear(point: NDArray[np.float64], bound: Number | None) -> bool:
        del bound
        best.take(case.solution(program.vectors(point)))
        return best.asked_to_stop

    known = best.solution == case.solution(packing.vectors)  # else its options may be ruled out
    proof = optimize(
        program.form,
        best.budget,
        costs=program.costs(float(best.bound) * jobs),
        offset=program.paid,
        start=program.point(packing.chosen, packing.vectors) if known else None,
        on_point=None if best.budget.on_incumbent is None else hear,
    )
    if proof.values is not None:
        best.take(case.solution(program.vectors(proof.values)))
    if proof.bound is not None:
        best.raise_bound(mean(case, float(proof.bound)), of_better=True)
    stopped_by = StoppedBy.INTERRUPT if best.asked_to_stop else proof.stopped_by
    return best.result(stopped_by, solver=proof.solver, message="integer program")


def _program(case: GoodputCase, alive: Sequence[Sequence[GoodputOption]]) -> OptionProgram:
    """Return the program with patterns, or the reduced one if nodes have too many patterns."""
    patterned = Patterned(case, alive)
    return patterned if patterned.is_small else ReducedOptions(case, alive)
