"""The reader of measured applications."""

from functools import cache
from pathlib import Path

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.core.numbers.tolerances import SUM
from gsopt.scenario.adaptive.agents import Agents
from gsopt.scenario.adaptive.application import Application
from gsopt.scenario.adaptive.limits import Limits
from gsopt.scenario.adaptive.trainee import Trainee
from instances.scenarios.pollux import MOST_LOCAL
from instances.traces.applications import FOLDER, read_application
from tests.instances.traces.samples import adaptive_folder


def test_what_was_measured_is_read(tmp_path: Path) -> None:
    """Placements, numbers and trainings are those of the files, and so are the limits."""
    bert = read_application(adaptive_folder(tmp_path) / FOLDER / "bert", slowdown=1.5)

    assert bert.limits == Limits(initial_batch=12, most_batch=96, least_local=4, most_local=12)
    assert (len(bert.placements), len(bert.spread), bert.epochs, bert.slowdown) == (6, 2, 2, 1.5)
    assert bert.step_time((2, 2), 8) == pytest.approx((0.22, 0.04), rel=SUM)
    assert bert.step_time((1, 1, 1, 1), 4) == pytest.approx((0.24, 0.1), rel=SUM)
    assert [bert.progress_at(epoch) for epoch in range(3)] == [0.0, 1000.0, 2000.0]
    assert (bert.iterations(96, 1), bert.gradient(12, 1)) == (250.0, (0.5, 4.0))


def test_fewer_samples_may_fit(tmp_path: Path) -> None:
    """The most samples of a GPU may be less than what was measured."""
    assert read_application(adaptive_folder(tmp_path) / FOLDER / "bert", most_local=8).limits.most_local == 8


def test_what_was_measured_twice_is_averaged(tmp_path: Path) -> None:
    """A batch with two rows for the same numbers of nodes and GPUs takes their mean, others their own."""
    home = adaptive_folder(tmp_path) / FOLDER / "bert"
    before = [read_application(home).step_time((1, 1, 1, 1), local) for local in (4, 8)]
    with (home / "scalability-aws.csv").open("a") as file:
        file.write("4,4,4,0.36,0.2\n")
    after = [read_application(home).step_time((1, 1, 1, 1), local) for local in (4, 8)]
    assert after == [pytest.approx((0.3, 0.15), rel=SUM), before[1]]


@pytest.mark.parametrize(
    ("file", "text", "line"),
    [
        (
            "placements-aws.csv",
            "placement,local_bsz,step_time,sync_time\n1,4,x,0\n",
            "row 2: step_time: 'x': must be",
        ),
        ("placements-aws.csv", "placement,local_bsz\n", "header: .*: must hold placement,"),
        (
            "validation-12.csv",
            "progress,iteration,grad_sqr,grad_var\n-1,1,1,1\n",
            "row 2: progress: '-1': must be",
        ),
    ],
)
def test_what_cannot_be_used_is_refused(tmp_path: Path, file: str, text: str, line: str) -> None:
    """A row that breaks a rule, and another header, are one line: no measurement is passed over."""
    home = adaptive_folder(tmp_path) / FOLDER / "bert"
    (home / file).write_text(text)
    with pytest.raises(InvalidInput, match=line):
        read_application(home)


def test_other_models_are_refused(tmp_path: Path) -> None:
    """Of other models it is not known how long they train, and without trainings nothing is."""
    with pytest.raises(InvalidInput, match=r"^model: 'gpt_pmp': must be one of bert, cifar10"):
        read_application(tmp_path / "gpt_pmp")
    home = adaptive_folder(tmp_path) / FOLDER / "bert"
    for file in home.glob("validation-*.csv"):
        file.unlink()
    with pytest.raises(InvalidInput, match="must hold validation-<batch size>"):
        read_application(home)


@cache
def _measured(traces: Path, model: str) -> Application:
    return read_application(traces / FOLDER / model, most_local=MOST_LOCAL.get(model))


def test_all_nodes_are_measured(traces: Path) -> None:
    """On up to sixteen nodes of four GPUs a model can run everywhere, with the least batch and the most."""
    application = _measured(traces, "yolov3")
    limits = application.limits
    for nodes in (1, 3, 5, 9, 16):
        for gpus in {nodes, 3 * nodes, 4 * nodes}:
            each, more = divmod(gpus, nodes)
            shape = (each + 1,) * more + (each,) * (nodes - more)
            if gpus * limits.least_local <= limits.most_batch:
                most = min(limits.most_local, limits.most_batch // gpus)
                assert None not in application.step_times(shape, [limits.least_local, most]), shape


_YOLOV3 = (
    "60:443 2580:343 3360:21214431 3900:4432243122333313 3960:3 4680:14 5340: 5400:2 7020:2 10980: 11040:31 "
    "14400:11413324"
)

#: Model, batch (None where it is tuned), placements as time and GPUs on each node, and when the job completed
#: in the simulator of Pollux, where every change takes 30 s.
RECORDED = [
    ("bert", 48, "120:213 2580:343 3360:21214 3900:443 3960:3 4680:14 5340: 5400:2", 6197),
    ("bert", None, "60:443", 1735),
    ("cifar10", None, "60:443", 638),
    ("ncf", None, "60:1", 184),
    ("yolov3", None, _YOLOV3, 15377),
]


@pytest.mark.parametrize(("model", "batch", "course", "completed_at"), RECORDED)
def test_jobs_complete_as_in_the_authors_simulator(
    traces: Path, model: str, batch: int | None, course: str, completed_at: int
) -> None:
    """Put through the placements of a run of the authors' simulator, a job completes in the same second."""
    trainee = Trainee(_measured(traces, model), Agents(), batch, 0.0)
    for change in course.split():
        time, shape = change.split(":")
        trainee.place([int(gpus) for gpus in shape], float(time), float(time) + 30, batch_size=batch)
    trainee.advance(1e5)
    assert trainee.completed_at == completed_at
