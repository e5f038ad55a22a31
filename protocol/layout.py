"""What a run leaves on disk: one literal table of its files, and the names that everyone takes from here.

A run is a directory `<runs>/<scenario>/<time>-<seed>`. Patterns are relative to it; `<node>` is a node's name.
"""

from dataclasses import dataclass
from typing import Final

__all__ = ["CONSOLE", "CONTROL", "ERASURE", "FILES", "JOURNAL", "LATEST", "PACKED", "SCENARIO", "RunFile"]

SCENARIO: Final = "scenario.json"
JOURNAL: Final = "journal"
CONTROL: Final = "control.json"
CONSOLE: Final = "console.txt"
PACKED: Final = "run.duckdb"
ERASURE: Final = "erasure.json"
LATEST: Final = "latest"
"""The link beside the scenarios' directories that points at the newest run."""


@dataclass(frozen=True, slots=True)
class RunFile:
    """One kind of file: who writes it, when it is there, and what it is for."""

    writer: str
    there: str
    meaning: str


FILES: Final[dict[str, RunFile]] = {
    SCENARIO: RunFile(
        "`foltr run`",
        "from the start",
        "The scenario as it was resolved: every key, defaults and `--set` included. `foltr resume` reads it.",
    ),
    f"{JOURNAL}/coordinator.jsonl": RunFile(
        "the coordinator",
        "from the start",
        "The run's settings, its clients, every message that the coordinator sent and received, every model, the "
        "updates with their weights, who came, went or was refused, what the network did to frames.",
    ),
    f"{JOURNAL}/<host>.jsonl": RunFile(
        "each host",
        "from its start",
        "The messages that the host sent and received. A host with one client is called as its client, such as "
        "`client-3`; a shared one is called `host-1`.",
    ),
    f"{JOURNAL}/evaluator.jsonl": RunFile(
        "the evaluator",
        "from its start",
        "The offline metrics of the models, in rounds' order.",
    ),
    f"{JOURNAL}/supervisor.jsonl": RunFile(
        "the supervisor",
        "from the start",
        "Processes started and ended, with their pids and exit codes; orders and who gave them; what the timeline "
        "did; the tracebacks of crashed nodes.",
    ),
    CONTROL: RunFile(
        "the supervisor",
        "while the run is live",
        "Which process acts the run out, where it takes orders and the keys to give them; only its owner can read it. "
        "One that outlives its run was left by a `kill -9` and means nothing.",
    ),
    CONSOLE: RunFile(
        "the supervisor",
        "if the run was started with `--detach`",
        "What the run has to say, which nobody would see otherwise: its summary, or why it could not go on.",
    ),
    PACKED: RunFile(
        "`foltr pack`",
        "if the run was packed",
        "The whole log as one DuckDB file with the same views. The journal can go then, and every question is still "
        "answered.",
    ),
    ERASURE: RunFile(
        "`foltr unlearn`",
        "if the run forgot clients of another run",
        "The erasure record: who was to be forgotten and how, what was done and at what cost, and the hashes of the "
        "logs before and after. `foltr verify` holds it against the files.",
    ),
    "forgetting.<kind>": RunFile(
        "`foltr unlearn --report`",
        "in the run that was trained again without the leavers",
        "The proof of forgetting of every run that was made with it: figures as `.json`, curves as `.svg` and `.png`.",
    ),
    f"../../{LATEST}": RunFile(
        "`foltr run`",
        "from the start",
        "A link to the newest run of this runs directory.",
    ),
}
"""Every file of a run by its pattern; docs/results.md has this table."""
