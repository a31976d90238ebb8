"""The integer programs of the options that are left."""

import numpy as np
import pytest

from formulations.goodput.case import Case
from formulations.goodput.packing import pack
from formulations.goodput.patterned import Patterned
from formulations.goodput.program import OptionProgram
from formulations.goodput.reduced import Reduced
from gsopt.core.budget import Budget
from gsopt.solvers.scaling import optimize
from tests.effort import cases
from tests.exactness import goodput as oracle
from tests.strategies.goodput import tiny

every_program = pytest.mark.parametrize("program", [Patterned, Reduced])


@every_program
def test_all_options_have_the_optimum(program: type[OptionProgram]) -> None:
    """With every option left each program is exact by itself: its optimum is that of the oracle."""
    for seed in range(cases(100)):
        problem = tiny(seed)
        case = Case.of(problem)
        if not problem.jobs:
            continue
        model, best = program(case, case.options), oracle.optimum(problem)
        costs = model.costs(float(best) * len(problem.jobs))
        proof = optimize(model.form, Budget(), costs=costs, offset=model.paid)
        assert proof.values is not None
        solution = case.solution(model.vectors(proof.values))
        assert problem.violations(solution) == [], seed
        assert abs(problem.objective(solution) - best) <= problem.resolution(best), seed


@every_program
def test_packed_options_are_a_point_of_the_program(program: type[OptionProgram]) -> None:
    """What is packed keeps to every row, and is read from its point with as many GPUs on as many nodes."""
    for seed in range(40):
        case = Case.of(tiny(seed))
        packing = pack(case, [options[-1] for options in case.options])
        model = program(case, case.options)
        point = model.point(packing.chosen, packing.vectors)
        assert model.form.violation(point) == 0, seed
        found = model.vectors(np.asarray(point))
        for vector, packed in zip(found, packing.vectors, strict=True):
            assert (sum(vector), np.count_nonzero(vector)) == (sum(packed), np.count_nonzero(packed)), seed
        assert case.problem.violations(case.solution(found)) == [], seed
