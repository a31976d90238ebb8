"""The integer program of the options that are left."""

import numpy as np

from formulations.goodput.case import Case
from formulations.goodput.packing import pack
from formulations.goodput.reduced import Reduced
from gsopt.budget import Budget
from gsopt.scaling import optimize
from tests.effort import cases
from tests.exactness import goodput as oracle
from tests.strategies.goodput import tiny


def test_all_options_have_the_optimum() -> None:
    """With every option left the program is exact by itself: its optimum is that of the oracle."""
    for seed in range(cases(100)):
        problem = tiny(seed)
        case = Case.of(problem)
        if not problem.jobs:
            continue
        reduced, best = Reduced(case, case.options), oracle.optimum(problem)
        costs = reduced.costs(float(best) * len(problem.jobs))
        proof = optimize(reduced.form, Budget(), costs=costs, offset=reduced.paid)
        assert proof.values is not None
        solution = case.solution(reduced.vectors(proof.values))
        assert problem.violations(solution) == [], seed
        assert abs(problem.objective(solution) - best) <= problem.resolution(best), seed


def test_packed_options_are_a_point_of_the_program() -> None:
    """What is packed keeps to every row, and is read from its point as it was."""
    for seed in range(40):
        case = Case.of(tiny(seed))
        packing = pack(case, [options[-1] for options in case.options])
        reduced = Reduced(case, case.options)
        point = reduced.point(packing.chosen, packing.vectors)
        assert reduced.form.violation(point) == 0, seed
        found = reduced.vectors(np.asarray(point))
        assert [sorted(vector) for vector in found] == [sorted(vector) for vector in packing.vectors], seed
