"""Build the API reference out of the docstrings, as HTML without network; a warning ends it.

Usage: python .ci/reference.py FOLDER
"""

import sys
import warnings
from pathlib import Path
from pkgutil import iter_modules

import pdoc

import gsopt
import heuristics.scheduling
import heuristics.sharing
import heuristics.waiting

_PACKAGES = ("gsopt", "formulations", "heuristics", "instances")

#: Packages whose names are loaded when they are asked for, which pdoc does not do.
_LAZY = (gsopt, heuristics.scheduling, heuristics.sharing, heuristics.waiting)

#: Parts of gsopt that nobody imports, and those that come with it.
_APART = {"__main__", "cli", *gsopt.__all__}


def build(folder: Path) -> None:
    """Write a page for every package, and for every module that lies in gsopt itself."""
    warnings.simplefilter("error")
    for package in _LAZY:
        vars(package).update({name: getattr(package, name) for name in package.__all__})
    modules = [f"gsopt.{each.name}" for each in iter_modules(gsopt.__path__) if each.name not in _APART]
    pdoc.render.configure(docformat="numpy", show_source=False)
    pdoc.pdoc(*_PACKAGES, *modules, output_directory=folder)


if __name__ == "__main__":
    build(Path(sys.argv[1]))
    print(f"{sys.argv[1]}/index.html")
