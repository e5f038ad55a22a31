-- Question: How does nDCG go over the rounds?
-- Grain: one row a hundredth of the run: its mean, lowest and highest nDCG@10.
-- Parameters: none
with measured as (select round, value from metrics where name = 'ndcg_at_10')
select
    min(round) as first_round,
    max(round) as last_round,
    avg(value order by round) as mean,
    min(value) as lowest,
    max(value) as highest
from measured
group by floor(round * 100 / (select max(round) + 1 from measured))
order by first_round
