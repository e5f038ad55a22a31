"""What a scenario may say about privacy: its keys, and what they must be together."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator
from pydantic.json_schema import SkipJsonSchema

from scenarios.problems import Problem
from scenarios.values import PrivacyMechanism, Section
from scenarios.words import Words, shown

__all__ = ["Privacy", "problems_of_privacy"]

DEFAULTS = {"clip": "half", "delta": 1e-5}
DEFAULTS_OF_SHARES = {"shares": "expected", "on_deficit": "proceed"}
SUMS = ("laplace-shares", "central-gaussian")  # mechanisms that are for a sum

PositiveNumber = Annotated[float, Field(gt=0)]


class Privacy(Section):
    """What hides single clients in the models, and how much it may cost."""

    mechanism: PrivacyMechanism = "none"
    """Nothing, shares of Laplace noise at the clients, Gaussian noise at the coordinator, or at every client."""
    epsilon: Annotated[PositiveNumber | SkipJsonSchema[None], Words(default="none; a mechanism needs it")] = None
    """The ε of a round, as the papers tell it: the noise is calibrated to it."""
    sensitivity: Annotated[PositiveNumber | SkipJsonSchema[None], Words(default="none; a mechanism needs it")] = None
    """Δ: how far one client can move the sum of the models; local models are clipped to it."""
    clip: Annotated[Literal["half", "full"] | SkipJsonSchema[None], Words(default='"half" if there is a mechanism')] = (
        None
    )
    """Clip a local model's norm to Δ/2 after every interaction, as the paper says, or to Δ, as its code does."""
    shares: Annotated[
        Literal["expected", "quorum"] | SkipJsonSchema[None], Words(default='"expected" for laplace-shares')
    ] = None
    """How many noise shares make the whole noise: those of all who take part, or those of a quorum."""
    on_deficit: Annotated[
        Literal["proceed", "top-up", "abort"] | SkipJsonSchema[None], Words(default='"proceed" for laplace-shares')
    ] = None
    """If fewer come: go on and flag the round, ask those who answered for more noise, or discard the round."""
    delta: Annotated[
        Annotated[float, Field(gt=0, lt=1)] | SkipJsonSchema[None],
        Words("a number > 0 and < 1", "1e-05 if there is a mechanism"),
    ] = None
    """The probability of failure: of a round's Gaussian noise, and the further one of advanced composition."""
    budget: Annotated[PositiveNumber | SkipJsonSchema[None], Words(default="none")] = None
    """End the run before its rounds' ε add up to more: the real ε of a coordinate, for who sees the models."""

    @model_validator(mode="before")
    @classmethod
    def _resolve(cls, raw: Any) -> Any:
        """Write the mechanism's defaults out, so that a resolved scenario tells them."""
        if not isinstance(raw, dict) or raw.get("mechanism", "none") == "none":
            return raw
        more = DEFAULTS_OF_SHARES if raw["mechanism"] == "laplace-shares" else {}
        return {**DEFAULTS, **more, **raw}


def problems_of_privacy(privacy: Mapping[str, Any], learner: object, rule: object) -> Iterator[Problem]:
    """Check the table as it was written, with the learner and the aggregation rule beside it."""
    mechanism = privacy.get("mechanism", "none")
    others = [name for name in privacy if name != "mechanism" and name in Privacy.model_fields]
    if mechanism == "none":
        for name in others:
            yield Problem(f"privacy.{name}", f'needs a mechanism, got {shown(privacy[name])} with mechanism = "none"')
        return
    for name in ("epsilon", "sensitivity"):
        if name not in privacy:
            yield Problem(f"privacy.{name}", f"is needed by mechanism = {shown(mechanism)}; got none")
    for name in DEFAULTS_OF_SHARES:
        if name in privacy and mechanism != "laplace-shares":
            yield Problem(
                f"privacy.{name}", f'is for mechanism = "laplace-shares" only; got it with {shown(mechanism)}'
            )
    if mechanism in SUMS and rule != "fedavg":
        yield Problem(
            "privacy.mechanism",
            f'{shown(mechanism)} hides clients in a sum, so aggregation.rule must be "fedavg"; got {shown(rule)}',
        )
    if learner != "pdgd":
        yield Problem(
            "privacy.mechanism",
            f'is for learner.kind = "pdgd", which sends models; got {shown(mechanism)} with {shown(learner)}',
        )
