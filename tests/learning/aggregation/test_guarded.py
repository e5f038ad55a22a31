"""The guarded rule against a slow twin written from its equations, and what it does to liars and to the honest."""

from math import log, sqrt

import numpy as np

from learning.aggregation import Updates, make_rule

CLIENTS, DIMENSION = 7, 6


class SlowTwin:
    """The rule's docstring in plain loops, for clients that always take part and never shout; who is out each round."""

    def __init__(self):
        self.history = [np.zeros(DIMENSION) for _ in range(CLIENTS)]
        self.sums = [[0.0] * CLIENTS, [0.0] * CLIENTS]
        self.noise = [[0.0] * CLIENTS, [0.0] * CLIENTS]
        self.out, self.times, self.until = set(), [0] * CLIENTS, [0] * CLIENTS
        self.direction = None

    def __call__(self, changes, number):
        """Who is left out after the round's changes, and both z."""
        fade = 1 - 1 / 300
        trusted = [c for c in range(CLIENTS) if c not in self.out]
        off = [changes[c] - np.mean([changes[t] for t in trusted], axis=0) for c in range(CLIENTS)]
        steady, agreement = [0.0] * CLIENTS, [0.0] * CLIENTS
        for c in range(CLIENTS):
            if self.direction is not None:
                own = self.history[c] / np.linalg.norm(self.history[c]) if c in self.out else self.direction
                steady[c] = off[c] @ own
            agreement[c] = changes[c] @ np.mean([changes[t] for t in trusted if t != c], axis=0)
        for which, numbers in enumerate((steady, agreement)):
            middle = np.mean([numbers[t] for t in trusted])
            for c in range(CLIENTS):
                self.sums[which][c] = fade * self.sums[which][c] + numbers[c] - middle
                self.noise[which][c] = fade**2 * self.noise[which][c] + (numbers[c] - middle) ** 2
        found = [self._cut(which, number, 4.5 + sqrt(2 * log(len(trusted)))) for which in (0, 1)]
        for c in sorted(self.out):
            rest = [t for t in range(CLIENTS) if t not in self.out]
            scores = [
                abs(self.sums[which][c] - np.mean([self.sums[which][t] for t in rest]))
                / sqrt((self.noise[which][c] + np.mean([self.noise[which][t] for t in rest])) / 2)
                for which in (0, 1)
            ]
            if max(scores) < 2 and number >= self.until[c]:
                self.out.discard(c)
                self.history[c] = np.zeros(DIMENSION)
                for which in (0, 1):
                    self.sums[which][c] = self.noise[which][c] = 0.0
        for c in range(CLIENTS):
            self.history[c] = fade * self.history[c] + off[c]
        rest = np.array([self.history[t] for t in range(CLIENTS) if t not in self.out])
        rest = rest - rest.mean(axis=0)
        start = self.direction if self.direction is not None else max(rest, key=np.linalg.norm)
        turned = rest.T @ (rest @ start)
        self.direction = turned / np.linalg.norm(turned)
        return found

    def _cut(self, which, number, threshold):
        trusted = [c for c in range(CLIENTS) if c not in self.out]
        ranked = sorted(trusted, key=lambda c: self.sums[which][c])
        best, group = 0.0, []
        for size in range(1, len(ranked)):
            low, high = ranked[:size], ranked[size:]
            if 2 * min(len(low), len(high)) >= len(ranked):
                continue
            means = [np.mean([self.sums[which][c] for c in part]) for part in (low, high)]
            noise = [np.mean([self.noise[which][c] for c in part]) for part in (low, high)]
            if sum(noise) > 0 and (means[1] - means[0]) / sqrt(sum(noise) / 2) > best:
                best, group = (means[1] - means[0]) / sqrt(sum(noise) / 2), min((low, high), key=len)
        if best > threshold and 2 * (len(self.out) + len(group)) < CLIENTS:
            self.out |= set(group)
            for c in group:
                self.times[c] += 1
                self.until[c] = number + 75 * 2 ** (self.times[c] - 1)
            rest = [c for c in range(CLIENTS) if c not in self.out]
            middle = np.mean([self.history[c] for c in rest], axis=0)
            self.history = [one - middle for one in self.history]
            for sums in self.sums:
                shift = np.mean([sums[c] for c in rest])
                sums[:] = [one - shift for one in sums]
        return best


