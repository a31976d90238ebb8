"""Compiled: kernels that run as machine code if numba is installed, and as plain Python otherwise.

Loading numba takes half a second. Compiling a kernel takes several seconds, once, as the machine code is kept
on disk. Modules with kernels are therefore imported only where they are used, and callers with a deadline call
`is_worth_loading` or `is_ready` first. Ctrl-C takes effect only after numba is loaded or the current kernel is
compiled, as neither step survives an interruption.
"""

import sys
from collections.abc import Callable, Mapping
from functools import wraps
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType
from typing import Any, ParamSpec, TypeVar

from gsopt.core.interrupts import deliver, held, holding

#: Remaining seconds that are enough to load kernels, to compile them if necessary, and to benefit from them.
_ENOUGH = 10.0

#: Number of hexadecimal digits kept from the digest of sources.
_DIGITS = 12

Given = ParamSpec("Given")
Found = TypeVar("Found")


def compiled(function: Callable[Given, Found]) -> Callable[Given, Found]:
    """Compile the decorated function of numbers and arrays if numba is installed.

    Without numba, the function is returned unchanged. The machine code is cached for later processes if some
    cache folder is writable. The name of the cached file depends on the sources of the function and of all
    compiled functions that it calls, because numba itself notices only changes to the function's own file.

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
    return _compiled(function) if is_installed() else function


def inner(function: Callable[Given, Found]) -> Callable[Given, Found]:
    """Compile the decorated function like `compiled`, but only for calls from other kernels.

    The code for calls from Python, which converts all arguments, is left out. If dozens of kernels pass dozens
    of arrays to each other, this saves about a third of the time to compile them. From Python, call the
    `twin`.

    Examples
    --------
    >>> @inner
    ... def double(number):
    ...     return 2 * number
    >>> @compiled
    ... def quadruple(number):
    ...     return double(double(number))
    >>> quadruple(3), twin(double)(3)
    (12, 6)
    """
    if not is_installed():
        return function
    kernel: Any = _compiled(function, no_cpython_wrapper=True, no_cfunc_wrapper=True)
    kernel._insert = _nothing  # noqa: SLF001 - else a call from Python crashes, as its code is missing
    kernel._compile_for_args = _refused  # noqa: SLF001
    found: Callable[Given, Found] = kernel
    return found


def _nothing(*_: Any, **__: Any) -> None:
    """Do not tell numba which code to run when Python calls an inner kernel."""


def _refused(*_: Any, **__: Any) -> None:
    raise TypeError("an inner kernel is called from other kernels only; from Python, call its twin")


def _compiled(function: Callable[Given, Found], **options: bool) -> Callable[Given, Found]:
    with held():
        kernel: Any = _kernel(function, options)
    # numba calls this for arguments of new types, and again for each kernel that is called within.
    kernel._compile_for_args = holding(kernel._compile_for_args)  # noqa: SLF001 - it has no public name
    kernel.compile = _after_interrupts(kernel.compile)
    found: Callable[Given, Found] = kernel
    return found


def _after_interrupts(function: Callable[Given, Found]) -> Callable[Given, Found]:
    """Return a function that first delivers any held-back Ctrl-C."""

    @wraps(function)
    def call(*args: Given.args, **kwargs: Given.kwargs) -> Found:
        deliver()
        return function(*args, **kwargs)

    return call


def _kernel(function: Callable[..., Any], options: Mapping[str, bool]) -> Any:
    import numba

    njit: Any = numba.njit
    function.__qualname__ += f"_{_digest(function)}"
    try:
        return njit(cache=True, **options)(function)
    except RuntimeError:  # there is no folder that can be written
        return njit(**options)(function)


def _digest(function: Callable[..., Any]) -> str:
    """Return a digest of a kernel's source file and of the kernels that it can call."""
    called = (getattr(each, "py_func", None) for each in function.__globals__.values())
    names = sorted({kernel.__qualname__ for kernel in called if kernel is not None})
    source = Path(function.__code__.co_filename)
    text = source.read_bytes() if source.is_file() else b""
    return sha256(text + "\n".join(names).encode()).hexdigest()[:_DIGITS]


def is_installed() -> bool:
    """Check whether numba is installed."""
    return find_spec("numba") is not None


def is_worth_loading(seconds_left: float | None = None) -> bool:
    """Check whether numba is already loaded, or is installed and enough time is left to benefit from it.

    Enough means at least 10 s; None stands for no limit.
    """
    if "numba" in sys.modules:
        return True
    return (seconds_left is None or seconds_left >= _ENOUGH) and is_installed()


def is_ready(
    module: str, kernel: str, seconds_left: float | None = None, seconds_to_compile: float = _ENOUGH
) -> bool:
    """Check whether a kernel can be called without exceeding the remaining time.

    Without numba, every kernel is ready. With numba, a kernel is ready in three cases:

    - The remaining time suffices to compile it.
    - It was called before.
    - Its module was imported, its machine code is on disk, and at least 10 s are left to load it.

    Parameters
    ----------
    module, kernel
        Names of the module and of the kernel in it. This function does not import the module.
    seconds_left
        Remaining time; None for no limit.
    seconds_to_compile
        Time that suffices to compile the kernel and all kernels that it calls, even on a busy machine.
    """
    if not is_installed() or seconds_left is None or seconds_left >= seconds_to_compile:
        return True
    if module not in sys.modules:
        return False
    known = getattr(sys.modules[module], kernel)
    return bool(getattr(known, "signatures", True)) or (seconds_left >= _ENOUGH and is_on_disk(known))


def is_on_disk(kernel: Callable[..., Any]) -> bool:
    """Check whether a kernel's machine code is on disk and no older than its source file."""
    folder = getattr(getattr(kernel, "stats", None), "cache_path", None)
    if folder is None:
        return False
    changed = Path(plain(kernel).__code__.co_filename).stat().st_mtime
    saved = Path(folder).glob(f"*.{kernel.__qualname__}-*.nbi")
    return any(index.stat().st_mtime >= changed for index in saved)


def plain(function: Callable[Given, Found]) -> Callable[Given, Found]:
    """Return the Python function from which a kernel was compiled; any other function is returned unchanged."""
    original: Any = getattr(function, "py_func", function)
    found: Callable[Given, Found] = original
    return found


def twin(function: Callable[Given, Found]) -> Callable[Given, Found]:
    """Return a kernel as a Python function that also calls other kernels as Python functions.

    It computes the same result as the kernel, slowly but without a compiler. It also accepts numbers of types
    that numba does not support, such as fractions.
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
