"""Simulate: `gsopt.simulation.simulate` for policies given by name; notebooks show its results as tables."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from rich.console import RenderableType

from gsopt import simulation
from gsopt.evaluation.catalogue import find_policy
from gsopt.evaluation.listing import Tabular
from gsopt.evaluation.tables import Column, figure_list, lay_out
from gsopt.scenario.job import Workload
from gsopt.scenario.scenario import Scenario
from gsopt.simulation.policy import Policy
from gsopt.simulation.run import Replay

Options = ParamSpec("Options")


@dataclass(frozen=True, repr=False)
class TabularReplay(Replay, Tabular):
    """A replay that notebooks show as a table of figures, and that can be converted to LaTeX, Markdown or CSV.

    Examples
    --------
    >>> from gsopt.scenario.job import Job
    >>> run = simulate(Workload(jobs=[Job(name="a", release_date=0, duration=2, gpus=1)]), "fifo", cluster=1)
    >>> run.to_frame()[["policy", "mean_jct", "gap"]].values.tolist()
    [['fifo', 2.0, 0.0]]
    """

    def table(self) -> RenderableType:
        """Return a table with one line per figure."""
        return lay_out(self.columns())

    def columns(self) -> list[Column]:
        """Return two columns: the names of the figures, and their values."""
        return figure_list(self.metrics)

    def records(self) -> list[dict[str, Any]]:
        """Return one row with the policy and all figures, as plain JSON types."""
        return [{"policy": self.metrics.policy, **self.metrics.as_dict()}]

    __repr__ = Replay.__repr__
    __str__ = Replay.__repr__


def _by_name(
    function: Callable[Concatenate[Workload | Scenario, Policy, Options], Replay],
) -> Callable[Concatenate[Workload | Scenario, Policy | str, Options], TabularReplay]:
    @wraps(function)
    def simulate(
        given: Workload | Scenario, policy: Policy | str, /, *args: Options.args, **kwargs: Options.kwargs
    ) -> TabularReplay:
        found = function(given, find_policy(policy), *args, **kwargs)
        return TabularReplay(**{each.name: getattr(found, each.name) for each in fields(found)})

    return simulate


simulate = _by_name(simulation.simulate)
