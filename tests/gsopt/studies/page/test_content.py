"""What a page holds."""

import json

from gsopt.studies import Results, report
from gsopt.studies.page.content import Content, content
from tests.gsopt.studies.samples import FIGURE_5, found, row, study


def test_a_large_study_is_cut() -> None:
    """Of thousands of groups the first are shown, and all are in the file of the table."""
    rows = [row({"objective": 1}, group=f"g{number}") for number in range(2005)]
    page = _page(found(*rows), study().model_dump_json())
    (shown,) = page.figures.values()
    assert (len(shown.lines), shown.total) == (2000, 2005)
    (decision,) = page.decisions
    assert (len(decision.by_instance().lines), decision.by_instance().total) == (1000, 2005)
    assert (len(decision.by_cell().lines), decision.by_cell().total) == (1000, 2005)


def test_a_study_is_written_line_by_line() -> None:
    """Each of its keys has a line, and so has each of several instances and methods; nothing is changed."""
    spec = study(instances=[FIGURE_5, {"generator": "reclaiming/churn", "seed": [1, 2]}]).model_dump_json()
    page = _page(found(row({"objective": 1})), spec)
    assert json.loads("\n".join(page.spec)) == json.loads(spec)
    assert [line.strip()[:12] for line in page.spec[:4]] == [
        '{"study": "t',
        '"instances":',
        '"reclaiming/',
        '{"generator"',
    ]


def _page(results: Results, spec: str) -> Content:
    return content(
        results,
        report(results),
        figures=[],
        spec=spec,
        runs=[],
        sources=[],
        pictures=[],
        gantts=[],
        options={},
    )
