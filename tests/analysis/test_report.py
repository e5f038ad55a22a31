"""The page on a run: whole, by itself, whatever state the run was left in."""

import shutil
from html.parser import HTMLParser

import pytest

from analysis.pack import pack
from analysis.report import report, write_report
from protocol.errors import UserError
from protocol.journal import Journal


class Page(HTMLParser):
    """The tags and the text of a page, and whether every tag is closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.links, self.text = [], [], [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        """Open it."""
        attributes = dict(attrs)
        self.ids += [attributes["id"]] if "id" in attributes else []
        self.links += [value for name, value in attrs if name in {"href", "src"}]
        if tag not in {"meta", "br", "hr"}:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        """Nothing stays open."""

    def handle_endtag(self, tag):
        """It must be the last one opened."""
        assert self.open.pop() == tag

    def handle_data(self, data):
        """Keep it."""
        self.text += data


@pytest.fixture(scope="module")
def page(played):
    """The page on the small run."""
    return Page(report([played]))


def test_the_page_is_whole_and_links_to_itself_only(page):
    """Every tag is closed, every link is there, and nothing is fetched."""
    assert page.open == []
    assert page.links
    assert all(link.startswith("#") and link[1:] in page.ids for link in page.links)


@pytest.mark.parametrize(
    "words",
    [
        "small",
        "failed",  # the verdict
        "ndcg_at_10 >= 0.30",
        "client.rejoined sometimes",
        "nDCG@10",
        "lost host-1: rounds 2 to 3",
        "host-1 lost in round 2",
        "its last words",
        "train lost",
        "Every line of it is a whole record.",
        "foltr scenario from-run",
        "5e45e4",  # the scenario's hash
        'name = "small"',
        "Checks of the log",
    ],
)
def test_the_page_tells(page, words):
    """The verdict and what it rests on, curves, nodes, clients, the round, the scenario, how to do it again."""
    assert words in page.text


def test_a_packed_run_has_the_same_page_but_for_its_name(played, tmp_path):
    """Nothing depends on the journal's files."""
    packed = pack(played, tmp_path / "small.duckdb")
    text = report([packed]).replace(str(packed), "PATH").replace("small<", "NAME<")
    same = report([played]).replace(str(played), "PATH").replace("small<", "NAME<")
    assert text.count("<section>") == same.count("<section>")
    assert Page(text).text.count("train lost") == Page(same).text.count("train lost")


def test_several_runs_are_side_by_side_first(played, tmp_path):
    """A table of all, and no two parts with one name."""
    other = shutil.copytree(played, tmp_path / "small" / "20270101-120000-8")
    page = Page(report([played, other]))
    assert page.open == []
    assert len(set(page.ids)) == len(page.ids) == 16
    assert page.text.count("small/20270101-120000-8") >= 2


def test_several_runs_without_a_metric_have_a_page_too(tmp_path):
    """Nothing is drawn, and the table tells that there is nothing."""
    for name in ("a", "b"):
        (tmp_path / "x" / name / "journal").mkdir(parents=True)
    assert Page(report([tmp_path / "x" / "a", tmp_path / "x" / "b"])).text.count("no verdict") == 4


def test_what_a_log_says_is_text_and_never_markup(tmp_path):
    """A name or a traceback may hold anything."""
    evil = "<script>alert(1)</script>"
    coordinator, supervisor = (Journal(tmp_path, name, lambda: 0.0) for name in ("coordinator", "supervisor"))
    coordinator.append("run.started", scenario={"name": evil}, seed=1)
    coordinator.append("clients.enrolled", clients=[evil], hosts=[evil], clicks=[evil], interactions=[1])
    coordinator.append("train.sent", round=1, direction="sent", message=evil, peers=[evil], id=1, bytes=1)
    coordinator.append("round.closed", round=1, theta=[0.0], model=evil, participants=[evil], missing=[evil])
    supervisor.append("node.started", name=evil, role="host", pid=1)
    supervisor.append("node.crashed", name=evil, traceback=evil)
    for journal in (coordinator, supervisor):
        journal.close()
    assert "<script" not in report([tmp_path])


def empty(run):
    """A run without a record."""
    (run / "journal").mkdir(parents=True)


def torn(run, played):
    """A torn last line and a record cut in half."""
    shutil.copytree(played, run)
    with (run / "journal" / "coordinator.jsonl").open("ab") as file:
        file.write(b'{"event":"round.closed","round":4,\n{"event":"rou')


def without_nodes(run, played):
    """Files of nodes are missing."""
    shutil.copytree(played, run)
    for name in ("supervisor", "evaluator", "host-0"):
        (run / "journal" / f"{name}.jsonl").unlink()


def without_coordinator(run, played):
    """The coordinator's file is missing."""
    shutil.copytree(played, run)
    (run / "journal" / "coordinator.jsonl").unlink()


def newer(run):
    """A run from a newer version, with events and a scenario that this one does not know."""
    journal = Journal(run, "coordinator", lambda: 0.0)
    journal.append("run.started", scenario={"name": "x", "dreams": {"a": [1]}}, seed=1, versions={"foltr": "99.0"})
    journal.append("client.dreamt", round=1)
    journal.append("round.closed", round=0, theta=[0.0], mood="good")
    journal.close()


@pytest.mark.parametrize("state", [empty, torn, without_nodes, without_coordinator, newer])
def test_a_run_in_any_state_has_a_page(state, played, tmp_path):
    """It tells what there is, and what is damaged or newer."""
    run = tmp_path / "small" / "one"
    state(run, played) if state.__code__.co_argcount == 2 else state(run)
    page = Page(report([run]))
    assert page.open == []
    assert ("coordinator.jsonl2" in page.text) == (state is torn)
    assert ("newer than this foltr" in page.text) == (state is newer)


def test_a_file(played, tmp_path):
    """Written whole; a mistake is one sentence."""
    write_report([played], tmp_path / "a.html")
    assert (tmp_path / "a.html").read_text(encoding="utf-8") == report([played])
    for path, sentence in ((tmp_path / "a.pdf", "must end in .html"), (tmp_path / "none" / "a.html", "No such file")):
        with pytest.raises(UserError, match=sentence):
            write_report([played], path)
