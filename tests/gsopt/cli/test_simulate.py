"""Policies on the command line: simulate, and compare on a trace, run as their users run them."""

import json
from pathlib import Path
from typing import Any

import pytest

from gsopt import simulation
from gsopt.cli.exits import Exit
from gsopt.cli.traces import read_scenario, read_setting
from gsopt.core.files import read_data, write
from gsopt.evaluation.catalogue import find_policy
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job, Workload
from gsopt.scenario.scenario import Scenario
from gsopt.schedule import Schedule
from gsopt.schedule.figures import FIGURES
from gsopt.schedule.judge import judge
from gsopt.studies.settings import setting_of
from heuristics import policies
from tests.commands import gsopt, refused
from tests.gsopt.simulation.scenarios import bundle
from tests.instances.traces.samples import PHILLY

_DALLY = "dally(lease=None, censored=True, delays=[3.0, 4.0])"
_KEYS = ["policy", *(each.key for each in FIGURES)]


@pytest.fixture
def workload(tmp_path: Path) -> Path:
    """Return a workload as a file: a long job, and a short one behind it."""
    long = Job(name="long", release_date=0, duration=6, gpus=2)
    short = Job(name="short", release_date=1, duration=1, gpus=1)
    path = tmp_path / "workload.json"
    write(bundle([long, short]), path)
    return path


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Return a trace as a file: jobs of 8, 1 and 16 GPUs, released after 0, 2932 and 86400 seconds."""
    path = tmp_path / "philly.csv"
    path.write_text(PHILLY)
    return path


def _figures(*arguments: str | Path) -> Any:
    run = gsopt(*arguments, "--json")
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_one_policy_is_one_object(workload: Path) -> None:
    """One policy gives one JSON object with the documented keys, in their order, and the right figures."""
    found = _figures("simulate", workload, "--gpus", "2", "--policy", "srtf")
    assert list(found) == _KEYS
    assert (found["policy"], found["jobs"], found["completed"]) == ("srtf", 2, 2)
    assert (found["mean_jct"], found["p99_jct"], found["makespan"]) == (4.0, 7.0, 7.0)
    assert (found["mean_queueing"], found["preemptions"]) == (0.5, 1)
    assert found["utilisation"] == pytest.approx(13 / 14)
    assert (found["preemptions_per_job"], found["resizes"]) == (0.5, 0)
    # as a fluid of which short uses one GPU at most, it is done at 2 s, and long at 6.5 s
    assert (found["unfair_fraction"], found["worst_fairness"]) == (0.5, pytest.approx(7 / 6.5))
    assert found["lower_bound"] <= found["mean_jct"]
    assert found["gap"] == pytest.approx(found["mean_jct"] / found["lower_bound"] - 1)


def test_several_policies_are_an_array(workload: Path) -> None:
    """Several policies give an array in the order asked for; none named means all."""
    two = _figures("simulate", workload, "--gpus", "2", "--policy", "srtf", "--policy", "fifo")
    every = _figures("simulate", workload, "--gpus", "2")
    assert [(row["policy"], row["mean_jct"]) for row in two] == [("srtf", 4.0), ("fifo", 6.0)]
    assert [row["policy"] for row in every] == list(policies.__all__)


def test_table_has_a_line_per_policy(workload: Path) -> None:
    """Without --json a table names each policy, and nothing is said on standard error."""
    run = gsopt("simulate", workload, "--gpus", "2")
    assert run.returncode == 0
    assert all(f"\n{name} " in run.stdout for name in policies.__all__)
    assert "proven by formulas" in run.stdout
    assert run.stderr == ""


def test_generated_workload_is_simulated_on_either_kind_of_cluster(tmp_path: Path) -> None:
    """What `generate workloads` writes runs on a number of GPUs and on a cluster file of as many."""
    jobs, cluster = tmp_path / "jobs.json", tmp_path / "cluster.json"
    made = gsopt("generate", "workloads", "poisson", "--jobs", "50", "--gpus", "16", "--load", "30", "-o", jobs)
    write(Cluster.uniform(machines=4, gpus=4), cluster)
    plain = _figures("simulate", jobs, "--gpus", "16", "--policy", "fifo")
    racks = _figures("simulate", jobs, "--cluster", cluster, "--policy", "fifo")
    assert made.returncode == 0
    assert (plain["completed"], plain["mean_queueing"] > 0) == (50, True)
    assert racks == plain  # machines make no difference to jobs without a model


def test_bounds_take_more_effort(tmp_path: Path) -> None:
    """More price vectors prove a higher bound, and none leaves the formulas, in both commands."""
    jobs = tmp_path / "jobs.json"
    gsopt("generate", "workloads", "poisson", "--jobs", "50", "--gpus", "16", "--load", "3", "-o", jobs)
    line = (jobs, "--gpus", "16", "--policy", "fifo", "--policy", "srtf", "--bound-evaluations")
    for name in ("simulate", "compare"):
        none, few = (_figures(name, *line, effort)[0]["lower_bound"] for effort in ("0", "200"))
        assert none < few


def test_window_and_sample_select_from_a_trace(trace: Path) -> None:
    """A window in hours or seconds keeps the jobs released in it, and a sample so many of them."""
    options = ("--reader", "philly", "--gpus", "16", "--policy", "fifo")
    assert _figures("simulate", trace, *options)["jobs"] == 3
    assert _figures("simulate", trace, *options, "--window", "0h:1h")["jobs"] == 2
    assert _figures("simulate", trace, *options, "--window", "1:86401")["jobs"] == 2
    assert _figures("simulate", trace, *options, "--sample", "1")["jobs"] == 1
    assert _figures("simulate", trace, *options, "--busiest", "1h")["jobs"] == 2


def test_job_larger_than_the_cluster_is_reported(trace: Path) -> None:
    """The reader drops a job that no policy could start; it is counted, and named with --issues."""
    line = ("simulate", trace, "--reader", "philly", "--gpus", "8", "--policy", "fifo")
    brief, full = gsopt(*line), gsopt(*line, "--issues")
    assert (brief.returncode, full.returncode) == (0, 0)
    assert "1 rows dropped, 1 repaired; gsopt simulate --issues lists them" in brief.stderr
    assert "demands 16 GPUs, more than max_gpus 8" in full.stderr


def test_schedules_are_read_back_and_accepted_by_the_judge(tmp_path: Path, workload: Path) -> None:
    """--schedules writes a file per policy, whose segments obey every rule and give the figures printed."""
    folder = tmp_path / "new" / "schedules"
    names = ("fifo", "srtf", "tiresias")
    chosen = [word for name in names for word in ("--policy", name)]
    rows = _figures("simulate", workload, "--gpus", "2", *chosen, "--schedules", folder)
    scenario = Scenario(workload=read_data(Workload, workload), cluster=Cluster.plain(2))
    assert sorted(path.name for path in folder.iterdir()) == [f"{name}.csv" for name in names]
    for row in rows:
        verdict = judge(Schedule.read(folder / f"{row['policy']}.csv"), scenario)
        assert verdict.violations == ()
        assert (verdict.mean_jct, verdict.makespan) == (row["mean_jct"], row["makespan"])


@pytest.mark.parametrize(("form", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_plots_are_pictures(tmp_path: Path, workload: Path, form: str, start: bytes) -> None:
    """--plots writes three pictures per policy, named after it, and one of all, in the format asked for."""
    folder = tmp_path / "plots"
    chosen = ("--policy", "fifo", "--policy", "srtf", "--plots", folder, "--plot-format", form)
    run = gsopt("simulate", workload, "--gpus", "2", *chosen)
    names = {f"{kind}-{policy}.{form}" for kind in ("gantt", "jobs", "gpus") for policy in ("fifo", "srtf")}
    assert run.returncode == 0, run.stderr
    assert {path.name for path in folder.iterdir()} == {*names, f"jct.{form}"}
    assert all(path.read_bytes().startswith(start) for path in folder.iterdir())


@pytest.mark.parametrize(
    ("chosen", "name", "mean_jct"),
    [
        ("tiresias:thresholds=[0.5],promote=100", "tiresias(thresholds=[0.5], promote=100.0)", 4.0),
        ("heuristics.policies:tiresias:thresholds=[1e9]", "tiresias(thresholds=[1000000000.0])", 6.0),
        ("dally:lease=None,censored=True,delays=[3,4]", _DALLY, 6.0),
    ],
)
def test_policies_take_options(workload: Path, chosen: str, name: str, mean_jct: float) -> None:
    """What is written behind a policy's name are its options, which change the schedule and its name.

    They may be typed as the name shows them, with None, True and False.
    """
    found = _figures("simulate", workload, "--gpus", "2", "--policy", chosen)
    assert (found["policy"], found["mean_jct"]) == (name, mean_jct)
    assert _figures("compare", workload, "--gpus", "2", "--method", chosen) == [found]


def test_setting_is_given_by_options_or_by_a_file(tmp_path: Path, workload: Path) -> None:
    """Overheads, capacity changes and rounds give the same figures from options, a file, and the library."""
    overheads = ("--overheads", "start=2", "--overhead", ":stop=1")
    told = (*overheads, "--capacity-changes", "0.05m=1", "--capacity-change", "5=2")
    setting = {
        "gpus": 2,
        "overheads": {"": {"start": 2, "stop": 1}},
        "capacity_changes": [{"time": 3, "gpus": 1}, {"time": 5, "gpus": 2}],
        "round_length": 2,
    }
    file = tmp_path / "setting.json"
    file.write_text(json.dumps(setting))
    rounds = ("--round-length", "2")
    for policy in ("srtf", "fifo"):
        line = ("simulate", workload, "--policy", policy)
        found = _figures(*line, "--gpus", "2", *told, *rounds)
        assert _figures(*line, "--setting", file) == found
        assert _figures("compare", workload, "--setting", file, "--method", policy) == [found]
        scenario = setting_of(setting).scenario(read_data(Workload, workload))
        replay = simulation.replay(scenario, find_policy(policy), round_length=2.0)
        assert (found["mean_jct"], found["makespan"]) == (replay.metrics.mean_jct, replay.metrics.makespan)
        assert found["mean_jct"] > _figures(*line, "--gpus", "2")["mean_jct"]


def test_sharing_and_both_clusters(tmp_path: Path, workload: Path) -> None:
    """A share limit is that of the scenario; a number of GPUs beside a file that says it is refused."""
    cluster = tmp_path / "cluster.json"
    write(Cluster.uniform(machines=1, gpus=2), cluster)
    scenario = read_scenario(str(workload), None, read_setting(cluster=cluster, share_limit=2))
    assert (scenario.share_limit, scenario.cluster.gpus) == (2, 2)
    line = ("simulate", workload, "--cluster", cluster, "--policy", "srtf")
    assert _figures(*line, "--share-limit", "2")["jobs"] == 2
    assert read_setting("share_limit=2", cluster=cluster) == read_setting(cluster=cluster, share_limit=2)
    assert "must not be given, as the file states it" in refused(*line, "--gpus", "2")


def test_a_network_that_is_free_is_said(tmp_path: Path) -> None:
    """Where no job suffers from the network a line says so and names the slowdowns that are at hand."""
    file = tmp_path / "workload.json"
    write(bundle([Job(name="a", release_date=0, duration=4, gpus=3, model="vgg11")]), file)
    line = ("simulate", file, "--cluster", "2x1x2", "--policy", "fifo", "--json")
    free = gsopt(*line)
    assert free.stderr.startswith("the network slows no job down: ")
    assert free.stderr.count("\n") == 1
    paid = gsopt(*line, "--setting", "speed=dally")
    assert paid.stderr == ""
    assert [json.loads(run.stdout)["mean_jct"] for run in (free, paid)] == pytest.approx([4, 4.28])
    assert "'tiresias': must be dally, or slowdowns" in refused(*line, "--setting", "speed=tiresias")
    events = tmp_path / "setting.json"
    events.write_text(json.dumps({"events": [{"event": "leave", "time": 0, "servers": ["nowhere"]}]}))
    assert "'nowhere': must be a machine of the cluster" in refused(*line, "--setting", events)


def test_seed_is_given_to_policies_that_draw(workload: Path) -> None:
    """A seed appears in the name of the policy that draws, and of no other."""
    chosen = ("--policy", "fifo", "--policy", "random_order")
    rows = _figures("simulate", workload, "--gpus", "2", *chosen, "--seed", "3")
    assert [row["policy"] for row in rows] == ["fifo", "random_order(seed=3)"]


def test_compare_runs_every_policy_on_a_trace(trace: Path, workload: Path) -> None:
    """`compare` on a trace, or on a workload with a cluster, gives the figures of `simulate`, as an array."""
    on = ("--reader", "philly", "--gpus", "16", "--window", "0h:1h")
    few = ("compare", workload, "--gpus", "2", "--method", "srtf")
    assert _figures("compare", trace, *on) == _figures("simulate", trace, *on)
    assert _figures(*few) == [_figures("simulate", workload, "--gpus", "2", "--policy", "srtf")]
    assert "proven by formulas" in gsopt(*few).stdout


@pytest.mark.parametrize("window", ["", "30d", "1:2:3", "a:b", "1w:2w", "nan:3", "0:inf", "5:3", "-1:3"])
def test_bad_windows(trace: Path, window: str) -> None:
    """A window that is no begin and end in that order is refused in one line."""
    line = ("simulate", trace, "--reader", "philly", "--gpus", "16", f"--window={window}")
    assert refused(*line).startswith(("gsopt: --window: ", "gsopt: window: (5.0, 3.0): must begin"))


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("simulate JOBS --gpus 2 --policy magic", "--policy: 'magic'"),
        ("simulate JOBS --gpus 2 --reader magic", "--reader: 'magic'"),
        ("simulate JOBS --gpus 2 --window 0:1", "--window"),  # the file is no trace
        ("simulate JOBS --gpus 2 --sample 1", "--sample"),  # likewise
        ("simulate JOBS", "--gpus"),
        ("simulate JOBS --gpus 2 --cluster cluster.json", "cluster.json: cannot be read"),
        ("simulate JOBS --cluster no-such-file.json", "no-such-file.json"),
        ("simulate JOBS --gpus 0", "--gpus: 0"),
        ("simulate JOBS --gpus -4", "--gpus: -4"),
        ("simulate JOBS --gpus 99999999999", "--gpus: 99999999999"),
        ("simulate JOBS --gpus 1", "gpus: 2: must fit the 1 GPUs"),
        ("simulate JOBS --gpus 2 --round-length 0", "--round-length: 0.0: "),
        ("simulate JOBS --gpus 2 --share-limit 0", "--share-limit: 0: "),
        ("simulate JOBS --gpus 2 --share-limit 2", "--share-limit: 2: must be 1 in a plain cluster"),
        ("simulate JOBS --gpus 2 --overhead 4", "--overheads: '4': must be such as start=4"),
        ("simulate JOBS --gpus 2 --overhead begin=4", "--overheads.begin: 4: is not a known key"),
        ("simulate JOBS --gpus 2 --overhead start=-4", "start: -4: "),
        ("simulate JOBS --gpus 2 --overhead start=a", "start: 'a': "),
        (
            "simulate JOBS --gpus 2 --capacity-change 4",
            "--capacity-changes: '4': must be a time and a number",
        ),
        ("simulate JOBS --gpus 2 --capacity-change 4=x", "--capacity-changes: '4=x': "),
        ("simulate JOBS --gpus 2 --capacity-change nan=1", "--capacity-changes: 'nan=1': must be a time"),
        ("simulate JOBS --gpus 2 --capacity-change 4=3", "must be at most the 2 GPUs"),
        ("simulate JOBS --setting no-such-file.json", "no-such-file.json"),
        ("simulate JOBS --gpus 2 --setting share_limit=0", "--setting: share_limit: 0: "),
        ("simulate JOBS --gpus 2 --setting limit=2", "--setting: limit: must be one of speed, overheads, "),
        ("simulate JOBS --gpus 2 --setting limit=2,limit=3", "--setting: 'limit=3': gives limit twice"),
        ("simulate JOBS --gpus 2 --policy srtf:alpha=1", "--policy srtf: alpha: 1: is not an option of srtf"),
        ("simulate JOBS --gpus 2 --policy tiresias:promote=x", "--policy tiresias: promote: 'x': "),
        ("simulate JOBS --gpus 2 --policy tiresias:promote=1,promote=2", "gives promote twice"),
        ("simulate JOBS --gpus 2 --policy tiresias:promote=1,2", "must be an option and its value"),
        ("simulate JOBS --gpus 2 --policy dally:delays=3,4", "a list is written in brackets"),
        ("simulate no-such-file.json --gpus 2", "no-such-file"),
        ("simulate no-such-file.csv --gpus 2 --reader philly", "no-such-file"),
        ("compare no-such-file.csv --gpus 2 --reader philly", "no-such-file"),
        ("compare JOBS --gpus 2 --method greedy", "--method: 'greedy'"),
        ("compare JOBS --gpus 2 reclaiming", "reclaiming"),  # two things to compare
        ("compare JOBS --window 0:1", "--gpus"),
        ("compare JOBS --busiest 1h", "--gpus"),
        ("simulate JOBS --gpus 2 --busiest 1h", "--busiest: selects from a trace, whose --reader is not given"),
        ("compare JOBS --reader philly", "--gpus"),
    ],
)
def test_bad_arguments_are_one_line(workload: Path, line: str, named: str) -> None:
    """Whatever is misspelt, missing, out of range, not there or not for `compare` is named in one line."""
    assert named in refused(*line.replace("JOBS", str(workload)).split())


def test_a_policy_that_is_out_of_time_is_one_line(workload: Path) -> None:
    """A policy whose time is over ends the command with one line."""
    run = gsopt("simulate", workload, "--gpus", "2", "--policy", "srtf", "--time-limit", "0")
    assert run.returncode == Exit.FAILED
    assert run.stdout == ""
    assert run.stderr.strip().splitlines()[-1].startswith("gsopt: ")
    assert "Traceback" not in run.stderr
