"""Pictures of schedules: spans, classes, counts, job charts, Gantt charts, prices and overviews."""

from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from matplotlib.figure import Figure

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job, Workload
from gsopt.scenario.scenario import Scenario
from gsopt.schedule import Schedule, Segment
from gsopt.schedule.bounds.prices import PriceBound, price_bound
from gsopt.simulation import replay, simulate
from gsopt.simulation.plots import gantt, gpus_in_use, jct_distribution, jobs, overview, prices, queue, save
from gsopt.simulation.plots.classes import Colour, classes_of
from gsopt.simulation.plots.spans import capacity_steps, span_of, waits_of
from heuristics.policies import fifo, srtf
from tests.effort import cases
from tests.gsopt.simulation.plots.samples import boxes, large, legend, small
from tests.gsopt.simulation.recorded import schedule_of
from tests.gsopt.simulation.scenarios import bundle, rich_scenarios


@pytest.mark.parametrize("origin", [0.0, 1.7e9])
def test_a_small_picture_shows_everything(origin: float) -> None:
    """It begins at the first release on whatever clock, and ends with the last job."""
    run = small(origin=origin)
    span = span_of(schedule_of(run), run.scenario)
    assert span.begin == origin
    assert span.visible_until == span.end == max(run.completion_times)


def test_a_long_end_in_which_nobody_waits_is_cut_off() -> None:
    """With many jobs the picture ends soon after the last wait; without a long end it shows everything."""
    run = large(last=10_000)
    span = span_of(schedule_of(run), run.scenario)
    last_start = max(float(start) for start in run.start_times)
    assert last_start < span.visible_until < 2 * last_start
    assert span.end == 10_000
    run = large()
    span = span_of(schedule_of(run), run.scenario)
    assert span.visible_until == span.end


def test_nothing_at_all_has_a_span() -> None:
    """Without jobs there is a second to show."""
    scenario = Scenario(workload=Workload(jobs=[]), cluster=Cluster.plain(1))
    assert span_of(Schedule(()), scenario) == (0, 1, 1)


def test_capacity_changes_where_the_scenario_says() -> None:
    """The steps begin with the cluster and go on to the end with the last change."""
    run = small()
    assert capacity_steps(schedule_of(run), run.scenario, 0, 20) == [(0, 4), (7, 3), (20, 3)]


def test_a_job_that_still_runs_does_not_wait() -> None:
    """Where a job holds GPUs twice, which no judge would accept, it waits when both are gone."""
    scenario = Scenario(
        workload=Workload(jobs=[Job(name="a", release_date=0, duration=9, gpus=1)]), cluster=Cluster.plain(2)
    )
    schedule = Schedule((Segment("a", 0, 10, 1), Segment("a", 2, 3, 1), Segment("a", 12, 13, 1)))
    assert [(start, end) for _, start, end in waits_of(schedule, scenario)] == [(10, 12)]


def test_waits_are_what_remains_between_release_and_last_end() -> None:
    """On random schedules the waits of a job are the seconds of its stay in which it runs nowhere."""
    draw = Random(1)
    for _ in range(200):
        ticks = [[tick for tick in range(5, 15) if draw.random() < 0.5] for _ in range(3)]
        jobs = [
            Job(name=f"j{number}", release_date=draw.randint(0, 5), duration=1, gpus=1) for number in range(3)
        ]
        segments = [
            Segment(job.name, tick, tick + 1, 1) for job, held in zip(jobs, ticks, strict=True) for tick in held
        ]
        draw.shuffle(segments)
        scenario = Scenario(workload=Workload(jobs=jobs), cluster=Cluster.plain(3))
        waited = {
            (job.name, tick)
            for job, start, end in waits_of(Schedule(tuple(segments)), scenario)
            for tick in range(int(start), int(end))
        }
        assert waited == {
            (job.name, tick)
            for job, held in zip(jobs, ticks, strict=True)
            if held
            for tick in range(int(job.release_date), held[-1])
            if tick not in held
        }


@settings(deadline=None, max_examples=cases(60), suppress_health_check=[HealthCheck.too_slow])
@given(scenario=rich_scenarios())
def test_what_runs_never_needs_more_than_the_capacity(scenario: Scenario) -> None:
    """On random clusters whose machines come and go, never are more GPUs held than there are."""
    schedule = schedule_of(replay(scenario, fifo, record=True))
    steps = capacity_steps(schedule, scenario, 0.0, 1.0)
    moments = sorted({time for time, _ in steps} | {each.start for each in schedule.segments})
    for moment in moments:
        running = [each for each in schedule.segments if each.start <= moment < each.end]
        named = {gpu for each in running for gpu in each.placement}
        held = len(named) + sum(each.gpus for each in running if not each.placement)
        assert held <= [gpus for time, gpus in steps if time <= moment][-1], moment


