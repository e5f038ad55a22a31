"""A comparison as a table: for a terminal, for Markdown, for LaTeX with the papers' triangles."""

from collections.abc import Sequence
from typing import Final

from analysis.compare import Comparison, Figure

__all__ = ["comparison_latex", "comparison_markdown", "comparison_text"]

TRIANGLES: Final = {
    "△": r"$^{\vartriangle}$",
    "▽": r"$^{\triangledown}$",
    "▲": r"$^{\blacktriangle}$",
    "▼": r"$^{\blacktriangledown}$",
    "": "",
}
ESCAPED: Final = str.maketrans(
    {one: f"\\{one}" for one in "&%$#_{}"} | {"~": r"\textasciitilde{}", "\\": r"\textbackslash{}"}
)


def comparison_text(comparison: Comparison) -> str:
    """A block a metric: the sides with their means, and how each differs from the first."""
    first = comparison.sides[0].name
    header = ("", "mean", "s.d.", "runs", f"against {first}", "pairs", "t", "p", "p corrected", "d", "")
    blocks = []
    for at, metric in enumerate(comparison.metrics):
        rows = [_cells(side.name, side.figures[at]) for side in comparison.sides]
        blocks.append(f"{metric}\n{_aligned([header, *rows])}")
    return "\n\n".join([*blocks, _note(comparison), *_left_out(comparison)])


def comparison_markdown(comparison: Comparison) -> str:
    """A row a side, a column a metric."""
    lines = [
        ["", *comparison.metrics],
        ["---", *["---:"] * len(comparison.metrics)],
        *([side.name, *(_mean(one) + one.mark for one in side.figures)] for side in comparison.sides),
    ]
    table = "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
    return "\n\n".join([table, _note(comparison), *_left_out(comparison)])


def comparison_latex(comparison: Comparison) -> str:
    """The same for LaTeX with booktabs and amssymb."""
    head = " & ".join(["", *(metric.translate(ESCAPED) for metric in comparison.metrics)])
    rows = [
        " & ".join(
            [
                side.name.translate(ESCAPED),
                *(_mean(one).replace("±", r"$\pm$") + TRIANGLES[one.mark] for one in side.figures),
            ]
        )
        for side in comparison.sides
    ]
    body = " \\\\\n".join(rows)
    return (
        f"% needs booktabs and amssymb; {_note(comparison)}\n"
        f"\\begin{{tabular}}{{l{'r' * len(comparison.metrics)}}}\n\\toprule\n{head} \\\\\n\\midrule\n{body} \\\\\n"
        "\\bottomrule\n\\end{tabular}"
    )


def _cells(name: str, figure: Figure) -> tuple[str, ...]:
    mean = "none" if figure.mean is None else f"{figure.mean:.4f}"
    deviation = "" if figure.deviation is None else f"{figure.deviation:.4f}"
    if figure.test is None:
        return (name, mean, deviation, str(figure.repeats), "", "", "", "", "", "", "")
    test = figure.test
    return (
        name,
        mean,
        deviation,
        str(figure.repeats),
        f"{test.difference:+.4f}" if test.pairs else "no pairs",
        str(test.pairs),
        "" if test.t is None else f"{test.t:.2f}",
        _probability(test.p),
        _probability(figure.p_corrected),
        "" if test.effect is None else f"{test.effect:.2f}",
        figure.mark,
    )


def _probability(p: float | None) -> str:
    return "" if p is None else f"{p:.4f}" if p >= 0.0001 else f"{p:.1e}"


def _mean(figure: Figure) -> str:
    if figure.mean is None:
        return "none"
    return f"{figure.mean:.4f}" + ("" if figure.deviation is None else f" ± {figure.deviation:.4f}")


def _note(comparison: Comparison) -> str:
    tests = f"{comparison.tests} test{'s' if comparison.tests > 1 else ''}"
    return (
        f"▲ ▼ p < 0.01 and △ ▽ p < 0.05 against {comparison.sides[0].name}: two-tailed paired t-test over seeds and "
        f"folds, Bonferroni-corrected for {tests}; ± is the standard deviation, d is Cohen's d of the differences."
    )


def _left_out(comparison: Comparison) -> list[str]:
    return [
        f"{side.name}: {len(side.left_out)} run{'s' if len(side.left_out) > 1 else ''} left out, "
        "not completed or replaced by a newer one of the same seed and fold"
        for side in comparison.sides
        if side.left_out
    ]


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if at in (0, len(widths) - 1) else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )
