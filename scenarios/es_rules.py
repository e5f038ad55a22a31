"""What the keys of a scenario must be together where the learner is es, and where it is not.

Evolution strategies send a seed and two numbers. What works on weights has nothing to work on there, and is refused
with one sentence that says so.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, get_args

from scenarios.problems import Problem
from scenarios.values import RuleName
from scenarios.words import listed, shown

__all__ = ["es_problems"]

OF_ES: Final = ("sigma", "metric", "p")
OF_MODELS: Final = ("tolerate", "radius", "judged")
NO_WEIGHTS: Final = "es sends no weights, only a seed and two numbers"


def es_problems(raw: Mapping[str, Any]) -> Iterator[Problem]:
    """What is wrong with the tables as they were written; nothing about values that are wrong by themselves."""
    learner, ranker = _table(raw, "learner"), _table(raw, "ranker")
    kind = learner.get("kind", "pdgd")
    if "activation" in ranker and ranker.get("kind", "linear") == "linear":
        got = shown(ranker["activation"])
        yield Problem("ranker.activation", f'is for kind = "neural" only; got {got} with kind = "linear"')
    if kind == "es":
        yield from _with_es(raw, learner)
    elif kind == "pdgd":
        yield from _without_es(raw, learner, ranker)


def _without_es(raw: Mapping[str, Any], learner: Mapping[str, Any], ranker: Mapping[str, Any]) -> Iterator[Problem]:
    for name in OF_ES:
        if name in learner:
            yield Problem(f"learner.{name}", f'is for kind = "es" only; got {shown(learner[name])} with kind = "pdgd"')
    if ranker.get("activation") == "relu" and ranker.get("kind") == "neural":
        yield Problem("ranker.activation", 'must be "sigmoid" with learner.kind = "pdgd"; got "relu"')
    if _table(raw, "aggregation").get("rule") == "adam":
        yield Problem("aggregation.rule", '"adam" is the step of learner.kind = "es"; got it with "pdgd"')


def _with_es(raw: Mapping[str, Any], learner: Mapping[str, Any]) -> Iterator[Problem]:
    if "update" in learner:
        yield Problem("learner.update", f'is for kind = "pdgd" only; got {shown(learner["update"])} with kind = "es"')
    yield from _privatisation(raw, learner)
    yield from _odd("learner.interactions", learner)
    yield from _aggregation(_table(raw, "aggregation"))
    for name in ("clients", "timeline"):
        entries = raw.get(name)
        for index, entry in enumerate(entries if isinstance(entries, list | tuple) else ()):
            if isinstance(entry, dict):
                yield from _odd(f"{name}[{index}].interactions", entry)
                yield from _attack(f"{name}[{index}].attack", entry.get("attack"))
                yield from _forget(f"{name}[{index}].forget", entry.get("forget"))


def _aggregation(settings: Mapping[str, Any]) -> Iterator[Problem]:
    rule = settings.get("rule", "adam")
    if rule != "adam" and (rule in get_args(RuleName) or isinstance(rule, list | tuple)):
        yield Problem("aggregation.rule", f'{NO_WEIGHTS}: no rule of models applies, only "adam"; got {shown(rule)}')
        return
    for name in settings.keys() & set(OF_MODELS):
        yield Problem(f"aggregation.{name}", f"is for rules of models, and {NO_WEIGHTS}; got {shown(settings[name])}")


def _privatisation(raw: Mapping[str, Any], learner: Mapping[str, Any]) -> Iterator[Problem]:
    p, at = learner.get("p"), _table(raw, "evaluation").get("at", 10)
    if not isinstance(p, int | float) or isinstance(p, bool) or type(at) is not int or not 0 < p < 1:
        return
    if learner.get("metric") == "dcg":
        yield Problem("learner.p", f'below 1 needs metric = "maxrr", which takes {at + 1} values; got {p} with "dcg"')
    elif p * (at + 1) <= 1:
        yield Problem("learner.p", f"must be above 1/{at + 1}, where what is told says nothing of the truth; got {p}")


def _odd(key: str, table: Mapping[str, Any]) -> Iterator[Problem]:
    count = table.get("interactions")
    if type(count) is int and count % 2:
        yield Problem(key, f"must be even with es, half for each way that the model is pushed; got {count}")


def _attack(key: str, attack: object) -> Iterator[Problem]:
    if not isinstance(attack, dict):
        return
    from learning.attacks import ClickAttack, make_attack  # not at import: it loads numba
    from learning.errors import LearningError

    try:
        made = make_attack(attack).attack
    except LearningError:
        return  # told already
    if not isinstance(made, ClickAttack):
        yield Problem(key, f"{NO_WEIGHTS}: an attack on weights has nothing to change; poisoned clicks work")


def _forget(key: str, forget: object) -> Iterator[Problem]:
    if not isinstance(forget, dict):
        return
    from learning.unlearning import METHODS  # not at import, as above
    from scenarios.unlearning import WITHOUT_UPDATES

    method = forget.get("method")
    if method in METHODS and method not in WITHOUT_UPDATES:
        yield Problem(key, f"{NO_WEIGHTS}: only {listed(WITHOUT_UPDATES)} can forget them; got {shown(method)}")


def _table(raw: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = raw.get(name)
    return found if isinstance(found, dict) else {}
