"""Overview: a Gantt chart above the number of waiting jobs, and the charts of several runs as files."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gsopt.core.drawing import ENDINGS, new_figure
from gsopt.core.drawing import save as save_figure
from gsopt.core.errors import require_one_of
from gsopt.core.files import file_name
from gsopt.scenario.scenario import Scenario
from gsopt.schedule import Schedule
from gsopt.simulation.plots.counts import gpus_in_use, jct_distribution, queue
from gsopt.simulation.plots.gantt import gantt
from gsopt.simulation.plots.jobs import jobs
from gsopt.simulation.run import Replay

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def overview(schedule: Schedule, scenario: Scenario, *, colour: str = "slowdown", title: str = "") -> "Figure":
    """Plot a Gantt chart with the number of waiting jobs below it, on a common time axis.

    Parameters
    ----------
    schedule, scenario, colour, title
        The same as in `gantt`.

    Raises
    ------
    InvalidInput
        As in `gantt`.

    Examples
    --------
    >>> from gsopt.scenario.cluster import Cluster
    >>> from gsopt.scenario.job import Job, Workload
    >>> from gsopt.schedule import Segment
    >>> workload = Workload(jobs=[Job(name="a", release_date=0, duration=2, gpus=1)])
    >>> scenario = Scenario(workload=workload, cluster=Cluster.plain(1))
    >>> [axes.get_ylabel() for axes in overview(Schedule((Segment("a", 0, 2, 1),)), scenario).axes]
    ['GPU', 'jobs waiting']
    """
    figure = new_figure(10, 6.5)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(5, 2))
    gantt(schedule, scenario, colour=colour, title=title, axes=upper)
    queue(schedule, scenario, axes=lower)
    upper.set_xlabel("")
    return figure


def save(replays: Sequence[Replay], folder: str | Path, *, ending: str = ".png") -> list[Path]:
    """Save charts of each recorded run, and one chart of the job completion times of all runs.

    The files of a run are named after its policy. If several runs have the same policy, the names of their
    files are numbered from the second run on.

    Parameters
    ----------
    replays
        The runs. Those that were not recorded appear only in the chart of completion times.
    folder
        The folder in which the files are saved.
    ending
        The file extension: ``.png``, ``.svg`` or ``.pdf``.

    Returns
    -------
    list of Path
        The paths of the saved files.

    Raises
    ------
    InvalidInput
        The file extension is not supported, a file cannot be written, or matplotlib is not installed.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from gsopt.scenario.job import Job, Workload
    >>> from gsopt.simulation import simulate
    >>> from heuristics.policies import fifo
    >>> workload = Workload(jobs=[Job(name="a", release_date=0, duration=2, gpus=1)])
    >>> run = simulate(workload, fifo, cluster=1)
    >>> with TemporaryDirectory() as folder:
    ...     [path.name for path in save([run], folder)]
    ['jct.png']
    """
    require_one_of("ending", ending, ENDINGS)
    saved: list[Path] = []
    runs: Counter[str] = Counter()
    for run in replays:
        if run.schedule is None:
            continue
        name = run.metrics.policy
        runs[name] += 1
        if runs[name] > 1:
            name = f"{name} {runs[name]}"
        pictures = {
            "gantt": overview(run.schedule, run.scenario, title=name),
            "jobs": jobs(run.schedule, run.scenario, title=name).figure,
            "gpus": gpus_in_use(run.schedule, run.scenario, title=name).figure,
        }
        for kind, figure in pictures.items():
            saved.append(Path(folder) / f"{kind}-{file_name(name)}{ending}")
            save_figure(figure, saved[-1])
    saved.append(Path(folder) / f"jct{ending}")
    save_figure(jct_distribution(replays).figure, saved[-1])
    return saved
