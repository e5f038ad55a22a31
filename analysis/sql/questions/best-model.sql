-- Question: Which model was the best, and who made it?
-- Grain: one row.
-- Parameters: none
select round, value as ndcg_at_10, participants
from metrics
join rounds using (round, phase)
where name = 'ndcg_at_10'
order by value desc, round
limit 1
