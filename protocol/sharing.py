"""What the coordinator does about noise shares that will not come.

A round in which fewer updates came than shares were promised has less noise than was promised. As the scenario says, it
is closed all the same, and flagged; or those whose updates are here are asked for noise in the place of the missing
shares first; or it is discarded: closed without anybody's update, its model the one before. Who is asked for a top-up
and then lost is not waited for (except under `wait`): the others are asked anew, for the same missing shares among
fewer givers, so that a model depends on who gave and not on the order of losses. If nobody is left to ask, the round is
discarded.
"""

from typing import ClassVar

from protocol.errors import Refusal
from protocol.machine import Arrived, Handler, Instruction, Record, Say, TimeCame, received, refused
from protocol.messages import Shares
from protocol.rounds import Rounds, State
from protocol.terms import NoiseCount
from protocol.top_up import TopUpBook

__all__ = ["Sharing"]


class Sharing(Rounds):
    """Rounds whose noise is counted before they close."""

    _book: TopUpBook | None = None

    def _waiting_for(self) -> tuple[str, ...]:
        return super()._waiting_for() if self._book is None else tuple(self._book.owed)

    def _close(self, now: float) -> list[Instruction]:
        """Let the model be made if its noise is whole; else do what the scenario says."""
        promised, count = self.ledger.promised, self.ledger.count
        if count >= promised:
            return super()._close(now)
        about = {"round": self.closed + 1, "promised": promised, "received": count}
        short = Record("noise.short", about | {"remedy": self.terms.on_deficit})
        match self.terms.on_deficit:
            case "proceed":
                return [short, *super()._close(now)]
            case "top-up":
                return [short, *self._top_up(now)]
            case "abort":
                return [short, *self._discard(f"{count} of {promised} noise shares came")]

    def _top_up(self, now: float) -> list[Instruction]:
        """Ask everyone who is here and has answered for noise in the place of what is missing."""
        ledger, members = self.ledger, self.members
        owed = {}
        for host in members.hosts:
            own = members.hosts[host]
            answered = own[ledger.answered[own]]
            if host in self.present and host not in self.silent and len(answered):
                owed[host] = answered
        if not owed:
            return self._discard("nobody is left who could give noise in the place of missing shares")
        self.state = State.TOPPING_UP
        self._opened, self._deadline, self._noticed = now, now + self.terms.deadline, False
        lacking = ledger.promised - ledger.count
        self._book = TopUpBook(self.closed + 1, ledger.promised, lacking, owed, self.terms.dimension)
        return [self._request(host, 0) for host in owed]

    def _request(self, host: str, answers: int) -> Say:
        assert self._book is not None
        question = self._book.question(host)
        tells = {"promised": question.promised, "lacking": question.lacking, "givers": question.givers}
        return Say((host,), question, answers, tells | {"clients": self.members.names(question.clients)})

    def _discard(self, reason: str) -> list[Instruction]:
        """Throw the round's updates away: it is closed with the model before."""
        about = {"round": self.closed + 1, "reason": reason}
        count = NoiseCount(self.ledger.promised, self.ledger.count, (), reason)
        return [Record("round.discarded", about), *self._aggregate(count)]

    def _aggregate(self, noise: NoiseCount) -> list[Instruction]:
        self._book = None
        return super()._aggregate(noise)

    def _ask_again(self, host: str, answers: int) -> list[Instruction]:
        """Give a host that speaks up what it still owes in the open round."""
        if self._book is None:
            return super()._ask_again(host, answers)
        return [self._request(host, answers)] if host in self._book.owed else []

    def _go_on(self, now: float) -> list[Instruction]:
        """Somebody is gone: if it was to top up, ask the others anew."""
        if self._book is None:
            return super()._go_on(now)
        gone = [host for host in self._book.owed if host not in self.present]
        waits = self.terms.wait and all(map(self.members.needs, gone))
        return self._top_up(now) if gone and not waits else []

    def _shares(self, stimulus: Arrived) -> list[Instruction]:
        """Keep noise that was asked for, and let the model be made if it was the last; refuse any other."""
        host, shares, book = stimulus.peer, stimulus.envelope.message, self._book
        assert isinstance(shares, Shares)
        if book is None or shares.round != self.closed + 1:
            return [refused(stimulus, Refusal.STALE_ROUND, f"round {shares.round}, closed is {self.closed}")]
        problem = book.problem(host, shares)
        if problem is not None:
            return [refused(stimulus, *problem)]
        book.enter(host, shares)
        fields = {"clients": self.members.names(shares.clients), "promised": shares.promised}
        fields |= {"lacking": shares.lacking, "givers": shares.givers}
        if self._keeps_weights(shares.round):
            fields["noise"] = shares.noise
        did: list[Instruction] = [received(stimulus, **fields)]
        if not book.complete:
            return did
        self.ledger.add(book.givers, book.noise)
        givers = tuple(self.members.names(book.givers))
        return did + self._aggregate(NoiseCount(shares.promised, self.ledger.count, givers))

    def _time_for_shares(self, stimulus: TimeCame) -> list[Instruction]:
        """Tell for whom the top-up waits; at the deadline of `skip`, ask the others anew."""
        assert self._book is not None
        did = self._notice(stimulus.now)
        if self.terms.wait or stimulus.now < self._deadline:
            return did
        return did + self._silence(set(self._book.owed)) + self._top_up(stimulus.now)

    while_short: ClassVar[dict[type, Handler]] = {Shares: _shares, TimeCame: _time_for_shares}
