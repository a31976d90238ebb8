"""What a job can lose before it is preempted."""

from hypothesis import given, settings

from formulations.reclaiming.survival import survival
from gsopt.problems.reclaiming import Reclaiming
from tests.effort import cases
from tests.strategies.reclaiming import reclaiming_problems


@settings(deadline=None, max_examples=cases(60))
@given(reclaiming_problems())
def test_a_job_is_preempted_exactly_as_the_judge_says(problem: Reclaiming) -> None:
    """For every choice of servers the rule names the jobs that the judge counts as preempted."""
    for choice in problem.candidates():
        returned = set(choice.servers)
        lost = []
        for job in problem.jobs:
            rule = survival(job, problem.elasticity)
            gpus = sum(gpus for server, gpus in rule.others.items() if server in returned)
            if gpus > rule.spare or not returned.isdisjoint(rule.critical):
                lost.append(job)

        assert problem.preempted(choice) == lost


@settings(deadline=None, max_examples=cases(60))
@given(reclaiming_problems())
def test_every_worker_is_accounted_for(problem: Reclaiming) -> None:
    """The critical and the other servers together carry all GPUs of the job, each server once."""
    for job in problem.jobs:
        rule = survival(job, problem.elasticity)

        assert job.gpus == sum(rule.critical.values()) + sum(rule.others.values())
        assert set(rule.critical).isdisjoint(rule.others)
