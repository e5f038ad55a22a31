-- Question: What is in the log?
-- Grain: one row an event: how many records, by how many nodes.
-- Parameters: none
-- Timed: yes
select event, count(*) as records, count(distinct node) as nodes
from events
group by event
order by records desc, event
