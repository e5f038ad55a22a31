-- Question: what did these nodes say to each other in these rounds?
-- Grain: one row a message and node that logged it, in the order of time. Parameters: first, last, nodes, limit; messages
-- without a round (joining, for one) belong to it if they were said while these rounds went on.
with
    between_them as (from messages where node in (select unnest($nodes)) and peer in (select unnest($nodes))),
    said as (select min(ts) as since, max(ts) as until from between_them where round between $first and $last),
    made as (select max(closed) as closed from rounds where round between $first and $last),
    bounds as (select since, greatest(until, closed) as until from said, made)
select ts, node, seq, direction, type, peer, round, bytes, id, cause, refused
from between_them, bounds
where round between $first and $last or (round is null and ts between since and until)
order by ts, node, seq, peer
limit $limit;
