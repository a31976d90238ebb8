"""The first minute, and what a comparison comes to at a glance."""

import re
from collections import Counter
from fractions import Fraction

import pytest

from gsopt.cli.demo import _HEADS, _PLAIN, _fit, _instances, _percent
from gsopt.cli.glance import glances, proofs
from gsopt.core.errors import Unsupported
from gsopt.core.method import NoSolution, heuristic
from gsopt.evaluation import catalogue
from gsopt.evaluation.compare import compare
from gsopt.evaluation.comparison import Comparison
from gsopt.problems.reader import problem_types
from gsopt.problems.reclaiming import Job, Reclaiming, ReclaimingSolution, Server
from instances.reclaiming import server_uniform
from tests.commands import gsopt, refused
from tests.gsopt.problems.test_reclaiming import figure_5


def test_demo_fits_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """With twenty decisions, too, `demo` has a line for each, and at most 40 lines of 80 columns in all."""
    many = [*sorted(problem_types()), *["reclaiming", "sequencing"] * 10][:20]
    monkeypatch.setattr("gsopt.cli.demo.problem_types", lambda: many)
    monkeypatch.setattr("gsopt.cli.demo._FEW", 1)
    monkeypatch.setattr("gsopt.cli.demo._TIME_LIMIT", 1.0)
    run = gsopt("demo")
    lines = run.stdout.splitlines()
    assert (run.returncode, run.stderr) == (0, "")
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    words = [line.partition(":")[0] for line in lines if re.match(r"\w+: .* \d+/\d+ ", line)]
    assert Counter(words) == Counter(many)
    assert not re.search(r"\de[-+]?\d", run.stdout)
    assert [line.split()[0] for line in lines[-5:-2]] == ["fifo", "srsf", "las"]
    comparison = compare(_instances("sequencing", 1))
    [best, *_] = [each for each in glances(comparison) if each.mean is not None]
    figures = f"{100 * (best.mean or 0):.1f} % +{100 * (best.worst or 0):.1f} %"
    assert re.search(rf"\nsequencing: completion time +{best.method} +{figures} +1/1 ", run.stdout)


def test_what_counts_is_cut_first() -> None:
    """A line is as long as a page; the names of decision and heuristic are whole, whatever is cut."""
    line = ("consolidation: " + "x" * 90, "a" * 22, "100.0 %", "1,475.0 %", "40/40", "888 ms")
    shown = _fit([*_HEADS, line])
    assert {len(each) for each in shown} == {80}
    assert shown[-1].startswith("consolidation: x")
    assert shown[-1].split()[2:] == ["a" * 22, "100.0", "%", "1,475.0", "%", "40/40", "888", "ms"]


def test_demo_of_one_decision() -> None:
    """With a decision only that is shown, with all of its heuristics and without policies."""
    shown = gsopt("demo", "reclaiming").stdout
    assert shown.startswith("reclaiming: jobs preempted, on 12 instances\n")
    assert all(f"\n{name} " in shown for name in catalogue.heuristics("reclaiming"))
    assert "exact proves 12/12 optima" in shown
    assert "policies" not in shown
    refused("demo", "reclaim")


def test_no_verdict_on_systems_that_are_made_for_other_instances(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few jobs on GPUs that are alike are no place to judge a system that decides in rounds."""
    monkeypatch.setattr("gsopt.cli.demo._MANY", 2)
    shown = gsopt("demo", "scheduling").stdout
    assert "\nefq " in shown
    assert "sia" not in shown


def test_every_plain_word_stands_for_a_unit() -> None:
    """What is written in place of a unit belongs to instances that are shown."""
    shown = {problem.unit for word in problem_types() for problem in _instances(word, 1)}
    assert _PLAIN.keys() <= shown


def _idle() -> Reclaiming:
    """Make a problem with the optimum 0, which the first server misses."""
    servers = [Server(name="s1", gpus=1), Server(name="s2", gpus=1)]
    return Reclaiming(name="idle", servers=servers, jobs=[Job(name="j", workers={"s1": 1})], demand=1)


def test_an_optimum_of_nought_has_no_gap() -> None:
    """A heuristic that misses an optimum of 0 is said to have no gap there."""

    @heuristic
    def first(problem: Reclaiming) -> ReclaimingSolution:
        return ReclaimingSolution(servers=(problem.servers[0].name,))

    found = {each.method: each.notes() for each in glances(compare(_idle(), ["exact", first, last_servers]))}
    assert found["first"] == ["first misses a bound of 0 and so has no gap on 1 of 1"]
    assert found["last_servers"] == []


def test_no_gap_is_not_the_smallest() -> None:
    """A heuristic that misses its only bound, of 0, stands behind one that has a gap."""

    @heuristic
    def idle_only(problem: Reclaiming) -> ReclaimingSolution:
        if problem.name != "idle":
            raise Unsupported("for idle servers only")
        return ReclaimingSolution(servers=(problem.servers[0].name,))

    @heuristic
    def busy_only(problem: Reclaiming) -> ReclaimingSolution:
        if problem.name == "idle":
            raise Unsupported("for busy servers only")
        return last_servers(problem).solution or ReclaimingSolution(servers=())

    first, second = glances(compare([_idle(), figure_5(2)], ["exact", idle_only, busy_only]))
    assert (first.method, first.mean) == ("busy_only", 1)
    assert (second.method, second.mean) == ("idle_only", None)


@pytest.mark.parametrize(
    ("gap", "written"),
    [
        (None, "-"),
        (0.0, "0.0 %"),
        (4e-12, "0.0 %"),
        (2e-9, "<0.1 %"),
        (0.0004, "<0.1 %"),
        (0.0005, "0.1 %"),
        (37.2, "3,720.0 %"),
    ],
)
def test_gaps_need_no_powers_of_ten(gap: float | None, written: str) -> None:
    """A gap has one decimal; rounding is none, and what one decimal does not show is said to be less."""
    assert _percent(gap) == written


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
    assert proofs(comparison)[0] == "30/30"


def test_instances_that_a_heuristic_is_not_for_do_not_count() -> None:
    """A heuristic that refuses a problem has not failed on it; one that refuses all is not shown."""

    @heuristic
    def large_only(problem: Reclaiming) -> ReclaimingSolution:
        if len(problem.servers) < 5:
            raise Unsupported("for more than four servers only")
        return last_servers(problem).solution or ReclaimingSolution(servers=())

    sizes = [server_uniform(servers=servers, jobs=4, degree=2, demand=2, seed=1) for servers in (3, 4, 6)]
    [seen] = glances(compare(sizes, ["exact", large_only]))
    assert (seen.method, seen.instances, seen.notes()) == ("large_only", 1, [])
    assert glances(compare(sizes[:2], ["exact", large_only])) == []


def test_the_best_solves_most() -> None:
    """The heuristic that solves most instances stands first, then the one with the smallest gap."""

    @heuristic
    def fails(problem: Reclaiming) -> NoSolution:
        del problem
        return NoSolution("never")

    seen = glances(compare(figure_5(2), [fails, *catalogue.heuristics("reclaiming"), "exact"]))
    means = [each.mean or 0 for each in seen[:-1]]
    assert means == sorted(means)
    assert seen[-1].notes() == ["fails found no solution on 1 of 1"]
    assert "exact" not in {each.method for each in seen}
