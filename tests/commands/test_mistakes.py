"""A user's mistakes: one sentence each that names what is wrong, exit code 2, never a traceback."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import foltr as command_line

NO_SUCH_RUN = "a run must be a path, a scenario's name, name/time-seed or latest; got 'nowhere'"
NOT_LIVE = "is not live; foltr resume lets a run that did not complete go on"

MISTAKES = {
    # scenarios
    "run nowhere.toml": "nowhere.toml: there is no such file",
    "run quikstart": "neither a file nor a shipped scenario; shipped are centralised, ",
    "run empty.toml": "empty.toml: is empty; a scenario needs at least rounds and [[clients]]",
    "run binary.toml": "binary.toml: must be UTF-8 text; line 1 has the byte 0xff",
    "run folder.toml": "folder.toml: is a directory; name a .toml file in it",
    "run broken.toml": "broken.toml: not valid TOML: line 1",
    "run quickstart --set roundz=3": "roundz: unknown key; the keys of a scenario are name, seed, rounds",
    "run quickstart --set rounds=many": 'rounds: must be an integer ≥ 1; got "many" (from --set rounds=many)',
    "run quickstart --set rounds": '--set must be KEY=VALUE such as --set learner.learning_rate=0.05; got "rounds"',
    "run quickstart --set clients[0].count=0": "clients[0].count: must be an integer ≥ 1; got 0",
    "run quickstart --set clients=[]": "clients: must have at least one group; got an empty array",
    "run quickstart --engine ray": 'federation.engine: must be "processes" or "inline"; got "ray"',
    "run quickstart --seed -1": "seed: must be an integer from 0 to 9223372036854775807; got -1",
    "run quickstart --runs a-file": "the run directory cannot be written: Not a directory: a-file",
    "run quickstart --runs /proc/x": "the run directory cannot be written: No such file or directory: /proc/x",
    "scenario check nowhere.toml": "nowhere.toml: there is no such file",
    "scenario check binary.toml": "binary.toml: must be UTF-8 text",
    "scenario from-run nowhere": NO_SUCH_RUN,
    # data
    "run quickstart --set data.source=letor:/no/where": "data.source: a letor source must be a folder, got /no/where",
    "run quickstart --set data.source=ftp:x": "a data source must be letor:PATH or synthetic:SHAPE, got 'ftp:x'",
    "data describe letor:/no/where": "a letor source must be a folder, got /no/where",
    "data describe letor:folder.toml": "folder.toml must hold train.txt or train.txt.gz",
    "data describe synthetic:mars": "must be one of istella, mq2007, mslr10k, yahoo; got 'mars'",
    "data describe synthetic:mq2007 --scale big": "scale must be one of auto, none, query; got 'big'",
    "data describe synthetic:mq2007 --fold 2": "fold must be 1 for a synthetic source, got 2",
    # runs that are not there, or not live
    "resume nowhere": NO_SUCH_RUN,
    "resume latest": "is completed with 3 rounds: there is nothing left to do",
    "replay nowhere": NO_SUCH_RUN,
    "replay latest --without nobody": "a client to leave out must be one of client-1, client-2",
    "ps": NOT_LIVE,
    "kill latest client-1": NOT_LIVE,
    "pause latest client-1": NOT_LIVE,
    "stop latest": NOT_LIVE,
    "check nowhere": NO_SUCH_RUN,
    "check a-file": "a run must be a path, a scenario's name, name/time-seed or latest; got 'a-file'",
    # questions
    "sql nowhere|from rounds": NO_SUCH_RUN,
    "sql": "a run must be named: a path, a scenario's name, name/time-seed, latest or a pattern; got none",
    "sql latest|selec 1": 'the query failed: Parser Error: syntax error at or near "selec"',
    "sql latest|from nosuchview": "the query failed: Catalog Error: Table with name nosuchview does not exist",
    "sql latest|drop view rounds": "a query can only read (SELECT, PIVOT, EXPLAIN), got: drop view rounds",
    "sql latest --query nosuch": "a question must be one of around-a-fault, best-model",
    "sql latest --to x.doc|from rounds": "an answer's file must end in one of .csv, .json, .parquet; got x.doc",
    "sql latest --to /no/where/x.csv|from rounds": "the answer cannot be written: No such file or directory",
    "curves no/*": "a pattern must match a run; got 'no/*'",
    "curves latest --metric mrr": "the metric must be one of ndcg_at_10, online, online_ndcg_at_10; got 'mrr'",
    "curves latest --plot x.gif": "a picture's name must end in one of .png, .svg, .pdf, .html; got x.gif",
    "compare latest": "a comparison needs at least two sides, got 1",
    "verify latest --client nobody": "the log must have an accepted update of what is named; got nobody in any round",
    "diagram latest --rounds x": "rounds must be a number or first..last; got 'x'",
    "diagram latest --rounds 99": "rounds must be first..last within 0..",
    "report nowhere": NO_SUCH_RUN,
    "pack latest --to x.db": "a packed run must be a .duckdb file in a directory that is there",
    # the rest
    "fuzz --schedules 1 --keep a-file": "failed runs cannot be kept: File exists: a-file",
    "bench nosuch": "a group must be one of kernels, data, journal, federation; got nosuch",
}
USAGE = {
    "run": "Missing argument 'SCENARIO'",
    "run quickstart --frobnicate": "No such option: --frobnicate",
    "frobnicate": "No such command 'frobnicate'",
    "kill latest": "Missing argument 'NODE...'",
    "add latest --count 0": "Invalid value for '--count'",
    "serve --port 99999": "Invalid value for '--port'",
    "add latest --count 2 --id x": "names a single client; leave --count out",
    "fuzz --schedules 0": "Invalid value for '--schedules'",
}


@pytest.fixture(scope="module")
def somewhere(tmp_path_factory) -> Path:
    """A directory with a short run in it, and files that are no scenarios."""
    folder = tmp_path_factory.mktemp("somewhere")
    words = ["run", "quickstart", "--engine", "inline", "--set", "rounds=3"]
    subprocess.run([Path(sys.executable).with_name("foltr"), *words], cwd=folder, capture_output=True, check=True)
    (folder / "empty.toml").touch()
    (folder / "a-file").touch()
    (folder / "folder.toml").mkdir()
    (folder / "binary.toml").write_bytes(b"\xff\xfe\x00\x01")
    (folder / "broken.toml").write_text("x = [")
    return folder


@pytest.fixture
def told(somewhere, monkeypatch, capsys):
    """Call the command line; what it says on standard error, after checking that it ended with 2."""
    monkeypatch.chdir(somewhere)
    monkeypatch.delenv("FOLTR_RUNS", raising=False)

    def call(line: str) -> str:
        words, _, query = line.partition("|")
        monkeypatch.setattr(sys, "argv", ["foltr", *words.split(), *filter(None, [query])])
        with pytest.raises(SystemExit) as ended:
            command_line.main()
        assert ended.value.code == 2
        printed = capsys.readouterr()
        assert printed.out == ""
        return printed.err

    return call


@pytest.mark.parametrize("line", MISTAKES)
def test_a_mistake_is_one_sentence(told, line):
    """It begins with the command's name, is one line, and says what is wrong."""
    sentence = told(line)
    assert sentence.startswith("foltr: ")
    assert sentence.count("\n") == 1
    assert MISTAKES[line] in sentence


