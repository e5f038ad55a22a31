-- What the checks need of a packed run: every record, without weights.
-- Reads: events. Creates, for one connection: records (a table).
create temp table records as
select
    node, seq, event, round, phase,
    unnest(from_json(record, '{
        "name": "VARCHAR", "outcome": "VARCHAR", "model": "VARCHAR", "clients": ["VARCHAR"], "hosts": ["VARCHAR"],
        "participants": ["VARCHAR"], "missing": ["VARCHAR"], "peers": ["VARCHAR"], "waiting": ["VARCHAR"],
        "whom": ["VARCHAR"], "scenario": "JSON", "privacy": "JSON", "promised": "INTEGER", "received": "INTEGER",
        "lacking": "INTEGER", "givers": "INTEGER", "remedy": "VARCHAR"
    }'))
from events;
