"""Page: a study as one HTML file that needs nothing else, to be read, printed and handed in.

`gsopt.studies.page.content` puts together what it says; `page.html`, `page.css` and `page.js` beside it say how
it stands there. Its figures are those of `gsopt.studies.report`, its pictures those of `gsopt.studies.plots`.
"""

from gsopt.studies.page.writer import write_page

__all__ = ["write_page"]
