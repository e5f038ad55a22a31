"""A small run as the nodes would log it: three clients on two hosts, three rounds, a refusal, a host lost and back."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest

from analysis import Run, open_run
from protocol.journal import Journal

START = 1_700_000_000.0
SCENARIO = {
    "name": "small",
    "seed": 7,
    "rounds": 3,
    "expect": {"ndcg_at_10": ">= 0.30", "online": "< 0.1", "sometimes": ["client.rejoined", "client.silent"]},
}
CLIENTS = ["ann", "bob", "cat"]
HOSTS = ["host-0", "host-0", "host-1"]
MODELS = [[0.0, 0.0], [0.5, 0.25], [1.0, -1.0], [0.1, 0.2]]
THETAS = {
    (1, "ann"): [0.5, 0.0],
    (1, "bob"): [0.5, 0.5],
    (1, "cat"): [0.5, 0.25],
    (2, "ann"): [1.5, -1.0],
    (2, "bob"): [0.5, -1.0],
    (3, "ann"): [0.1, 0.2],
    (3, "bob"): [0.2, 0.3],
    (3, "cat"): [-2.0, 3.0],
}
ONLINE = {
    (1, "ann"): 0.25,
    (1, "bob"): 0.5,
    (1, "cat"): 0.75,
    (2, "ann"): 0.5,
    (2, "bob"): 1.0,
    (3, "ann"): 0.0,
    (3, "bob"): 0.25,
    (3, "cat"): 0.5,
}
NDCG = [0.1, 0.2, 0.3, 0.4]


class Clock:
    """Half a second a reading, shared by all nodes of the run."""

    def __init__(self) -> None:
        self.ticks = count()

    def __call__(self) -> float:
        """The next moment."""
        return START + 0.5 * next(self.ticks)


def said(direction: str, message: str, *peers: str, id: int, size: int) -> dict:  # noqa: A002 - the wire's own word
    """The fields that every record of a message has."""
    return {"direction": direction, "message": message, "peers": list(peers), "id": id, "bytes": size}


def play(run: Path) -> Path:
    """Write the whole log of the small run."""
    clock = Clock()
    supervisor, coordinator, evaluator = (
        Journal(run, name, clock) for name in ("supervisor", "coordinator", "evaluator")
    )
    hosts = {name: Journal(run, name, clock) for name in ("host-0", "host-1")}
    for pid, (name, role) in enumerate(
        [("coordinator", "coordinator"), ("evaluator", "evaluator"), ("host-0", "host"), ("host-1", "host")], start=100
    ):
        supervisor.append("node.started", name=name, role=role, pid=pid)
    coordinator.append(
        "run.started",
        scenario=SCENARIO,
        scenario_hash="5e4" * 21,
        seed=7,
        versions={"foltr": "0.1.0"},
        dimension=2,
        engine="processes",
        weights="all",
    )
    coordinator.append("clients.enrolled", clients=CLIENTS, hosts=HOSTS, clicks=["perfect"] * 3, interactions=[5, 5, 5])
    for host, clients, pid in (("host-0", ["ann", "bob"], 102), ("host-1", ["cat"], 103)):
        join(coordinator, hosts[host], host, clients, pid, "joined")
    close(coordinator, 0, [], [])

    ask(coordinator, hosts, 1, ["host-0", "host-1"])
    answer(coordinator, hosts["host-0"], 1, "host-0", ["ann", "bob"])
    answer(coordinator, hosts["host-1"], 1, "host-1", ["cat"])
    close(coordinator, 1, CLIENTS, [])

    ask(coordinator, hosts, 2, ["host-0", "host-1"])
    answer(coordinator, hosts["host-0"], 2, "host-0", ["ann", "bob"])
    coordinator.append(
        "update.refused",
        round=2,
        cause="host-0:9",
        clients=["ann"],
        reason="duplicate",
        detail="the client has answered this round already: round 2",
        **said("received", "update", "host-0", id=9, size=90),
    )
    coordinator.append(
        "frame.refused", reason="malformed", detail="cut", **said("received", "", "host-1", id=0, size=3)
    )
    coordinator.append("client.lost", name="host-1", clients=["cat"], round=2)
    close(coordinator, 2, ["ann", "bob"], ["cat"])
    evaluator.append("metric.measured", name="ndcg_at_10", split="test", rounds=[0, 1, 2], values=NDCG[:3])

    supervisor.append("node.crashed", name="host-1", traceback="its last words")
    supervisor.append("node.exited", name="host-1", role="host", pid=103, code=-9)
    supervisor.append("node.started", name="host-1", role="host", pid=104)
    join(coordinator, hosts["host-1"], "host-1", ["cat"], 104, "rejoined")
    ask(coordinator, hosts, 3, ["host-0", "host-1"])
    answer(coordinator, hosts["host-0"], 3, "host-0", ["ann", "bob"])
    answer(coordinator, hosts["host-1"], 3, "host-1", ["cat"])
    close(coordinator, 3, CLIENTS, [])
    coordinator.append("run.finished", round=3, outcome="completed", reason="", model=f"{3:064x}")
    evaluator.append("metric.measured", name="ndcg_at_10", split="test", rounds=[3], values=NDCG[3:])
    for journal in (supervisor, coordinator, evaluator, *hosts.values()):
        journal.close()
    return run


def join(coordinator: Journal, host: Journal, name: str, clients: list[str], pid: int, how: str) -> None:
    """A host's process is ready, joins and is welcomed."""
    host.append("join.sent", **said("sent", "join", "coordinator", id=1, size=20))
    coordinator.append("join.received", clients=clients, pid=pid, **said("received", "join", name, id=1, size=20))
    coordinator.append(f"client.{how}", name=name, clients=clients)
    coordinator.append("welcome.sent", cause=f"{name}:1", **said("sent", "welcome", name, id=1, size=10))


