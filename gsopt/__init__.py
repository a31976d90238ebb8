"""GPU cluster scheduling: exact models, published heuristics, and the gap between them.

Public names are loaded on first use, so ``import gsopt`` is instant and imports neither numpy nor a solver.

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
    from gsopt.core.versions import show_versions
    from gsopt.evaluation.brackets import wait_brackets
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
    from gsopt.schedule.bounds.certify import certify
    from gsopt.schedule.certificate import Certificate
    from gsopt.schedule.foreign import read_schedule, read_workload
    from gsopt.schedule.verify import verify
    from gsopt.solvers import backends
    from gsopt.solvers.formulation import Formulation
    from gsopt.solvers.standard_form import StandardForm
    from gsopt.studies import suites
    from gsopt.studies.score import score
    from gsopt.studies.worst import worst

#: The public names, keyed by the module that defines them.
_OFFERED = {
    "gsopt.core.budget": ("Budget",),
    "gsopt.core.errors": ("GsoptError",),
    "gsopt.core.files": ("write",),
    "gsopt.core.method": ("heuristic",),
    "gsopt.core.problem": ("Problem", "Sense"),
    "gsopt.core.result": ("Level", "Result", "Status", "StoppedBy"),
    "gsopt.evaluation.brackets": ("wait_brackets",),
    "gsopt.evaluation.catalogue": ("load", "names"),
    "gsopt.evaluation.compare": ("compare",),
    "gsopt.evaluation.comparison": ("Comparison", "read_comparison"),
    "gsopt.evaluation.history": ("History",),
    "gsopt.evaluation.judge": ("judge",),
    "gsopt.evaluation.lift": ("lift",),
    "gsopt.evaluation.policies": ("compare_policies",),
    "gsopt.core.versions": ("show_versions",),
    "gsopt.evaluation.simulate": ("simulate",),
    "gsopt.evaluation.solve": ("solve", "warm_up"),
    "gsopt.problems.reader": ("read_problem", "read_result", "read_solution"),
    "gsopt.scenario.cluster": ("Cluster",),
    "gsopt.scenario.cluster.formats": ("read_cluster", "write_cluster"),
    "gsopt.scenario.job": ("Job", "Workload"),
    "gsopt.scenario.scenario": ("Scenario",),
    "gsopt.schedule": ("Schedule",),
    "gsopt.schedule.bounds.certify": ("certify",),
    "gsopt.schedule.certificate": ("Certificate",),
    "gsopt.schedule.foreign": ("read_schedule", "read_workload"),
    "gsopt.schedule.verify": ("verify",),
    "gsopt.solvers.formulation": ("Formulation",),
    "gsopt.solvers.standard_form": ("StandardForm",),
    "gsopt.studies.score": ("score",),
    "gsopt.studies.worst": ("worst",),
}
_HOME = {name: module for module, offered in _OFFERED.items() for name in offered}
_ROOMS = {
    "backends": "gsopt.solvers.backends",
    "bounds": "gsopt.schedule.bounds",
    "clusters": "gsopt.scenario.cluster.formats",
    "speed": "gsopt.scenario.speed",
    "suites": "gsopt.studies.suites",
    **{name: f"gsopt.{name}" for name in ("problems", "simulation", "snapshots", "studies", "testing")},
}

__all__ = [
    "Budget",
    "Certificate",
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
    "certify",
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
    "score",
    "show_versions",
    "simulate",
    "simulation",
    "snapshots",
    "solve",
    "speed",
    "studies",
    "suites",
    "testing",
    "verify",
    "wait_brackets",
    "warm_up",
    "worst",
    "write",
    "write_cluster",
]


def __getattr__(name: str) -> Any:
    """Load a public name on first use (PEP 562)."""
    if name in _ROOMS:
        return import_module(_ROOMS[name])
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'gsopt' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List all public names, whether they are loaded or not."""
    return __all__
