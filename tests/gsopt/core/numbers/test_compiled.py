"""A kernel gives what its function gives, whether numba is there or not."""

import os
import signal
import sys
from collections.abc import Callable
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gsopt.core.numbers import compiled as module
from gsopt.core.numbers.compiled import (
    compiled,
    inner,
    is_installed,
    is_on_disk,
    is_ready,
    is_worth_loading,
    plain,
    twin,
)


def _halvings(number: int) -> int:
    count = 0
    while number > 1:
        number //= 2
        count += 1
    return count


def test_a_kernel_is_its_function(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled or not, a kernel gives the same; where numba is missing it is the function itself."""
    kernel = compiled(_halvings)
    assert [kernel(number) for number in (0, 1, 7, 8)] == [_halvings(number) for number in (0, 1, 7, 8)]
    assert plain(kernel) is _halvings
    assert (kernel is _halvings) is not is_installed()
    monkeypatch.setattr(module, "find_spec", lambda _: None)
    monkeypatch.delitem(sys.modules, "numba", raising=False)
    assert compiled(_halvings) is _halvings
    assert not is_worth_loading()


def test_an_inner_kernel_is_called_by_kernels_and_by_its_twin(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within a kernel, an inner one gives what its function gives; Python calls its twin, or is refused."""
    halvings = inner(_halvings)

    def both(number: int) -> int:
        return 10 * halvings(number) + halvings(number + 1)

    kernel = compiled(both)
    assert [kernel(number) for number in (0, 1, 7, 8)] == [0, 1, 23, 33]
    assert twin(halvings)(8) == 3
    if is_installed():
        with pytest.raises(TypeError, match="call its twin"):
            halvings(8)
    monkeypatch.setattr(module, "find_spec", lambda _: None)
    assert inner(_halvings) is _halvings


def test_a_short_deadline_does_not_load(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a second left numba is used where it is loaded; with a minute, or no limit, where it is there."""
    monkeypatch.setattr(module, "find_spec", lambda name: name)
    monkeypatch.delitem(sys.modules, "numba", raising=False)
    assert [is_worth_loading(left) for left in (0.0, 1.0, 60.0, None)] == [False, False, True, True]
    monkeypatch.setitem(sys.modules, "numba", module)
    assert is_worth_loading(0.0)


def test_a_kernel_is_ready_once_it_was_called(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a second left a kernel is called if it is loaded and has been compiled; with ten, always."""
    monkeypatch.setattr(module, "find_spec", lambda name: name)
    kernel = SimpleNamespace(signatures=[])
    assert not is_ready("kernels", "halve", 1.0)
    monkeypatch.setitem(sys.modules, "kernels", SimpleNamespace(halve=kernel))
    assert not is_ready("kernels", "halve", 1.0)
    assert is_ready("kernels", "halve", 10.0)
    assert is_ready("kernels", "halve")
    kernel.signatures.append("int64")
    assert is_ready("kernels", "halve", 1.0)
    monkeypatch.setattr(module, "find_spec", lambda _: None)
    assert is_ready("other", "halve", 0.0)


def test_a_kernel_that_takes_long_to_compile_is_called_if_it_is_on_the_disk(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With twenty seconds and a minute to compile, it depends on the disk; with one second it is not loaded."""
    monkeypatch.setattr(module, "find_spec", lambda name: name)
    monkeypatch.setitem(sys.modules, "kernels", SimpleNamespace(halve=SimpleNamespace(signatures=[])))
    for on_disk in (False, True):
        monkeypatch.setattr(module, "is_on_disk", lambda _, there=on_disk: there)
        ready = [is_ready("kernels", "halve", left, 60.0) for left in (1.0, 20.0, 60.0)]
        assert ready == [False, on_disk, True]


@pytest.mark.parametrize(("seconds_older", "found"), [(-10, True), (10, False)])
def test_machine_code_older_than_its_source_is_not_on_the_disk(
    tmp_path: Path, seconds_older: int, found: bool
) -> None:
    """Only an index of the kernel's own name that is as new as its source counts."""
    kernel: Any = SimpleNamespace(
        py_func=_halvings, __qualname__="halvings_1", stats=SimpleNamespace(cache_path=str(tmp_path))
    )
    assert not is_on_disk(kernel)
    changed = Path(_halvings.__code__.co_filename).stat().st_mtime
    for name in ("module.halvings_1-3.py311.nbi", "module.others_1-3.py311.nbi"):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (changed - seconds_older,) * 2)
    assert is_on_disk(kernel) is found


def test_a_folder_that_cannot_be_written_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the machine code cannot be kept it is made all the same."""
    numba = pytest.importorskip("numba")
    original = numba.njit

    def njit(*functions: object, **options: object) -> object:
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return original(*functions, **options)

    monkeypatch.setattr(numba, "njit", njit)
    assert compiled(_halvings)(8) == 3


@pytest.fixture
def kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Return a function that writes a module of kernels, each one expression of a number, and imports it."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def written(module: str, imports: str = "", /, **expressions: str) -> Any:
        lines = ["from gsopt.core.numbers.compiled import compiled", imports]
        for name, expression in expressions.items():
            lines += ["@compiled", f"def {name}(number):", f"    return {expression}"]
        path = tmp_path / f"{module}.py"
        path.write_text("\n".join([*lines, ""]))
        os.utime(path, (1_600_000_000, 1_600_000_000))
        monkeypatch.delitem(sys.modules, module, raising=False)
        return import_module(module)

    return written


def test_machine_code_of_other_sources_is_not_taken(kernels: Callable[..., Any]) -> None:
    """A kernel follows a change of one that it calls, even if the file keeps its size and time."""
    found = []
    for further in (1, 2):
        kernels("inner_kernel", inner=f"number + {further}")
        outer = kernels("outer_kernel", "from inner_kernel import inner", outer="10 * inner(number)")
        found.append(outer.outer(1))
    assert found == [20, 30]


def test_a_twin_calls_plain_functions_only(kernels: Callable[..., Any]) -> None:
    """The twin of a kernel gives what it gives, without any kernel, also of other modules."""
    kernels("far_kernel", last="number + 1", far="last(number)")
    near = kernels("near_kernel", "from far_kernel import far", near="far(number) * 2").near
    assert near(2) == twin(near)(2) == 6
    assert twin(near)(Fraction(1, 2)) == 3  # of which no machine code knows


@pytest.fixture
def nested(kernels: Callable[..., Any]) -> Any:
    """Return kernels that call each other, of which there is no machine code yet."""
    pytest.importorskip("numba")
    return kernels(
        "nested_kernels",
        least="number + 1",
        middle="least(number) * 2",
        most="middle(number) + least(number)",
    )


def _interrupted_at(monkeypatch: pytest.MonkeyPatch, kernel: Any, name: str) -> list[str]:
    """Let Ctrl-C come when the compiler begins with one kernel; list those that it has done."""
    compiler = type(kernel._compiler)  # noqa: SLF001 - numba's own
    done: list[str] = []
    original = compiler.compile

    def compile_(self: Any, args: Any, return_type: Any) -> Any:
        begun = self.py_func.__name__
        if begun == name and not done:
            signal.raise_signal(signal.SIGINT)
        found = original(self, args, return_type)
        done.append(begun)
        return found

    monkeypatch.setattr(compiler, "compile", compile_)
    return done


def test_ctrl_c_waits_until_a_kernel_is_compiled(nested: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C within the compiler is raised once the kernel is done, which is whole then."""
    done = _interrupted_at(monkeypatch, nested.least, "least")
    with pytest.raises(KeyboardInterrupt):
        nested.least(1)
    assert done == ["least"]
    assert nested.least(1) == 2
    assert done == ["least"]


def test_ctrl_c_comes_between_two_kernels(nested: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of kernels that call each other none is begun after Ctrl-C, and all are compiled when called again."""
    done = _interrupted_at(monkeypatch, nested.most, "most")
    with pytest.raises(KeyboardInterrupt):
        nested.most(1)
    assert done == []
    monkeypatch.undo()
    assert nested.most(1) == 6
