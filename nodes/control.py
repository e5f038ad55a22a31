"""Orders from another terminal: how a live run is found, and how its supervisor hears.

A live run has a file `control.json`, which only its owner can read: where the supervisor listens, and the keys to speak
to it. It goes with the run; one whose process is gone was left by a supervisor that was killed, and means nothing.
"""

import getpass
import json
import os
import socket
import time
from pathlib import Path
from typing import Any, Final

import psutil

from protocol.codec import Codec
from protocol.errors import RefusedFrame, UserError
from protocol.layout import CONTROL
from protocol.messages import OPERATOR, SUPERVISOR, Answer, Order
from protocol.transport import Gate, KeyPair, Line, make_keys

__all__ = ["Desk", "await_end", "is_live", "order", "supervisor_of"]

LARGEST: Final = 1 << 24  # bytes of an order or an answer
PATIENCE: Final = 30.0  # seconds for a supervisor to answer; it may have to end and start processes


class Desk:
    """Where a supervisor takes orders."""

    def __init__(self, run: Path) -> None:
        server, operator = make_keys(), make_keys()
        self._path = run / CONTROL
        self._codec = Codec(LARGEST)
        self._gate = Gate("127.0.0.1", 0, server, {operator.public: OPERATOR}, LARGEST)
        self._said = 0
        me = psutil.Process()
        facts = {
            "pid": me.pid,
            "created": me.create_time(),
            "endpoint": self._gate.endpoint,
            "server": server.public.decode(),
            "public": operator.public.decode(),
            "secret": operator.secret.decode(),
        }
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            json.dump(facts, file)

    def next(self) -> tuple[Order, int] | None:
        """An order that has come, with its id; none if there is none."""
        while heard := self._gate.receive(0):
            try:
                envelope = self._codec.decode(heard[1])
            except RefusedFrame:
                continue  # whoever holds the key and sends garbage gets no answer
            if isinstance(envelope.message, Order):
                return envelope.message, envelope.id
        return None

    def answer(self, question: int, *, fine: bool, lines: list[str]) -> None:
        """Say what became of an order."""
        self._said += 1
        self._gate.send(OPERATOR, self._codec.encode(Answer(int(fine), tuple(lines)), self._said, question))

    def close(self) -> None:
        """Take no more orders."""
        self._path.unlink(missing_ok=True)
        self._gate.close()


def supervisor_of(run: Path) -> dict[str, Any] | None:
    """What `control.json` says of a run whose supervisor lives; none if the run is not live."""
    try:
        facts: dict[str, Any] = json.loads((run / CONTROL).read_text())
        process = psutil.Process(facts["pid"])
        alive = abs(process.create_time() - facts["created"]) < 1 and process.status() != psutil.STATUS_ZOMBIE
    except (OSError, ValueError, KeyError, psutil.Error):
        return None
    return facts if alive else None


def is_live(run: Path) -> bool:
    """Whether somebody runs this run right now."""
    return supervisor_of(run) is not None


def await_end(run: Path) -> None:
    """Return when a run that was told to stop is not live any more, so that it can be resumed."""
    until = time.monotonic() + PATIENCE
    while is_live(run):
        if time.monotonic() > until:
            raise UserError(f"{run} was told to stop, and is still live after {PATIENCE:g} s")
        time.sleep(0.02)


def order(run: Path, verb: str, whom: tuple[str, ...] = (), **settings: Any) -> list[str]:
    """Give a live run an order; what it says was done. Raises UserError if it was not."""
    facts = supervisor_of(run)
    if facts is None:
        raise UserError(f"{run} is not live; foltr resume lets a run that did not complete go on")
    keys = KeyPair(facts["public"].encode(), facts["secret"].encode())
    codec = Codec(LARGEST)
    with Line(facts["endpoint"], keys, facts["server"].encode(), LARGEST) as line:
        by = f"{getpass.getuser()}@{socket.gethostname()}"
        line.send(SUPERVISOR, codec.encode(Order(verb, whom, json.dumps(settings), by), 1))
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            frame = line.receive()
            if frame is not None:
                answer = codec.decode(frame).message
                assert isinstance(answer, Answer)
                if not answer.fine:
                    raise UserError(" ".join(answer.lines))
                return list(answer.lines)
            if supervisor_of(run) is None:
                raise UserError(f"{run} ended before it could {verb}")
    raise UserError(f"{run} did not answer within {PATIENCE:g} s")
