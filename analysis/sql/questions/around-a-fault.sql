-- Question: What happened around a fault?
-- Grain: one row a record within a second of a node's loss.
-- Parameters: none
-- Timed: yes
select events.ts, events.node, events.event, events.round
from events
join faults on events.ts between faults.since - interval 1 second and faults.since + interval 1 second
where faults.what = 'lost'
order by events.ts
