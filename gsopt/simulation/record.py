"""Record: the figures of a finished run, and its gap to a proven bound."""

from math import ulp
from typing import Any

from gsopt.core.numbers.clock import Clock
from gsopt.core.numbers.tolerances import SPAN_ERROR
from gsopt.schedule.bounds.jct import MeanBound
from gsopt.schedule.fairness import FairTimes, finish_time_fairness
from gsopt.schedule.figures import Record
from gsopt.simulation.engine import Engine


def record_of(
    engine: Engine, policy: str, bound: MeanBound | None, fair_times: FairTimes, clock: Clock
) -> Record:
    """Return the record of a finished run, including the gap to the bound if one is given."""
    workload = engine.scenario.workload
    done = [job for job, time in enumerate(engine.completion) if time is not None]
    used, there = engine.until_completion
    ratios = [
        finish_time_fairness(engine.completion, ends, workload) for ends in (fair_times.fair, fair_times.gps)
    ]
    record = Record(
        policy=policy,
        release_dates=tuple(clock.nearest(job.release_date) for job in workload.jobs),
        durations=tuple(job.duration for job in workload.jobs),
        completion_times=clock.all_nearest(engine.completion),
        clock=clock,
        ends=tuple(engine.completion),
        queueing=tuple(engine.completion[job] - engine.release[job] - engine.holding[job] for job in done),
        communication=tuple(engine.communicated[job] for job in done),
        epochs=tuple(
            engine.samples[job] / training.epoch
            for job in done
            if (training := workload.jobs[job].training) is not None
        ),
        fairness=tuple(ratios[0][job] for job in done),
        gps_fairness=tuple(ratios[1][job] for job in done),
        demands=tuple(job.gpus for job in workload.jobs),
        deadlines=clock.all_nearest(job.deadline for job in workload.jobs),
        priorities=tuple(job.priority for job in workload.jobs),
        gpu_seconds=engine.occupied_seconds,
        shared_gpu_seconds=engine.shared_seconds,
        used=used,
        there=there,
        lost_gpu_seconds=engine.lost_gpu_seconds,
        preemptions=engine.preemptions,
        resizes=engine.resizes,
    )
    last = clock.nearest(max((engine.completion[job] for job in done), default=0))
    if bound is None:
        return record
    excused = _rounding(float(record.mean_jct or 0), record.jobs, last)
    return record.held_against(bound.mean_jct, excused, proof=bound.proof)


def _rounding(mean: float, jobs: int, last: Any) -> float:
    """Return by how many seconds rounding may push a mean job completion time below a bound.

    The clock rounds each completion by at most half a tick. A job waits for the jobs before it, so it may
    gain from the rounding of all their completions. The bound itself may be a sum of rounded times on the
    workload's clock.
    """
    return SPAN_ERROR * mean + (jobs + 1) * ulp(float(last))
