"""SVG: pictures embedded in a page, with selectable text and the page's dark or light colours."""

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from gsopt.studies.cells import fingerprint

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Replacement for black: the colour of text, which is light on a dark page.
_INK = {"#000000": "currentColor"}

#: Patterns by which an element refers to the id of another element.
_LINK, _REFERENCE = re.compile(r"#(.+)"), re.compile(r"url\(#(.+)\)")

_FONT_SIZE = re.compile(r"([0-9.]+)px")
_LONG_NUMBER = re.compile(r"(-?\d+\.\d\d)\d+")

#: Number of pixels on a page for each point of a picture.
_PIXELS = 1.2

#: Width in pixels above which a picture counts as broad, that is, cannot be made as narrow as others.
_BROAD = 900

#: Default style of the joins and ends of lines, as in matplotlib's own style sheet.
_LINES = {"stroke-linejoin": "round", "stroke-linecap": "butt"}


@contextmanager
def drawing() -> Iterator[None]:
    """Configure matplotlib, inside a ``with`` block, to draw for a page: text remains text, not outlines."""
    from matplotlib import rc_context

    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "gsopt"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")
        yield


def inline(figure: "Figure", name: str) -> str:
    """Return a matplotlib figure as an SVG element to embed in an HTML page.

    Call this inside `drawing`.

    All ids start with a hash of the name, so pictures with different names can be on the same page. The element
    has no style sheets or style attributes, which the page's security policy forbids.
    """
    text = StringIO()
    figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    root = ET.fromstring(text.getvalue())  # noqa: S314 - matplotlib wrote it
    for element in root.iter():
        element.tag = element.tag.partition("}")[2]
    _drop(root, "metadata", "style")
    for element in root.iter():
        _restyle(element)
        _close_up(element)
    _rename(root, f"p{fingerprint(name)[:12]}")
    root.attrib = {
        **_LINES,
        "viewBox": root.attrib["viewBox"],
        "role": "img",
        "aria-label": name,
        **_size(root),
    }
    return ET.tostring(root, encoding="unicode")


def _drop(root: ET.Element, *tags: str) -> None:
    for parent in root.iter():
        for child in list(parent):
            if child.tag in tags:
                parent.remove(child)


def _restyle(element: ET.Element) -> None:
    """Convert styles to attributes, keeping only the size of fonts, as the page has its own font."""
    styled = element.attrib.pop("style", "")
    for name, _, value in (part.partition(":") for part in styled.split(";") if part.strip()):
        key, worth = name.strip(), value.strip()
        if key in ("font", "font-size"):
            size = _FONT_SIZE.search(worth)
            element.attrib |= {"font-size": size[1]} if size else {}
        elif key != "font-family":
            element.set(key, _INK.get(worth, worth))
    if "d" in element.attrib:
        element.set("d", _LONG_NUMBER.sub(r"\1", " ".join(element.attrib["d"].split())))
    for name in list(element.attrib):
        if name.startswith("{"):  # xlink:href, which HTML spells href
            element.set(name.partition("}")[2], element.attrib.pop(name))


def _close_up(element: ET.Element) -> None:
    """Remove the whitespace between elements."""
    element.tail = None
    if len(element):
        element.text = None


def _rename(root: ET.Element, prefix: str) -> None:
    """Remove unused ids, and make the others unique on the page."""
    used: set[str] = set()
    for element in root.iter():
        for name, value in element.attrib.items():
            if found := (_LINK if name == "href" else _REFERENCE).fullmatch(value):
                used.add(found[1])
                element.set(name, value.replace("#", f"#{prefix}-"))
    for element in root.iter():
        own = element.attrib.pop("id", "")
        if own in used:
            element.set("id", f"{prefix}-{own}")


def _size(root: ET.Element) -> dict[str, str]:
    """Return the size attributes of a picture, with which two ordinary pictures fit side by side.

    Broad pictures get the class ``broad``.
    """
    _, _, width, height = (_PIXELS * float(number) for number in root.attrib["viewBox"].split())
    broad = {"class": "broad"} if width > _BROAD else {}
    return {"width": f"{width:.0f}", "height": f"{height:.0f}", **broad}
