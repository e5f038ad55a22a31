"""A run computed again from its own log: every model from the updates, updates from the models; bits must be equal.

Three claims are checked. A model's hash is that of its weights. A round's model is what the aggregation rule makes of
the round's updates and the model before. A client's update is what its users' clicks, by its own random stream, make of
the model before. What the log or the machine does not have the means for is told, never passed over.
"""

from dataclasses import asdict, dataclass, field, replace
from math import isclose
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from analysis.erasure import erasure_problems
from analysis.log import sql_text
from analysis.models import LoggedModel, LoggedUpdate, logged_models
from analysis.phases import Unlearning, steps, unlearnings
from analysis.recomputing import Question, Recomputing, recomputing
from analysis.runs import Run, open_run
from protocol.errors import UserError
from protocol.terms import fingerprint
from scenarios.unlearning import needs_weights

__all__ = ["SAMPLE", "Verification", "verify"]

SAMPLE: Final = 50  # updates that are computed again where nothing else is said
SHOWN_PROBLEMS: Final = 10

Floats = NDArray[np.float64]


@dataclass(slots=True)
class Verification:
    """What was checked and what came out; `limits` tells what could not be checked, and why."""

    run: str
    models: int = 0
    models_derived: int = 0  # those that came out again with the same bits
    updates: int = 0
    updates_recomputed: int = 0  # those that came out again with the same bits
    problems: list[str] = field(default_factory=list)
    limits: list[str] = field(default_factory=list)

    @property
    def verdict(self) -> Literal["held", "failed", "unknown"]:
        """Failed if a bit differs; unknown if there was nothing that could be computed again."""
        if self.problems:
            return "failed"
        return "held" if self.models_derived or self.updates_recomputed else "unknown"

    def sentence(self) -> str:
        """What was verified and what was not, in one line."""
        found = (
            f"{self.models_derived:,} of {self.models:,} models derived again from the log and "
            f"{self.updates_recomputed:,} of {self.updates:,} updates computed again, bit for bit"
        )
        wrong = f"; {len(self.problems):,} not as logged, first {self.problems[0]}" if self.problems else ""
        rest = f"; not verified: {'; '.join(self.limits)}" if self.limits else ""
        return f"{self.verdict}: {found}{wrong}{rest}"

    def as_dict(self) -> dict[str, Any]:
        """The verification as JSON has it, with the first problems."""
        shown = {"problems": self.problems[:SHOWN_PROBLEMS], "problem_count": len(self.problems)}
        return asdict(self) | shown | {"verdict": self.verdict, "sentence": self.sentence()}


def verify(
    path: Path, client: str | None = None, number: int | None = None, *, everything: bool = False
) -> Verification:
    """Check every model of a run, and updates: a sample, or those of a client or a round that is named, or all."""
    with open_run(path) as run:
        check = _Check(run, _chosen(run, client, number, everything=everything))
        for model in logged_models(run):
            check.round(model)
        found = check.done()
    problems, limits = erasure_problems(path)
    found.problems += problems
    found.limits += limits
    return found


def _chosen(run: Run, client: str | None, number: int | None, *, everything: bool) -> set[tuple[int, str]] | None:
    """The updates to compute again, by round and client; none: all."""
    named = client is not None or number is not None
    if everything and not named:
        return None
    seed = (run.rows("select seed from run") or [{"seed": 0}])[0]["seed"]
    limit = SAMPLE if not named else 1 << 62
    rows = run.rows(sql_text("verify_sample"), {"client": client, "round": number, "seed": seed, "limit": limit})
    if named and not rows:
        who, when = client or "any client", "any round" if number is None else f"round {number}"
        raise UserError(f"the log must have an accepted update of what is named; got {who} in {when}")
    return {(row["round"], row["client"]) for row in rows}


