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
    from gsopt import (
        backends,
        bounds,
        clusters,
        problems,
        simulation,
        snapshots,
        speed,
        studies,
        suites,
        testing,
    )
    from gsopt.budget import Budget
    from gsopt.cluster import Cluster
    from gsopt.clusters import read_cluster, write_cluster
    from gsopt.errors import GsoptError
    from gsopt.files import write
    from gsopt.formulation import Formulation
    from gsopt.job import Job, Workload
    from gsopt.method import heuristic
    from gsopt.problem import Problem, Sense
    from gsopt.problems.reader import read_problem, read_result, read_solution
    from gsopt.result import Level, Result, Status, StoppedBy
    from gsopt.scenario import Scenario
    from gsopt.schedule import Schedule
    from gsopt.schedule.foreign import read_schedule, read_workload
    from gsopt.simulation import lift
    from gsopt.standard_form import StandardForm
    from gsopt.studies.catalogue import load, names
    from gsopt.studies.compare import compare
    from gsopt.studies.comparison import Comparison, read_comparison
    from gsopt.studies.history import History
    from gsopt.studies.judge import judge
    from gsopt.studies.policies import compare_policies
    from gsopt.studies.simulate import simulate
    from gsopt.studies.solve import solve, warm_up

_HOME = {
    "Budget": "gsopt.budget",
    "Cluster": "gsopt.cluster",
    "Comparison": "gsopt.studies.comparison",
    "Formulation": "gsopt.formulation",
    "GsoptError": "gsopt.errors",
    "History": "gsopt.studies.history",
    "Job": "gsopt.job",
    "Level": "gsopt.result",
    "Problem": "gsopt.problem",
    "Result": "gsopt.result",
    "Scenario": "gsopt.scenario",
    "Schedule": "gsopt.schedule",
    "Sense": "gsopt.problem",
    "StandardForm": "gsopt.standard_form",
    "Status": "gsopt.result",
    "StoppedBy": "gsopt.result",
    "Workload": "gsopt.job",
    "compare": "gsopt.studies.compare",
    "compare_policies": "gsopt.studies.policies",
    "heuristic": "gsopt.method",
    "judge": "gsopt.studies.judge",
    "lift": "gsopt.simulation",
    "load": "gsopt.studies.catalogue",
    "names": "gsopt.studies.catalogue",
    "read_cluster": "gsopt.clusters",
    "read_comparison": "gsopt.studies.comparison",
    "read_problem": "gsopt.problems.reader",
    "read_result": "gsopt.problems.reader",
    "read_schedule": "gsopt.schedule.foreign",
    "read_solution": "gsopt.problems.reader",
    "read_workload": "gsopt.schedule.foreign",
    "simulate": "gsopt.studies.simulate",
    "solve": "gsopt.studies.solve",
    "warm_up": "gsopt.studies.solve",
    "write": "gsopt.files",
    "write_cluster": "gsopt.clusters",
}
_ROOMS = frozenset(
    {
        "backends",
        "bounds",
        "clusters",
        "problems",
        "simulation",
        "snapshots",
        "speed",
        "studies",
        "suites",
        "testing",
    }
)

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
        return import_module(f"gsopt.{name}")
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'gsopt' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return __all__
