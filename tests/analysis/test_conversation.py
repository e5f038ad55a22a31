"""What nodes said, and what became of it."""

import shutil

import pytest

from analysis import open_run
from analysis.conversation import conversation, telling_round
from protocol.errors import UserError


def told(talk):
    """The messages in short."""
    return {(one.sender, one.receiver, one.type, one.round, one.fate) for one in talk.messages}


def test_messages_are_put_together_with_their_fates(run):
    """In round 2 host-1 never got the question, an answer came twice and a frame was broken."""
    talk = conversation(run, 2, 2)
    assert talk.nodes == ("coordinator", "host-0", "host-1")
    assert told(talk) == {
        ("coordinator", "host-0", "train", 2, "delivered"),
        ("coordinator", "host-1", "train", 2, "lost"),
        ("host-0", "coordinator", "update", 2, "delivered"),
        ("host-0", "coordinator", "update", 2, "refused"),
        ("host-1", "coordinator", "", None, "refused"),
    }
    delivered = [one for one in talk.messages if one.fate == "delivered"]
    assert all(one.sent < one.received for one in delivered)


def test_happenings_are_told_of_the_node_or_of_all(run):
    """A loss belongs to its node, a closed round to everyone."""
    talk = conversation(run, 2, 2)
    assert [(one.node, one.text, one.bad) for one in talk.happenings] == [
        ("host-1", "lost", True),
        (None, "round 2 closed: model 00000000 from 2 clients", False),
    ]


def test_nodes_may_be_named_by_their_clients(run):
    """Cat lives on host-1; only messages between the named are there."""
    talk = conversation(run, 1, 1, ["cat", "coordinator"])
    assert talk.nodes == ("coordinator", "host-1")
    assert told(talk) == {
        ("coordinator", "host-1", "train", 1, "delivered"),
        ("host-1", "coordinator", "update", 1, "delivered"),
    }
    with pytest.raises(UserError, match="one of coordinator, host-0, host-1, supervisor, or a client; got 'dan'"):
        conversation(run, 1, 1, ["dan"])


def test_joining_belongs_to_the_rounds_that_it_happened_in(run):
    """host-1 came back between rounds 2 and 3."""
    assert ("host-1", "coordinator", "join", None, "delivered") in told(conversation(run, 2, 3))


def test_without_a_nodes_log_its_receipts_are_unseen(played, tmp_path):
    """A file that is missing is no loss."""
    copy = shutil.copytree(played, tmp_path / "run")
    (copy / "journal" / "host-0.jsonl").unlink()
    with open_run(copy) as run:
        talk = conversation(run, 1, 1)
    assert ("coordinator", "host-0", "train", 1, "unseen") in told(talk)
    assert ("host-0", "coordinator", "update", 1, "unseen") in told(talk)
    assert ("coordinator", "host-1", "train", 1, "delivered") in told(talk)


def test_too_much_is_one_sentence(run, monkeypatch):
    """It tells what to name."""
    monkeypatch.setattr("analysis.conversation.MOST", 3)
    with pytest.raises(UserError, match=r"at most 3 records, and rounds 1..3 of 3 nodes have more; name fewer rounds"):
        conversation(run, 1, 3)
    with pytest.raises(UserError, match=r"first not above last; got 3\.\.1"):
        conversation(run, 3, 1)


def test_the_round_that_tells_most(run, tmp_path):
    """That of the first fault; of an empty run the start."""
    assert telling_round(run) == 2
    (tmp_path / "journal").mkdir()
    with open_run(tmp_path) as empty:
        assert telling_round(empty) == 0
        assert conversation(empty, 0, 0).messages == ()
