-- Question: How did the users of all clients but one fare?
-- Grain: one row: online performance as the metric `online` defines it, with and without the client.
-- Parameters: client = client-1
with means as (
    select
        round,
        avg(value order by client) as everyone,
        avg(value order by client) filter (client <> $client) as others
    from metrics
    where name = 'online_ndcg_at_10' and phase = 'training'
    group by round
)
select
    sum(pow(0.9995, round - 1) * everyone order by round) as everyone,
    sum(pow(0.9995, round - 1) * others order by round) as others
from means
