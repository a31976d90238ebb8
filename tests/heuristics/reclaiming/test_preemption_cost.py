"""Tests of the three definitions of preemption cost."""

from fractions import Fraction

import pytest
from hypothesis import given, settings

from gsopt.core.errors import InvalidInput
from gsopt.core.numbers.grid import decimal
from gsopt.problems.reclaiming import Reclaiming
from heuristics.reclaiming.hosting import Hosting
from heuristics.reclaiming.preemption_cost import (
    Definition,
    job_counts,
    preemption_costs,
    server_fractions,
)
from tests.effort import cases
from tests.strategies.reclaiming import figure_5, reclaiming_problems

#: Aryl, Table 1: its three columns for servers 1 to 6.
TABLE_1: dict[Definition, list[str]] = {
    "number_of_jobs": ["1", "1", "1", "1", "2", "1"],
    "gpu_fraction": ["0.5", "0.5", "1", "0.8", "0.4", "0.8"],
    "server_fraction": ["0.5", "0.5", "1", "0.5", "1", "0.5"],
}


@pytest.mark.parametrize("definition", TABLE_1)
def test_every_column_of_table_1_is_reproduced(definition: Definition) -> None:
    """The costs of Figure 5 are those of Aryl's Table 1, exactly."""
    expected = [Fraction(text) for text in TABLE_1[definition]]

    assert expected == list(preemption_costs(figure_5(), definition).values())


def test_the_server_fraction_is_the_default() -> None:
    """Unless told otherwise, the definition is the one that the paper chooses."""
    assert preemption_costs(figure_5()) == preemption_costs(figure_5(), "server_fraction")


@pytest.mark.parametrize("definition", TABLE_1)
def test_an_unknown_definition_is_refused(definition: Definition) -> None:
    """A word that is no definition raises, and the message lists those there are."""
    with pytest.raises(InvalidInput, match=f"definition: 'price': must be one of .*{definition}"):
        preemption_costs(figure_5(), "price")  # type: ignore[arg-type]


@settings(deadline=None, max_examples=cases(60))
@given(problem=reclaiming_problems())
def test_fractions_of_a_job_add_up_to_its_cost(problem: Reclaiming) -> None:
    """By both definitions with fractions the costs of all servers add up to the costs of all jobs."""
    expected = sum((Fraction(decimal(job.cost)) for job in problem.jobs), Fraction(0))

    assert expected == sum(preemption_costs(problem, "server_fraction").values())
    assert expected == sum(preemption_costs(problem, "gpu_fraction").values())


@settings(deadline=None, max_examples=cases(60))
@given(problem=reclaiming_problems())
def test_every_server_of_a_job_counts_when_told(problem: Reclaiming) -> None:
    """With servers outside the loan counted, each job's shares add up to the part of its servers on loan."""
    hosting = Hosting.of(problem)
    elsewhere = [job.training_servers for job in problem.jobs]
    shares = server_fractions(hosting, elsewhere)
    expected = [
        Fraction(decimal(job.cost)) * len(job.workers) / (len(job.workers) + job.training_servers)
        for job in problem.jobs
    ]

    assert expected == [Fraction(sum(of), shares.unit) for of in shares.of]


@settings(deadline=None, max_examples=cases(60))
@given(problem=reclaiming_problems())
def test_counts_do_not_look_at_costs(problem: Reclaiming) -> None:
    """The plain count of a server is the number of jobs with a base worker there."""
    hosting = Hosting.of(problem)
    expected = [sum(server.name in job.workers for job in problem.jobs) for server in problem.servers]

    assert expected == job_counts(hosting).totals(hosting)