JOBS = bundle(
    [
        Job(name="a", release_date=0, duration=100, gpus=1),
        Job(name="b", release_date=0, duration=100, gpus=4),
        Job(name="c", release_date=50, duration=10, gpus=65),
        Job(name="never", release_date=50, duration=10, gpus=1),
    ]
)
SCENARIO = Scenario(workload=JOBS, cluster=Cluster.plain(100))
SCHEDULE = Schedule(
    (
        Segment("a", 0, 60, 1),
        Segment("a", 80, 120, 1),  # 20 s without a GPU
        Segment("b", 100, 200, 4),
        Segment("c", 1050, 1060, 65),  # 1000 s late, for 10 s of work
    )
)


@pytest.mark.parametrize(
    ("colour", "labels"),
    [
        ("slowdown", {"a": "1.1 to 1.5", "b": "1.5 to 2", "c": "over 20"}),
        ("waiting", {"a": "1 s to 1 min", "b": "1 min to 10 min", "c": "10 min to 1 h"}),
        ("gpus", {"a": "1", "b": "3 to 4", "c": "over 64"}),
        ("job", {name: name for name in ("a", "b", "c", "never")}),
    ],
)
def test_jobs_are_sorted_by_what_became_of_them(colour: str, labels: dict[str, str]) -> None:
    """A job is in the class of its slowdown, its wait or its size; one that never ran is in none."""
    classes = classes_of(SCHEDULE, SCENARIO, colour)
    assert {name: classes.labels[number] for name, number in classes.of.items()} == labels
    assert len(set(classes.colours)) == len(classes.colours) == len(classes.labels)


@pytest.mark.parametrize("colour", [kind for kind in Colour if kind is not Colour.JOB])
def test_more_is_darker(colour: str) -> None:
    """Colours fall in lightness from class to class, so that they read in grey too."""
    colours = classes_of(SCHEDULE, SCENARIO, colour).colours
    lightness = [0.30 * red + 0.59 * green + 0.11 * blue for red, green, blue, _ in colours]
    assert lightness == sorted(lightness, reverse=True)


def test_many_jobs_are_not_told_one_from_the_other() -> None:
    """There are not as many colours as jobs of a trace."""
    run = large()
    with pytest.raises(InvalidInput, match="colour: 'job': distinguishes at most 40 jobs"):
        classes_of(schedule_of(run), run.scenario, "job")


def test_an_unknown_meaning_is_refused() -> None:
    """A colour that means nothing is named with those that do."""
    with pytest.raises(InvalidInput, match="colour: 'age': must be one of slowdown, waiting, gpus, job"):
        classes_of(SCHEDULE, SCENARIO, "age")


def _heights(line: Any) -> list[float]:
    return [float(value) for value in line.get_ydata()]


def test_gpus_in_use_end_at_none() -> None:
    """The GPUs in use never exceed the capacity and are 0 in the end."""
    run = small()
    held = _heights(gpus_in_use(schedule_of(run), run.scenario).lines[0])

    assert max(held) <= 4
    assert held[-1] == 0


def test_the_queue_is_as_long_as_jobs_wait() -> None:
    """At every moment the line is at the number of jobs that are released and not yet started."""
    run = large()
    (line,) = list[Any](queue(schedule_of(run), run.scenario).lines)
    spans = [
        (job.release_date, start)
        for job, start in zip(run.scenario.workload.jobs, run.start_times, strict=True)
    ]
    for moment, height in line.get_xydata().tolist():
        assert height == sum(release <= moment < start for release, start in spans), moment
    assert max(_heights(line)) > 10


def test_a_queue_that_nobody_stands_in() -> None:
    """Where no job waits the axis still has a height, and nothing ran where nothing is."""
    run = simulate(bundle([Job(name="a", release_date=0, duration=2, gpus=1)]), fifo, cluster=1, record=True)
    assert queue(schedule_of(run), run.scenario).get_ylim() == (0, 1)
    assert queue(Schedule(()), run.scenario).get_ylim() == (0, 1)


