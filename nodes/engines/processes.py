"""The processes engine: a coordinator, hosts and an evaluator as real processes over ZeroMQ."""

from nodes.ending import Ending, Interruption
from nodes.past import Past
from nodes.supervisor import Supervisor
from nodes.watcher import Watcher
from scenarios.plan import Plan

__all__ = ["act_out"]


def act_out(plan: Plan, watcher: Watcher, interruption: Interruption, past: Past | None = None) -> Ending:
    """Run the plan to its end as processes, from where it stood if it goes on."""
    return Supervisor(plan, watcher, interruption, past).run()
