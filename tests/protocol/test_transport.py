"""Real sockets: enrolled peers talk, nobody else gets an answer, and nothing stops the gate."""

import os
import socket
import time
from contextlib import ExitStack

import pytest
import zmq

from protocol.codec import Codec
from protocol.errors import Refusal, RefusedFrame, UserError
from protocol.messages import Welcome
from protocol.transport import Gate, Line, make_keys

LARGEST = 100_000
PATIENCE = 10.0  # seconds after which what should have arrived is missing
QUIET = 0.15  # seconds in which a stranger would have been heard
SERVER, ONE, TWO, STRANGER = make_keys(), make_keys(), make_keys(), make_keys()
ENROLLED = {ONE.public: "host-1", TWO.public: "host-2"}


def open_gate(port=0, largest=LARGEST):
    """A gate on this machine that knows two hosts."""
    return Gate("127.0.0.1", port, SERVER, ENROLLED, largest)


@pytest.fixture
def gate():
    """A gate, closed after the test."""
    with open_gate() as opened:
        yield opened


@pytest.fixture
def peer():
    """Makes peers that are not ours: any key or none, any server key, any identity. They end with the test."""
    with zmq.Context() as context, ExitStack() as made:

        def dealer(gate, keys=None, server=SERVER.public, identity=None):
            one = made.enter_context(context.socket(zmq.DEALER))
            one.linger = 0
            if keys is not None:
                one.curve_publickey, one.curve_secretkey, one.curve_serverkey = keys.public, keys.secret, server
            if identity is not None:
                one.routing_id = identity
            one.connect(gate.endpoint)
            return one

        yield dealer


def line_to(gate, keys, largest=LARGEST):
    """An honest host's connection."""
    return Line(gate.endpoint, keys, SERVER.public, largest)


def hear(gate, count=1, seconds=PATIENCE):
    """Take frames until so many have come, or for so long; the frames with their senders."""
    frames, until = [], time.monotonic() + seconds
    while len(frames) < count and time.monotonic() < until:
        if heard := gate.receive():
            frames.append(heard)
    return frames


def answer(line):
    """What a line hears next."""
    until = time.monotonic() + PATIENCE
    while (frame := line.receive()) is None:
        assert time.monotonic() < until, "nothing is heard"
    return frame


def reach(gate, line, name, frame=b"down"):
    """Serve until a frame gets through to a line; what the line heard."""
    until = time.monotonic() + PATIENCE
    while not gate.send(name, frame):
        assert time.monotonic() < until, f"{name} cannot be reached"
        assert gate.receive() is None
    return answer(line)


def assert_serves(gate, keys=ONE, name="host-1"):
    """An enrolled peer talks to the gate both ways."""
    with line_to(gate, keys) as line:
        assert line.send("", b"up")
        assert hear(gate) == [(name, b"up")]
        assert gate.send(name, b"down")
        assert answer(line) == b"down"


def test_enrolled_peers_talk_both_ways(gate):
    """Each frame comes with its sender's name and goes to the peer it is for."""
    with line_to(gate, ONE) as one, line_to(gate, TWO) as two:
        one.send("coordinator", b"from one")
        two.send("coordinator", b"from two")
        assert sorted(hear(gate, 2)) == [("host-1", b"from one"), ("host-2", b"from two")]
        assert gate.send("host-2", b"to two")
        assert gate.send("host-1", b"to one")
        assert (answer(one), answer(two)) == (b"to one", b"to two")


def test_a_peer_can_be_reached_before_it_says_a_word(gate):
    """A connection makes itself known; the probe is not a frame."""
    with line_to(gate, ONE) as line:
        assert reach(gate, line, "host-1") == b"down"


def test_a_peer_that_never_came_or_has_gone_is_not_reached(gate):
    """`send` says so and does not raise."""
    assert not gate.send("host-1", b"x")
    assert not gate.send("nobody", b"x")
    with line_to(gate, ONE) as line:
        assert reach(gate, line, "host-1")
    until = time.monotonic() + PATIENCE
    while gate.send("host-1", b"x"):
        assert time.monotonic() < until
        gate.receive()


STRANGERS = {
    "a key that is not enrolled": {"keys": STRANGER},
    "no key": {},
    "a wrong server key": {"keys": ONE, "server": STRANGER.public},
    "a host's identity": {"keys": STRANGER, "identity": b"host-1"},
}


@pytest.mark.parametrize("settings", STRANGERS.values(), ids=STRANGERS)
def test_a_stranger_is_not_heard_and_gets_no_answer(gate, peer, settings):
    """Nothing is delivered, nothing is answered, and the gate goes on serving."""
    stranger = peer(gate, **settings)
    stranger.send(b"let me in")
    assert hear(gate, seconds=QUIET) == []
    assert not gate.send("host-1", b"secret")
    assert_serves(gate)
    assert stranger.poll(0) == 0


