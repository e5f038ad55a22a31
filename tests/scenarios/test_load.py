"""From a TOML file to a scenario, or to every problem at once."""

import errno
import json
from pathlib import Path

import pytest

from protocol.errors import UserError
from scenarios.load import check, from_dict, json_schema, load_scenario, scenario_hash, shipped, to_dict
from scenarios.problems import ScenarioError

SMALL = 'rounds = 3\n[[clients]]\ncount = 2\nclicks = "perfect"\n'


@pytest.fixture
def write(tmp_path):
    """Write a scenario file and give its path."""

    def written(content, name="small.toml"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return written


def problems_in(path, overrides=(), **options):
    """What the file is refused for, as (key, sentence) pairs."""
    with pytest.raises(ScenarioError) as caught:
        load_scenario(path, overrides, check_data=False, **options)
    return [(problem.key, problem.sentence) for problem in caught.value.problems]


def test_rounds_and_clients_are_enough(write):
    """Everything else has a default, and the name is the file's."""
    scenario = load_scenario(write(SMALL), check_data=False)
    assert (scenario.name, scenario.rounds, scenario.seed) == ("small", 3, 1)
    assert scenario.data.source == "synthetic:mq2007"
    assert scenario.federation.deadline_seconds == 30.0
    assert scenario.expect.metrics == {}


def test_a_path_may_be_a_string(write):
    """A string that is no shipped name is a path."""
    assert load_scenario(str(write(SMALL)), check_data=False).rounds == 3


def test_a_shipped_scenario_goes_by_its_name():
    """Names are paths inside the package without their ending."""
    assert load_scenario("quickstart", check_data=False).name == "quickstart"
    assert all(path.is_file() for path in shipped().values())


@pytest.mark.parametrize("name", sorted(shipped()))
def test_every_shipped_scenario_loads(name):
    """What we ship has no problem."""
    load_scenario(name, check_data=False)


def test_a_file_and_a_shipped_scenario_of_the_same_name_are_told_apart(write, monkeypatch):
    """The bare name is the shipped one; a spelled path is the file."""
    path = write(SMALL, "quickstart")
    monkeypatch.chdir(path.parent)
    assert load_scenario("quickstart", check_data=False).rounds != 3
    assert load_scenario("./quickstart", check_data=False).rounds == 3


def test_an_unknown_name_lists_the_shipped_ones():
    """The sentence has the name, the choices and the nearest one."""
    with pytest.raises(UserError) as caught:
        load_scenario("quickstrat")
    listing = ", ".join(shipped())
    assert str(caught.value) == (
        f'"quickstrat": neither a file nor a shipped scenario; shipped are {listing}; did you mean quickstart?'
    )


@pytest.mark.parametrize("name", ["", "x" * 5000, "no/such", "."])
def test_odd_names_are_one_sentence(name):
    """Empty, too long, unknown: never a traceback."""
    assert len(problems_in(name)) == 1


def test_a_missing_file_is_one_sentence(tmp_path):
    """A path that is not there says so, and guesses a shipped scenario."""
    assert problems_in(tmp_path / "quickstart.toml") == [("", "there is no such file; did you mean quickstart?")]
    assert problems_in(tmp_path / "x" / "zzz.toml") == [("", "there is no such file")]


def test_a_directory_is_one_sentence(tmp_path):
    """A directory is not a scenario."""
    assert problems_in(tmp_path) == [("", "is a directory; name a .toml file in it")]


def test_an_unreadable_file_is_one_sentence(write, monkeypatch):
    """The system's reason is given; root may read everything, so the refusal is made up."""

    def refuse(*_):
        raise PermissionError(errno.EACCES, "Permission denied")

    path = write(SMALL)
    monkeypatch.setattr(Path, "open", refuse)
    assert problems_in(path) == [("", "cannot be read: Permission denied")]


def test_a_path_through_a_file_is_one_sentence(write):
    """Other reasons of the system are given as they are."""
    assert problems_in(write(SMALL) / "x.toml") == [("", "cannot be read: Not a directory")]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty; a scenario needs at least rounds and [[clients]]"),
        (b"# only a comment\n", "is empty; a scenario needs at least rounds and [[clients]]"),
        (b"rounds = 1\nname = '\xff'\n", "must be UTF-8 text; line 2 has the byte 0xff"),
        (b"x" * (16 * 2**20 + 1), "must be at most 16777216 bytes long"),
        (b"x = " + b"[" * 100_000, "not valid TOML: arrays or tables nested too deep"),
    ],
    ids=["empty", "comment", "latin-1", "huge", "deep"],
)
def test_a_file_that_is_no_scenario_is_one_sentence(write, content, sentence):
    """Each way of being unreadable has its own sentence."""
    assert problems_in(write(content)) == [("", sentence)]


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ("rounds = 3\nseed 4\n", "line 2, column 6: "),
        ("rounds = 3\nrounds = 4\n", "line 2, column 11: "),
        ("rounds = \n", "line 1, column 10: "),
        ("rounds = 3\nname = 'x", "line 2, column 10: "),
        ("rounds = 3\n[data\n", "line 2, column 6: "),
        ("rounds = " + "9" * 5000, "line 1, column 5010: "),
    ],
)
def test_a_syntax_error_has_file_line_and_column(write, content, place):
    """The place is where the parser stopped, also at the end of the file."""
    path = write(content)
    [(key, sentence)] = problems_in(path)
    assert key == ""
    assert sentence.startswith(f"not valid TOML: {place}")
    with pytest.raises(ScenarioError, match=r"small\.toml: not valid TOML"):
        load_scenario(path)


