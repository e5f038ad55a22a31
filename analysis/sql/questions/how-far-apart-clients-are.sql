-- Question: How far apart are the clients' models?
-- Grain: one row a client, in the last round with weights: its distances to the others' models and to the global one.
-- Parameters: none
with last as (
    from updates
    where accepted and theta is not null
    qualify round = max(round) over ()
)
select
    a.client,
    any_value(list_distance(a.theta, rounds.theta)) as to_the_model,
    min(list_distance(a.theta, b.theta)) as to_the_nearest,
    max(list_distance(a.theta, b.theta)) as to_the_farthest
from last as a
join last as b on a.client <> b.client
join rounds on rounds.round = a.round and rounds.phase = a.phase
group by a.client
order by to_the_model desc, a.client
