-- Question: how did each client fare?
-- Grain: one row a client, in the roster's order. Parameters: limit.
with
    answers as (
        select
            client,
            count(*) filter (accepted) as updates,
            count(*) filter (not accepted) as refused,
            avg(online_ndcg_at_10) filter (accepted) as online,
            median(norm) filter (accepted) as norm
        from updates
        group by client
    ),
    away as (select unnest(missing) as client, count(*) as missed from rounds group by client)
select
    clients.id as client,
    clients.host,
    clients.clicks,
    clients.attack,
    coalesce(answers.updates, 0) as updates,
    coalesce(answers.refused, 0) as refused,
    coalesce(away.missed, 0) as missed,
    answers.online as "online nDCG@10",
    answers.norm as "median change"
from clients
left join answers on answers.client = clients.id
left join away on away.client = clients.id
order by clients.number
limit $limit;
