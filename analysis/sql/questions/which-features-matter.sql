-- Question: Which features does the final model weigh most?
-- Grain: one row a weight, the ten largest; for a linear ranker, weight i belongs to feature i.
-- Parameters: none
with final as (select theta from rounds order by round desc limit 1)
select unnest(range(1, len(theta) + 1)) as feature, unnest(theta) as weight
from final
order by abs(weight) desc, feature
limit 10
