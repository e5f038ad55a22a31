-- Question: How long does each host take to answer?
-- Grain: one row a host: seconds from the round's opening to its updates.
-- Parameters: none
-- Timed: yes
select
    host,
    count(*) as answers,
    median(epoch(received - opened)) as median_seconds,
    max(epoch(received - opened)) as slowest_seconds
from updates
join rounds using (round, phase)
where accepted and opened is not null
group by host
order by median_seconds desc
