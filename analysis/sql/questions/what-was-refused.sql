-- Question: What was refused, from whom and why?
-- Grain: one row a host and reason.
-- Parameters: none
select host, reason, count(*) as updates, any_value(detail) as example
from updates
where not accepted
group by host, reason
order by updates desc, host, reason
