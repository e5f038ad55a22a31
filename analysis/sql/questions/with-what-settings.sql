-- Question: With what settings was this made?
-- Grain: one row.
-- Parameters: none
select
    name,
    seed,
    (scenario ->> '$.rounds')::integer as rounds,
    scenario ->> '$.learner.kind' as learner,
    scenario ->> '$.aggregation.rule' as aggregation,
    scenario ->> '$.data.source' as data,
    dimension,
    weights,
    outcome
from run
