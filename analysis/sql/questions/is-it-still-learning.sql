-- Question: Is it still learning, or has it settled?
-- Grain: one row a tenth of the run: the mean of nDCG@10, and how much it gained on the tenth before.
-- Parameters: none
with
    measured as (select round, value from metrics where name = 'ndcg_at_10'),
    tenths as (
        select floor(round * 10 / (select max(round) + 1 from measured))::integer + 1 as tenth, round, value
        from measured
    ),
    means as (select tenth, avg(value order by round) as mean, stddev(value) as spread from tenths group by tenth)
select tenth, mean, mean - lag(mean) over (order by tenth) as gain, spread
from means
order by tenth
