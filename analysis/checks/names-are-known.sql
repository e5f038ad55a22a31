-- No event names a client that was never enrolled, or a node that was neither enrolled nor started.
-- Grain: one row a name and the field and event that it is in. Whoever sent what was refused
-- may call itself anything, and whom a run forgets that is the unlearning of another was never enrolled in it.
with
    nodes as (
        select distinct host as name from members
        union
        select name from records where event = 'node.started'
        union
        values ('coordinator'), ('supervisor'), ('evaluator'), ('adversary'), ('operator')
    ),
    told as (
        from records
        where event not in ('frame.refused', 'update.refused', 'order.received', 'phase.began', 'client.forgotten')
    ),
    mentions as (
        select 'client' as kind, event, 'clients' as field, unnest(clients) as name from told
        union all
        select 'client', event, 'participants', unnest(participants) from told
        union all
        select 'client', event, 'missing', unnest(missing) from told
        union all
        select 'node', event, 'name', name from told where name is not null and event <> 'metric.measured'
        union all
        select 'node', event, 'peers', unnest(peers) from told
        union all
        select 'node', event, 'hosts', unnest(hosts) from told
        union all
        select 'node', event, 'waiting', unnest(waiting) from told
        union all
        select 'node', event, 'whom', unnest(whom) from told
    )
select
    kind,
    mentions.name,
    event,
    field,
    count(*) as times,
    format('{} names the {} {} as one of its {}, and the run has none of that name', event, kind, mentions.name, field) as detail
from mentions
where not (kind = 'client' and mentions.name in (select client from members))
    and not (kind = 'node' and mentions.name in (select name from nodes))
    and not (field = 'whom' and mentions.name in (select client from members))
group by all
order by event, field, mentions.name;
