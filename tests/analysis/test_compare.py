"""Experiments side by side."""

import pytest

from analysis.compare import compare
from analysis.side_by_side import comparison_latex, comparison_markdown, comparison_text
from protocol.errors import UserError
from protocol.journal import Journal

A = {(1, 1): 0.50, (2, 1): 0.52, (1, 2): 0.40, (2, 2): 0.43}
B = {(1, 1): 0.60, (2, 1): 0.63, (1, 2): 0.50, (2, 2): 0.52}


def write(runs, name, seed, fold, value, outcome="completed", hour=1, **changes):
    """A run with one final value."""
    run = runs / name / f"202601{fold:02d}-{hour:02d}0000-{seed}"
    coordinator, evaluator = Journal(run, "coordinator", lambda: 0.0), Journal(run, "evaluator", lambda: 0.0)
    scenario = {"name": name, "seed": seed, "data": {"source": "x", "fold": fold}} | changes
    coordinator.append("run.started", scenario=scenario, seed=seed)
    coordinator.append("run.finished", outcome=outcome, round=1)
    evaluator.append("metric.measured", name="ndcg_at_10", rounds=[0, 1], values=[0.0, value])
    for journal in (coordinator, evaluator):
        journal.close()


@pytest.fixture
def folder(tmp_path):
    """Two experiments of two seeds and two folds each."""
    for name, values in (("plain", A), ("better", B)):
        for (seed, fold), value in values.items():
            write(tmp_path, name, seed, fold, value)
    return tmp_path


def test_sides_are_paired_by_seed_and_fold(folder):
    """Mean, deviation, the test of the differences by hand, p times the number of tests, and the mark."""
    compared = compare(["plain", "better"], folder)
    plain, better = (side.figures[0] for side in compared.sides)
    assert (plain.mean, plain.repeats, plain.test, plain.mark) == (pytest.approx(0.4625), 4, None, "")
    differences = [0.10, 0.10, 0.11, 0.09]
    mean = sum(differences) / 4
    deviation = (sum((one - mean) ** 2 for one in differences) / 3) ** 0.5
    assert better.test.pairs == 4
    assert better.test.difference == pytest.approx(mean)
    assert better.test.t == pytest.approx(mean / (deviation / 2), rel=1e-6)
    assert better.test.effect == pytest.approx(mean / deviation, rel=1e-6)
    assert better.p_corrected == better.test.p
    assert better.mark == "▲"
    assert compare(["better", "plain"], folder).sides[1].figures[0].mark == "▼"


def test_p_is_multiplied_by_the_number_of_tests(folder):
    """Three sides are two tests a metric."""
    for (seed, fold), value in A.items():
        write(folder, "same", seed, fold, value + (0.001 if seed == 1 else -0.001))
    compared = compare(["plain", "better", "same"], folder)
    assert compared.tests == 2
    figures = [side.figures[0] for side in compared.sides[1:]]
    assert figures[0].p_corrected == pytest.approx(2 * figures[0].test.p)
    assert figures[1].p_corrected == 1.0
    assert figures[1].mark == ""


def test_a_name_means_the_newest_run_and_its_repeats(folder):
    """Runs with other settings are another experiment; an older run of a seed and one that failed are left out."""
    write(folder, "plain", 9, 1, 0.1, rounds=7)
    write(folder, "better", 1, 1, 0.99, outcome="aborted", hour=2)
    write(folder, "better", 1, 1, 0.61, hour=3)
    compared = compare(["plain", "better"], folder)
    assert [len(side.runs) for side in compared.sides] == [4, 4]
    assert len(compared.sides[1].left_out) == 2
    assert compared.sides[1].figures[0].mean == pytest.approx((0.61 + 0.63 + 0.50 + 0.52) / 4)


def test_what_cannot_be_compared_is_one_sentence(folder):
    """One side, a mixed pattern, an unknown metric, nothing completed."""
    write(folder, "broken", 1, 1, 0.1, outcome="aborted")
    for sides, metrics, sentence in (
        (["plain"], [], "at least two sides, got 1"),
        (["plain", "*/*"], [], r"seed and fold only; '\*/\*' has 3 kinds of scenario"),
        (["plain", "better"], ["x"], "one of ndcg_at_10; got 'x'"),
        (["plain", "broken"], [], "a run that completed; got 'broken'"),
    ):
        with pytest.raises(UserError, match=sentence):
            compare(sides, folder, metrics)


def test_sides_without_pairs_have_no_test(folder):
    """Other seeds cannot be paired, and that is said."""
    write(folder, "other", 8, 1, 0.7)
    compared = compare(["plain", "other"], folder)
    figure = compared.sides[1].figures[0]
    assert (figure.test.pairs, figure.test.p, figure.mark, figure.deviation) == (0, None, "", None)
    assert "no pairs" in comparison_text(compared)


def test_the_tables(folder):
    """Each form has the means and the marks."""
    compared = compare(["plain", "better"], folder)
    lines = comparison_text(compared).splitlines()
    assert lines[2].split() == ["plain", "0.4625", "0.0568", "4"]
    assert lines[3].split()[:6] == ["better", "0.5625", "0.0624", "4", "+0.1000", "4"]
    assert lines[3].endswith("▲")
    assert "| better | 0.5625 ± 0.0624▲ |" in comparison_markdown(compared)
    latex = comparison_latex(compared)
    assert r"better & 0.5625 $\pm$ 0.0624$^{\blacktriangle}$ \\" in latex
    assert r" & ndcg\_at\_10 \\" in latex
    assert compared.as_dict()["sides"][1]["figures"][0]["mark"] == "▲"
