"""What the keys of a scenario must be together.

A rule reads the raw tables, because it is asked also when other keys are wrong; it says nothing about values that are
wrong by themselves, which the schema has told already.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scenarios.aggregation_rules import problems_of_aggregation
from scenarios.collusion_rules import attack_problems, collusion_problems, is_colluding
from scenarios.es_rules import es_problems
from scenarios.privacy import problems_of_privacy
from scenarios.problems import Problem, did_you_mean
from scenarios.timeline import ACTIONS, BELONGS
from scenarios.words import listed, shown

__all__ = ["LARGEST_FEDERATION", "RESERVED_IDS", "problems_together"]

WHOLE_ROLES = ("clients", "coordinator", "adversary", "evaluator")  # what a happening can name beside single clients
LARGEST_FEDERATION = 1_000_000  # clients; ten times the largest cross-device run that is promised
RESERVED_IDS = (
    "clients",
    "coordinator",
    "evaluator",
    "supervisor",
    "adversary",
)  # node names: a node's journal is named after it


def problems_together(raw: Mapping[str, Any]) -> Iterator[Problem]:
    """Check every rule over the tables as they were written."""
    groups = [(index, group) for index, group in enumerate(_list(raw, "clients")) if isinstance(group, dict)]
    yield from _name(raw)
    if raw.get("clients") in ([], ()):
        yield Problem("clients", "must have at least one group; got an empty array")
    yield from _ranker(_table(raw, "ranker"))
    yield from _clients(groups)
    yield from _hosts(_table(raw, "federation"), groups)
    yield from problems_of_privacy(
        _table(raw, "privacy"),
        _table(raw, "learner").get("kind", "pdgd"),
        _table(raw, "aggregation").get("rule", "fedavg"),
    )
    clients = sum(_counted(group) or 1 for _, group in groups)
    if _table(raw, "learner").get("kind") != "es":  # whose one rule `es_rules` holds
        weights = _table(raw, "log").get("weights", "auto")
        yield from problems_of_aggregation(_table(raw, "aggregation"), clients, weights)
    yield from _expect(_table(raw, "expect"))
    yield from es_problems(raw)
    yield from _timeline(raw, groups)
    yield from _collusion(raw, groups)


def _name(raw: Mapping[str, Any]) -> Iterator[Problem]:
    if raw.get("name") == "latest":
        yield Problem("name", 'must not be "latest", which names the newest run')


def _ranker(ranker: Mapping[str, Any]) -> Iterator[Problem]:
    kind = ranker.get("kind", "linear")
    if "hidden" in ranker and kind == "linear":
        yield Problem(
            "ranker.hidden", f'is for kind = "neural" only; got {shown(ranker["hidden"])} with kind = "linear"'
        )


def _clients(groups: Sequence[tuple[int, Mapping[str, Any]]]) -> Iterator[Problem]:
    total = sum(_counted(group) for _, group in groups)
    owners: dict[str, str] = {}
    for index, group in groups:
        key = f"clients[{index}]"
        if "count" in group and "id" in group:
            yield Problem(key, "must have count or id, not both")
        if "count" not in group and "id" not in group:
            yield Problem(key, "must have count (how many clients) or id (the name of one); got neither")
        if isinstance(name := group.get("id"), str):
            yield from _id(f"{key}.id", name, total, owners)
            owners.setdefault(name, key)
        if isinstance(clicks := group.get("clicks"), dict):
            yield from _click_table(f"{key}.clicks", clicks)
        if isinstance(attack := group.get("attack"), dict):
            yield from attack_problems(f"{key}.attack", attack)
    if total + len(owners) > LARGEST_FEDERATION:
        yield Problem("clients", f"must be at most {LARGEST_FEDERATION} in all; got {total + len(owners)}")


def _id(key: str, name: str, total: int, owners: Mapping[str, str]) -> Iterator[Problem]:
    prefix, _, number = name.rpartition("-")
    numbered = number.isascii() and number.isdigit() and not number.startswith("0")
    if name in owners:
        yield Problem(key, f'must be unique; "{name}" is also the id of {owners[name]}')
    elif name in RESERVED_IDS or (prefix == "host" and numbered):
        yield Problem(key, f"must not be the name of a node ({', '.join(RESERVED_IDS)}, host-N); got {shown(name)}")
    elif prefix == "client" and numbered and len(number) <= 10 and int(number) <= total:
        yield Problem(key, f'must be unique; "{name}" is one of the {total} clients that count gives')


def _click_table(key: str, table: Mapping[str, Any]) -> Iterator[Problem]:
    # Imported here: the click models load numba, and most scenarios name their model.
    from learning.clicks import click_model
    from learning.errors import LearningError

    click = table.get("click")
    levels = len(click) if isinstance(click, list) and len(click) in (2, 3, 5) else 3
    try:
        click_model(table, levels)
    except LearningError as error:
        yield Problem(key, str(error))


def _forget(key: str, table: Mapping[str, Any], weights: object) -> Iterator[Problem]:
    from learning.errors import LearningError  # not at import, as above
    from scenarios.unlearning import ROUTES, needs_weights, unlearning_method

    try:
        unlearning_method(table)
    except LearningError as error:
        yield Problem(key, str(error))
        return
    if table.get("then", ROUTES[0]) not in ROUTES:
        yield Problem(f"{key}.then", f"must be {listed(ROUTES)}; got {shown(table['then'])}")
    if needs_weights(table) and weights not in ("auto", "all"):
        yield Problem(key, f'{table["method"]} needs [log] weights = "all"; got {shown(weights)}')


def _hosts(federation: Mapping[str, Any], groups: Sequence[tuple[int, Mapping[str, Any]]]) -> Iterator[Problem]:
    hosts = federation.get("hosts")
    clients = sum(_counted(group) or 1 for _, group in groups)
    if type(hosts) is int and groups and hosts > clients:
        yield Problem("federation.hosts", f"must be at most the number of clients, {clients}; got {hosts}")


def _expect(expect: Mapping[str, Any]) -> Iterator[Problem]:
    for name in expect:
        if not (name.isidentifier() and name.isascii() and name == name.lower()):
            yield Problem(
                f"expect.{name}", "must be a metric's name in small letters, digits and _, such as ndcg_at_10"
            )


def _timeline(raw: Mapping[str, Any], groups: Sequence[tuple[int, Mapping[str, Any]]]) -> Iterator[Problem]:
    entries = [(index, entry) for index, entry in enumerate(_list(raw, "timeline")) if isinstance(entry, dict)]
    known = _known(entries, groups)
    growing = any("add" in entry and "id" not in entry for _, entry in entries)
    for index, entry in entries:
        key = f"timeline[{index}]"
        actions = [name for name in ACTIONS if name in entry]
        if len(actions) != 1:
            got = " and ".join(actions) or "none"
            yield Problem(key, f"must have exactly one of {', '.join(ACTIONS)}; got {got}")
            continue
        for name, owners in BELONGS.items():
            written = "for" if name == "lasts" else name
            if written in entry and actions[0] not in owners:
                yield Problem(f"{key}.{written}", f"belongs to {listed(owners)}; got it with {actions[0]}")
        yield from _at_round(key, entry, raw.get("rounds"), [one for _, one in entries])
        yield from _deadlock(key, actions[0], entry, _table(raw, "federation"))
        if clicks := _table(entry, "clicks"):
            yield from _click_table(f"{key}.clicks", clicks)
        if isinstance(entry.get("attack"), dict):
            yield from attack_problems(f"{key}.attack", entry["attack"])
        if isinstance(forget := entry.get("forget"), dict):
            yield from _forget(f"{key}.forget", forget, _table(raw, "log").get("weights", "auto"))
        if entry.get("add", 1) != 1 and "id" in entry:
            yield Problem(f"{key}.id", "names a single client; got it with more than one to add")
        if actions[0] != "add":
            yield from _selector(f"{key}.{actions[0]}", entry[actions[0]], known, growing=growing)


def _at_round(
    key: str, entry: Mapping[str, Any], rounds: object, entries: Sequence[Mapping[str, Any]]
) -> Iterator[Problem]:
    number = entry.get("at_round")
    if type(rounds) is not int or type(number) is not int:
        return
    # Rounds count on through unlearning, which has a start and at most as many steps as there were rounds before it.
    begins = [one["at_round"] for one in entries if "forget" in one and type(one.get("at_round")) is int]
    latest = rounds + sum(one for one in begins if one < number)
    # Whoever is forgotten may leave after the last round: the run then ends with the unlearned model.
    if number > latest + ("forget" in entry):
        after = " + 1" if "forget" in entry else ""
        yield Problem(f"{key}.at_round", f"must be at most rounds{after}, {latest + bool(after)}; got {number}")


def _known(
    entries: Sequence[tuple[int, Mapping[str, Any]]], groups: Sequence[tuple[int, Mapping[str, Any]]]
) -> set[str]:
    """Whom a happening can name."""
    total = sum(_counted(group) for _, group in groups)
    known = {one["id"] for _, one in (*groups, *entries) if isinstance(one.get("id"), str)}
    known |= {f"client-{place}" for place in range(1, total + 1)} | set(WHOLE_ROLES)
    plotting = any(is_colluding(group.get("attack")) for _, group in groups)
    return known if plotting else known - {"adversary"}


def _collusion(raw: Mapping[str, Any], groups: Sequence[tuple[int, Mapping[str, Any]]]) -> Iterator[Problem]:
    entries = [(f"timeline[{index}]", entry) for index, entry in enumerate(_list(raw, "timeline"))]
    added = [(key, entry) for key, entry in entries if isinstance(entry, dict) and "add" in entry]
    named = [(f"clients[{index}]", group) for index, group in groups]
    yield from collusion_problems(named, added, _table(raw, "federation"))


def _deadlock(key: str, action: str, entry: Mapping[str, Any], federation: Mapping[str, Any]) -> Iterator[Problem]:
    """A round that waits for everyone never closes without those who come back only some rounds later."""
    if federation.get("on_missing") != "wait" or federation.get("restart") == "always":
        return
    written = "restart_after" if action == "kill" else "for"
    if action in ("kill", "pause", "partition") and not isinstance(entry.get(written), str):
        yield Problem(
            f"{key}.{written}",
            f'must be a duration such as "2s" with on_missing = "wait", or the round would wait for ever; '
            f"got {shown(entry.get(written))}",
        )


def _selector(key: str, chosen: object, known: set[str], *, growing: bool) -> Iterator[Problem]:
    for one in [chosen] if isinstance(chosen, str) else chosen if isinstance(chosen, list) else []:
        if not isinstance(one, str) or one in known or (growing and one.startswith("client-")):
            continue
        if one.endswith("%"):
            share = one[:-1]
            if not (share.replace(".", "", 1).isdigit() and 0 < float(share) <= 100):
                yield Problem(key, f'a fraction must be above 0% and at most 100%; got "{one}"')
        else:
            hint = did_you_mean(one, known)
            yield Problem(key, f'must be a client\'s id, {listed(WHOLE_ROLES)}, or a fraction; got "{one}"{hint}')


def _table(raw: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = raw.get(name)
    return found if isinstance(found, dict) else {}


def _list(raw: Mapping[str, Any], name: str) -> list[Any]:
    found = raw.get(name)
    return list(found) if isinstance(found, list | tuple) else []


def _counted(group: Mapping[str, Any]) -> int:
    count = group.get("count")
    return count if type(count) is int and count >= 1 and "id" not in group else 0
