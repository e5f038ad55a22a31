-- Question: in which rounds was something out of the ordinary: a node away, or rounds of another phase?
-- Grain: one row a fault of a node (from the round in which it was noticed to the one in which the node was back), or a
-- phase other than training. Parameters: none.
with
    away as (
        from faults
        asof left join (select round as back, closed from rounds) as r on faults.until <= r.closed
        select 'fault' as kind, faults.what, faults.whom, coalesce(faults.round, 0) as first, r.back as last
    ),
    phases as (
        select 'phase' as kind, phase as what, null as whom, min(round) as first, max(round) as last
        from (from rounds select round, phase, round - row_number() over (partition by phase order by round) as spell)
        where phase <> 'training'
        group by phase, spell
    )
from away
union all by name
from phases
order by first, last, what, whom
