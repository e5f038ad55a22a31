-- Question: how far did the run come, and who was missing on the way?
-- Grain: one row. Parameters: none.
select
    coalesce(max(round), 0) as rounds,
    arg_max(model, round) as model,
    count(*) filter (len(missing) > 0) as rounds_with_missing,
    coalesce(sum(len(missing)), 0)::bigint as updates_missing
from rounds;
