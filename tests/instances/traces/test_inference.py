"""The readers of inference demand, on made-up files."""

import gzip
from pathlib import Path

import pytest

from gsopt.core.errors import InvalidInput
from instances.traces.inference import duty_cycle_of_a_day, serving_gpus
from tests.instances.traces.samples import packed

INSTANCES = """instance_sn,role,gpu_request,creation_time,scheduled_time,deletion_time
i1,HN,1,,,
i2,HN,2,100.0,110.0,
i3,CN,0,50.0,60.0,70.0
i4,HN,4,,,150.0
i5,HN,8,160.0,170.0,150.0
i6,HN,one,,,
"""

DUTY = "value,timestamp_anon,container_ip\n"


def written(folder: Path, rows: str) -> Path:
    """Write an archive of duty cycles."""
    path = folder / "duty.tar.gz"
    path.write_bytes(gzip.compress(packed(duty_csv=DUTY + rows)))
    return path


def test_instances_hold_their_gpus_from_creation_to_deletion(tmp_path: Path) -> None:
    """Empty times are before and after the trace, and rows that break a rule hold nothing."""
    path = tmp_path / "instances.csv"
    path.write_text(INSTANCES)

    assert serving_gpus(path, [0, 99, 100, 149, 150, 1e6]) == (5, 5, 7, 7, 3, 3)


def test_a_file_without_instances_is_refused(tmp_path: Path) -> None:
    """A table whose rows are all wrong has no demand to give."""
    path = tmp_path / "instances.csv"
    path.write_text("instance_sn,gpu_request\ni6,one\n")
    with pytest.raises(InvalidInput, match=r"instances: 'instances\.csv': must have a row"):
        serving_gpus(path, [0])


def test_steps_have_the_mean_of_their_samples(tmp_path: Path) -> None:
    """Samples of one step are averaged, those after a day left out, and gaps bridged across midnight."""
    path = written(tmp_path, "10,1000,a\n20,1000,b\n30,22600,a\n99,87400,a\n")

    assert duty_cycle_of_a_day(path, step=21600, window=0) == (15.0, 30.0, 25.0, 20.0)


def test_a_window_smooths_around_midnight(tmp_path: Path) -> None:
    """Each step has the mean of its neighbours on either side, the last step's right one being the first."""
    path = written(
        tmp_path, "".join(f"{value},{place * 21600},a\n" for place, value in enumerate([0, 3, 6, 3]))
    )

    assert duty_cycle_of_a_day(path, step=21600, window=43200) == (2.0, 3.0, 4.0, 3.0)


@pytest.mark.parametrize(
    ("data", "options", "line"),
    [
        (b"no tar", {}, "must be a complete tar archive"),
        (packed(LICENSE="MIT"), {}, "must hold a table of duty cycles"),
        (packed(a_csv=DUTY), {}, "duty cycles: 'duty.tar': must have a row with a value and a time"),
        (packed(a_csv=DUTY), {"step": 7}, "step: 7: must divide a day of 86,400 s"),
        (packed(a_csv=DUTY), {"window": -1}, "window: -1: must be between 0 and 86,400 s"),
    ],
)
def test_what_is_no_day_is_refused(data: bytes, options: dict[str, int], line: str, tmp_path: Path) -> None:
    """No archive, no table, no samples, and options out of their range are one line each."""
    path = tmp_path / "duty.tar"
    path.write_bytes(data)
    with pytest.raises(InvalidInput) as refused:
        duty_cycle_of_a_day(path, **options)
    assert line in str(refused.value)
