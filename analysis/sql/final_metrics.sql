-- Question: what is the last value of each metric, and of which round is it?
-- Grain: one row a metric; a metric of clients is the mean over them, and is marked. Parameters: none.
with means as (
    select name, round, avg(value order by client) as value, bool_or(client is not null) as of_clients
    from metrics
    group by name, round
)
select name, max(round) as round, arg_max(value, round) as value, bool_or(of_clients) as of_clients
from means
group by name
order by name;
