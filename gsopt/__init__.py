"""GPU cluster scheduling: exact models, published heuristics, and the gap between them.

The public names are loaded when first used, so ``import gsopt`` is instant and pulls in neither numpy nor a
solver.

Examples
--------
>>> import gsopt
>>> problem = gsopt.load("reclaiming/aryl-figure-5")
>>> result = gsopt.solve(problem)
>>> result.status, result.objective
(<Status.OPTIMAL: 'optimal'>, 1)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gsopt import problems, simulation, snapshots, studies, testing
    from gsopt.core.budget import Budget
    from gsopt.core.errors import GsoptError
    from gsopt.core.files import write
    from gsopt.core.method import heuristic
    from gsopt.core.problem import Problem, Sense
    from gsopt.core.result import Level, Result, Status, StoppedBy
    from gsopt.evaluation.catalogue import load, names
    from gsopt.evaluation.compare import compare
    from gsopt.evaluation.comparison import Comparison, read_comparison
    from gsopt.evaluation.history import History
    from gsopt.evaluation.judge import judge
    from gsopt.evaluation.lift import lift
    from gsopt.evaluation.policies import compare_policies
    from gsopt.evaluation.simulate import simulate
    from gsopt.evaluation.solve import solve, warm_up
    from gsopt.problems.reader import read_problem, read_result, read_solution
    from gsopt.scenario import speed
    from gsopt.scenario.cluster import Cluster
    from gsopt.scenario.cluster import formats as clusters
    from gsopt.scenario.cluster.formats import read_cluster, write_cluster
    from gsopt.scenario.job import Job, Workload
    from gsopt.scenario.scenario import Scenario
    from gsopt.schedule import Schedule, bounds
    from gsopt.schedule.foreign import read_schedule, read_workload
    from gsopt.solvers import backends
    from gsopt.solvers.formulation import Formulation
    from gsopt.solvers.standard_form import StandardForm
    from gsopt.studies import suites

_HOME = {
    "Budget": "gsopt.core.budget",
    "Cluster": "gsopt.scenario.cluster",
    "Comparison": "gsopt.evaluation.comparison",
    "Formulation": "gsopt.solvers.formulation",
    "GsoptError": "gsopt.core.errors",
    "History": "gsopt.evaluation.history",
    "Job": "gsopt.scenario.job",
    "Level": "gsopt.core.result",
    "Problem": "gsopt.core.problem",
    "Result": "gsopt.core.result",
    "Scenario": "gsopt.scenario.scenario",
    "Schedule": "gsopt.schedule",
    "Sense": "gsopt.core.problem",
    "StandardForm": "gsopt.solvers.standard_form",
    "Status": "gsopt.core.result",
    "StoppedBy": "gsopt.core.result",
    "Workload": "gsopt.scenario.job",
    "compare": "gsopt.evaluation.compare",
    "compare_policies": "gsopt.evaluation.policies",
    "heuristic": "gsopt.core.method",
    "judge": "gsopt.evaluation.judge",
    "lift": "gsopt.evaluation.lift",
    "load": "gsopt.evaluation.catalogue",
    "names": "gsopt.evaluation.catalogue",
    "read_cluster": "gsopt.scenario.cluster.formats",
    "read_comparison": "gsopt.evaluation.comparison",
    "read_problem": "gsopt.problems.reader",
    "read_result": "gsopt.problems.reader",
    "read_schedule": "gsopt.schedule.foreign",
    "read_solution": "gsopt.problems.reader",
    "read_workload": "gsopt.schedule.foreign",
    "simulate": "gsopt.evaluation.simulate",
    "solve": "gsopt.evaluation.solve",
    "warm_up": "gsopt.evaluation.solve",
    "write": "gsopt.core.files",
    "write_cluster": "gsopt.scenario.cluster.formats",
}
_ROOMS = {
    "backends": "gsopt.solvers.backends",
    "bounds": "gsopt.schedule.bounds",
    "clusters": "gsopt.scenario.cluster.formats",
    "problems": "gsopt.problems",
    "simulation": "gsopt.simulation",
    "snapshots": "gsopt.snapshots",
    "speed": "gsopt.scenario.speed",
    "studies": "gsopt.studies",
    "suites": "gsopt.studies.suites",
    "testing": "gsopt.testing",
}

__all__ = [
    "Budget",
    "Cluster",
    "Comparison",
    "Formulation",
    "GsoptError",
    "History",
    "Job",
    "Level",
    "Problem",
    "Result",
    "Scenario",
    "Schedule",
    "Sense",
    "StandardForm",
    "Status",
    "StoppedBy",
    "Workload",
    "backends",
    "bounds",
    "clusters",
    "compare",
    "compare_policies",
    "heuristic",
    "judge",
    "lift",
    "load",
    "names",
    "problems",
    "read_cluster",
    "read_comparison",
    "read_problem",
    "read_result",
    "read_schedule",
    "read_solution",
    "read_workload",
    "simulate",
    "simulation",
    "snapshots",
    "solve",
    "speed",
    "studies",
    "suites",
    "testing",
    "warm_up",
    "write",
    "write_cluster",
]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first asked for (PEP 562)."""
    if name in _ROOMS:
        return import_module(_ROOMS[name])
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'gsopt' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return __all__
