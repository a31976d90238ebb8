"""Profiles of Sia's applications."""

from pathlib import Path

import pytest

from gsopt.core.errors import InvalidInput
from instances.traces.profile import MeasuredProfile, read_profile
from instances.traces.reading import Issue

STEPS = {
    "1": [(8.0, 0.125, 0.0), (16.0, 0.25, 0.0)],
    "2": [(8.0, 0.5, 0.25), (16.0, 1.0, 0.5)],
    "24": [(8.0, 1.0, 0.25)],
    "44": [(1.0, 0.25, 0.5), (4.0, 0.75, 1.0)],
}
PROFILE = MeasuredProfile(STEPS, {16: 100, 32: 60, 64: 40}, gpus_per_node=4)


def test_between_measured_batches_is_a_straight_line() -> None:
    """Iterations and seconds are interpolated between two batch sizes, and none is read beyond them."""
    assert PROFILE.duration(1, 16) == 100 * 0.25
    assert PROFILE.duration(2, 24) == 80 * 0.75
    assert PROFILE.duration(1, 15) is None
    assert PROFILE.duration(1, 65) is None


def test_a_batch_too_large_for_the_gpus_is_processed_in_parts() -> None:
    """Only the last part exchanges gradients: two parts take one exchange less than two iterations."""
    assert PROFILE.duration(1, 64) == 40 * (4 * 0.25)
    assert PROFILE.duration(2, 64) == 40 * (1.0 + (1.0 - 0.5))


def test_a_batch_too_small_for_the_gpus_was_not_measured() -> None:
    """Less than the smallest share on each GPU is unknown."""
    assert PROFILE.duration(6, 48) == 50 * 1.0
    assert PROFILE.duration(6, 36) is None


def test_an_exchange_longer_than_its_iteration_makes_no_time_up() -> None:
    """Parts without exchange take no negative time."""
    assert PROFILE.duration(8, 64) == 40 * 0.75


@pytest.mark.parametrize("gpus", [-1, 0, 3, 5, 7, 9, 10**40])
def test_other_numbers_of_gpus_were_not_measured(gpus: int) -> None:
    """A number of GPUs whose placement was not measured has no duration and no menu."""
    assert PROFILE.duration(gpus, 16) is None
    assert PROFILE.menu(gpus, 16) == ()


def test_a_menu_holds_what_was_measured() -> None:
    """The menu is relative to the demanded GPUs and leaves out what is unknown."""
    assert PROFILE.menu(2, 16) == ((1, 2.0), (2, 1.0), (8, 0.5 / (0.25 + 0.5 / 3)))


def test_files_are_read(tmp_path: Path) -> None:
    """Placements come from one file; iterations from the last row of each validation file."""
    (tmp_path / "placements-rtx.csv").write_text(
        "placement,local_bsz,step_time,sync_time\n1,8,0.5,0\nx,8,1,0\n"
    )
    (tmp_path / "validation-8.csv").write_text("progress,iteration\n1,10\n2,30\n")
    (tmp_path / "validation-none.csv").write_text("nothing")
    issues: list[Issue] = []

    assert read_profile(tmp_path, "rtx", 8, issues).duration(1, 8) == 15.0
    assert [(issue.file, issue.row) for issue in issues] == [(f"{tmp_path.name}/placements-rtx.csv", 3)]


def test_another_header_is_refused(tmp_path: Path) -> None:
    """A validation file without iterations is refused in one line."""
    (tmp_path / "placements-rtx.csv").write_text("placement,local_bsz,step_time,sync_time\n")
    (tmp_path / "validation-8.csv").write_text("progress\n1\n")
    with pytest.raises(InvalidInput, match=r"validation-8\.csv: header: 'progress': must hold iteration"):
        read_profile(tmp_path, "rtx", 8, [])


SPREAD = {
    (2, 6): [(2.0, 1.0, 0.0)],
    (2, 8): [(2.0, 9.0, 0.0)],
    (3, 12): [(2.0, 3.0, 0.0)],
    (3, 16): [(2.0, 5.0, 0.0)],
}


def test_measurements_by_nodes_fill_gaps() -> None:
    """Measured placements come first, then the same nodes and GPUs, then a line between two numbers of GPUs."""
    profile = MeasuredProfile(STEPS, {16: 100, 64: 40}, gpus_per_node=4, spread=SPREAD)

    assert profile.duration(8, 16) == PROFILE.duration(8, 16)
    assert profile.duration(12, 24) == pytest.approx((100 - 60 * 8 / 48) * 3.0)
    assert profile.duration(14, 28) == pytest.approx((100 - 60 * 12 / 48) * 4.0)
    assert profile.duration(16, 32) == pytest.approx((100 - 60 * 16 / 48) * 5.0)
    assert [profile.duration(gpus, 40) for gpus in (5, 9, 17, 24)] == [None] * 4


def test_interpolated_counts_need_both_neighbours() -> None:
    """Where one of the two numbers of GPUs was not measured with that share, the time is unknown."""
    spread = {**SPREAD, (3, 16): [(4.0, 5.0, 0.0)]}
    profile = MeasuredProfile(STEPS, {16: 100, 64: 40}, gpus_per_node=4, spread=spread)

    assert profile.duration(14, 28) is None
    assert profile.duration(16, 64) == 40 * 5.0
