"""Every error: whose it is, and what it says.

Three kinds of things go wrong. A *user* asks for what cannot be (one sentence, exit code 2). A *peer* sends what it may
not (the frame is refused, the refusal is logged under a code of `REFUSALS`, and the run goes on). *We* break our own
rules (a `TransitionError`, with the story that led there). A message states the constraint, the value, the choices.
"""

from enum import StrEnum

__all__ = ["REFUSALS", "FoltrError", "Refusal", "RefusedFrame", "TransitionError", "UserError"]


class FoltrError(Exception):
    """The root of what this project raises on purpose outside the mathematics."""


class UserError(FoltrError):
    """The user's mistake or the machine's limits: the message is the whole answer, no traceback; exit code 2."""


class Refusal(StrEnum):
    """Why something that a peer sent was not accepted; the code that the log carries as `reason`."""

    MALFORMED = "malformed"
    OVERSIZED = "oversized"
    OTHER_VERSION = "other-version"
    UNKNOWN_TYPE = "unknown-type"
    UNEXPECTED = "unexpected"
    NOT_YOURS = "not-yours"
    STALE_ROUND = "stale-round"
    FUTURE_ROUND = "future-round"
    DUPLICATE = "duplicate"
    NOT_ASKED = "not-asked"
    WRONG_DIMENSION = "wrong-dimension"
    WRONG_COUNT = "wrong-count"
    WRONG_SHARES = "wrong-shares"
    NOT_FINITE = "not-finite"
    OUT_OF_RANGE = "out-of-range"


REFUSALS: dict[Refusal, str] = {
    Refusal.MALFORMED: "the bytes are not one whole message of this protocol",
    Refusal.OVERSIZED: "the frame is longer than the run's limit",
    Refusal.OTHER_VERSION: "the frame speaks another version of the protocol",
    Refusal.UNKNOWN_TYPE: "no message has this name",
    Refusal.UNEXPECTED: "this peer may not send this message, or not now",
    Refusal.NOT_YOURS: "a host speaks only for its own clients",
    Refusal.STALE_ROUND: "the answer is for a round that is closed",
    Refusal.FUTURE_ROUND: "the answer is for a round that is not open yet",
    Refusal.DUPLICATE: "the client has answered this round already",
    Refusal.NOT_ASKED: "the client was not asked in this round",
    Refusal.WRONG_DIMENSION: "the arrays do not have the shape that the model and the clients give",
    Refusal.WRONG_COUNT: "the client claims another number of interactions than it was asked for",
    Refusal.WRONG_SHARES: "the noise is for another number of shares than was asked for",
    Refusal.NOT_FINITE: "a number is infinite or not a number",
    Refusal.OUT_OF_RANGE: "a seed or a figure is not one that a client can have",
}
"""One sentence a code; `docs/protocol.md` shows this table."""


class RefusedFrame(FoltrError):  # noqa: N818 - named for what happened to the frame, as the log names it
    """A frame that a peer sent and that was not accepted; never stops a node."""

    def __init__(self, reason: Refusal, detail: str) -> None:
        super().__init__(f"{REFUSALS[reason]}: {detail}")
        self.reason = reason
        self.detail = detail


class TransitionError(FoltrError):
    """Our own mistake: a stimulus that the machine has no transition for. Names role, state, stimulus and the story."""

    def __init__(self, role: str, state: str, stimulus: str, story: list[str]) -> None:
        told = " -> ".join(story) or "nothing happened before"
        super().__init__(f"the {role} has no transition for {stimulus} in state {state}; story: {told}")
