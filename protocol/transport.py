"""ZeroMQ sockets under CURVE: the only file that imports zmq.

The coordinator has a `Gate` (ROUTER), every other node a `Line` to it (DEALER). The run makes a key pair for each node
before it starts. The gate answers ZAP itself: a peer whose public key is not enrolled never completes its handshake and
gets no answer. ZeroMQ then vouches, frame by frame, for the name that a key was enrolled under, so that a node can
speak only in its own name. Routes are learned from what arrives; nothing depends on an identity that a peer chose.
"""

from dataclasses import dataclass
from typing import Final, Self

import zmq
import zmq.utils.z85

from protocol.errors import UserError

__all__ = ["Gate", "KeyPair", "Line", "make_keys"]

_ZAP: Final = "inproc://zeromq.zap.01"
_DOMAIN: Final = b"foltr"
_BURST: Final = 256  # frames taken at once before the caller gets a turn
_LINGER: Final = 1000  # milliseconds for the last frames to leave when a socket closes
_RECONNECT: Final = 50  # milliseconds; a restarted coordinator is found again quickly


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A node's CURVE keys, Z85."""

    public: bytes
    secret: bytes


def make_keys() -> KeyPair:
    """A fresh key pair; its randomness has no part in the run's results."""
    return KeyPair(*zmq.curve_keypair())


class Gate:
    """The coordinator's socket: frames from and to enrolled peers by name."""

    def __init__(self, address: str, port: int, keys: KeyPair, enrolled: dict[bytes, str], largest: int) -> None:
        self._context = zmq.Context()
        self._enrolled = dict(enrolled)
        self._routes: dict[str, bytes] = {}
        self._zap = self._context.socket(zmq.REP)
        self._zap.bind(_ZAP)
        self._router = self._context.socket(zmq.ROUTER)
        self._router.curve_server = True
        self._router.curve_secretkey = keys.secret
        self._router.curve_publickey = keys.public
        self._router.zap_domain = _DOMAIN
        self._router.router_mandatory = True
        self._router.maxmsgsize = 2 * largest  # a guard; the codec's own limit gives a logged reason
        self._router.sndhwm = self._router.rcvhwm = 10_000
        self._router.linger = _LINGER
        where = f"tcp://{address}:{port or '*'}"
        try:
            self._router.bind(where)
        except zmq.ZMQError as error:
            self.close()
            reason = "the port is in use" if error.errno == zmq.EADDRINUSE else error.strerror
            raise UserError(f"the coordinator cannot listen on {address}:{port}: {reason}") from error
        self.endpoint = self._router.getsockopt_string(zmq.LAST_ENDPOINT)
        self._poller = zmq.Poller()
        self._poller.register(self._router, zmq.POLLIN)
        self._poller.register(self._zap, zmq.POLLIN)

    def receive(self, timeout: float | None) -> list[tuple[str, bytes | memoryview]]:
        """Frames that have come, each with the name of its sender; waits up to `timeout` seconds for the first."""
        self._poller.poll(None if timeout is None else max(0, int(timeout * 1000 + 0.999)))
        self._answer_handshakes()
        frames: list[tuple[str, bytes | memoryview]] = []
        while len(frames) < _BURST:
            try:
                route, *parts = self._router.recv_multipart(zmq.NOBLOCK, copy=False)
            except zmq.Again:
                break
            name = str(route.get("User-Id"))
            self._routes[name] = route.bytes
            frame = b"".join(part.buffer for part in parts) if len(parts) != 1 else parts[0].buffer
            if len(frame):  # an empty one is only the probe of a new connection
                frames.append((name, frame))
        return frames

    def send(self, peer: str, frame: bytes) -> bool:
        """Hand a frame over for a peer; false if it has no connection or takes nothing, as if lost on the way."""
        route = self._routes.get(peer)
        if route is None:
            return False
        try:
            self._router.send_multipart((route, frame), zmq.NOBLOCK)
        except zmq.ZMQError as error:
            if error.errno in (zmq.EHOSTUNREACH, zmq.EAGAIN):
                return False
            raise
        return True

    def close(self) -> None:
        """Close the sockets; the last frames have a moment to leave."""
        self._router.close()
        self._zap.close(linger=0)
        self._context.term()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _answer_handshakes(self) -> None:
        """ZAP (ZeroMQ RFC 27): 200 and the enrolled name for a known key, 400 for any other."""
        while self._zap.poll(0):
            version, request, _domain, _address, _identity, mechanism, *credentials = self._zap.recv_multipart()
            key = zmq.utils.z85.encode(credentials[0]) if mechanism == b"CURVE" and credentials else b""
            name = self._enrolled.get(key)
            code, text = (b"200", b"OK") if name else (b"400", b"not enrolled")
            self._zap.send_multipart([version, request, code, text, (name or "").encode(), b""])


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
        self._dealer.probe_router = True  # an empty frame at each connection, from which the gate learns the route
        self._dealer.connect(endpoint)
        self._poller = zmq.Poller()
        self._poller.register(self._dealer, zmq.POLLIN)

    def watch(self, descriptor: int) -> None:
        """Let `receive` return at once when this file descriptor becomes readable, such as a process's sentinel."""
        self._poller.register(descriptor, zmq.POLLIN)

    def unwatch(self, descriptor: int) -> None:
        """Stop looking at a file descriptor."""
        self._poller.unregister(descriptor)

    def receive(self, timeout: float | None) -> list[bytes]:
        """Frames that have come from the coordinator; waits up to `timeout` seconds for the first."""
        self._poller.poll(None if timeout is None else max(0, int(timeout * 1000 + 0.999)))
        frames: list[bytes] = []
        while len(frames) < _BURST:
            try:
                frames.append(self._dealer.recv(zmq.NOBLOCK))
            except zmq.Again:
                break
        return frames

    def send(self, _peer: str, frame: bytes) -> bool:
        """Hand a frame over for the coordinator; false if the connection takes nothing more."""
        try:
            self._dealer.send(frame, zmq.NOBLOCK)
        except zmq.Again:
            return False
        return True

    def close(self) -> None:
        """Close the socket; the last frames have a moment to leave."""
        self._dealer.close()
        self._context.term()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
