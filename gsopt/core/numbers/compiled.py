"""Compiled: kernels as machine code where numba is installed, and as the functions that they are elsewhere.

Loading numba takes half a second and a first compilation several, which is kept on the disk. So modules with
kernels are imported where they are used, and whoever has a deadline asks `is_worth_loading` first. Ctrl-C waits
until numba is loaded or the kernel at hand compiled, as neither survives being left in the middle.
"""

import sys
from collections.abc import Callable
from functools import wraps
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType
from typing import Any, ParamSpec, TypeVar

from gsopt.core.interrupts import deliver, held, holding

#: Seconds from which on loading, and compiling if need be, is plainly paid back.
_ENOUGH = 10.0

#: Digits of the name of sources.
_DIGITS = 12

Given = ParamSpec("Given")
Found = TypeVar("Found")


def compiled(function: Callable[Given, Found]) -> Callable[Given, Found]:
    """Compile a function of numbers and arrays of them, if numba is installed; a decorator.

    The machine code is kept for later processes where there is a folder to keep it in, by a name that changes
    with the sources of the kernel and of all kernels that it calls: numba itself looks at the kernel's own file
    only, and at the time of its last change, which packages of two versions may have in common.

    Examples
    --------
    >>> @compiled
    ... def triangle(number):
    ...     total = 0
    ...     for step in range(number + 1):
    ...         total += step
    ...     return total
    >>> triangle(4)
    10
    """
    if not is_installed():
        return function
    with held():
        kernel: Any = _kernel(function)
    # Where numba goes with arguments of new types, and from there for each kernel that is called within.
    kernel._compile_for_args = holding(kernel._compile_for_args)  # noqa: SLF001 - it has no public name
    kernel.compile = _after_interrupts(kernel.compile)
    found: Callable[Given, Found] = kernel
    return found


def _after_interrupts(function: Callable[Given, Found]) -> Callable[Given, Found]:
    """Let Ctrl-C that is held back come before a function."""

    @wraps(function)
    def call(*args: Given.args, **kwargs: Given.kwargs) -> Found:
        deliver()
        return function(*args, **kwargs)

    return call


def _kernel(function: Callable[..., Any]) -> Any:
    import numba

    njit: Any = numba.njit
    function.__qualname__ += f"_{_digest(function)}"
    try:
        return njit(cache=True)(function)
    except RuntimeError:  # there is no folder that can be written
        return njit(function)


def _digest(function: Callable[..., Any]) -> str:
    """Return a name of the sources of a kernel: its file, and the names of the kernels that it can call."""
    called = (getattr(each, "py_func", None) for each in function.__globals__.values())
    names = sorted({kernel.__qualname__ for kernel in called if kernel is not None})
    source = Path(function.__code__.co_filename)
    text = source.read_bytes() if source.is_file() else b""
    return sha256(text + "\n".join(names).encode()).hexdigest()[:_DIGITS]


def is_installed() -> bool:
    """Check whether numba is installed.

    Examples
    --------
    >>> is_installed() in {True, False}
    True
    """
    return find_spec("numba") is not None


def is_worth_loading(seconds_left: float | None = None) -> bool:
    """Check whether compiled kernels are to be used: they are loaded already, or there is time for it.

    Parameters
    ----------
    seconds_left
        Time in which the kernels have to pay; None for no limit.

    Examples
    --------
    >>> is_worth_loading() == is_installed()
    True
    """
    if "numba" in sys.modules:
        return True
    return (seconds_left is None or seconds_left >= _ENOUGH) and is_installed()


def is_ready(
    module: str, kernel: str, seconds_left: float | None = None, seconds_to_compile: float = _ENOUGH
) -> bool:
    """Check whether a kernel may be called: it has been before, needs no compiler, or there is time for it.

    Machine code on the disk is loaded in a second or two; without it the kernel is compiled first.

    Parameters
    ----------
    module, kernel
        Names; the module is not imported.
    seconds_left
        Time in which it has to pay; None for no limit.
    seconds_to_compile
        Time that is enough to compile it and all kernels that it calls, on a busy machine too.

    Examples
    --------
    >>> is_ready("gsopt.schedule.bounds.prices.kernel", "evaluate_jobs")
    True
    """
    if not is_installed() or seconds_left is None or seconds_left >= seconds_to_compile:
        return True
    if module not in sys.modules:
        return False
    known = getattr(sys.modules[module], kernel)
    return bool(getattr(known, "signatures", True)) or (seconds_left >= _ENOUGH and is_on_disk(known))


def is_on_disk(kernel: Callable[..., Any]) -> bool:
    """Check whether there is machine code of a kernel on the disk, no older than its source.

    Examples
    --------
    >>> is_on_disk(abs)
    False
    """
    folder = getattr(getattr(kernel, "stats", None), "cache_path", None)
    if folder is None:
        return False
    changed = Path(plain(kernel).__code__.co_filename).stat().st_mtime
    saved = Path(folder).glob(f"*.{kernel.__qualname__}-*.nbi")
    return any(index.stat().st_mtime >= changed for index in saved)


def plain(function: Callable[Given, Found]) -> Callable[Given, Found]:
    """Return the function of which a kernel was compiled, or itself if it was not.

    Examples
    --------
    >>> plain(abs) is abs
    True
    """
    original: Any = getattr(function, "py_func", function)
    found: Callable[Given, Found] = original
    return found


def twin(function: Callable[Given, Found]) -> Callable[Given, Found]:
    """Find the plain function of a kernel that calls plain functions only, those of the kernels that it calls.

    It does the same as the kernel, slowly, and needs no compiler: for first steps, and for tests.

    Examples
    --------
    >>> twin(abs) is abs
    True
    """
    original: Any = plain(function)
    if not isinstance(original, FunctionType):
        return function
    scope = dict(original.__globals__)
    for name, each in original.__globals__.items():
        if hasattr(each, "py_func"):
            within = each.py_func.__globals__ is original.__globals__
            scope[name] = _with_scope(each.py_func, scope) if within else twin(each)
    found: Callable[Given, Found] = _with_scope(original, scope)
    return found


def _with_scope(function: Any, scope: dict[str, Any]) -> Any:
    return FunctionType(function.__code__, scope, function.__name__, function.__defaults__)
