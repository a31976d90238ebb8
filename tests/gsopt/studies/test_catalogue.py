"""The catalogue: methods, generators and policies found by name."""

import pytest

import gsopt
from gsopt.errors import InvalidInput
from gsopt.problems.reader import problem_types
from gsopt.studies import catalogue


def test_every_decision_has_a_default_exact_method() -> None:
    """Each decision offers `exact`, further exact methods or heuristics, and no name twice."""
    for word in problem_types():
        exact, heuristics = catalogue.exact_methods(word), catalogue.heuristics(word)
        assert "exact" in exact
        assert heuristics
        assert not set(exact) & set(heuristics)


def test_methods_are_called_what_their_package_calls_them() -> None:
    """The name in `__all__` is the method's own name, so tables and options speak of the same thing."""
    for word in problem_types():
        assert [name for name, method in catalogue.methods(word).items() if method.__name__ != name] == []


def test_unknown_decision_is_refused() -> None:
    """A word that is no decision gives one line with the known ones."""
    with pytest.raises(InvalidInput, match="decision: 'scheming': must be one of"):
        catalogue.methods("scheming")


def test_generators_are_the_exports_of_the_instances() -> None:
    """Every generator that the package exports is offered."""
    assert {"churn", "figure_5", "random_hypergraph", "server_uniform"} <= set(
        catalogue.generators("reclaiming")
    )


def test_the_demo_workload_keeps_its_policies_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without real data the demo's generated workload is busy enough for policies to differ."""
    monkeypatch.delenv("GSOPT_DATA", raising=False)
    workload, gpus = catalogue.demo_workload()
    policies = catalogue.policies()
    rows = gsopt.compare_policies(workload, [policies["fifo"], policies["srtf"]], cluster=gpus)
    assert rows[0].mean_jct > 2 * rows[1].mean_jct