def ask(coordinator: Journal, hosts: dict[str, Journal], number: int, asked: list[str]) -> None:
    """A round is opened; host-1 does not live to see the second."""
    coordinator.append("train.sent", round=number, **said("sent", "train", *asked, id=10 + number, size=50))
    for name in asked:
        if (number, name) != (2, "host-1"):
            hosts[name].append(
                "train.received", round=number, **said("received", "train", "coordinator", id=10 + number, size=50)
            )


def answer(coordinator: Journal, host: Journal, number: int, name: str, clients: list[str]) -> None:
    """A host's clients send their models."""
    host.append(
        "update.sent", round=number, clients=clients, **said("sent", "update", "coordinator", id=20 + number, size=90)
    )
    thetas = [THETAS[number, one] for one in clients]
    before = MODELS[number - 1]
    coordinator.append(
        "update.received",
        round=number,
        cause=f"{name}:{20 + number}",
        clients=clients,
        interactions=[5] * len(clients),
        norm=[sum((a - b) ** 2 for a, b in zip(theta, before, strict=True)) ** 0.5 for theta in thetas],
        online=[ONLINE[number, one] for one in clients],
        thetas=thetas,
        **said("received", "update", name, id=20 + number, size=90),
    )


def close(coordinator: Journal, number: int, participants: list[str], missing: list[str]) -> None:
    """A model is made."""
    coordinator.append(
        "round.closed",
        round=number,
        theta=MODELS[number],
        model=f"{number:064x}",
        participants=participants,
        missing=missing,
        aggregation={"rule": "fedavg"},
    )


@pytest.fixture(scope="session")
def small() -> SimpleNamespace:
    """What the small run's log was written from."""
    return SimpleNamespace(
        start=START, scenario=SCENARIO, clients=CLIENTS, models=MODELS, thetas=THETAS, online=ONLINE, ndcg=NDCG
    )


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small run's directory; tests that change it copy it first."""
    return play(tmp_path_factory.mktemp("runs") / "small" / "20260101-120000-7")


@pytest.fixture(scope="session")
def quickstart(tmp_path_factory: pytest.TempPathFactory, own_cache: Path) -> Path:  # noqa: ARG001 - its data goes there
    """The shipped quickstart scenario, run in one process with a host a client, as its processes would."""
    from nodes.launch import launch
    from scenarios.load import load_scenario

    scenario = load_scenario("quickstart", ["federation.engine=inline", "federation.hosts=per-client"])
    return launch(scenario, tmp_path_factory.mktemp("quickstart"))[0]


@pytest.fixture
def run(played: Path) -> Iterator[Run]:
    """The small run, opened."""
    with open_run(played) as opened:
        yield opened