@pytest.mark.parametrize("line", USAGE)
def test_a_wrong_call_shows_how_to_ask_for_help(told, line):
    """What the parser of the command line finds wrong."""
    text = told(line)
    assert USAGE[line] in text
    assert "-h' for help" in text


def test_all_mistakes_of_a_file_are_told_at_once(told, somewhere):
    """By `scenario check` as by `run`, with the same words."""
    (somewhere / "bad.toml").write_text('rounds = 0\nsed = 3\n[[clients]]\ncount = 0\nclicks = "perfect"\n')
    checked, run = told("scenario check bad.toml"), told("run bad.toml")
    assert checked == run
    assert re.findall(r"^  ([^:]+):", checked, re.MULTILINE) == ["rounds", "clients[0].count", "sed"]


def test_an_unwritable_directory_is_told(told, somewhere):
    """As it happens on a machine of others; root may write everywhere."""
    locked = somewhere / "locked"
    locked.mkdir(mode=0o500, exist_ok=True)
    if os.access(locked, os.W_OK):
        pytest.skip("this user may write into every directory")
    assert "the run directory cannot be written: Permission denied" in told("run quickstart --runs locked")


def test_ctrl_c_at_a_prompt_leaves_no_traceback(somewhere):
    """While a query is answered it ends that (and the input's end gives 0), else the prompt (130)."""
    command = [Path(sys.executable).with_name("foltr"), "sql", "latest"]
    prompt = subprocess.Popen(
        command, cwd=somewhere, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    prompt.stdin.write("select 41 + 1 as answer;\n")
    prompt.stdin.flush()
    said = ""
    while "42" not in said:
        line = prompt.stdout.readline()
        assert line, "the prompt ended before it answered"
        said += line
    prompt.send_signal(signal.SIGINT)
    out, err = prompt.communicate(timeout=20)
    assert "Traceback" not in out + err
    assert prompt.returncode in {0, 130}
