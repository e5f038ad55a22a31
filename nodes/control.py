"""Orders from another terminal: how a live run is found, and how its supervisor hears.

A live run's `control.json` says where its supervisor listens, and has the keys to speak to it, for its owner alone.
"""

import getpass
import json
import socket
import time
from pathlib import Path
from typing import Any, Final

from protocol.codec import Codec
from protocol.errors import RefusedFrame, UserError
from protocol.messages import OPERATOR, SUPERVISOR, Answer, Order
from protocol.presence import announce, is_live, supervisor_of, withdraw
from protocol.transport import Gate, KeyPair, Line, make_keys

__all__ = ["Desk", "await_end", "order"]

LARGEST: Final = 1 << 24  # bytes of an order or an answer
LAST_LOOKS: Final = 10  # for the answer of a supervisor that has ended; each takes a tenth of a second
PATIENCE: Final = 30.0  # seconds for a supervisor to answer; it may have to end and start processes


class Desk:
    """Where a supervisor takes orders."""

    def __init__(self, run: Path) -> None:
        server, operator = make_keys(), make_keys()
        self._run = run
        self._codec = Codec(LARGEST)
        self._gate = Gate("127.0.0.1", 0, server, {operator.public: OPERATOR}, LARGEST)
        self._said = 0
        announce(
            run,
            endpoint=self._gate.endpoint,
            server=server.public.decode(),
            public=operator.public.decode(),
            secret=operator.secret.decode(),
        )

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
        withdraw(self._run)
        self._gate.close()


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
    if "endpoint" not in facts:
        raise UserError(f"{run} is live in one process, the inline engine's, which takes no orders; Ctrl-C stops it")
    keys = KeyPair(facts["public"].encode(), facts["secret"].encode())
    codec = Codec(LARGEST)
    with Line(facts["endpoint"], keys, facts["server"].encode(), LARGEST) as line:
        by = f"{getpass.getuser()}@{socket.gethostname()}"
        line.send(SUPERVISOR, codec.encode(Order(verb, whom, json.dumps(settings), by), 1))
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            frame = line.receive()
            over = frame is None and supervisor_of(run) is None
            for _ in range(LAST_LOOKS if over else 0):  # its last word may still be on its way
                frame = frame or line.receive()
            if frame is not None:
                answer = codec.decode(frame).message
                assert isinstance(answer, Answer)
                if not answer.fine:
                    raise UserError(" ".join(answer.lines))
                return list(answer.lines)
            if over:
                raise UserError(f"{run} ended before it could {verb}")
    raise UserError(f"{run} did not answer within {PATIENCE:g} s")
