"""From groups of jobs to GPUs and back."""

from fractions import Fraction

from formulations.consolidation.beginning import densest_first
from formulations.consolidation.case import Case, Stays
from gsopt.problems.consolidation import Consolidation, ConsolidationSolution, Job
from gsopt.scenario.cluster import Cluster
from tests.strategies.consolidation import seeds


def case(*gpus: int, busy: tuple[int, ...] = (), maximize: str = "value") -> Case:
    """Return jobs of a sensitive model on two racks of two machines with four GPUs."""
    jobs = [Job(name=f"j{index}", gpus=each, model="resnet18") for index, each in enumerate(gpus)]
    cluster = Cluster.uniform(racks=2, machines=2, gpus=4)
    return Case.of(Consolidation(cluster=cluster, busy=busy, jobs=jobs, maximize=maximize))  # type: ignore[arg-type]


def worth(problem: Case, stays: Stays) -> Fraction:
    """Add up what jobs that stay in groups are worth on their levels."""
    nodes = problem.vacancy.nodes
    return Fraction(sum(count * problem.kinds[k].worths[nodes[v].level] for (k, v), count in stays.items()))


def test_a_rack_job_takes_what_is_left() -> None:
    """A job that may go anywhere in a rack is split where no machine of it has room for all of it."""
    problem = case(3, 3, 2)
    kind = {kind.gpus: k for k, kind in enumerate(problem.kinds)}
    rack = problem.vacancy.levels[1][0]
    solution = problem.placed({(kind[3], 0): 1, (kind[3], 1): 1, (kind[2], rack): 1})
    assert solution.placed == {"j0": (0, 1, 2), "j1": (4, 5, 6), "j2": (3, 7)}


def test_a_narrower_place_is_taken_where_there_is_one() -> None:
    """A job that is to stay in the cluster gets one machine, the fullest that has room."""
    problem = case(2, busy=(0, 1, 4, 8))
    solution = problem.placed({(0, problem.vacancy.root): 1})
    assert solution.placed == {"j0": (2, 3)}
    assert problem.problem.objective(solution) > worth(problem, {(0, problem.vacancy.root): 1})


def test_spared_machines_are_not_touched() -> None:
    """The machines that are to be left whole have no job."""
    problem = case(2, maximize="fragmentation")
    solution = problem.placed({(0, problem.vacancy.root): 1}, spared=(0, 1, 3))
    assert solution.placed == {"j0": (8, 9)}
    assert problem.spared(solution) == (0, 1, 3)


def test_the_most_jobs_are_the_smallest() -> None:
    """Of jobs of 8, 6, 5 and 1 GPUs three fit on 12 free ones, where jobs come first."""
    assert case(8, 6, 5, 1, busy=(0, 1, 2, 3), maximize="lexicographic").required == 3
    assert case(8, 6, 5, 1).required == 0


def test_what_was_placed_is_found_again() -> None:
    """On any tree the groups of a placement are worth what the placement is, or less than it by its bonus."""
    for problem in seeds(60):
        own = Case.of(problem)
        stays = densest_first(own)
        solution = own.placed(stays)
        assert problem.violations(solution) == []
        found = own.located(solution)
        assert sum(found.values()) == len(solution.placed) == sum(stays.values())
        assert worth(own, found) >= worth(own, stays)
        bonus = problem.job_bonus * len(solution.placed) + problem.machine_bonus * problem.whole_machines(
            solution
        )
        assert worth(own, found) + bonus == problem.objective(solution)


def test_jobs_that_fit_nowhere_are_not_located() -> None:
    """A solution may be empty."""
    assert case(40).located(ConsolidationSolution(placed={})) == {}
