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
    from gsopt import backends, problems, testing
    from gsopt.comparison import Comparison
    from gsopt.errors import GsoptError
    from gsopt.formulation import Formulation
    from gsopt.method import heuristic
    from gsopt.problem import Problem, Sense
    from gsopt.result import Level, Result, Status, StoppedBy
    from gsopt.standard_form import StandardForm
    from gsopt.study import compare, load, names, solve

_HOME = {
    "Comparison": "gsopt.comparison",
    "Formulation": "gsopt.formulation",
    "GsoptError": "gsopt.errors",
    "Level": "gsopt.result",
    "Problem": "gsopt.problem",
    "Result": "gsopt.result",
    "Sense": "gsopt.problem",
    "StandardForm": "gsopt.standard_form",
    "Status": "gsopt.result",
    "StoppedBy": "gsopt.result",
    "compare": "gsopt.study",
    "heuristic": "gsopt.method",
    "load": "gsopt.study",
    "names": "gsopt.study",
    "solve": "gsopt.study",
}
_ROOMS = frozenset({"backends", "problems", "testing"})

__all__ = [
    "Comparison",
    "Formulation",
    "GsoptError",
    "Level",
    "Problem",
    "Result",
    "Sense",
    "StandardForm",
    "Status",
    "StoppedBy",
    "backends",
    "compare",
    "heuristic",
    "load",
    "names",
    "problems",
    "solve",
    "testing",
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