def test_a_byte_order_mark_does_no_harm(write):
    """Some editors begin a file with one."""
    assert load_scenario(write(b"\xef\xbb\xbf" + SMALL.encode()), check_data=False).rounds == 3


def test_a_file_name_that_is_no_name_is_told_with_its_origin(write):
    """The name comes from the file, so the sentence says so."""
    [(key, sentence)] = problems_in(write(SMALL, "my scenario.toml"))
    assert key == "name"
    assert 'got "my scenario" (from the file\'s name' in sentence


def test_every_problem_is_told_at_once(write):
    """Wrong values, unknown and missing keys, broken rules and bad overrides come in one error."""
    path = write(
        """
        [data]
        fold = 0
        [ranker]
        hidden = 8
        [learner]
        learning_rat = 0.1
        [[clients]]
        id = "a"
        clicks = "perfect"
        [[clients]]
        id = "a"
        clicks = "navigation"
        [[clients]]
        count = 2
        id = "b"
        clicks = { kind = "pbm", beta = 1 }
        """
    )
    told = problems_in(path, ["federation.engine=procesess", "clients[7].count=1", "nonsense"])
    assert sorted(key for key, _ in told) == [
        "",
        "clients[1].clicks",
        "clients[1].id",
        "clients[2]",
        "clients[2].clicks",
        "clients[7].count",
        "data.fold",
        "federation.engine",
        "learner.learning_rat",
        "ranker.hidden",
        "rounds",
    ]


def test_an_error_reads_as_a_list(write):
    """One problem is one line; several are a heading and a line each."""
    with pytest.raises(ScenarioError) as one:
        load_scenario(write(SMALL), ["rounds=0"], check_data=False)
    assert str(one.value).endswith("small.toml: rounds: must be an integer ≥ 1; got 0 (from --set rounds=0)")
    with pytest.raises(ScenarioError) as two:
        load_scenario(write(SMALL), ["rounds=0", "seed=-1"], check_data=False)
    heading, *lines = str(two.value).splitlines()
    assert heading.endswith("small.toml has 2 problems:")
    assert [line.split(":")[0] for line in lines] == ["  seed", "  rounds"]


@pytest.mark.parametrize(
    ("override", "key"),
    [
        ("rouns=5", "rouns"),
        ("learner.kind=x", "learner.kind"),
        ("clients.0.clicks=x", "clients[0].clicks"),
        ('data={"fol"=1}', "data.fol"),
    ],
)
def test_a_problem_says_that_it_came_from_set(write, override, key):
    """Keys from the command line are validated like the file's."""
    told = dict(problems_in(write(SMALL), [override]))
    assert list(told) == [key]
    assert told[key].endswith(f"(from --set {override})")


def test_the_commands_own_options_win(write):
    """Seed and engine override the file and --set."""
    scenario = load_scenario(write(SMALL), ["seed=5", "federation.engine=processes"], 7, "inline", check_data=False)
    assert (scenario.seed, scenario.federation.engine) == (7, "inline")
    told = dict(problems_in(write(SMALL), seed=-1, engine="thread"))
    assert told["seed"].endswith("got -1 (from --seed -1)")
    assert "(from --engine thread)" in told["federation.engine"]