class _Check:
    """Goes through the rounds in order, with the model before at hand."""

    def __init__(self, run: Run, chosen: set[tuple[int, str]] | None) -> None:
        self._means: Recomputing = recomputing(run)
        self._chosen = chosen
        self._unlearnings = {one.first: one for one in unlearnings(run)}
        self._steps = steps(run) if self._unlearnings else {}
        self._origins: dict[int, Floats] = {}  # the models that unlearning went back to
        self._before: tuple[int, Floats] | None = None
        self._underivable = 0
        self._skipped: dict[str, int] = {}
        self._found = Verification(str(run.path))

    def round(self, model: LoggedModel) -> None:
        """Check a round's model and those of its updates that are chosen."""
        self._found.models += 1
        self._found.updates += len({one.client for one in model.updates})
        if model.theta is None:
            self._underivable += 1
            self._before = None
            return
        if fingerprint(model.theta) != model.model:
            self._differs(f"the hash of model {model.round}")
        before = self._before[1] if self._before and self._before[0] == model.round - 1 else None
        self._derive(model, model.theta, before)
        if before is not None:
            self._recompute(model, before)
            self._redraw(model)
        self._before = (model.round, model.theta)

    def done(self) -> Verification:
        """What was found, with what could not be checked."""
        found = self._found
        found.limits += self._means.limits
        if self._underivable and self._means.plan is not None:
            found.limits.append(f"{self._underivable:,} models, because the log lacks weights that they are made of")
        found.limits += [f"{count:,} {why}" for why, count in self._skipped.items()]
        return found

    def _derive(self, model: LoggedModel, theta: Floats, before: Floats | None) -> None:
        unlearning = self._unlearnings.get(model.round)
        if unlearning is not None:
            made = self._restart(unlearning)
        elif model.round == 0:
            made = self._means.start()
        elif model.round in self._steps and not model.participants:
            made = before  # nobody was left to be asked
        else:
            made = self._aggregate(model, before)
        if model.round in {one.origin for one in self._unlearnings.values()}:
            self._origins[model.round] = theta
        if made is None and unlearning is not None:
            self._skip(f"model that {unlearning.settings['method']} starts from: it is made of another run's log", 1)
        elif made is None:
            self._underivable += 1
        elif fingerprint(made) != model.model or fingerprint(made) != fingerprint(theta):
            self._differs(f"model {model.round}")
        else:
            self._found.models_derived += 1

    def _restart(self, unlearning: Unlearning) -> Floats | None:
        """The model that unlearning starts from; none if it is not a model of this run."""
        self._means.forget(unlearning.first)
        if needs_weights(unlearning.settings):
            return None
        return self._means.start() if unlearning.origin == 0 else self._origins.get(unlearning.origin)

    def _aggregate(self, model: LoggedModel, before: Floats | None) -> Floats | None:
        """The round's model from the log's updates; none if not all of them are there with their weights."""
        if model.discarded:
            return before
        made_of = model.local_models() if model.participants else None
        if before is None or made_of is None:
            return None
        return self._means.aggregate(model.round, model.participants, *made_of, before)

    def _recompute(self, model: LoggedModel, before: Floats) -> None:
        number, answers = model.round, dict[str, list[LoggedUpdate]]()
        for one in model.updates:  # a resumed run may have asked a client twice
            stale = (
                model.privacy is not None and model.answers.get(one.client) is not one
            )  # of another number of shares
            if stale or not (self._chosen is None or (number, one.client) in self._chosen):
                continue
            if one.erased:
                self._skip("updates, because what their client sent was erased from the log", 1)
            else:
                answers.setdefault(one.client, []).append(one)
        asked = replace(self._question(number), promised=(model.privacy or {}).get("promised", 0))
        made = self._means.train(before, asked, list(answers)) if answers else {}
        for client, (theta, online) in made.items():
            if not all(_is(one, theta, online, before) for one in answers[client]):
                self._differs(f"the update of {client} in round {number}")
                continue
            self._found.updates_recomputed += 1
            if any(one.theta is None for one in answers[client]):
                self._skip(
                    "updates by their lengths and online figures only, because the log keeps no weights of them", 1
                )

    def _redraw(self, model: LoggedModel) -> None:
        """Draw again what clients gave in the place of missing noise shares."""
        for client, noise in self._means.top_up(model).items():
            given = model.noise.get(client)
            if given is None:
                self._skip("updates with noise in the place of missing shares that the log does not keep", 1)
            elif given.tobytes() != noise.tobytes():
                self._differs(f"the noise that {client} gave for missing shares in round {model.round}")

    def _question(self, number: int) -> Question:
        """What clients were asked with in a round."""
        step = self._steps.get(number)
        if step is None:
            return Question(number, number)
        phase = max((one for one in self._unlearnings.values() if one.first < number), key=attrgetter("first"))
        norms = dict(zip(step.clients, step.norms, strict=True)) if phase.calibrated else {}
        return Question(number, step.draws, phase.most, norms)

    def _skip(self, why: str, count: int) -> None:
        self._skipped[why] = self._skipped.get(why, 0) + count

    def _differs(self, what: str) -> None:
        self._found.problems.append(what)


def _is(update: LoggedUpdate, theta: Floats, online: float, before: Floats) -> bool:
    """Whether an update is as computed: its weights or trial bit for bit, else its length, and what users saw."""
    if update.theta is not None:
        same = update.theta.tobytes() == theta.tobytes()
    else:
        length = float(np.linalg.norm(theta - before))
        same = update.norm is not None and isclose(length, update.norm, rel_tol=1e-9)
    return same and (update.online == online or (update.tried and update.online is None))
