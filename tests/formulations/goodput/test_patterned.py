"""The integer program in which each node has a pattern."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from formulations.goodput.case import Case
from formulations.goodput.patterned import Patterned
from formulations.goodput.program import OptionProgram
from formulations.goodput.reduced import Reduced
from gsopt.core.budget import Budget
from gsopt.problems.goodput import Goodput
from gsopt.solvers.scaling import optimize
from tests.strategies.goodput import job


def _case(nodes: Sequence[int], *rows: list[float]) -> Case:
    """Return a problem of jobs on one node with these speed-ups."""
    return Case.of(Goodput(nodes=nodes, jobs=[job(f"j{number}", row) for number, row in enumerate(rows)]))


def _relaxed(program: OptionProgram) -> float:
    """Return the least cost if numbers of nodes and options need not be whole."""
    form = program.form
    costs = program.costs(1.0)
    free = replace(form, cost=np.array(costs, dtype=float), integer=np.zeros(len(costs), dtype=np.bool_))
    found = optimize(free, Budget()).values
    assert found is not None
    return float(free.cost @ found)


def test_whole_nodes_are_a_tighter_relaxation() -> None:
    """Of jobs of four and five GPUs a node of eight holds 1.5 in patterns, and 1.8 by the sum."""
    case = _case([8], [0.0] * 3 + [1.0], [0.0] * 4 + [1.0])
    idle, alone = (option.cost for option in case.options[0])
    assert _relaxed(Patterned(case, case.options)) == pytest.approx((idle - alone) / 2)
    assert _relaxed(Reduced(case, case.options)) == pytest.approx((idle - alone) / 5)


@pytest.mark.parametrize(("nodes", "sizes", "is_small"), [(1, 4, True), (40, 4, True), (1, 32, False)])
def test_few_patterns_are_a_small_program(nodes: int, sizes: int, is_small: bool) -> None:
    """Nodes that are alike count once; jobs of each size up to 32 fill a node of 32 in thousands of ways."""
    case = _case([32] * nodes, [float(size) for size in range(1, sizes + 1)])
    assert Patterned(case, case.options).is_small is is_small


def test_nodes_that_are_too_large_are_not_looked_into() -> None:
    """No pattern of a node of a million GPUs is listed."""
    case = _case([1_000_000], [1.0, 2.0])
    assert not Patterned(case, case.options).is_small


def test_a_part_takes_the_room_that_is_left() -> None:
    """Two jobs of three GPUs and one of five on two nodes leave no GPU idle: a part has what is left."""
    jobs = [job("small", [0.0, 0.0, 1.0]), job("wide", [], [0.0] * 3 + [9.0]), job("third", [0.0, 0.0, 1.0])]
    case = Case.of(Goodput(nodes=[4, 7], jobs=jobs))
    program = Patterned(case, case.options)
    proof = optimize(program.form, Budget(), costs=program.costs(1.0))
    assert proof.values is not None
    vectors = program.vectors(proof.values)
    assert sorted(map(sum, vectors)) == [3, 3, 5]
    assert np.sum(vectors, axis=0).tolist() == [4, 7]
