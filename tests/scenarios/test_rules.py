"""What the keys of a scenario must be together."""

import pytest

from scenarios.rules import LARGEST_FEDERATION, RESERVED_IDS, problems_together


def told(*groups, **tables):
    """The problems of these client groups and tables, by key."""
    return {problem.key: problem.sentence for problem in problems_together({"clients": list(groups), **tables})}


def test_a_group_has_count_or_id():
    """Both or neither is a problem of the group."""
    assert told({"count": 1}, {"id": "a"}) == {}
    assert told({"count": 1, "id": "a"}) == {"clients[0]": "must have count or id, not both"}
    assert told({"count": 1}, {}) == {
        "clients[1]": "must have count (how many clients) or id (the name of one); got neither"
    }


def test_ids_are_unique():
    """The sentence says who else has the id."""
    assert told({"id": "a"}, {"id": "b"}, {"id": "a"}) == {
        "clients[2].id": 'must be unique; "a" is also the id of clients[0]'
    }


def test_an_id_must_not_be_one_that_counting_gives():
    """client-N is taken exactly when there are N counted clients, wherever their group stands."""
    assert told({"id": "client-3"}, {"count": 2}) == {}
    assert told({"id": "client-03"}, {"count": 3}) == {}
    assert told({"id": "client-3"}, {"count": 2}, {"count": 1}) == {
        "clients[0].id": 'must be unique; "client-3" is one of the 3 clients that count gives'
    }


@pytest.mark.parametrize("name", [*RESERVED_IDS, "host-1", "host-12"])
def test_an_id_must_not_be_a_nodes_name(name):
    """Two nodes of one name would write one journal."""
    assert "must not be the name of a node" in told({"id": name})["clients[0].id"]


def test_a_federation_has_a_limit():
    """A slip of the pen does not fill the memory."""
    assert told({"count": LARGEST_FEDERATION}) == {}
    assert told({"count": LARGEST_FEDERATION}, {"id": "a"}) == {
        "clients": "must be at most 1000000 in all; got 1000001"
    }


def test_hosts_are_at_most_as_many_as_clients():
    """A host without a client would have nothing to do."""
    groups = ({"count": 2}, {"id": "a"})
    assert told(*groups, federation={"hosts": 3}) == {}
    assert told(*groups, federation={"hosts": 4}) == {
        "federation.hosts": "must be at most the number of clients, 3; got 4"
    }


@pytest.mark.parametrize("kind", [{}, {"kind": "linear"}])
def test_hidden_units_are_the_neural_rankers(kind):
    """The linear ranker refuses them, the neural one takes them."""
    assert list(told({"count": 1}, ranker={**kind, "hidden": 3})) == ["ranker.hidden"]
    assert told({"count": 1}, ranker={"kind": "neural", "hidden": 3}) == {}


@pytest.mark.parametrize("raw", [{}, {"clients": 3}, {"clients": [3], "ranker": 3, "federation": [], "expect": "x"}])
def test_rules_are_silent_about_what_is_wrong_by_itself(raw):
    """The schema tells these, once."""
    assert list(problems_together(raw)) == []


def test_a_rule_that_tolerates_must_be_told_how_many():
    """Missing, or more than the clients allow: one sentence with the inequality. Other rules do not mind the key."""
    assert told({"count": 10}, aggregation={"rule": "krum", "tolerate": 4}) == {}
    assert told({"count": 10}, aggregation={"rule": "median", "tolerate": 4}) == {}
    assert told({"count": 10}, aggregation={"rule": "krum"}) == {
        "aggregation.tolerate": 'is needed with rule = "krum": how many malicious clients to tolerate'
    }
    assert told({"count": 10}, aggregation={"rule": "bulyan", "tolerate": 2}) == {
        "aggregation.tolerate": "bulyan needs n ≥ 4m + 3; got n = 10, m = 2"
    }
    assert told({"count": 3}, {"id": "a"}, aggregation={"rule": ["nnm", "median"], "tolerate": 2}) == {
        "aggregation.tolerate": "nnm needs n > 2m, a majority of honest clients; got n = 4, m = 2"
    }


def test_a_rule_that_remembers_needs_every_update_in_the_log():
    """Or a killed coordinator could not go on with the same bits."""
    rule = {"rule": "guarded"}
    assert told({"count": 3}, aggregation=rule, log={"weights": "all"}) == {}
    assert told({"count": 3}, aggregation={"rule": "median"}, log={"weights": "models"}) == {}
    assert told({"count": 3}, aggregation=rule, log={"weights": "models"}) == {
        "log.weights": 'must be "all" or "auto" with rule = "guarded", which remembers what clients sent; got "models"'
    }


@pytest.mark.parametrize("rule", [3, [], [3], [{}], {"kind": "krum"}, ["nnm", "oracle"]])
def test_a_rule_that_is_none_is_left_to_the_schema(rule):
    """Nothing is said twice."""
    assert told({"count": 3}, aggregation={"rule": rule}) == {}
