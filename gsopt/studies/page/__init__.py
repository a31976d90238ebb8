"""Page: a study as one self-contained HTML file.

`gsopt.studies.page.content` collects the content. `page.html`, `page.css` and `page.js` in this folder define
the page's appearance. The figures come from `gsopt.studies.report`, and the pictures from
`gsopt.studies.plots`.
"""

from gsopt.studies.page.writer import write_page

__all__ = ["write_page"]