def test_a_data_source_that_is_not_there_is_a_problem_when_asked(write, tmp_path):
    """The source is looked at only where the caller wants it."""
    path = write(SMALL + f'[data]\nsource = "letor:{tmp_path}/nowhere"\n')
    load_scenario(path, check_data=False)
    [problem] = check(path)
    assert problem.key == "data.source"
    assert "nowhere" in problem.sentence


def test_a_fold_that_the_data_does_not_have_is_told_at_its_key(write):
    """The data layer names the fold, so the problem stands there."""
    [problem] = check(write(SMALL), ["data.fold=7"])
    assert problem.key == "data.fold"
    assert problem.sentence.endswith("(from --set data.fold=7)")


def test_check_gives_the_problems_and_nothing_when_fine(write):
    """An empty list means that the scenario can be run."""
    path = write(SMALL)
    assert check(path) == []
    assert [str(problem) for problem in check(path, ["rounds=0"])] == [
        "rounds: must be an integer ≥ 1; got 0 (from --set rounds=0)"
    ]


def test_check_tells_of_the_data_beside_other_problems(write, tmp_path):
    """A missing data set is told together with what else is wrong."""
    told = check(write(SMALL + f'[data]\nsource = "letor:{tmp_path}/nowhere"\n'), ["rounds=0"])
    assert [problem.key for problem in told] == ["rounds", "data.source"]


@pytest.mark.parametrize(
    "extra", ["", '[ranker]\nkind = "neural"\n', '[expect]\nonline = "> 1"\nsometimes = ["run.started"]\n']
)
def test_a_scenario_survives_json(write, extra):
    """What to_dict gives is JSON, and makes an equal scenario."""
    scenario = load_scenario(write(SMALL + extra), check_data=False)
    assert from_dict(json.loads(json.dumps(to_dict(scenario)))) == scenario


def test_a_click_table_survives_json(write):
    """A table of the user's own is kept as it was written."""
    text = SMALL.replace('"perfect"', '{ kind = "cascade", click = [0, 0.5, 1], stop = [0, 0, 0] }')
    scenario = load_scenario(write(text), check_data=False)
    assert from_dict(json.loads(json.dumps(to_dict(scenario)))) == scenario


def test_from_dict_checks_what_a_file_would_be_checked_for():
    """A dictionary is no way around the rules."""
    with pytest.raises(ScenarioError, match=r"ranker\.hidden"):
        from_dict({"rounds": 1, "ranker": {"hidden": 3}, "clients": [{"count": 1, "clicks": "perfect"}]})


def test_a_resolved_scenario_has_its_defaults_written_out(write):
    """The log's first record needs no knowledge of our defaults."""
    resolved = to_dict(load_scenario(write(SMALL), ["ranker.kind=neural"], check_data=False))
    assert resolved["ranker"] == {"kind": "neural", "hidden": 64, "activation": "sigmoid"}
    assert resolved["learner"]["interactions"] == 5
    assert resolved["clients"] == [{"count": 2, "clicks": "perfect"}]


def test_the_hash_is_of_the_content_not_of_its_order(write):
    """Key order, comments and written-out defaults do not matter; values do."""
    reordered = '[[clients]]\nclicks = "perfect" # same\ncount = 2\n[data]\nfold = 1\n'
    one = load_scenario(write(SMALL), check_data=False)
    two = load_scenario(write(reordered, "small.toml"), ["rounds=3"], check_data=False)
    other = load_scenario(write(SMALL), ["rounds=4"], check_data=False)
    assert scenario_hash(one) == scenario_hash(two) != scenario_hash(other)
    assert len(scenario_hash(one)) == 64


def test_the_json_schema_serves_editors():
    """Registries are enums, keys are described, and nothing offers null, which TOML lacks."""
    schema = json_schema()
    assert schema["required"] == ["rounds", "clients"]
    assert schema["properties"]["rounds"]["description"]
    parts = schema["$defs"]
    assert parts["Ranker"]["properties"]["kind"]["enum"] == ["linear", "neural"]
    assert "client.rejoined" in parts["Expect"]["properties"]["sometimes"]["items"]["enum"]
    assert "navigational" in parts["ClientGroup"]["properties"]["clicks"]["anyOf"][0]["enum"]
    assert "null" not in json.dumps(schema)
