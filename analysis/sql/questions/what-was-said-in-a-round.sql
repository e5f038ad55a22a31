-- Question: What was said in one round?
-- Grain: one row a message of the round, as the coordinator saw it.
-- Parameters: round = 1
select direction, type, peer, refused
from messages
where round = $round and node = 'coordinator'
order by direction desc, type, peer, seq
