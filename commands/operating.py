"""Commands on a live run: look at its nodes, kill, pause, add, restart, leave, stop. Each is logged with who did it."""

import json
from typing import Annotated, Any

import typer

from commands.options import Json, RunName, Runs, new_app, print_json
from protocol.errors import UserError

__all__ = ["app"]

app = new_app()

Nodes = Annotated[
    list[str],
    typer.Argument(metavar="NODE...", help="Ids, clients, coordinator, adversary, evaluator, or a fraction: 30%."),
]


@app.command()
def ps(
    reference: Annotated[str, typer.Argument(metavar="[RUN]", help="A run; the newest by default.")] = "latest",
    runs: Runs = None,
    as_json: Json = False,
) -> None:
    """Show the nodes of a live run: pid, clients, round, memory, state.

    Example: foltr ps latest
    """
    rows = [json.loads(line) for line in _order(reference, runs, "ps")]
    if as_json:
        print_json(rows)
        return
    from analysis.wording import nodes_text

    typer.echo(nodes_text(rows))


@app.command()
def kill(
    reference: RunName,
    nodes: Nodes,
    signal: Annotated[str, typer.Option(help="The signal to send.")] = "KILL",
    runs: Runs = None,
    as_json: Json = False,
) -> None:
    """Kill nodes of a live run: clients by id, a role, or a fraction.

    Example: foltr kill latest client-3 client-7
    """
    _tell(reference, runs, "kill", nodes, as_json=as_json, signal=signal)


@app.command()
def pause(reference: RunName, nodes: Nodes, runs: Runs = None, as_json: Json = False) -> None:
    """Pause nodes of a live run with SIGSTOP.

    Example: foltr pause latest client-3
    """
    _tell(reference, runs, "pause", nodes, as_json=as_json)


@app.command()
def unpause(reference: RunName, nodes: Nodes, runs: Runs = None, as_json: Json = False) -> None:
    """Let paused nodes of a live run go on.

    Example: foltr unpause latest client-3
    """
    _tell(reference, runs, "unpause", nodes, as_json=as_json)


@app.command()
def restart(reference: RunName, nodes: Nodes, runs: Runs = None, as_json: Json = False) -> None:
    """Start nodes of a live run again, ending them first if they live.

    Example: foltr restart latest client-3
    """
    _tell(reference, runs, "restart", nodes, as_json=as_json)


@app.command()
def add(
    reference: RunName,
    count: Annotated[int, typer.Option(min=1, help="How many clients.")] = 1,
    name: Annotated[str | None, typer.Option("--id", help="The name of a single new client.")] = None,
    clicks: Annotated[str | None, typer.Option(help="How their users click; the first group's by default.")] = None,
    interactions: Annotated[int | None, typer.Option(min=1, help="Their queries a round.")] = None,
    attack: Annotated[str | None, typer.Option(help="What they send instead of what they learned.")] = None,
    runs: Runs = None,
    as_json: Json = False,
) -> None:
    """Add clients to a live run, each with a process of its own.

    Example: foltr add latest --count 2 --clicks informational --attack '{kind="sign_flip", z=2}'
    """
    if name is not None and count != 1:
        raise typer.BadParameter("names a single client; leave --count out", param_hint="--id")
    settings: dict[str, Any] = {"count": count, "id": name, "clicks": clicks, "interactions": interactions}
    settings["attack"] = None if attack is None else _table(attack)
    given = {key: value for key, value in settings.items() if value is not None}
    _tell(reference, runs, "add", [], as_json=as_json, **given)


@app.command()
def leave(
    reference: RunName,
    clients: Nodes,
    forget: Annotated[bool, typer.Option("--forget", help="Unlearn what they taught before training goes on.")] = False,
    method: Annotated[str | None, typer.Option(help="How to unlearn; federaser by default.")] = None,
    every: Annotated[int | None, typer.Option(min=1, help="Rounds between kept updates.")] = None,
    interactions: Annotated[int | None, typer.Option(min=1, help="Queries of a client in a step.")] = None,
    then: Annotated[str | None, typer.Option(help="train or end: what comes after unlearning.")] = None,
    runs: Runs = None,
    as_json: Json = False,
) -> None:
    """Let clients leave the federation: their updates stop at the next round, and may be unlearned.

    Example: foltr leave latest client-3 --forget --every 10 --interactions 3
    """
    given = {"method": method, "every": every, "interactions": interactions, "then": then}
    settings = {name: value for name, value in given.items() if value is not None}
    if settings and not forget:
        raise typer.BadParameter("belongs to --forget", param_hint=f"--{next(iter(settings))}")
    how: dict[str, Any] = {"forget": {"method": "federaser", **settings}} if forget else {}
    _tell(reference, runs, "leave", clients, as_json=as_json, **how)


@app.command()
def stop(reference: RunName, runs: Runs = None, as_json: Json = False) -> None:
    """Stop a live run after its last closed round; foltr resume goes on from there.

    Example: foltr stop latest
    """
    from analysis.runs import find_run, runs_directory
    from nodes.control import await_end

    directory = find_run(reference, runs_directory(runs))
    _tell(str(directory), runs, "stop", [], as_json=as_json)
    await_end(directory)


def _table(text: str) -> Any:
    """An option that is a TOML inline table, or a bare kind."""
    from tomllib import TOMLDecodeError, loads

    try:
        return loads(f"given = {text}")["given"] if text.startswith("{") else {"kind": text}
    except TOMLDecodeError as error:
        raise UserError(f'--attack must be a kind or a table such as {{kind="sign_flip", z=2}}; got {text}') from error


def _order(reference: str, runs: Any, verb: str, whom: list[str] | None = None, **settings: Any) -> list[str]:
    from analysis.runs import find_run, runs_directory
    from nodes.control import order

    return order(find_run(reference, runs_directory(runs)), verb, tuple(whom or ()), **settings)


def _tell(reference: str, runs: Any, verb: str, whom: list[str], *, as_json: bool, **settings: Any) -> None:
    done = _order(reference, runs, verb, whom, **settings)
    if as_json:
        print_json(done)
    else:
        typer.echo("\n".join(done))
