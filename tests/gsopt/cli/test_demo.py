"""The first minute, and what a comparison comes to at a glance."""

import re
from fractions import Fraction

import pytest

from gsopt.cli.glance import Glance, glances, heads, proofs
from gsopt.core.errors import Unsupported
from gsopt.core.method import heuristic
from gsopt.evaluation import catalogue
from gsopt.evaluation.compare import compare
from gsopt.evaluation.comparison import Comparison
from gsopt.problems.reader import problem_types
from gsopt.problems.reclaiming import Reclaiming, ReclaimingSolution
from instances.reclaiming import server_uniform
from tests.commands import gsopt, refused
from tests.gsopt.problems.test_reclaiming import figure_5


def test_demo_is_a_glance(monkeypatch: pytest.MonkeyPatch) -> None:
    """`demo` shows every decision's heuristics and proofs, in few lines of at most 80 columns."""
    monkeypatch.delenv("GSOPT_DATA", raising=False)
    monkeypatch.setattr("gsopt.cli.demo._MOST_INSTANCES", 4)  # the number itself is shown by the next test
    run = gsopt("demo")
    lines = run.stdout.splitlines()
    first = {line.split()[0] for line in lines if line.startswith("  ")}
    assert (run.returncode, run.stderr) == (0, "")
    assert len(lines) <= 8 * len(problem_types()) + 8  # the policies and the sum have eight
    assert max(map(len, lines)) <= 80
    few = [known for word in problem_types() if len(known := catalogue.heuristics(word).keys()) <= 5]
    assert few
    assert all(first >= known for known in few)
    assert all(
        sum(line.startswith(f"{word.capitalize()}: ") for line in lines) == 1 for word in problem_types()
    )
    assert sum(line.startswith("  exact proves ") for line in lines) == len(problem_types())
    assert sum("fifo " in line and "srtf " in line for line in lines) == 1


def test_demo_of_one_decision() -> None:
    """With a decision only that is shown, with all of its heuristics and without policies."""
    shown = gsopt("demo", "reclaiming")
    assert "Reclaiming: minimise preemptions, on 12 instances" in shown.stdout
    assert all(f"\n  {name} " in shown.stdout for name in catalogue.heuristics("reclaiming"))
    assert "Policies" not in shown.stdout
    refused("demo", "reclaim")


@heuristic
def last_servers(problem: Reclaiming) -> ReclaimingSolution:
    """Return the servers that come last."""
    names = [server.name for server in problem.servers]
    return ReclaimingSolution(servers=tuple(names[len(names) - problem.demand :]))


def _values(comparison: Comparison, method: str) -> list[Fraction]:
    results = [row.result for row in comparison if row.method == method]
    return [Fraction(result.objective) for result in results if result and result.objective is not None]


def test_figures_are_those_of_the_rows() -> None:
    """Mean, worst and number of optima are what the definition gives from values and optima."""
    problems = [server_uniform(servers=8, jobs=8, degree=2, demand=3, seed=seed) for seed in range(30)]
    comparison = compare(problems, ["exact", last_servers])
    optima, values = _values(comparison, "exact"), _values(comparison, "last_servers")
    gaps = [Fraction(value, best) - 1 for value, best in zip(values, optima, strict=True) if best]
    [seen] = glances(comparison)
    assert (seen.method, seen.instances, seen.unsolved) == ("last_servers", 30, 0)
    assert seen.optimal == sum(value == best for value, best in zip(values, optima, strict=True))
    assert 0 < seen.optimal < 30
    assert seen.mean == pytest.approx(float(sum(gaps) / len(gaps)))
    assert seen.worst == pytest.approx(float(max(gaps)))
    assert proofs(comparison).startswith("exact proves 30 of 30 optima in ")


def test_instances_that_a_heuristic_is_not_for_do_not_count() -> None:
    """A heuristic that refuses a problem has not failed on it; one that refuses all says so."""

    @heuristic
    def large_only(problem: Reclaiming) -> ReclaimingSolution:
        if len(problem.servers) < 5:
            raise Unsupported("for more than four servers only")
        return last_servers(problem).solution or ReclaimingSolution(servers=())

    sizes = [server_uniform(servers=servers, jobs=4, degree=2, demand=2, seed=1) for servers in (3, 4, 6)]
    [seen] = glances(compare(sizes, ["exact", large_only]))
    assert (seen.method, seen.instances, seen.unsolved) == ("large_only", 1, 0)
    small = compare(sizes[:2], ["exact", large_only])
    assert "none of these" in glances(small)[0].line().plain
    assert proofs(small).endswith("no heuristic finds them all")


def test_smallest_gap_first() -> None:
    """Heuristics stand in the order of their mean gaps, and those without any gap come last."""
    seen = glances(compare(figure_5(2)))
    means = [each.mean for each in seen]
    assert means == sorted(means, key=lambda mean: (mean is None, mean))
    assert "exact" not in {each.method for each in seen}


@pytest.mark.parametrize(
    "seen",
    [
        Glance("a" * 22, 100, 100, 100, (123456.789,)),
        Glance("large", 100, 99, 100, (99.99,)),
        Glance("nothing", 3, 0, 3, ()),
        Glance("all", 3, 3, 0, (0.0, 0.0, 0.0)),
        Glance("tiny", 3, 2, 0, (1e-9,)),
    ],
)
def test_a_line_fits_eighty_columns(seen: Glance) -> None:
    """Whatever the figures are, a line has at most eighty columns, its bar at most twelve."""
    for ascii_only in (True, False):
        line = seen.line(ascii_only=ascii_only).plain
        assert len(line) <= 80
        assert line.isascii() or not ascii_only
        assert len(re.findall("[#█▏▎▍▌▋▊▉]", line)) <= 12


def test_bar_is_as_long_as_the_gap() -> None:
    """A gap of one half fills half of the bar, one of a 96th an eighth of a character, the whole all."""
    bars = [Glance("a", 1, 0, 0, (gap,)).line().plain.split()[-1] for gap in (0.5, 1 / 96, 1.0, 7.0)]
    assert bars == ["█" * 6, "▏", "█" * 12, "█" * 12]
    assert len(heads("a title").plain.rstrip()) == 2 + 22 + 9 + 10 + 10
