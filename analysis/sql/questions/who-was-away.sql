-- Question: Which nodes failed, and for how long?
-- Grain: one row a fault.
-- Parameters: none
-- Timed: yes
select whom, what, round, since, epoch(until - since) as seconds, clients
from faults
order by since
