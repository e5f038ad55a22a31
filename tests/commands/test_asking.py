"""The commands that ask about runs: each parses, asks the library, renders, and ends with the right code."""

import json
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from commands.asking import app
from nodes.launch import launch
from protocol.errors import UserError
from scenarios.load import load_scenario

ROUNDS = 8


@pytest.fixture(scope="module")
def folder(tmp_path_factory, letor_folder):
    """Two experiments of two seeds each."""
    runs = tmp_path_factory.mktemp("runs")
    for name, rate in (("slow", 0.01), ("quick", 0.1)):
        for seed in (1, 2):
            changes = [
                f"name={name}",
                f"rounds={ROUNDS}",
                f"learner.learning_rate={rate}",
                f"data.source=letor:{letor_folder}",
                "federation.engine=inline",
            ]
            launch(load_scenario("quickstart", changes, seed), runs)
    return runs


@pytest.fixture
def call(folder, tmp_path, monkeypatch):
    """Call a command in an empty directory; what it printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FOLTR_RUNS", str(folder))

    def run(*arguments, code=0):
        done = CliRunner().invoke(app, arguments)
        if done.exception and not isinstance(done.exception, SystemExit):
            raise done.exception
        assert done.exit_code == code, done.output
        return done.stdout

    return run


@pytest.mark.parametrize("name", list(get_command(app).commands))
def test_every_command_has_an_example_in_its_help(call, name):
    """What a reader copies."""
    assert f"Example: foltr {name}" in call(name, "--help")


def test_sql_of_one_run(call):
    """A table, JSON, CSV; a prompt reads standard input."""
    query = "select max(round) as last from rounds"
    assert json.loads(call("sql", "quick", query, "--json")) == [{"last": ROUNDS}]
    assert call("sql", "quick", query, "--csv") == f"last\n{ROUNDS}\n"
    assert "last" in call("sql", "quick", query)


def test_sql_of_many_runs(call):
    """A pattern or several names; every view has a column run."""
    rows = json.loads(call("sql", "*/*", "select run, seed from run order by run", "--json"))
    assert [row["seed"] for row in rows] == [1, 2, 1, 2]
    rows = json.loads(
        call("sql", "slow", "quick", "select distinct split_part(run, '/', 1) as name from run", "--json")
    )
    assert {row["name"] for row in rows} == {"slow", "quick"}


def test_sql_asks_shipped_questions(call):
    """Listed, asked by name, with a parameter."""
    assert "who-lies" in call("sql", "--list")
    assert len(json.loads(call("sql", "--list", "--json"))) >= 20
    rows = json.loads(
        call("sql", "latest", "--query", "what-was-said-in-a-round", "--with", "round=3", "--json"),
    )
    assert {row["type"] for row in rows} == {"train", "update"}
    with pytest.raises(UserError, match="a run must be named"):
        call("sql")


def test_sql_writes_files(call):
    """The file is named, and there."""
    for name in ("a.csv", "a.json", "a.parquet"):
        assert call("sql", "latest", "from rounds", "--to", name) == f"wrote {name}\n"
        assert Path(name).stat().st_size > 0


def test_curves(call):
    """Drawn as the mean over seeds, as JSON, as a picture."""
    assert "mean of 2 runs" in call("curves", "quick/*")
    drawn = json.loads(call("curves", "*/*", "--json"))
    assert [len(one["runs"]) for one in drawn] == [2, 2]
    assert len(json.loads(call("curves", "*/*", "--json", "--each"))) == 4
    assert call("curves", "quick", "--plot", "a.html") == "wrote a.html\n"


def test_compare(call):
    """A table for people, Markdown, LaTeX, JSON."""
    assert "against slow" in call("compare", "slow", "quick")
    assert "| quick |" in call("compare", "slow", "quick", "--markdown")
    assert r"\begin{tabular}{lr}" in call("compare", "slow", "quick", "--latex", "--metric", "ndcg_at_10")
    told = json.loads(call("compare", "slow", "quick", "--json"))
    assert told["sides"][1]["figures"][0]["test"]["pairs"] == 2


def test_verify(call, folder):
    """Held is 0, failed is 1; JSON has the counts."""
    assert call("verify", "quick").startswith(f"held: {ROUNDS + 1} of {ROUNDS + 1} models derived again")
    told = json.loads(call("verify", "quick", "--client", "client-3", "--round", "4", "--json"))
    assert (told["verdict"], told["updates_recomputed"]) == ("held", 1)
    run = next((folder / "slow").iterdir())
    path = run / "journal" / "coordinator.jsonl"
    text = path.read_text()
    path.write_text(text.replace('"online":[0.', '"online":[1.', 1))
    assert call("verify", str(run), "--all", code=1).startswith("failed")
    path.write_text(text)
    (Path("empty") / "journal").mkdir(parents=True)
    assert call("verify", "empty", code=2).startswith("unknown")


def test_diagram_report_and_pack(call):
    """Each writes its file and says so."""
    assert call("diagram", "latest", "--rounds", "2..3", "--nodes", "coordinator,client-3") == "wrote diagram.svg\n"
    assert call("report", "quick/*", "slow", "--to", "all.html") == "wrote all.html\n"
    assert call("pack", "latest", "--to", "one.duckdb").endswith("one.duckdb\n")
    for name in ("diagram.svg", "all.html", "one.duckdb"):
        assert Path(name).stat().st_size > 0
    assert json.loads(call("sql", "one.duckdb", "select seed from run", "--json")) == [{"seed": 2}]


def test_a_newer_run_is_told_on_standard_error(folder, tmp_path, monkeypatch):
    """Standard output has the answer and nothing else."""
    import shutil

    run = shutil.copytree(next((folder / "quick").iterdir()), tmp_path / "run")
    path = run / "journal" / "coordinator.jsonl"
    path.write_text(path.read_text().replace('"foltr":"', '"foltr":"99.', 1))
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["sql", "run", "select 1 as a", "--json"])
    assert json.loads(done.stdout) == [{"a": 1}]
    assert "newer than this foltr" in done.stderr
