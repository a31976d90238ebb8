"""Pictures within a page."""

from xml.etree import ElementTree as ET

from gsopt.core.drawing import new_figure
from gsopt.studies.page.svg import drawing, inline


def _drawn(name: str) -> str:
    """Draw two lines, a hatched bar, and text that is not in the fonts at hand."""
    figure = new_figure(3, 2)
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], marker="o", color="black")
    axes.bar([0], [1], hatch="///", color="#0072B2", edgecolor="black")
    axes.set_title("<b>&\U0001f680 \u5b57")
    return inline(figure, name)


def test_a_picture_is_one_element() -> None:
    """It is well-formed without name spaces, called by its name, and its text is text."""
    with drawing():
        root = ET.fromstring(_drawn('a "title" <x>'))  # noqa: S314 - our own
    assert (root.tag, root.attrib["role"], root.attrib["aria-label"]) == ("svg", "img", 'a "title" <x>')
    assert not any(each.tail for each in root.iter())
    assert "<b>&\U0001f680 \u5b57" in {text.text for text in root.iter("text")}
    assert {element.tag for element in root.iter()} <= {
        "svg",
        "g",
        "defs",
        "path",
        "use",
        "text",
        "clipPath",
        "rect",
        "pattern",
    }
    assert not [
        name for each in root.iter() for name in each.attrib if name in ("style", "font-family") or "{" in name
    ]


def test_ink_is_that_of_the_page() -> None:
    """What is black is of the colour of text; colours stay, and text has the size that it had."""
    with drawing():
        root = ET.fromstring(_drawn("a"))  # noqa: S314 - our own
    colours = {each.attrib.get(name) for each in root.iter() for name in ("fill", "stroke")}
    assert colours >= {"currentColor", "#0072b2", "none"}
    assert "#000000" not in colours
    assert {text.attrib["font-size"] for text in root.iter("text")} == {"10", "12"}


def test_pictures_have_no_ids_in_common() -> None:
    """Ids are made of the name, plain whatever that is, and are those that are used."""
    with drawing():
        first, second = (ET.fromstring(_drawn(name)) for name in ("a b(c)", "a b(d)"))  # noqa: S314 - our own
    ids = [{each.attrib["id"] for each in root.iter() if "id" in each.attrib} for root in (first, second)]
    assert len(ids[0]) == len(ids[1]) > 0
    assert not ids[0] & ids[1]
    assert all(name.replace("-", "").isalnum() for name in ids[0])
    used = {each.attrib["href"].removeprefix("#") for each in first.iter("use")}
    used |= {each.attrib["clip-path"][5:-1] for each in first.iter() if "clip-path" in each.attrib}
    used |= {
        each.attrib["fill"][5:-1] for each in first.iter() if each.attrib.get("fill", "").startswith("url")
    }
    assert used == ids[0]
