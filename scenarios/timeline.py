"""What a timeline may say: things that happen to nodes while a run goes on."""

from typing import Annotated, Literal

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from scenarios.values import Attack, Clicks, Duration, Forget, Identifier, Positive, Section, Selector
from scenarios.words import Words

__all__ = ["ACTIONS", "BELONGS", "NETWORK", "Happening"]

NETWORK = ("delay", "drop", "duplicate", "reorder", "corrupt", "partition", "throttle")
"""What can happen to frames."""
ACTIONS = ("kill", "pause", "restart", "leave", "add", *NETWORK)
"""What can happen; a happening is exactly one of them."""

BELONGS: dict[str, tuple[str, ...]] = {
    "restart_after": ("kill",),
    "lasts": ("pause", *NETWORK),
    "id": ("add",),
    "clicks": ("add",),
    "interactions": ("add",),
    "attack": ("add",),
    "by": ("delay",),
    "distribution": ("delay",),
    "probability": ("drop", "duplicate", "reorder", "corrupt"),
    "rate": ("throttle",),
    "forget": ("leave",),
}
"""The actions that a happening's other keys belong to."""


class Happening(Section):
    """Something that happens to nodes while a run goes on: exactly one of the actions, with what belongs to it."""

    at_round: Positive
    """The round before which it happens."""
    every: Annotated[Positive | SkipJsonSchema[None], Words(default="once")] = None
    """Let it happen again every so many rounds."""
    lasts: Annotated[Positive | Duration | SkipJsonSchema[None], Field(alias="for"), Words(default="to the end")] = None
    """How long a pause or a fault of the network lasts, in rounds or as a duration; the end of the run heals it too."""
    kill: Selector = None
    """End these processes with SIGKILL."""
    restart_after: Annotated[Positive | Duration | SkipJsonSchema[None], Words(default="never")] = None
    """When what was killed is started again, in rounds or as a duration."""
    pause: Selector = None
    """Stop these processes with SIGSTOP, and let them go on afterwards."""
    restart: Selector = None
    """Start these processes again, ending them first if they live."""
    leave: Selector = None
    """Let these clients leave the federation: they are not asked from this round on."""
    forget: Annotated[Forget | SkipJsonSchema[None], Words(default="not: what they taught stays")] = None
    """With leave: how what they taught is unlearned, in rounds that come before this one; see docs/unlearning.md."""
    add: Annotated[Positive | SkipJsonSchema[None], Words(default="nobody")] = None
    """Add so many clients, each with a process of its own."""
    id: Annotated[Identifier | SkipJsonSchema[None], Words(default="the next client-N")] = None
    """With add = 1: the new client's name."""
    clicks: Annotated[Clicks | SkipJsonSchema[None], Words(default="the first group's")] = None
    """With add: how the new clients' users click."""
    interactions: Annotated[Positive | SkipJsonSchema[None], Words(default="learner.interactions")] = None
    """With add: the new clients' queries in one round."""
    attack: Annotated[Attack | SkipJsonSchema[None], Words(default="none: they are honest")] = None
    """With add: what the new clients send instead of what they learned."""
    delay: Selector = None
    """Let frames to and from these nodes arrive later."""
    by: Annotated[Duration | SkipJsonSchema[None], Words(default='"10ms"')] = None
    """With delay: how much later, or the mean of the distribution."""
    distribution: Annotated[
        Literal["fixed", "uniform", "exponential"] | SkipJsonSchema[None], Words(default='"fixed"')
    ] = None
    """With delay: the same for every frame, uniform from 0 to twice the mean, or exponential."""
    drop: Selector = None
    """Lose frames to and from these nodes."""
    duplicate: Selector = None
    """Deliver frames to and from these nodes twice."""
    reorder: Selector = None
    """Let frames to and from these nodes overtake each other."""
    corrupt: Selector = None
    """Change a byte of frames to and from these nodes."""
    partition: Selector = None
    """Lose every frame to and from these nodes."""
    throttle: Selector = None
    """Let frames to and from these nodes pass no faster than `rate`."""
    probability: Annotated[float, Field(gt=0, le=1)] | SkipJsonSchema[None] = None
    """With drop, duplicate, reorder or corrupt: the probability that a frame is hit."""
    rate: Annotated[Positive | SkipJsonSchema[None], Words(default="10000")] = None
    """With throttle: bytes a second."""

    @property
    def action(self) -> str:
        """Which of the actions it is."""
        return next(name for name in ACTIONS if getattr(self, name) is not None)

    @property
    def whom(self) -> tuple[str, ...]:
        """Whom it happens to: ids, roles or a fraction; nobody for add."""
        chosen = getattr(self, self.action)
        return () if self.action == "add" else (chosen,) if isinstance(chosen, str) else tuple(chosen)

    def rounds(self, last: int) -> range:
        """The rounds before which it happens in a run of so many rounds."""
        return range(self.at_round, last + 1, self.every) if self.every else range(self.at_round, self.at_round + 1)