def test_sizes_lie_on_top_of_each_other() -> None:
    """The upper edge of the largest class is the line, and each class begins where the one before ends."""
    run = large()
    axes = queue(schedule_of(run), run.scenario)
    tops = [drawn.get_paths()[0].get_extents().y1 for drawn in list[Any](axes.collections)]
    assert tops == sorted(tops)
    assert tops[-1] == max(_heights(axes.lines[0]))
    assert legend(axes) == ["1", "2"]


def test_completion_times_end_at_all() -> None:
    """Each run has a line that rises to 1, and the legend its name."""
    axes = jct_distribution([small(fifo), small(srtf)])

    assert legend(axes) == ["fifo", "srtf (on fifo)"]
    assert all(_heights(line)[-1] == 1 for line in axes.lines)


def test_equal_lines_are_all_seen() -> None:
    """No two of twelve runs share line style and marker, and of equal lines the later is the thinner."""
    lines = jct_distribution([small()] * 12).lines
    assert len({(line.get_linestyle(), line.get_marker()) for line in lines}) == 12
    widths = [line.get_linewidth() for line in lines[-5:]]
    assert widths == sorted(set(widths), reverse=True)


def test_long_times_have_names() -> None:
    """Completion times of seconds to days are marked in minutes, hours and days, without a unit beside."""
    jobs = [Job(name=f"j{power}", release_date=0, duration=10.0**power, gpus=1) for power in range(6)]
    axes = jct_distribution([simulate(bundle(jobs), fifo, cluster=6)])
    labels = [axes.xaxis.get_major_formatter()(tick, 0) for tick in axes.xaxis.get_majorticklocs()]
    assert {"1 min", "1 h", "1 day"} <= set(labels)
    assert axes.get_xlabel() == "job completion time"


@pytest.mark.parametrize("draw", [gpus_in_use, queue])
def test_they_draw_where_they_are_told(draw: Any) -> None:
    """Given axes are drawn on, with a title."""
    run, axes = small(), Figure().subplots()
    assert draw(schedule_of(run), run.scenario, title="fifo", axes=axes) is axes
    assert axes.get_title() == "fifo"


def test_every_second_of_every_job_is_drawn() -> None:
    """In a job's row grey and colour together last from its release to its completion."""
    run = large()
    axes = jobs(schedule_of(run), run.scenario, title="fifo")

    lengths: dict[int, float] = {}
    for left, bottom, right, top in boxes(axes):
        assert top - bottom == pytest.approx(1)
        lengths[round(bottom)] = lengths.get(round(bottom), 0) + right - left
    order = sorted(range(60), key=lambda number: run.scenario.workload.jobs[number].release_date)
    assert lengths == pytest.approx({row: run.jct[number] for row, number in enumerate(order)})
    assert legend(axes) == ["1", "2", "waiting"]
    assert axes.get_title() == "fifo"


@pytest.mark.parametrize("origin", [0.0, 1.7e9])
def test_every_gpu_of_every_segment_is_drawn(origin: float) -> None:
    """The blocks cover the GPU seconds of the schedule, within the GPUs, below a line at the capacity."""
    run = small(origin=origin)
    schedule = schedule_of(run)
    axes = gantt(schedule, run.scenario)

    drawn = boxes(axes)
    rows = sum((right - left) * round(top - bottom + 0.1) for left, bottom, right, top in drawn)
    assert rows == pytest.approx(sum(float(each.end - each.start) * each.gpus for each in schedule.segments))
    assert max(top for *_, top in drawn) <= 4
    (line,) = list[Any](axes.lines)
    assert line.get_ydata().tolist() == [4, 3, 3]
    assert {text.get_text() for text in axes.texts} == {f"j{number}" for number in range(5)}


def test_neighbouring_gpus_make_one_block() -> None:
    """A job is framed once where its GPUs lie together."""
    run = small()
    cut = sum(each.start < 7 < each.end for each in schedule_of(run).segments)
    assert len(boxes(gantt(schedule_of(run), run.scenario))) == len(schedule_of(run).segments) + cut


def test_a_large_chart_has_colours_and_no_frames() -> None:
    """With many jobs, blocks have no frame that could cover them and no label; a legend tells the colours."""
    run = large()
    axes = gantt(schedule_of(run), run.scenario)

    assert not any(len(drawn.get_edgecolor()) for drawn in list[Any](axes.collections))
    assert not axes.texts
    held = legend(axes)
    assert held[0] == "up to 1.1"
    assert held[-1] == "capacity"
    assert len(held) == len(axes.collections) + 1 > 4


