"""Who takes part, and on which host."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.load import from_dict
from scenarios.roster import MOST_OWN_PROCESSES, Client, clients, hosts


def scenario_of(groups, **federation):
    """A scenario with these client groups and federation keys."""
    return from_dict({"rounds": 1, "clients": groups, "federation": federation})


def counted(count, **federation):
    """A scenario of `count` like clients."""
    return scenario_of([{"count": count, "clicks": "perfect"}], **federation)


def test_counted_clients_are_numbered_over_all_groups_in_order():
    """Ids count the unnamed clients only; numbers count all of them."""
    pbm = {"kind": "pbm", "eta": 0.5}
    scenario = scenario_of(
        [
            {"count": 2, "clicks": "perfect"},
            {"id": "mallory", "clicks": "poison", "interactions": 9},
            {"count": 1, "clicks": pbm},
        ]
    )
    assert clients(scenario) == (
        Client("client-1", 0, "perfect", 5),
        Client("client-2", 1, "perfect", 5),
        Client("mallory", 2, "poison", 9),
        Client("client-3", 3, pbm, 5),
    )


def test_auto_gives_a_process_a_client_up_to_sixteen_and_one_a_core_beyond():
    """Cross-silo clients live alone under their own name; cross-device clients share the cores."""
    assert list(hosts(counted(MOST_OWN_PROCESSES), cores=2)) == [f"client-{n}" for n in range(1, 17)]
    packed = hosts(counted(MOST_OWN_PROCESSES + 1), cores=2)
    assert {name: len(members) for name, members in packed.items()} == {"host-1": 8, "host-2": 9}


def test_auto_is_one_host_inline():
    """One process needs no packing."""
    assert [len(members) for members in hosts(counted(12, engine="inline"), cores=4).values()] == [12]


def test_hosts_that_hold_one_client_each_are_called_by_it():
    """A number of hosts equal to the number of clients is the same as a process a client."""
    assert hosts(counted(3, hosts=3), cores=1) == hosts(counted(3, hosts="per-client"), cores=1)


@given(count=st.integers(1, 60), wanted=st.integers(1, 60), cores=st.integers(1, 32))
def test_packing_keeps_everyone_once_in_order_and_evenly(count, wanted, cores):
    """Hosts are contiguous pieces of the roster whose sizes differ by at most one."""
    for setting in ("auto", "per-client", min(wanted, count)):
        scenario = counted(count, hosts=setting)
        packed = hosts(scenario, cores)
        assert sum(packed.values(), ()) == clients(scenario)
        sizes = [len(members) for members in packed.values()]
        assert max(sizes) - min(sizes) <= 1
        if isinstance(setting, int):
            assert len(packed) == setting


@pytest.mark.parametrize("cores", [1, 64])
def test_more_cores_than_clients_leave_no_host_empty(cores):
    """A host without a client is never made."""
    assert all(hosts(counted(17), cores).values())
