-- What the checks need of a run's directory, read once: every record, and the weights of accepted updates.
-- Reads: log.everyone. Creates, for one connection: records (a table), weights (a view).
create temp table records as
select
    node, seq, event, round, coalesce(phase, 'training') as phase, name, outcome, model, scenario,
    clients, hosts, participants, missing, peers, waiting, whom, interactions, theta, thetas
from log.everyone;

create temp view weights as
select round, seq, unnest(clients) as client, unnest(interactions) as n, unnest(thetas) as theta
from records
where event = 'update.received';