def test_time_is_counted_from_the_first_release() -> None:
    """On the clock of the epoch the axis says 0 where the first job is released."""
    run = small(origin=1.7e9)
    axes = gantt(schedule_of(run), run.scenario, title="fifo")
    assert axes.get_xlabel() == "time since the first release [s]"
    assert axes.xaxis.get_major_formatter()(1.7e9 + 3, 0) == "3"
    assert axes.get_title() == "fifo"


def test_it_draws_where_it_is_told() -> None:
    """Given axes are drawn on, and can be limited afterwards."""
    run = small()
    axes = Figure().subplots()
    assert gantt(schedule_of(run), run.scenario, axes=axes) is axes
    axes.set_xlim(0, 5)
    assert axes.get_xlim() == (0, 5)


def _drawn(bound: PriceBound) -> tuple[list[float], list[float]]:
    times, heights = list[Any](prices(bound).lines[0].get_data())
    return times.tolist(), heights.tolist()


def test_a_price_is_what_a_further_gpu_second_saves() -> None:
    """The curve has the prices of the cells, on the clock of the workload."""
    jobs = [Job(name=str(i), release_date=100, duration=3 + i, gpus=1) for i in range(12)]
    bound = price_bound(Scenario.of(bundle(jobs), 2), evaluations=60)
    times, heights = _drawn(bound)

    assert (times[0], times[-1]) == (100, 100 + bound.times[-1])
    assert heights[:-1] == pytest.approx(bound.prices)
    assert max(heights) > 1  # more than one job waits at first


@pytest.mark.parametrize("share_limit", [1, 2])
def test_the_curve_is_the_fall_of_the_bound(share_limit: int) -> None:
    """With the same prices, a further GPU lowers the bound by the area below the curve, shared or not."""
    jobs = bundle([Job(name=str(i), release_date=0, duration=3 + i, gpus=1) for i in range(12)])
    two, three = (Scenario.of(jobs, f"1x1x{gpus}", share_limit=share_limit) for gpus in (2, 3))
    bound = price_bound(two, evaluations=60)
    times, heights = _drawn(bound)
    area = sum(height * (end - begin) for height, (begin, end) in zip(heights, pairwise(times), strict=False))

    assert area == pytest.approx(bound.total_jct - price_bound(three, start=bound, evaluations=1).total_jct)


def test_nothing_is_worth_anything_where_nobody_waits() -> None:
    """With a GPU for each job the curve lies on the axis."""
    jobs = [Job(name=str(i), release_date=0, duration=3, gpus=1) for i in range(2)]
    assert max(_drawn(price_bound(Scenario.of(bundle(jobs), 2), evaluations=20))[1]) == 0


STARTS = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


def test_chart_and_queue_share_the_axis_of_time() -> None:
    """Both show the same hours, and the title stands above."""
    run = large()
    upper, lower = overview(schedule_of(run), run.scenario, colour="waiting", title="fifo").axes
    assert upper.get_xlim() == lower.get_xlim()
    assert (upper.get_title(), upper.get_xlabel()) == ("fifo", "")


@pytest.mark.parametrize("ending", STARTS)
def test_pictures_are_saved_in_every_format(tmp_path: Path, ending: str) -> None:
    """Every recorded run has three pictures under its policy's name; all runs have one of completion times."""
    runs = [small(fifo), small(srtf)]
    saved = save(runs, tmp_path, ending=ending)
    names = {f"{kind}-{name}{ending}" for kind in ("gantt", "jobs", "gpus") for name in ("fifo", "srtf")}
    assert {path.name for path in saved} == names | {f"jct{ending}"}
    assert all(path.read_bytes().startswith(STARTS[ending]) for path in saved)


def test_two_runs_of_a_policy_have_pictures_of_their_own(tmp_path: Path) -> None:
    """The second run of a policy is numbered instead of replacing the pictures of the first one."""
    saved = save([small(fifo), small(fifo)], tmp_path)
    assert len({*saved}) == 7
    assert tmp_path / "gantt-fifo 2.png" in saved


def test_what_cannot_be_saved_is_one_line(tmp_path: Path) -> None:
    """Another format and a folder that is not there are named."""
    with pytest.raises(InvalidInput, match=r"ending: '\.bmp': must be one of \.png, \.svg, \.pdf"):
        save([], tmp_path, ending=".bmp")
    with pytest.raises(InvalidInput, match=r"none/gantt-fifo\.png: cannot be written: No such file"):
        save([small()], tmp_path / "none")
