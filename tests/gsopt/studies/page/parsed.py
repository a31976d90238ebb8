"""A page, read the way a browser does."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

#: Elements that have no end.
_VOID = frozenset({"meta", "link", "img", "br", "hr", "input"})


@dataclass
class Element:
    """An element of a page."""

    tag: str
    attributes: dict[str, str]
    children: list["Element"] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All text within."""
        return "".join(self.pieces)

    def all(self, *tags: str) -> list["Element"]:
        """Return the elements within that have one of the tags; any, if none is named."""
        found = [child for child in self.children if not tags or child.tag in tags]
        return found + [each for child in self.children for each in child.all(*tags)]


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open = [Element("", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        assert len(attrs) == len(element.attributes), f"an attribute of {tag} stands there twice"
        self.open[-1].children.append(element)
        if tag not in _VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"{tag} ends within {self.open[-1].tag}"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.pieces.append(data)


def parsed(html: str) -> Element:
    """Read a page, whose elements must be nested rightly."""
    parser = _Parser()
    parser.feed(html)
    parser.close()
    (root,) = parser.open
    return root


def lines_of(table: Element) -> list[list[str]]:
    """Return the texts of a table, its head first."""
    return [[cell.text for cell in line.all("th", "td")] for line in table.all("tr")]
