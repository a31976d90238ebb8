"""Gallery: the executed notebooks, each with its first picture."""

import json
from base64 import b64decode
from pathlib import Path
from typing import Any

from pages import write
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

#: The notebook that needs the fewest terms comes first.
_FIRST = "policies"

_INTRODUCTION = """# Gallery

Each notebook answers one question. Its figures and pictures are computed when this site is built.

New to gsopt? Begin with the [tutorials](../guides.md).

::::{grid} 1 2 2 3
:gutter: 3

"""


def pages(executed: Path) -> dict[str, str | bytes]:
    """Return the notebooks, their pictures and the page that shows them."""
    found = sorted(executed.glob("*.ipynb"), key=lambda path: (path.stem != _FIRST, path))
    if not found:
        raise ExtensionError(f"{executed}: no executed notebook; make notebooks comes first")
    texts = {path.stem: path.read_text("utf-8") for path in found}
    notebooks = {name: json.loads(text) for name, text in texts.items()}
    cards = "\n".join(card(name, heading(notebook)) for name, notebook in notebooks.items())
    listed = "\n".join(notebooks)
    return {
        "index.md": f"{_INTRODUCTION}{cards}::::\n\n:::{{toctree}}\n:hidden:\n\n{listed}\n:::\n",
        **{f"{name}.ipynb": text for name, text in texts.items()},
        **{f"pictures/{name}.png": picture(notebook) for name, notebook in notebooks.items()},
    }


def card(name: str, question: str) -> str:
    """Return the card of a notebook."""
    return (
        f":::{{grid-item-card}} {question}\n:link: {name}\n:link-type: doc\n"
        f":img-bottom: pictures/{name}.png\n:img-alt: First picture of the notebook\n:::\n\n"
    )


def heading(notebook: Any) -> str:
    """Return the question of a notebook, its heading."""
    first, *_ = "".join(notebook["cells"][0]["source"]).splitlines()
    return first.removeprefix("# ")


def picture(notebook: Any) -> bytes:
    """Return the first picture of a notebook."""
    outputs = (output.get("data", {}) for cell in notebook["cells"] for output in cell.get("outputs", ()))
    return next(b64decode(data["image/png"]) for data in outputs if "image/png" in data)


def write_pages(app: Sphinx) -> None:
    """Write the pages before Sphinx looks for them."""
    source = Path(app.srcdir)
    write(source / "gallery", pages(source.parent / "build" / "notebooks"))


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages when the builder is there."""
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
