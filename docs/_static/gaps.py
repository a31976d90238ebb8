"""Draw the README's picture: how far published heuristics are from the proven optimum, light and dark."""

from pathlib import Path
from statistics import mode

import matplotlib as mpl
import matplotlib.pyplot as plt

import gsopt

#: What is shown: system, its rule, the committed suite it is made for, and the name of the method.
ROWS = [
    ("Aryl", "two-phase allocation", "allocation/production", "two_phase"),
    ("ONES", "evolutionary search", "batching/medium", "evolution"),
    ("Pollux", "genetic search", "goodput/medium", "genetic"),
    ("Castor", "SJF-BSBF over time", "sharing/small", "sjf_bsbf"),
    ("Aryl", "reclaiming, Algorithm 1", "reclaiming/production", "greedy"),
    ("Aryl", "best-fit decreasing", "placement/production", "best_fit_decreasing"),
    ("Ares", "elastic fair queuing", "scheduling/small", "efq"),
    ("Dally", "greedy consolidation", "consolidation/production", "greedy"),
    ("AlloX", "on free machines", "sequencing/production", "free_machines"),
    ("Castor", "SJF-BSBF, pair by pair", "colocation/production", "bsbf"),
]

#: Colours of text and marks.
THEMES = {"light": ("#1f2328", "#0969da"), "dark": ("#e6edf3", "#58a6ff")}


def gaps(suite: str, method: str) -> tuple[int, float, float]:
    """Return how many instances are proven, and the mean and worst gap on them, in per cent."""
    problems = [gsopt.load(name) for name in gsopt.names(f"{suite}/")]
    problems = [problem for problem in problems if problem.unit == mode(each.unit for each in problems)]
    rows = gsopt.compare(problems, ["exact", method], time_limit=5).rows
    found = [100 * row.gap for row in rows if row.method == method and row.gap is not None]
    return len(found), sum(found) / len(found), max(found)


def draw(found: list[tuple[int, float, float]], theme: str, path: Path) -> None:
    """Draw a bar for the mean of each row, and a mark for its worst instance."""
    text, mark = THEMES[theme]
    style = {"text.color": text, "axes.edgecolor": text, "xtick.color": text, "ytick.color": text}
    fixed = {"svg.hashsalt": "gaps", "svg.fonttype": "none", "font.size": 10}
    with mpl.rc_context({**style, "axes.labelcolor": text, **fixed}):
        figure, axes = plt.subplots(figsize=(7.2, 3.6), layout="constrained")
        labels = [f"{system}: {rule} ({row[0]})" for (system, rule, _, _), row in zip(ROWS, found, strict=True)]
        axes.barh(labels, [mean for _, mean, _ in found], color=mark, height=0.6)
        axes.plot([worst for _, _, worst in found], labels, "|", color=text, markersize=9, markeredgewidth=1.6)
        for label, (_, mean, worst) in zip(labels, found, strict=True):
            said = f"{mean:.1f} %, worst {worst:.0f} %"
            axes.annotate(said, (worst, label), (6, 0), textcoords="offset points", va="center")
        axes.invert_yaxis()
        axes.set_xlim(0, 125)
        axes.set_xticks(range(0, 101, 20))
        axes.set_xlabel("mean gap to the proven optimum (%)")
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(axis="y", length=0)
        figure.savefig(path, transparent=True, metadata={"Date": None})
        plt.close(figure)


if __name__ == "__main__":
    found = [gaps(suite, method) for _, _, suite, method in ROWS]
    for theme in THEMES:
        draw(found, theme, Path(__file__).with_name(f"gaps-{theme}.svg"))
