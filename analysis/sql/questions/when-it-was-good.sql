-- Question: After how many rounds was it nearly as good as it ever got?
-- Grain: one row a share of the best nDCG@10.
-- Parameters: none
with measured as (select round, value from metrics where name = 'ndcg_at_10')
select share, min(round) as first_round, any_value(best) as best
from measured, (select max(value) as best from measured), (select unnest([0.8, 0.9, 0.95, 0.99]) as share)
where value >= share * best
group by share
order by share
