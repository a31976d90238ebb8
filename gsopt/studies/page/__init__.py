"""Page: a study as one self-contained HTML file.

`gsopt.studies.page.content` collects its content. `page.html`, `page.css` and `page.js` in this folder define
its appearance. Its figures are those of `gsopt.studies.report`, its pictures those of `gsopt.studies.plots`.
"""

from gsopt.studies.page.writer import write_page

__all__ = ["write_page"]
