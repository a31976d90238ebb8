"""Page tables: the replacement of a table in a page, for the programs here that write tables."""


def replaced(page: str, table: str) -> str:
    """Return the page with a table in the place of the one whose head begins with the same three columns."""
    head = "|".join(table.split("|")[:4])
    start = page.index(f"\n\n{head}|") + 2
    return page[:start] + table + page[page.index("\n\n", start) + 1 :]
