"""What a run with noise shares gives away, in its summary and on its page."""

from math import inf

import pytest

from analysis.privacy import figures_of, remarks_of
from analysis.report import report_body
from analysis.runs import open_run
from analysis.summary import summarise
from analysis.wording import summary_text
from nodes.launch import launch
from scenarios.load import from_dict


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Four clients of unequal weights, of whom one dies for a round."""
    tables = {
        "name": "private",
        "rounds": 4,
        "data": {"source": "synthetic:mq2007?queries=12&documents=6"},
        "federation": {"engine": "inline", "hosts": "per-client", "quorum": 0.1},
        "clients": [{"count": 3, "clicks": "perfect"}, {"id": "busy", "clicks": "perfect", "interactions": 10}],
        "privacy": {"mechanism": "laplace-shares", "epsilon": 1.2, "sensitivity": 3, "on_deficit": "top-up"},
        "timeline": [{"at_round": 2, "kill": "client-1", "restart_after": 1}],
    }
    made, _ = launch(from_dict(tables), tmp_path_factory.mktemp("runs"))
    return made


def test_every_figure_says_whom_it_protects_against(run):
    """The models' figures against who sees sums, a message's against the coordinator, for whom no ε is finite."""
    with open_run(run) as opened:
        nominal, coordinate, joint, message = figures_of(opened)
    assert (nominal.worst, nominal.basic) == pytest.approx((1.2, 4.8))
    assert (coordinate.worst, coordinate.basic) == pytest.approx((2.4, 9.6))  # twice: 10 against 5 interactions
    assert joint.worst == pytest.approx(46**0.5 * 2.4)
    assert message.worst == message.basic == inf
    assert "only the models" in coordinate.against
    assert "coordinator" in message.against


def test_what_must_be_known_beside_the_figures_is_told(run):
    """Missing shares and unequal weights."""
    with open_run(run) as opened:
        told = " ".join(remarks_of(opened))
    assert "missing in 1 of 4 rounds: 1 topped up, 0 discarded" in told
    assert "unequal weights" in told


def test_the_summary_and_the_report_say_it(run):
    """A person sees every figure with whom it protects against, at the end of a run and on its page."""
    with open_run(run) as opened:
        text = summary_text(summarise(opened), "foltr", "latest")
    page = report_body(run, "private")
    for said in (text, page):
        assert "no finite ε" in said
        assert "who sees single messages: the coordinator, and readers of this log" in said
        assert "who sees only the models" in said
