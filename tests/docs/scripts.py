"""Scripts: the programs below the pages that write their tables."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from tests.unwrap import unwrap

DOCS = Path(__file__).parents[2] / "docs"


def script(name: str) -> Any:
    """Return the program of this name, as a module."""
    if (folder := str(DOCS / "_static")) not in sys.path:
        sys.path.append(folder)  # programs import what stands beside them
    spec = unwrap(spec_from_file_location(name, DOCS / "_static" / f"{name}.py"))
    module = module_from_spec(spec)
    unwrap(spec.loader).exec_module(module)
    return module
