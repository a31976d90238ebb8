"""What a page says first: who is best, by how much, and how far from the proven bound."""

from typing import Any

import pytest

from gsopt.studies import CellRow
from gsopt.studies.page.answers import answers, overall, rankings, sentence
from gsopt.studies.page.svg import drawing
from tests.gsopt.studies.samples import found, row


def _policy(method: str, *hours: float, group: str = "a", bound: float | None = 2.0) -> list[CellRow]:
    """Return a policy's cells on several instances, with the mean JCT in hours."""
    return [
        row(
            {"mean_jct": 3600 * each, "gap": None if bound is None else each / bound - 1},
            method,
            group=group,
            instance=f"{group}/{place}",
            word="",
        )
        for place, each in enumerate(hours)
    ]


def _method(method: str, *gaps: float | None, sense: str = "minimize", unit: float = 1.0) -> list[CellRow]:
    """Return a method's cells on several instances of a decision, with their gaps."""
    return [
        row(
            {"objective": unit * (place + 1), "gap": gap, "sense": sense, "runtime": 0.5},
            method,
            instance=f"{place}",
        )
        for place, gap in enumerate(gaps)
    ]


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        (
            [*_policy("fifo", 20.0, 30.0), *_policy("srtf", 2.1, 2.2), *_policy("las", 2.2, 2.2)],
            (
                "srtf is best: mean JCT 2.15 h, on average 7.5 % and at most 10.0 % above the proven bound. "
                "las follows with 2.3 % more, fifo is last with 12 times as much."
            ),
        ),
        (
            [*_policy("fifo", 5.0), *_policy("srtf", 5.0)],
            "fifo and srtf are equally good: mean JCT 5 h, 150.0 % above the proven bound.",
        ),
        (_policy("fifo", 5.0, bound=None), "fifo is the only method: mean JCT 5 h, no gap is proven."),
        (
            [*_method("greedy", 0.1, 0.3), *_method("exact", 0.0, 0.0), *_method("other", 0.1, 0.0)],
            (
                "exact is best: proven optimal on all 2 instances. other follows with a mean gap of 5.0 %, "
                "greedy is last with a mean gap of 20.0 %."
            ),
        ),
        (
            _method("genetic", 0.2, sense="maximize"),
            "genetic is the only method: 20.0 % below the proven bound.",
        ),
        (
            [*_method("a", None, unit=2.0), *_method("b", None, unit=3.0)],
            "a is best: no gap is proven. b follows with 50.0 % more.",
        ),
        (
            [*_method("a", None, unit=2.0, sense="maximize"), *_method("b", None, unit=4.0, sense="maximize")],
            "b is best: no gap is proven. a follows with 50.0 % less.",
        ),
        (
            [*_method("exact", 0.0, unit=0.0), *_method("greedy", None, unit=5.0)],
            "exact is best: proven optimal. greedy follows with a mean of 5.",
        ),
    ],
)
def test_a_sentence_answers(rows: list[CellRow], line: str) -> None:
    """It names the best, its distance from the proven bound, the next one and the last."""
    (ranking,) = rankings(found(*rows)).values()
    assert sentence(ranking) == line


def _answers(*rows: CellRow) -> list[Any]:
    with drawing():
        return list(answers(found(*rows)))


def test_a_ranking_has_a_line_for_each_method() -> None:
    """The best comes first, equally good ones share a place, and times are in one unit."""
    (answer,) = _answers(*_policy("fifo", 20.0), *_policy("srtf", 2.5), *_policy("srsf", 2.5))
    assert [head.title for head in answer.ranking.heads] == [
        "rank",
        "method",
        "mean JCT [h]",
        "times best",
        "gap",
    ]
    assert [[entry.text for entry in line] for line in answer.ranking.lines] == [
        ["1", "srtf", "2.5", "1", "25.0 %"],
        ["1", "srsf", "2.5", "1", "25.0 %"],
        ["3", "fifo", "20", "8", "900.0 %"],
    ]
    assert all(
        f">{text}</text>" in answer.picture.element for text in ("srtf", "fifo", "above the proven bound")
    )


def test_only_the_same_instances_are_compared() -> None:
    """Methods without a result on some instance are named; without others there is no ranking."""
    rows = [*_method("exact", 0.0, 0.1), *_method("greedy", 0.0)]
    (answer,) = _answers(*rows)
    assert (
        answer.sentence
        == "exact is the only method: on average 5.0 % and at most 10.0 % above the proven bound."
    )
    assert answer.remark == "Not ranked, as results are missing on some of the 2 instances: greedy (1 of 2)."
    (answer,) = _answers(rows[0], *_method("greedy", 0.0, 0.0)[1:])
    assert answer.sentence == "No method has a result on each of the 2 instances yet."
    assert answer.ranking is None


def test_instances_without_a_gap_are_told() -> None:
    """Where only a bound is 0, a value has no gap; the mean is then over the other instances."""
    (answer,) = _answers(*_method("exact", 0.0, 0.0), *_method("greedy", 0.5, None))
    assert [line[2].text for line in answer.ranking.lines] == ["0.0 %", "50.0 %"]
    assert answer.remark == "Gaps are those of 1 of 2 instances; on the others no bound above 0 is proven."


def test_a_picture_has_a_dozen_methods() -> None:
    """Of more the best are drawn, and the last."""
    rows = [each for place in range(15) for each in _policy(f"m{place:02}", 2.0 + place)]
    (answer,) = _answers(*rows)
    drawn = [place for place in range(15) if f">m{place:02}</text>" in answer.picture.element]
    assert drawn == [*range(11), 14]
    assert answer.picture.remark == "3 more methods are in the table."
    assert len(answer.ranking.lines) == 15


def test_each_group_is_answered() -> None:
    """Groups and decisions have an answer each, and a sentence counts where each method is best."""
    rows = [*_policy("fifo", 2.0, group="a"), *_policy("fifo", 2.0, group="b"), *_policy("las", 1.9, group="b")]
    assert overall(found(*rows)) == "Of 2 groups of instances, fifo is best in 1, las in 1."
    assert overall(found(*rows[:1])) == ""
    titles = [answer.title for answer in _answers(*rows, *_method("exact", 0.0))]
    assert titles == ["policies: a", "policies: b", "reclaiming: suite"]
