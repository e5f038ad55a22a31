-- What the checks need of a packed run: every record, and the weights of accepted updates.
-- Reads: events, log.updates. Creates, for one connection: records (a table), weights (a view).
create temp table records as
select
    node, seq, event, round, phase,
    unnest(from_json(record, '{
        "name": "VARCHAR", "outcome": "VARCHAR", "model": "VARCHAR", "clients": ["VARCHAR"], "hosts": ["VARCHAR"],
        "participants": ["VARCHAR"], "missing": ["VARCHAR"], "peers": ["VARCHAR"], "waiting": ["VARCHAR"],
        "whom": ["VARCHAR"], "theta": ["DOUBLE"], "scenario": "JSON"
    }'))
from events;

create temp view weights as
select round, seq, client, n, theta
from log.updates
where accepted;
