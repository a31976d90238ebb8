"""Units of bandwidths."""

from gsopt.performance.communication import gigabits, gigabytes


def test_data_sheets_count_decimal_bits() -> None:
    """NVSwitch's 900 Gb/s are 112.5e9 bytes per second."""
    assert gigabits(900) == 112.5e9


def test_the_simulator_counts_binary_bytes() -> None:
    """A GB of ASTRA-sim's network files has 2**30 bytes, 7.4 % more than a decimal one."""
    assert gigabytes(250) == 250e9
    assert gigabytes(250, binary=True) == 268_435_456_000
