"""How all tests run: hypothesis measures no time, as a busy machine must fail nothing; Ctrl-C can be tested."""

import gc
import signal
from collections.abc import Generator
from importlib import import_module
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule  # pytest has no public name for it
from hypothesis import HealthCheck, Phase, settings

from tests.effort import cases
from tests.processes import PATIENCE

gc.set_threshold(50_000, 20, 100)  # traces of 82,182 jobs are read in two thirds of the time

slow = [HealthCheck.too_slow]
found = [phase for phase in Phase if phase is not Phase.explain]  # which traces every line, for minutes
settings.register_profile(
    "gsopt", max_examples=cases(150), deadline=None, suppress_health_check=slow, phases=found
)
settings.load_profile("gsopt")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a shell leaves it to what it runs in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave benchmarks to those who name them; looked through for examples, all of them would be imported."""
    unasked = not any("bench" in argument for argument in config.args)
    return True if unasked and collection_path.name == "benchmarks" else None


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for examples in what tests share, not in the hundreds of files of tests, which have none."""
    found = yield
    is_test = file_path.name.startswith("test_")
    return [each for each in found if not (is_test and isinstance(each, DoctestModule))]


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let column generation search for as long as a busy machine makes it, where it is to prove an optimum."""
    module = import_module("formulations.placement.column_generation")  # the package's name is the method's
    for limit in ("_DIVE", "_SEARCH"):
        monkeypatch.setattr(module, limit, PATIENCE)
