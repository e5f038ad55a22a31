-- What the checks need of a run's directory, read once: every record, without weights.
-- Reads: log.everyone. Creates, for one connection: records (a table).
create temp table records as
select
    node, seq, event, round, coalesce(phase, 'training') as phase, name, outcome, model, scenario,
    clients, hosts, participants, missing, peers, waiting, whom, privacy, promised, received, lacking, givers, remedy
from log.everyone;
