-- Question: which updates are to be computed again?
-- Grain: one row an update, drawn by the seed. Parameters: client and round (null: any), seed, limit.
select round, client
from updates
where accepted
    and client = coalesce($client, client)
    and round = coalesce($round, round)
group by round, client
order by md5(concat_ws('/', $seed::varchar, round::varchar, client))
limit $limit;
