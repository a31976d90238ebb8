"""The package of scheduling instances."""

import instances.scheduling


def test_generators_need_no_arguments() -> None:
    """Every exported generator gives a problem of this decision as it stands."""
    for name in instances.scheduling.__all__:
        assert getattr(instances.scheduling, name)().word == "scheduling"
