-- Question: how long were the updates that are in the models?
-- Grain: one row a client and a round whose model it is in, 0 where the log has no length. Parameters: last.
with
    models as (select round, unnest(participants) as client from rounds where round <= $last),
    told as (select round, client, any_value(norm) as norm from updates where accepted group by round, client)
select models.round, models.client, coalesce(told.norm, 0) as norm
from models
left join told using (round, client)
order by models.round;
