-- Question: Is the log whole?
-- Grain: one row a node: its records, the gaps in their numbers, the lines that are no records.
-- Parameters: none
-- Timed: yes
with
    written as (select node, count(*) as records, max(seq) + 1 - count(distinct seq) as gaps from events group by node),
    broken as (select replace(file, '.jsonl', '') as node, lines as damaged from damage)
select node, coalesce(records, 0) as records, coalesce(gaps, 0) as gaps, coalesce(damaged, 0) as damaged
from written
full join broken using (node)
order by node
