"""The bits of one small run, pinned: what changes them changes every run that anybody has logged."""

import hashlib

import numpy as np
import pytest

from learning.aggregation import Updates, make_rule
from learning.clicks import click_model
from learning.data.dataset import Queries
from learning.learners import Cohort, Pdgd
from learning.metrics import OfflineEvaluator
from learning.rankers import make_ranker
from learning.streams import Purpose, client_key, stream


def digest(array):
    """The first hexadecimal digits of the SHA-256 of an array's bytes."""
    return hashlib.sha256(array.tobytes()).hexdigest()[:16]


@pytest.mark.parametrize(
    ("kind", "update", "model", "online", "ndcg"),
    [
        ("linear", "interaction", "5ab77cebcdf22acc", "3023adc59fed9bb6", "343dfb7575d5c9ae"),
        ("linear", "batch", "7cbda36a1f28a6bf", "5ca0e0bb8e9c4f0d", "2e9ad112ecd5946c"),
        ("neural", "interaction", "9f8fbd6ef289bbf5", "bac598bc8ee2ce43", "ef02d589c0a2795b"),
    ],
)
def test_a_run_has_the_same_bits_on_every_machine(kind, update, model, online, ndcg):
    """Five rounds of eight clients: the final model, the last online nDCGs and the offline nDCGs, byte for byte."""
    draws = stream(1, Purpose.SYNTHETIC)
    sizes = (draws.random(30) * 50).astype(np.int64)
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    features = draws.random((offsets[-1], 46)) * 2 - 1
    labels = (draws.random(offsets[-1]) * 3).astype(np.int8)
    queries = Queries(features, labels, offsets)
    users = ["perfect", "navigational", "informational", {"kind": "pbm", "eta": 0.5}]
    cohort = Cohort(
        np.array([client_key(f"client-{i}") for i in range(8)], dtype=np.uint64),
        np.arange(1, 9),
        [click_model(users[i % 4], 3) for i in range(8)],
    )
    ranker, rule = make_ranker(kind, 46), make_rule("fedavg")
    learner = Pdgd(ranker, queries, cohort, seed=7, update=update)
    theta = draws.random(ranker.dimension) - 0.5
    models = []
    for round_ in range(5):
        updates = learner.train(theta, round_)
        theta = rule(Updates(updates.thetas, updates.interactions, np.arange(8), theta, round_ + 1)).theta
        models.append(theta)
    values = OfflineEvaluator(queries, ranker).ndcg(np.array(models))
    assert (digest(theta), digest(updates.online), digest(values)) == (model, online, ndcg)
