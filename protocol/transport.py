"""ZeroMQ sockets under CURVE: the only file that imports zmq.

The coordinator has a `Gate` (ROUTER), every other node a `Line` to it (DEALER). The run makes a key pair for each node
before it starts. A thread of the gate answers ZAP: a peer whose public key is not enrolled never completes its
handshake and gets no answer. ZeroMQ then vouches for the name that a connection's key was enrolled under, so that a
node can speak only in its own name. A route is the number that the gate itself gives a connection; whoever chose an
identity of its own is not heard.
"""

import contextlib
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, Self

import zmq
import zmq.utils.z85

from protocol.errors import UserError

__all__ = ["Gate", "KeyPair", "Line", "local_endpoint", "make_keys"]

_ZAP: Final = "inproc://zeromq.zap.01"
_DOMAIN: Final = b"foltr"
_PATIENCE: Final = 100  # milliseconds that `receive` waits before the caller may look at the time
_QUEUE: Final = 10_000  # frames that wait for a peer at most
_LINGER: Final = 1000  # milliseconds for the last frames to leave when a socket closes
_RECONNECT: Final = 50  # milliseconds; a restarted coordinator is found again quickly


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A node's CURVE keys, Z85."""

    public: bytes
    secret: bytes


def local_endpoint(server: bytes) -> str | None:
    """Where the gate with this public key listens for processes of its own machine, besides its address, if it does.

    It is a Unix socket without a file, which only Linux has, and which costs less than TCP; the keys are the same.
    """
    return f"ipc://@foltr-{sha256(server).hexdigest()[:32]}" if sys.platform.startswith("linux") else None


def make_keys() -> KeyPair:
    """A fresh key pair; its randomness has no part in the run's results."""
    return KeyPair(*zmq.curve_keypair())


class Gate:
    """The coordinator's socket: frames from and to enrolled peers by name."""

    def __init__(self, address: str, port: int, keys: KeyPair, enrolled: dict[bytes, str], largest: int) -> None:
        self._context = zmq.Context()
        self._names: dict[bytes, str] = {}  # whose connection a route is
        self._routes: dict[str, bytes] = {}  # the newest connection of each peer
        self._enrolled = dict(enrolled)
        self._porter = threading.Thread(
            target=_answer_handshakes, args=(self._zap_socket(), self._enrolled), daemon=True
        )
        self._porter.start()
        self._router = self._context.socket(zmq.ROUTER)
        self._router.curve_server = True
        self._router.curve_secretkey = keys.secret
        self._router.curve_publickey = keys.public
        self._router.zap_domain = _DOMAIN
        self._router.router_mandatory = True
        self._router.maxmsgsize = 2 * largest  # a guard; the codec's own limit gives a logged reason
        self._router.sndhwm = self._router.rcvhwm = _QUEUE
        self._router.backlog = _QUEUE  # the usual 100 are soon full, and the next connection then takes a second
        self._router.linger = _LINGER
        self._patience = self._router.rcvtimeo = _PATIENCE
        try:
            self._router.bind(f"tcp://{address}:{port or '*'}")
        except zmq.ZMQError as error:
            self.close()
            reason = "the port is in use" if error.errno == zmq.EADDRINUSE else error.strerror
            raise UserError(f"the coordinator cannot listen on {address}:{port}: {reason}") from error
        self.endpoint = self._router.getsockopt_string(zmq.LAST_ENDPOINT)
        if nearby := local_endpoint(keys.public):
            self._router.bind(nearby)

    def admit(self, name: str, key: bytes) -> None:
        """Let one more peer in, by its public key."""
        self._enrolled[key] = name

    def receive(self, patience: float = _PATIENCE / 1000) -> tuple[str, bytes] | None:
        """The next frame with the name of its sender; none if nothing comes for so many seconds."""
        if (milliseconds := int(1000 * patience)) != self._patience:
            self._patience = self._router.rcvtimeo = milliseconds
        try:
            route = self._router.recv()
        except zmq.Again:
            return None
        name = self._names.get(route)
        if name is None:  # a new connection: its first frame tells whose it is
            first = self._router.recv(copy=False)
            name = self._learn(route, first)
            frame = first.bytes
        else:
            frame = self._router.recv()
        if self._router.rcvmore:
            frame = b"\xc1".join([frame, *self._rest()])  # no node sends more than one part: joined, it is no message
        return (name, frame) if name and frame else None  # an empty frame is only the probe of a new connection

    def send(self, peer: str, frame: bytes) -> bool:
        """Hand a frame over for a peer; false if it has no connection or takes nothing, as if lost on the way."""
        route = self._routes.get(peer)
        if route is None:
            return False
        try:
            self._router.send(route, zmq.NOBLOCK | zmq.SNDMORE)
            self._router.send(frame, zmq.NOBLOCK)
        except zmq.ZMQError as error:
            if error.errno in (zmq.EHOSTUNREACH, zmq.EAGAIN):
                return False
            raise
        return True

    def close(self) -> None:
        """Close the sockets; the last frames have a moment to leave."""
        self._router.close()
        self._context.term()  # ends the porter's thread too
        self._porter.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _rest(self) -> Iterator[bytes]:
        """The parts of a frame after its first."""
        while self._router.rcvmore:
            yield self._router.recv()

    def _learn(self, route: bytes, frame: zmq.Frame) -> str:
        """The name behind a new route; empty for an identity that the peer chose."""
        if not route.startswith(b"\0"):
            return ""
        name = str(frame.get("User-Id"))
        old = self._routes.get(name)
        if old is not None:
            del self._names[old]  # so that names are as many as peers, however often they come
        self._names[route] = name
        self._routes[name] = route
        return name

    def _zap_socket(self) -> "zmq.Socket[bytes]":
        """Where ZeroMQ asks about a handshake; bound before the gate opens."""
        zap = self._context.socket(zmq.REP)
        zap.linger = 0
        zap.bind(_ZAP)
        return zap


