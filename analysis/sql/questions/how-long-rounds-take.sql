-- Question: How long does a round take, and for whom does it wait?
-- Grain: one row a host that was the last to answer.
-- Parameters: none
-- Timed: yes
with
    durations as (select round, epoch(closed - opened) as seconds from rounds where opened is not null),
    last as (select round, arg_max(host, received) as last_host from updates where accepted group by round)
select
    last_host,
    count(*) as rounds,
    median(seconds) as median_seconds,
    quantile_cont(seconds, 0.99) as slowest_percent
from durations
join last using (round)
group by last_host
order by rounds desc, last_host
