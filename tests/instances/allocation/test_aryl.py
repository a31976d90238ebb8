"""The examples of the paper."""

from instances.allocation import figure_6, table_4


def test_times_at_the_minimum_follow_from_table_4() -> None:
    """Minimum running times of 100 and 20 at the maxima 3 and 6 are 150 and 60 at the minimum of 2."""
    for job, fastest in zip(table_4().jobs, (100, 20), strict=True):
        assert job.time_at_min == fastest * (job.min_workers + job.max_extra) / job.min_workers
        assert job.time_at_min - float(job.value(job.max_extra)) == fastest


def test_figure_6_differs_in_the_gpus_per_worker_only() -> None:
    """Figure 6 has the jobs of Table 4 with 2 GPUs per worker of A and 1 of B."""
    assert [job.gpus_per_worker for job in table_4().jobs] == [1, 1]
    assert [job.gpus_per_worker for job in figure_6().jobs] == [2, 1]
    assert figure_6().jobs[1] == table_4().jobs[1]
