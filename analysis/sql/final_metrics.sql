-- Question: what is the last value of each metric, and of which round is it?
-- Grain: one row a metric; a metric of clients is the mean over them. Parameters: none.
with means as (
    select name, round, avg(value order by client) as value
    from metrics
    where phase = 'training'
    group by name, round
)
select name, max(round) as round, arg_max(value, round) as value
from means
group by name
order by name;