def test_a_password_is_no_key(gate):
    """The PLAIN mechanism ends at the handshake too."""
    with zmq.Context() as context, context.socket(zmq.DEALER) as stranger:
        stranger.linger = 0
        stranger.plain_username, stranger.plain_password = b"host-1", b"guess"
        stranger.connect(gate.endpoint)
        stranger.send(b"let me in")
        assert hear(gate, seconds=QUIET) == []
        assert_serves(gate)


GREETING = b"\xff\0\0\0\0\0\0\0\x01\x7f\x03\x00CURVE".ljust(64, b"\0")  # how ZeroMQ begins
NOISE = {
    "HTTP": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "zeros": bytes(10_000),
    "all ones": b"\xff" * 10_000,
    "half a greeting": GREETING[:11],
    "a greeting and garbage": GREETING + b"\x04\xff" + b"x" * 255,
    "a greeting and a huge command": GREETING + b"\x06" + b"\x7f" * 8,
    "nothing": b"",
}


@pytest.mark.parametrize("noise", NOISE.values(), ids=NOISE)
@pytest.mark.parametrize("hangs_up", [True, False])
def test_plain_tcp_noise_delivers_nothing(gate, noise, hangs_up):
    """Whatever is sent to the port that is not the protocol, the gate goes on serving."""
    port = int(gate.endpoint.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port)) as tcp:
        tcp.sendall(noise)
        if hangs_up:
            tcp.close()
        assert_serves(gate)


def test_a_peer_speaks_only_in_its_own_name(gate):
    """Names come from keys: each is heard and told under its own."""
    with line_to(gate, ONE) as one, line_to(gate, TWO) as two:
        two.send("host-1", b"I am host-1")
        assert hear(gate) == [("host-2", b"I am host-1")]
        one.send("host-2", b"I am host-2")
        assert hear(gate) == [("host-1", b"I am host-2")]
        assert gate.send("host-1", b"for one")
        assert answer(one) == b"for one"
        assert two.receive() is None


@pytest.mark.parametrize("keys", [ONE, TWO], ids=["its own key", "another's key"])
@pytest.mark.parametrize("identity", ["host-1", "the honest one's route"])
def test_an_identity_that_a_peer_chose_counts_for_nothing(gate, peer, keys, identity):
    """Whatever a forger calls itself, it is not heard, and what is meant for the honest one reaches the honest one."""
    with line_to(gate, ONE) as honest:
        honest.send("", b"I am host-1")
        assert hear(gate) == [("host-1", b"I am host-1")]
        route = gate._routes["host-1"][1:] if identity.startswith("the") else identity.encode()
        forger = peer(gate, keys, identity=route)
        forger.send(b"I am host-1, too")
        assert hear(gate, seconds=QUIET) == []
        assert gate.send("host-1", b"for one")
        assert answer(honest) == b"for one"
        assert forger.poll(0) == 0


def test_a_peer_that_comes_back_is_reached_on_its_new_connection(gate):
    """A new process with the same key takes the old one's place."""
    for _ in range(3):
        with line_to(gate, ONE) as line:
            line.send("", b"here")
            assert hear(gate) == [("host-1", b"here")]
            assert gate.send("host-1", b"welcome")
            assert answer(line) == b"welcome"
    assert len(gate._names) == 1  # however often it comes


def test_a_line_finds_a_gate_that_comes_back():
    """The connection is made again by itself, on the same port with the same key; its next word makes it known."""
    with open_gate() as gate:
        port = int(gate.endpoint.rpartition(":")[2])
        line = line_to(gate, ONE)
        assert reach(gate, line, "host-1") == b"down"
    with line, open_gate(port) as again:
        line.send("", b"up")
        assert hear(again) == [("host-1", b"up")]
        assert again.send("host-1", b"again")
        assert answer(line) == b"again"


def test_a_port_in_use_is_told_to_the_user(gate):
    """The sentence names address, port and reason, and nothing is left open."""
    port = int(gate.endpoint.rpartition(":")[2])
    with pytest.raises(UserError, match=f"^the coordinator cannot listen on 127.0.0.1:{port}: the port is in use$"):
        open_gate(port)
    assert_serves(gate)


@pytest.mark.parametrize("address", ["203.0.113.7", "no such host", "256.1.1.1"])
def test_an_address_that_is_not_ours_is_told_to_the_user(address):
    """A user's slip gets one sentence."""
    with pytest.raises(UserError, match=f"^the coordinator cannot listen on {address}:0: .+$"):
        Gate(address, 0, SERVER, ENROLLED, LARGEST)


