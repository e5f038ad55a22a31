"""Both machines together over a network that loses, repeats, reorders and delays, with hosts that die and come back."""

from fractions import Fraction
from math import ceil

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from toy_federation import HOSTS, ToyFederation, mean_of, undisturbed

ROUNDS = 4
CLIENTS = ["c0", "c1", "c2", "c3"]
hosts = st.sampled_from(list(HOSTS))
places = st.integers(0, 10_000)


def test_an_undisturbed_federation_makes_the_undisturbed_models():
    """Frames in order, nobody dies: the run completes with the equations' models, and every host hears the end."""
    run = ToyFederation(ROUNDS)
    while run.frames:
        run.carry(*run.frames.popleft())
    assert run.coordinator.outcome == "completed"
    assert {node.outcome for node in run.hosts.values()} == {"completed"}
    assert [number for number, *_ in run.models] == list(range(ROUNDS + 1))
    for (_, theta, _, _), expected in zip(run.models, undisturbed(ROUNDS), strict=True):
        assert theta.tobytes() == expected.tobytes()


class Disturbed(RuleBasedStateMachine):
    """Everything that can happen to a run; what must hold after each step; and that it ends well once all is well."""

    wait = False

    @initialize(quorum=st.sampled_from([0.25, 0.5, 1.0]))
    def begin(self, quorum):
        """Start the run."""
        self.run = ToyFederation(ROUNDS, wait=self.wait, deadline=3.0, quorum=quorum)
        self.quorum = 4 if self.wait else ceil(Fraction(quorum) * 4)
        self.checked = 0

    # --- what can happen ---------------------------------------------------------------------------------------------

    def take(self, place):
        """Take any frame that is under way."""
        place %= len(self.run.frames)
        frame = self.run.frames[place]
        del self.run.frames[place]
        return frame

    @precondition(lambda self: self.run.frames)
    @rule()
    def deliver_first(self):
        """The oldest frame arrives."""
        self.run.carry(*self.run.frames.popleft())

    @precondition(lambda self: self.run.frames)
    @rule(frames=st.integers(2, 20))
    def go_on(self, frames):
        """For a while everything arrives in order."""
        while frames and self.run.frames:
            frames -= 1
            self.run.carry(*self.run.frames.popleft())

    @precondition(lambda self: self.run.frames)
    @rule(place=places)
    def deliver_any(self, place):
        """A frame overtakes others."""
        self.run.carry(*self.take(place))

    @precondition(lambda self: self.run.frames)
    @rule(place=places)
    def drop(self, place):
        """A frame is lost."""
        self.take(place)

    @precondition(lambda self: self.run.frames)
    @rule(place=places)
    def duplicate(self, place):
        """A frame will arrive twice."""
        self.run.frames.append(self.run.frames[place % len(self.run.frames)])

    @precondition(lambda self: self.run.frames)
    @rule(place=places, cut=places)
    def damage(self, place, cut):
        """A frame arrives without its end: refused, if anybody is there."""
        sender, peer, frame = self.take(place)
        assert not self.run.carry(sender, peer, frame[: cut % len(frame)])

    @rule(seconds=st.sampled_from([0.25, 1.0, 3.0]))
    def pass_time(self, seconds):
        """Time passes."""
        self.run.pass_time(seconds)

    @rule(host=hosts)
    def kill(self, host):
        """A host dies."""
        if host in self.run.hosts:
            self.run.kill(host)

    @rule(host=hosts)
    def restart(self, host):
        """A dead host comes back as a new process."""
        if host in self.run.dead:
            self.run.restart(host)

    @precondition(lambda self: self.run.coordinator.outcome is None)
    @rule()
    def resume(self):
        """Everything dies at once, and the run goes on from its last closed round."""
        number, theta, _, _ = self.run.models[-1]
        self.run.start(number, theta)

    # --- what must hold ----------------------------------------------------------------------------------------------

    @invariant()
    def rounds_grow_by_one_and_models_are_their_participants_mean(self):
        """Each model is made once, from the one before it, by those whom the log names."""
        models = self.run.models
        assert [number for number, *_ in models] == list(range(len(models)))
        for number, theta, participants, missing in models[max(1, self.checked) :]:
            assert sorted(participants + missing) == CLIENTS
            assert len(participants) >= self.quorum
            before = models[number - 1][1]
            made = mean_of([CLIENTS.index(client) for client in participants], number, before)
            assert theta.tobytes() == made.tobytes()
            if self.wait:
                assert theta.tobytes() == undisturbed(number)[-1].tobytes()
        self.checked = len(models)

    def teardown(self):
        """Faults stop and everybody is up: the run ends within a bounded number of steps, and well."""
        if not hasattr(self, "run"):
            return
        run = self.run
        for host in list(run.dead):
            run.restart(host)
        open_round = run.coordinator.machine.closed + 1
        left = len(run.frames) * 3 + 60 * (ROUNDS + 1)
        while run.coordinator.outcome is None:
            left -= 1
            assert left, "the run does not end"
            if run.frames:
                run.carry(*run.frames.popleft())
            else:
                wakes = [node.machine.wake_at for node in (run.coordinator, *run.hosts.values())]
                run.pass_time(max(0.0, min(wake for wake in wakes if wake is not None) - run.now))
        self.rounds_grow_by_one_and_models_are_their_participants_mean()
        if run.coordinator.outcome == "completed":
            assert len(run.models) == ROUNDS + 1
        else:  # the round that was open while faults went on may have been past help
            assert not self.wait
            assert run.coordinator.machine.closed < open_round
            assert "answered within 3 s" in run.coordinator.machine.reason


class DisturbedWaiting(Disturbed):
    """The same under `wait`: every model has the bits of the undisturbed run."""

    wait = True


_LONG = settings(max_examples=100, stateful_step_count=60, deadline=None)

TestDisturbed = Disturbed.TestCase
TestDisturbed.settings = _LONG
TestDisturbedWaiting = DisturbedWaiting.TestCase
TestDisturbedWaiting.settings = _LONG


def test_the_toy_is_worth_its_name():
    """Different clients, rounds and models give different answers, so that a mix-up would show."""
    models = undisturbed(3)
    seen = {mean_of([client], number, theta).tobytes() for client in range(4) for number in (1, 2) for theta in models}
    assert len(seen) == 4 * 2 * len(models)
    assert not np.array_equal(models[1], models[2])
