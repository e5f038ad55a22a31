"""What was typed during a run, as a timeline: the scenario that does it again, at the same rounds."""

import json
from collections.abc import Sequence
from typing import Any, Final

from analysis.audit import attackers, with_rule
from analysis.runs import Run
from protocol.errors import UserError
from protocol.messages import ADVERSARY

__all__ = ["scenario_from_run", "variation"]

TIMELINE: Final = "the timeline"


def scenario_from_run(run: Run) -> dict[str, Any]:
    """The run's scenario with every order of a person as an entry of its timeline, in the order of rounds.

    A kill happens before the first round that lacked the client, a restart before the first that had it again: so the
    same clients take part in the same rounds, and every model is the same.
    """
    told = run.rows("select scenario from run")
    if not told:
        raise UserError(f"{run.path} has no record of its scenario")
    tables: dict[str, Any] = json.loads(told[0]["scenario"])
    waits = tables["federation"]["on_missing"] == "wait"
    entries = [*_comings_and_goings(run), *_kills(run, waits=waits), *_pauses(run, waits=waits)]
    entries.sort(key=lambda entry: int(entry["at_round"]))
    tables["federation"]["hosts"] = _layout(run)  # whoever shares a process dies with it
    return tables | {"timeline": [*tables.get("timeline", []), *entries]}


def variation(
    run: Run,
    without: Sequence[str] = (),
    rule: str | None = None,
    rounds: int | None = None,
    tolerate: int | None = None,
) -> dict[str, Any]:
    """The scenario of what would have been: the same seeds and happenings without some clients, or otherwise different.

    Clients act again, and so react to what is different. Those left out never take part, whatever the log says of them.
    """
    tables = scenario_from_run(run)
    known = [row["id"] for row in run.rows("select id from clients order by number")]
    unknown = [client for client in without if client not in known]
    if unknown:
        raise UserError(f"a client to leave out must be one of {', '.join(known[:10])}…; got {', '.join(unknown)}")
    kept = [entry for entry in tables["timeline"] if not _is_about(entry, without)]
    left_out = [{"at_round": 1, "leave": client} for client in without if client in _from_the_start(tables, known)]
    tables["timeline"] = left_out + kept
    tables["rounds"] = rounds or tables["rounds"]
    tables["timeline"] = [entry for entry in tables["timeline"] if entry["at_round"] <= tables["rounds"]]
    return with_rule(tables, rule, tolerate, attackers(run).count) if rule else tables


def _is_about(entry: dict[str, Any], clients: Sequence[str]) -> bool:
    """Whether an entry of a timeline is about one of these clients alone."""
    return any(value in clients for value in entry.values() if isinstance(value, str))


def _from_the_start(tables: dict[str, Any], known: list[str]) -> list[str]:
    """The clients that were not added while the run went on."""
    added = {entry["id"] for entry in tables["timeline"] if "add" in entry and "id" in entry}
    return [client for client in known if client not in added]


def _layout(run: Run) -> str | int:
    """How the scenario's own clients were spread over hosts."""
    added = [client for one in _events(run, "coordinator", "client.added") for client in one["clients"]]
    rows = run.rows("select id, host from clients")
    hosts = [row["host"] for row in rows if row["id"] not in added]
    return "per-client" if len(set(hosts)) == len(hosts) else len(set(hosts))


def _orders(run: Run, node: str, event: str) -> list[dict[str, Any]]:
    """The records of what a person did."""
    return [record for record in _events(run, node, event) if record.get("by") != TIMELINE]


def _events(run: Run, node: str, event: str) -> list[dict[str, Any]]:
    query = "select record from events where node = $node and event = $event order by seq"
    return [json.loads(row["record"]) for row in run.rows(query, {"node": node, "event": event})]


def _comings_and_goings(run: Run) -> list[dict[str, Any]]:
    roster = {row["id"]: row for row in run.rows("select id, clicks, attack, interactions from clients")}
    entries: list[dict[str, Any]] = []
    for record in _orders(run, "coordinator", "client.added"):
        for client in record["clients"]:
            clicks = roster[client]["clicks"]
            model = json.loads(clicks) if clicks.startswith("{") else clicks
            first = _round_with(run, "participants", client, record["round"]) or record["round"]
            one = {"at_round": first, "add": 1, "id": client, "clicks": model}
            attack = {"attack": json.loads(roster[client]["attack"])} if roster[client]["attack"] else {}
            entries.append(one | attack | {"interactions": roster[client]["interactions"]})
    asked = _orders(run, "coordinator", "forget.asked")
    wishes = {client: record["settings"] for record in asked for client in record["clients"]}
    for record in _orders(run, "coordinator", "client.left"):
        for client in record["clients"]:
            how = {"forget": wishes[client]} if client in wishes else {}
            entries.append({"at_round": record["round"], "leave": client, **how})
    return entries


