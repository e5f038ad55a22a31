"""What the keys of `[aggregation]` must be together: a rule with its settings, and clients enough for it."""

from collections.abc import Iterator, Mapping
from typing import Any

from scenarios.problems import Problem
from scenarios.words import shown

__all__ = ["problems_of_aggregation"]


def problems_of_aggregation(settings: Mapping[str, Any], clients: int, weights: object) -> Iterator[Problem]:
    """What is wrong with the table, for so many clients and what the log keeps of their weights."""
    given = settings.get("rule", "fedavg")
    stages = [given] if isinstance(given, str) else given if isinstance(given, list | tuple) else []
    if stages in ([], ["fedavg"]) and not {"radius", "judged"} & settings.keys():
        return
    # Imported here: the rules load numba, and FedAvg needs no checking.
    from learning.aggregation import PRE_AGGREGATORS, RULES, make_rule, options_of, remembers
    from learning.errors import LearningError

    known = RULES if isinstance(given, str) else [*RULES, *PRE_AGGREGATORS, "adam"]
    if not all(isinstance(one, str) and one in known for one in stages):
        return  # the schema tells; "adam" by itself is for `es_rules`
    *first, last = stages
    if last not in RULES or not all(one in PRE_AGGREGATORS for one in first):
        yield Problem(
            "aggregation.rule",
            f"must be any of {', '.join(PRE_AGGREGATORS)} and then one rule; got {shown(given)}",
        )
        return
    options = {option for stage in stages for option in options_of(stage)}
    options |= {"judged"} if last == "fltrust" else set()
    owners = {"radius": "norm_clipping and centred_clipping", "judged": "fltrust"}
    for name in owners.keys() & settings.keys() - options:
        yield Problem(f"aggregation.{name}", f"belongs to {owners[name]}; got it with rule = {shown(given)}")
    if weights not in ("auto", "all") and remembers(stages):
        yield Problem(
            "log.weights",
            f'must be "all" or "auto" with rule = {shown(given)}, which remembers what clients sent; '
            f"got {shown(weights)}",
        )
    tolerate = settings.get("tolerate")
    if "tolerate" not in options or (tolerate is not None and (type(tolerate) is not int or tolerate < 0)):
        return
    if tolerate is None:
        yield Problem(
            "aggregation.tolerate", f"is needed with rule = {shown(given)}: how many malicious clients to tolerate"
        )
        return
    try:
        make_rule(stages, tolerate=tolerate).check(clients)
    except LearningError as error:
        yield Problem("aggregation.tolerate", str(error))
