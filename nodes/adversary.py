"""The adversary: a process, or an inline node, that decides what colluding clients send."""

from collections.abc import Callable

import numpy as np

from learning.attacks import Seen
from nodes.shell import Link, Shell
from protocol.codec import Codec
from protocol.collusion import Collusion, Conspire, Decided
from protocol.journal import Journal
from protocol.messages import ADVERSARY
from scenarios.plan import Plan

__all__ = ["AdversaryShell"]


class AdversaryShell(Shell):
    """The collusion machine with its hands: the attack."""

    def __init__(self, plan: Plan, link: Link, clock: Callable[[], float], pid: int) -> None:
        self._craft = plan.crafting()
        self.pid = pid
        machine, journal = Collusion(pid), Journal(plan.run, ADVERSARY)
        super().__init__(machine, journal, link, Codec(plan.largest_frame), clock, {Conspire: self._conspire})

    def _conspire(self, instruction: Conspire) -> Callable[[float], Decided]:
        brief = instruction.brief
        seen = Seen(np.array(brief.theta), np.array(brief.others), np.array(brief.before), brief.size)
        made = self._craft(seen, brief.round)
        return lambda now: Decided(now, made.thetas, made.info)