def _kills(run: Run, *, waits: bool) -> list[dict[str, Any]]:
    restarts = _orders(run, "supervisor", "client.restarted")
    entries = []
    for record in _orders(run, "supervisor", "client.killed"):
        for node in record["whom"]:
            if node == ADVERSARY:
                entries += _without_adversary(run, record["ts"], waits=waits)
                continue
            client = _client_on(run, node)
            lost = _first(run, "client.lost", node, record["ts"])
            began = _round_with(run, "missing", client, lost) or lost
            if began is None:
                continue  # the run was over before it mattered
            entry: dict[str, Any] = {"at_round": began, "kill": client}
            again = next((one for one in restarts if node in one["whom"] and one["ts"] > record["ts"]), None)
            if again is not None:
                back = _round_with(run, "participants", client, began + 1)
                rounds = max(1, (back or began + 1) - began)
                entry["restart_after"] = "1s" if waits else rounds
            entries.append(entry)
    return entries


def _without_adversary(run: Run, after: float, *, waits: bool) -> list[dict[str, Any]]:
    """The adversary's death as an entry: from the first round that it did not decide to the next one that it did."""
    began = _first_letter(run, "instruct.sent", "record ->> '$.reason' is not null", after)
    if began is None:
        return []  # nobody had to do without it
    ended = _first_letter(run, "craft.received", f"round > {began}", after)
    again = {} if ended is None else {"restart_after": "1s" if waits else ended - began}
    return [{"at_round": began, "kill": ADVERSARY} | again]


def _first_letter(run: Run, event: str, condition: str, after: float) -> int | None:
    """The first round with a letter of a plot after a moment."""
    query = f"""
        select min(round) as round from events
        where node = 'coordinator' and event = $event and (record ->> '$.ts')::double > $after and {condition}
    """  # noqa: S608 - the condition is one of our own
    rows = run.rows(query, {"event": event, "after": after})
    return None if rows[0]["round"] is None else int(rows[0]["round"])


def _pauses(run: Run, *, waits: bool) -> list[dict[str, Any]]:
    ends = _orders(run, "supervisor", "client.unpaused")
    entries = []
    for record in _orders(run, "supervisor", "client.paused"):
        for node in record["whom"]:
            client = _client_on(run, node)
            silent = _first(run, "client.silent", node, record["ts"])
            end = next((one for one in ends if node in one["whom"] and one["ts"] > record["ts"]), None)
            seconds = f"{max(0.001, end['ts'] - record['ts']):.3f}s" if end else None
            entry: dict[str, Any] = {"at_round": silent or record["round"], "pause": client}
            if end is not None:
                back = _round_with(run, "participants", client, silent + 1) if silent and not waits else None
                entry["for"] = max(1, back - silent) if back and silent else seconds
            entries.append(entry)
    return entries


def _client_on(run: Run, node: str) -> str:
    """Who stands for a node in a timeline: a client that lives there, or the node's own role."""
    rows = run.rows("select id from clients where host = $host order by number limit 1", {"host": node})
    return str(rows[0]["id"]) if rows else node


def _first(run: Run, event: str, node: str, after: float) -> int | None:
    """The round of the first such event of a node after a moment."""
    query = """
        select round from events
        where node = 'coordinator' and event = $event and record ->> '$.name' = $name
            and (record ->> '$.ts')::double > $after
        order by seq limit 1
    """
    rows = run.rows(query, {"event": event, "name": node, "after": after})
    return int(rows[0]["round"]) if rows else None


def _round_with(run: Run, column: str, client: str, since: int | None) -> int | None:
    """The first round from one on in which a client is missing, or takes part."""
    if since is None:
        return None
    query = f"select min(round) as round from rounds where round >= $since and list_contains({column}, $client)"  # noqa: S608 - the column is one of two words of our own
    rows = run.rows(query, {"since": since, "client": client})
    return None if rows[0]["round"] is None else int(rows[0]["round"])
