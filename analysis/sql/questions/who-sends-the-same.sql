-- Question: Do two clients send the same model?
-- Grain: one row a pair that ever did: colluding clients often do, honest ones never, as each draws its own queries.
-- Parameters: none
select a.client, b.client as twin, count(*) as rounds
from updates as a
join updates as b on a.round = b.round and a.phase = b.phase and a.client < b.client and a.theta = b.theta
where a.accepted and b.accepted
group by a.client, b.client
order by rounds desc, a.client, twin