@pytest.mark.parametrize("parts", [[b"", b""], [b"", b"x"], [b"x", b""], [b"half", b"half"], None])
def test_a_frame_in_several_parts_is_no_message(gate, peer, parts):
    """Nobody of ours sends such a thing: it arrives whole or not at all, and the codec refuses it."""
    whole = Codec().encode(Welcome(5), 1)
    sender = peer(gate, ONE)
    sender.send_multipart(parts or [whole[:3], whole[3:]])
    sender.send(whole)
    (first, damaged), last = hear(gate, 2)
    assert (first, last) == ("host-1", ("host-1", whole))
    with pytest.raises(RefusedFrame) as caught:
        Codec().decode(damaged)
    assert caught.value.reason is Refusal.MALFORMED


def test_a_hundred_thousand_parts_are_taken_quickly_enough_to_serve_others(gate, peer):
    """The cost of a frame grows with its length, not with its square."""
    peer(gate, ONE).send_multipart([b"part"] * 100_000)
    ((name, _),) = hear(gate)
    assert name == "host-1"
    assert_serves(gate, TWO, "host-2")


def test_an_empty_frame_is_nothing(gate, peer):
    """It is only a sign of life of the connection."""
    sender = peer(gate, ONE)
    sender.send(b"")
    sender.send(b"something")
    assert hear(gate) == [("host-1", b"something")]


def test_a_frame_over_the_limit_is_refused_by_the_codec_and_far_over_it_not_taken():
    """Up to twice the limit there is a logged reason; beyond it the connection ends, and a new one is welcome."""
    with open_gate(largest=1_000) as gate:
        with line_to(gate, ONE, largest=1_000) as line:
            line.send("", bytes(1_500))
            ((name, frame),) = hear(gate)
            assert name == "host-1"
            with pytest.raises(RefusedFrame) as caught:
                Codec(1_000).decode(frame)
            assert caught.value.reason is Refusal.OVERSIZED
            line.send("", bytes(5_000))
            assert hear(gate, seconds=QUIET) == []
            assert_serves(gate, TWO, "host-2")
        assert_serves(gate)


def test_many_frames_come_in_order(gate):
    """What one peer says arrives as it was said, none lost and none twice."""
    frames = [b"%d" % number for number in range(1, 901)]
    with line_to(gate, ONE) as line:
        assert all(line.send("", frame) for frame in frames)
        assert hear(gate, len(frames)) == [("host-1", frame) for frame in frames]


def test_a_line_whose_queue_is_full_says_so():
    """Nobody listens; frames wait, and the first that finds no room is refused at once."""
    with zmq.Context() as context, context.socket(zmq.ROUTER) as placeholder:
        port = placeholder.bind_to_random_port("tcp://127.0.0.1")
    line = Line(f"tcp://127.0.0.1:{port}", ONE, SERVER.public, LARGEST)
    sent = sum(line.send("", b"x") for _ in range(3_000))
    assert 0 < sent < 3_000
    line._dealer.linger = 0
    line.close()


def test_a_line_does_not_wait_when_it_is_told_not_to(gate):
    """Nothing is there."""
    with line_to(gate, ONE) as line:
        assert line.receive(wait=False) is None


def test_a_watched_descriptor_ends_the_look(gate):
    """A process's end is noticed at once, and a frame too; not what is unwatched."""
    reading, writing = os.pipe()
    with line_to(gate, ONE) as line:
        line.watch(reading)
        os.write(writing, b"x")
        line.look(1e6)
        line.unwatch(reading)
        line.look(0)
        assert reach(gate, line, "host-1") == b"down"
        gate.send("host-1", b"more")
        line.look(1e6)
        assert line.receive(wait=False) == b"more"
    os.close(reading)
    os.close(writing)


def test_a_thousand_strangers_do_not_stop_the_gate(gate, peer):
    """Open connections that say nothing, noise, and keys that nobody knows: the enrolled are served all the while."""
    host, port = "127.0.0.1", int(gate.endpoint.rpartition(":")[2])
    with ExitStack() as crowd, line_to(gate, ONE) as early:
        assert reach(gate, early, "host-1") == b"down"
        for number in range(960):
            tcp = crowd.enter_context(socket.create_connection((host, port)))
            if number % 2:
                tcp.sendall(NOISE["HTTP"] if number % 4 == 1 else NOISE["a greeting and garbage"])
        for _ in range(40):
            peer(gate, STRANGER).send(b"let me in")
        early.send("", b"still here")
        assert hear(gate) == [("host-1", b"still here")]
        assert_serves(gate, TWO, "host-2")
        assert hear(gate, seconds=QUIET) == []
