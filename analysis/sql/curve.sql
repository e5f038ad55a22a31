-- Question: how does a metric go over the rounds?
-- Grain: one row a round; a metric of clients is the mean over them. Parameters: metric.
select round, avg(value order by client) as value
from metrics
where name = $metric
group by round
order by round;