def _answer_handshakes(zap: "zmq.Socket[bytes]", enrolled: dict[bytes, str]) -> None:
    """ZAP (ZeroMQ RFC 27): 200 and the enrolled name for a known key, 400 for any other; ends with the context."""
    with contextlib.suppress(zmq.ContextTerminated), zap:
        while True:
            version, request, _domain, _address, _identity, mechanism, *credentials = zap.recv_multipart()
            key = zmq.utils.z85.encode(credentials[0]) if mechanism == b"CURVE" and credentials else b""
            name = enrolled.get(key)
            code, text = (b"200", b"OK") if name else (b"400", b"not enrolled")
            zap.send_multipart([version, request, code, text, (name or "").encode(), b""])


class Line:
    """A node's connection to the coordinator; reconnects by itself."""

    def __init__(self, endpoint: str, keys: KeyPair, server: bytes, largest: int) -> None:
        self._context = zmq.Context()
        self._dealer = self._context.socket(zmq.DEALER)
        self._dealer.curve_serverkey = server
        self._dealer.curve_secretkey = keys.secret
        self._dealer.curve_publickey = keys.public
        self._dealer.maxmsgsize = 2 * largest
        self._dealer.linger = _LINGER
        self._dealer.reconnect_ivl = _RECONNECT
        self._dealer.probe_router = True  # an empty frame first, from which the gate learns the route
        self._dealer.rcvtimeo = _PATIENCE
        self._dealer.connect(endpoint)
        self._poller = zmq.Poller()
        self._poller.register(self._dealer, zmq.POLLIN)

    def receive(self, *, wait: bool = True) -> bytes | None:
        """The next frame from the coordinator; none if nothing comes for a moment, or is there without waiting."""
        try:
            return self._dealer.recv(0 if wait else zmq.NOBLOCK)
        except zmq.Again:
            return None

    def send(self, _peer: str, frame: bytes) -> bool:
        """Hand a frame over for the coordinator; false if the connection takes nothing more."""
        try:
            self._dealer.send(frame, zmq.NOBLOCK)
        except zmq.Again:
            return False
        return True

    def watch(self, descriptor: int) -> None:
        """Let `look` return when this file descriptor becomes readable, such as a process's sentinel."""
        self._poller.register(descriptor, zmq.POLLIN)

    def unwatch(self, descriptor: int) -> None:
        """Stop looking at a file descriptor."""
        self._poller.unregister(descriptor)

    def look(self, seconds: float) -> None:
        """Wait until a frame is there or a watched descriptor is readable, at most so long."""
        self._poller.poll(int(seconds * 1000))

    def close(self) -> None:
        """Close the socket; the last frames have a moment to leave."""
        self._dealer.close()
        self._context.term()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
