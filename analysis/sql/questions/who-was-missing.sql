-- Question: Who was missing, and when?
-- Grain: one row a client that ever was.
-- Parameters: none
select client, count(*) as rounds_missed, list(round order by round) as which
from (select round, unnest(missing) as client from rounds)
group by client
order by rounds_missed desc, client