def changes_of(random, liars, pull):
    """Noise around a small common step; liars are pulled elsewhere."""
    changes = random.normal(size=(CLIENTS, DIMENSION)) + 0.1
    changes[list(liars), 0] += pull
    return changes


def play(rounds, lies, pull=1.2, rule=None, seed=7):
    """Play so many rounds with the liars of each; who was out, and the rule's aggregates."""
    random, rule = np.random.default_rng(seed), rule or make_rule("guarded")
    out, told = [], []
    for number in range(1, rounds + 1):
        changes = changes_of(random, lies(number), pull)
        before = np.full(DIMENSION, 0.01 * number)
        aggregate = rule(Updates(before + changes, np.full(CLIENTS, 5), np.arange(CLIENTS), before, number))
        out.append(np.flatnonzero(~aggregate.used).tolist())
        told.append(aggregate)
    return out, told


def test_a_slow_twin_agrees():
    """Two liars for 150 rounds, then honest: the same z, the same exclusions, the same way back."""

    def lies(number):
        return (5, 6) if number <= 150 else ()

    out, told = play(450, lies)
    random, twin = np.random.default_rng(7), SlowTwin()
    for number in range(1, 451):
        found = twin(changes_of(random, lies(number), 1.2), number)
        assert sorted(twin.out) == out[number - 1]
        info = told[number - 1].info
        np.testing.assert_allclose([info["steady"], info["agreement"]], found, atol=1e-3)
    assert out[120] == [5, 6]
    assert out[-1] == []


def test_nobody_lies_and_it_is_fedavg_to_the_bit():
    """Unequal interactions, clients that are away or come later: FedAvg's model, round for round."""
    random, rule, plain = np.random.default_rng(8), make_rule("guarded"), make_rule("fedavg")
    for number in range(1, 200):
        size = 9 if number > 50 else 7
        here = np.sort(random.choice(size, size - int(random.integers(0, 3)), replace=False))
        counts = np.array([1, 3, 5, 7, 9, 5, 5, 2, 4])[here]
        before = random.normal(size=DIMENSION)
        thetas = before + counts[:, np.newaxis] * (random.normal(size=(len(here), DIMENSION)) / 3 + 0.2)
        given = Updates(thetas, counts, here, before, number)
        assert rule(given).theta.tobytes() == plain(given).theta.tobytes()


def test_it_goes_on_with_the_same_bits_from_the_rounds_it_has_seen():
    """A fresh rule that is given the first 60 rounds again makes the same of the 61st on."""
    whole = play(90, lambda _number: (6,))[1]
    again = make_rule("guarded")
    play(60, lambda _number: (6,), rule=again)
    random = np.random.default_rng(7)
    for number in range(1, 91):
        changes = changes_of(random, (6,), 1.2)
        if number > 60:
            before = np.full(DIMENSION, 0.01 * number)
            made = again(Updates(before + changes, np.full(CLIENTS, 5), np.arange(CLIENTS), before, number))
            assert made.theta.tobytes() == whole[number - 1].theta.tobytes()
            assert made.record("abcdefg") == whole[number - 1].record("abcdefg")


def test_a_shout_is_left_out_at_once():
    """A change a thousand times as long as usual is in no model, not even in the first round."""
    out, told = play(5, lambda _number: (2,), pull=5000.0)
    assert out == [[2]] * 5
    assert [np.flatnonzero(one.groups["wild"]).tolist() for one in told] == [[2]] * 5


def test_half_of_the_clients_are_never_left_out():
    """With as many liars as honest there is no majority: nobody is left out, whatever the statistic says."""
    random, rule = np.random.default_rng(9), make_rule("guarded")
    for number in range(1, 120):
        changes = random.normal(size=(6, DIMENSION))
        changes[3:, 0] += 3.0
        given = Updates(changes, np.ones(6, np.int64), np.arange(6), np.zeros(DIMENSION), number)
        assert 2 * int((~rule(given).used).sum()) < 6


def test_when_only_those_left_out_are_here_the_model_stays():
    """Nobody who is trusted has answered: the model is the one before."""
    rule = make_rule("guarded")
    play(100, lambda _number: (5, 6), rule=rule)
    before = np.arange(6.0)
    aggregate = rule(Updates(before + np.ones((2, 6)), np.ones(2, np.int64), np.array([5, 6]), before, 101))
    assert aggregate.theta.tolist() == before.tolist()
    assert not aggregate.used.any()
