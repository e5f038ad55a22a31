-- Question: Whose work is not in the models, and why?
-- Grain: one row a client and reason: excluded (by the aggregation rule), missing (its update never came in time), or the
--        code under which one was refused.
-- Parameters: none
with
    away as (select round, unnest(missing) as client, 'missing' as reason from rounds),
    refused as (select round, client, reason from updates where not accepted),
    excluded as (select round, client, 'excluded' as reason from decisions where not used)
select client, reason, count(*) as times, min(round) as first_round, max(round) as last_round
from (from away union all by name from refused union all by name from excluded)
group by client, reason
order by times desc, client, reason
