#!/usr/bin/env python
"""Rewrites the parts of docs/*.md that come from the code; with `--check` it only says what is stale.

A page marks such a part with `<!-- generated: NAME -->` and `<!-- end -->`; `BLOCKS` says what belongs in between.
"""

import argparse
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from enum import StrEnum
from functools import partial
from inspect import signature
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from analysis.meanings import VIEWS
from analysis.runs import open_run
from learning.aggregation import PRE_AGGREGATORS, RULES, options_of
from learning.attacks import ATTACKS, ClickAttack, ClientAttack, ColludingAttack
from learning.unlearning import METHODS
from protocol.codec import KINDS, Codec
from protocol.collusion import Collusion
from protocol.coordination import Coordination
from protocol.errors import REFUSALS
from protocol.events import EVENTS, FIELDS
from protocol.layout import FILES
from protocol.machine import Machine
from protocol.malice import MaliciousParticipation
from protocol.messages import MESSAGES, Message, Trial, Update
from protocol.mischief import MISCHIEF
from protocol.participation import Participation
from scenarios.load import shipped
from scenarios.schema import Scenario
from scenarios.words import keys

__all__ = ["BLOCKS", "filled", "main", "table"]

ANSWERING = 2_000  # clients in FOLtR-ES's experiments
_BLOCK = re.compile(r"(<!-- generated: (?P<name>[a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; the cells are Markdown already."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def scenario_keys() -> str:
    """Every key of a scenario file."""
    rows = [(f"`{key.path}`", key.expects, key.default, key.meaning) for key in keys(Scenario)]
    return table(("key", "value", "default", "meaning"), rows)


def shipped_scenarios() -> str:
    """Every scenario that comes with foltr, with the first comment of its file."""
    rows = [
        (f"`{name}`", path.read_text(encoding="utf-8").partition("\n")[0].lstrip("# "))
        for name, path in shipped().items()
    ]
    return table(("name", "what it is"), rows)


def aggregation_rules() -> str:
    """Every aggregation rule and pre-aggregator: what it is, what it needs, what its scores are."""
    rows = [
        (
            f"`{name}`",
            _first_paragraph(kind),
            ", ".join(f"`{option}`" for option in sorted(options_of(name))),
            _first_paragraph(kind.check),
            "yes" if getattr(kind, "remembers", False) else "",
            getattr(kind, "score", "comes before a rule, which scores"),
        )
        for name, kind in (*RULES.items(), *PRE_AGGREGATORS.items())
    ]
    return table(("rule", "what it is", "settings", "clients", "remembers", "score"), rows)


def sql_views() -> str:
    """Every public view with its columns; the types are those of a run without any record."""
    with TemporaryDirectory() as empty:
        (Path(empty) / "journal").mkdir()
        with open_run(Path(empty)) as run:
            types = {view: run.columns(view) for view in VIEWS}
    return "\n\n".join(
        f"### `{name}`\n\nOne row is {view.row}.\n\n"
        + table(
            ("column", "type", "meaning"),
            [(f"`{column}`", kind, view.columns[column]) for column, kind in types[name].items()],
        )
        for name, view in VIEWS.items()
    )


def run_files() -> str:
    """Every file of a run: who writes it, when it is there, what it is for."""
    rows = [(f"`{pattern}`", file.writer, file.there, file.meaning) for pattern, file in FILES.items()]
    return table(("file", "written by", "is there", "what it is"), rows)


def protocol_messages() -> str:
    """Every message: who says it to whom, what it means, what answers it."""
    rows = [
        (f"`{name}`", one.sender, one.recipient, _first_paragraph(one), f"`{one.answer}`" if one.answer else "")
        for name, one in MESSAGES.items()
    ]
    return table(("message", "from", "to", "meaning", "answered by"), rows)


def protocol_fields() -> str:
    """Every field of every message, in the order of the frame."""
    rows = [
        (f"`{name}`", f"`{field.name}`", field.metadata["kind"], field.metadata["meaning"])
        for name, one in MESSAGES.items()
        for field in fields(one)
    ]
    return table(("message", "field", "kind", "meaning"), rows)


def protocol_frames() -> str:
    """How long an answer of many clients is, measured: with weights of MQ2007's rankers, and with trials."""
    clients = np.arange(ANSWERING)
    shapes = {"linear ranker": 46, "neural ranker, 64 units": 48 * 64}
    answers = {
        f"`update`, {ranker} ({dimension:,} weights)": Update(
            1, clients, np.zeros((ANSWERING, dimension)), clients, np.zeros(ANSWERING), 0
        )
        for ranker, dimension in shapes.items()
    } | {"`trial`, any ranker": Trial(1, clients, clients, np.zeros((ANSWERING, 2)))}
    lengths = {name: len(Codec().encode(answer, 1)) for name, answer in answers.items()}
    rows = [(name, f"{length:,}", f"{length / ANSWERING:,.1f}") for name, length in lengths.items()]
    return table((f"answer of {ANSWERING:,} clients in one frame", "bytes", "bytes a client"), rows)


def protocol_kinds() -> str:
    """What a field may be."""
    return table(("kind", "what it is"), [(kind, description) for kind, (description, _) in KINDS.items()])


def protocol_refusals() -> str:
    """Why something that arrived is not accepted."""
    return table(("reason", "sentence"), [(f"`{reason}`", sentence) for reason, sentence in REFUSALS.items()])


def protocol_events() -> str:
    """Every event of the log; those that carry a message's way are marked."""
    rows = [
        (
            f"`{name}`",
            event.writer,
            event.meaning,
            ", ".join(f"`{field}`" for field in event.fields),
            "yes" if event.wire else "",
        )
        for name, event in EVENTS.items()
    ]
    return table(("event", "written by", "meaning", "its fields", "wire fields"), rows)


def protocol_event_fields() -> str:
    """Every field of the log that an event may have, with its type in SQL."""
    rows = [(f"`{name}`", f"`{sql}`", meaning) for name, (sql, meaning) in FIELDS.items()]
    return table(("field", "SQL type", "meaning"), rows)


def protocol_attacks() -> str:
    """Every attack on the protocol: what it sends, what stops it, where the log has it."""
    rows = [
        (
            f"`{name}`",
            one.meant,
            f"{', '.join(f'`{reason}`' for reason in one.refusals)}: {one.stopped_by}",
            f"`{one.event}`",
        )
        for name, one in MISCHIEF.items()
    ]
    return table(("attack", "what it is meant to do", "the rule that stops it", "event in the log"), rows)


def unlearning_methods() -> str:
    """Every method of unlearning: its settings, its rounds, what the log must have."""
    rows = []
    for name, method in METHODS.items():
        made = method()
        options = [f"`{one.name} = {one.default}`" for one in inspect.signature(method).parameters.values()]
        rounds = "none" if made.steps is None else "all" if made.steps.every == 1 else "⌈T/`every`⌉"
        weights = "yes" if made.needs_weights else "no"
        rows.append([f"`{name}`", ", ".join(options), rounds, weights, " ".join((method.__doc__ or "").split())])
    return table(["method", "settings", "steps", "needs weights", "what it does"], rows)


def attack_kinds() -> str:
    """Every attack that a scenario can name, but for those on the protocol: its options and its first sentence."""
    families = {ClientAttack: "alone", ClickAttack: "clicks", ColludingAttack: "together"}
    rows = []
    for name, made in ATTACKS.items():
        if isinstance(made, type):
            family = next(word for kind, word in families.items() if issubclass(made, kind))
            options = [f"`{one.name} = {_toml(one.default)}`" for one in signature(made).parameters.values()]
            rows.append((f"`{name}`", family, ", ".join(options), _first_paragraph(made)))
    return table(("kind", "who", "options", "what is sent"), rows)


def _toml(value: object) -> str:
    """A default as a scenario would write it."""
    return "…" if value is None else f'"{value}"' if isinstance(value, str) else str(value)


def malicious_transitions() -> str:
    """What a host with malicious clients does otherwise than one without."""
    known = Participation.transitions
    return _transitions(
        {key: one for key, one in MaliciousParticipation.transitions.items() if known.get(key) is not one}
    )


def protocol_transitions(machine: type[Machine]) -> str:
    """A machine's table: in which state what leads to what."""
    return _transitions(machine.transitions)


def _transitions(transitions: Mapping[tuple[StrEnum, type], Callable[..., object]]) -> str:
    rows = [
        (
            state,
            f"`{kind.name}`" if issubclass(kind, Message) else f"*{_words(kind.__name__)}*",
            _first_paragraph(handler),
        )
        for (state, kind), handler in transitions.items()
    ]
    return table(("state", "what happens", "what the machine does"), rows)


def _first_paragraph(documented: object) -> str:
    """The first paragraph of a docstring in one line."""
    return " ".join((documented.__doc__ or "").partition("\n\n")[0].split())


def _words(name: str) -> str:
    """A class name in words: TimeCame is "time came"."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()


BLOCKS: dict[str, Callable[[], str]] = {
    "scenario-keys": scenario_keys,
    "shipped-scenarios": shipped_scenarios,
    "sql-views": sql_views,
    "protocol-coordinator": partial(protocol_transitions, Coordination),
    "protocol-event-fields": protocol_event_fields,
    "protocol-events": protocol_events,
    "protocol-fields": protocol_fields,
    "protocol-frames": protocol_frames,
    "protocol-adversary": partial(protocol_transitions, Collusion),
    "protocol-attacks": protocol_attacks,
    "protocol-host": partial(protocol_transitions, Participation),
    "protocol-malice": malicious_transitions,
    "attacks": attack_kinds,
    "protocol-kinds": protocol_kinds,
    "unlearning": unlearning_methods,
    "protocol-messages": protocol_messages,
    "protocol-refusals": protocol_refusals,
    "run-files": run_files,
    "aggregation-rules": aggregation_rules,
}


def filled(page: str) -> str:
    """The page with every generated part made anew; raises KeyError for a part that no function makes."""
    return _BLOCK.sub(lambda block: f"{block[1]}{BLOCKS[block['name']]()}\n{block[3]}", page)


def main(arguments: Sequence[str] | None = None, folder: Path = Path(__file__).parent) -> int:
    """Rewrite the stale pages of a folder, or with --check name them; the exit code."""
    parser = argparse.ArgumentParser(description="Rewrite the generated parts of docs/*.md.")
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if a page is stale")
    check = parser.parse_args(arguments).check
    stale = 0
    for path in sorted(folder.glob("*.md")):
        page = path.read_text(encoding="utf-8")
        try:
            fresh = filled(page)
        except KeyError as error:
            sys.stderr.write(f"{path}: a generated part must be one of {', '.join(BLOCKS)}; got {error.args[0]}\n")
            return 2
        if fresh != page:
            stale += 1
            sys.stdout.write(f"{path} {'is stale; run python docs/generate.py' if check else 'rewritten'}\n")
            if not check:
                path.write_text(fresh, encoding="utf-8")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
