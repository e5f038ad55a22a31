"""An enrolled host that turns hostile: whatever it sends, the coordinator keeps its rounds and its memory."""

import threading
import time
import zlib

import msgpack
import numpy as np
import psutil
from hypothesis import given, settings, strategies

from nodes.ending import Interruption
from nodes.launch import launch, make_run_directory, start_early
from nodes.supervisor import Supervisor
from nodes.watcher import Quiet
from protocol.codec import Codec
from protocol.journal import journal_path, read_journal
from protocol.messages import AS_IT_IS, Join, Lost, Stop, Train, Update
from protocol.transport import Line
from scenarios.load import from_dict, load_scenario, to_dict
from scenarios.plan import Plan, open_data

HOSTILE = "client-4"
ROUNDS = 1500


def sealed(body):
    """A frame with this body and the checksum that belongs to it."""
    return body + zlib.crc32(body).to_bytes(4, "little")


def hostile_frames(codec, dimension):
    """Hand-made and made-up frames: none of them is to be used, and none may do harm."""
    theta, ones = np.full((1, dimension), 9.9), np.ones(1)
    five = np.array([5], dtype=np.int64)
    wrong = [
        Update(round_, np.array([client], dtype=np.int64), weights, five, ones, 0)
        for round_ in (0, 1, 2, 10**9)
        for client in (0, 1, 3, 77, -1)
        for weights in (theta, np.full((1, dimension), np.nan), np.full((1, dimension), np.inf), theta[:, :3])
    ]
    wrong += [
        Join(np.array([0], dtype=np.int64), 7),
        Lost("client-1", 1),
        Stop("hostile"),
        Train(1, theta[0], five, 0, 1, 0, AS_IT_IS),
    ]
    frames = [codec.encode(message, 1) for message in wrong]
    whole = codec.encode(wrong[0], 1)
    frames += [whole[:cut] for cut in range(0, len(whole), 7)]
    frames += [sealed(b"\x91" * 50_000), sealed(b"\xdd\xff\xff\xff\xff"), sealed(b"\xc9\xff\xff\xff\xff\x01")]
    frames += [sealed(msgpack.packb([1, "update", 1, 0, {"deep": [[[[]]]]}, None, True, 1.5, "x"]))]
    frames += [sealed(msgpack.packb([2, "join", 1, 0])), b"GET / HTTP/1.1\r\n\r\n", b"\0" * 100_000]
    frames += [bytes([number % 256]) * (number % 900 + 1) for number in range(500)]
    return frames + [np.random.default_rng(seed).bytes(seed % 280 + 1) for seed in range(300)]


def almost_messages():
    """Sealed msgpack arrays that begin as a message does and go on with anything."""
    anything = strategies.recursive(
        strategies.none() | strategies.booleans() | strategies.integers(-(2**63), 2**64 - 1) | strategies.floats()
        | strategies.text(max_size=20) | strategies.binary(max_size=60)
        | strategies.builds(msgpack.ExtType, strategies.integers(0, 127), strategies.binary(max_size=60)),
        lambda inner: strategies.lists(inner, max_size=4) | strategies.dictionaries(strategies.text(), inner),
        max_leaves=12,
    )  # fmt: skip
    names = strategies.sampled_from(["join", "update", "train", "finish", "lost", "stop", "enrol", "leave", "order"])
    head = strategies.tuples(strategies.sampled_from([0, 1, 2]), names | anything, anything, anything)
    whole = strategies.tuples(head, strategies.lists(anything, max_size=6)).map(lambda parts: [*parts[0], *parts[1]])
    return whole.map(lambda parts: sealed(msgpack.packb(parts)))


def test_a_hostile_host_changes_nothing(tmp_path):
    """Garbage, lies, others' names, replays, made-up messages and ten thousand joins: the models are as without it."""
    overrides = [f"rounds={ROUNDS}", "clients[0].count=4", "evaluation.every=1500", "federation.hosts=per-client"]
    scenario = load_scenario("quickstart", overrides)
    start_early(scenario)
    features = open_data(scenario).dimension
    plan = Plan(scenario, make_run_directory(scenario, tmp_path), features, 2)
    supervisor = Supervisor(plan, Quiet(), Interruption())
    start_node = supervisor.crew.start_node
    supervisor.crew.start_node = lambda name: None if name == HOSTILE else start_node(name)
    thread = threading.Thread(target=supervisor.run)
    thread.start()
    try:
        while "evaluator" not in supervisor.crew.nursery.children:
            time.sleep(0.02)
        coordinator = psutil.Process(supervisor.crew.nursery.children["coordinator"].pid)
        task, keys = supervisor.crew._task, supervisor.crew._keys
        codec = Codec(plan.largest_frame)
        before = coordinator.memory_info().rss
        with Line(task.endpoint, keys[HOSTILE], keys["coordinator"].public, plan.largest_frame) as line:
            supervisor._say(Lost(HOSTILE, 666))  # its process is "dead": what it says from now on is not welcome
            frames = hostile_frames(codec, plan.ranker.dimension)
            join = codec.encode(Join(np.array([3], dtype=np.int64), 666), 1)
            for frame in [*frames, *[join] * 10_000, *frames]:
                while not line.send("coordinator", frame):
                    time.sleep(0.001)
            invent = strategies.binary(max_size=300) | strategies.binary(max_size=300).map(sealed) | almost_messages()

            @settings(max_examples=300, deadline=None, database=None, derandomize=True)
            @given(invent)
            def throw(frame):
                while not line.send("coordinator", frame):
                    time.sleep(0.001)

            throw()
            thread.join(timeout=90)
            grown = coordinator.memory_info().rss - before if coordinator.is_running() else 0
        assert not thread.is_alive()
        assert grown < 60e6
    finally:
        supervisor.interruption.asked = 2
        thread.join()
    records = list(read_journal(journal_path(plan.run, "coordinator")))
    closed = [one for one in records if one["event"] == "round.closed"]
    assert len(closed) == ROUNDS + 1
    assert {tuple(one["missing"]) for one in closed[1:]} == {(HOSTILE,)}
    refused = {one["reason"] for one in records if one["event"] in ("frame.refused", "update.refused")}
    assert refused >= {"malformed", "unexpected", "not-yours", "future-round", "other-version"}
    calm = to_dict(load_scenario("quickstart", overrides, engine="inline"))
    calm["timeline"] = [{"at_round": 1, "kill": HOSTILE}]
    run, _ = launch(from_dict(calm), tmp_path / "calm")
    theirs = [one["model"] for one in read_journal(journal_path(run, "coordinator")) if one["event"] == "round.closed"]
    assert [one["model"] for one in closed] == theirs
