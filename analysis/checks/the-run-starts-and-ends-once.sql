-- A run starts once, before all else; it ends at most once, with its last model, and then only a resumption goes on.
-- Grain: one row a problem. A run without an end is alive or was killed, which is no offence.
with
    starts as (select seq, row_number() over (order by seq) as place from spoken where event = 'run.started'),
    ends as (
        select finished.round, finished.seq, finished.model, coalesce(min(resumptions.seq), 1::bigint << 62) as resumed
        from (from spoken where event = 'run.finished') as finished
        left join resumptions on resumptions.seq > finished.seq
        group by all
    ),
    lasts as (
        select ends.seq, arg_max(closings.round, closings.seq) as round, arg_max(closings.model, closings.seq) as model
        from ends
        join closings on closings.seq < ends.seq
        group by ends.seq
    )
select null as seq, 'the log has no run.started' as detail
where not exists (from starts) and exists (from spoken)
union all
select seq, 'the run was started again' from starts where place > 1
union all
select starts.seq, 'something was logged before the run was started'
from starts
where place = 1 and seq > (select min(seq) from spoken)
union all
select later.seq, format('{} came after the run had ended', later.event)
from ends
join spoken as later on later.seq > ends.seq and later.seq < ends.resumed
where later.event in ('run.finished', 'round.closed', 'train.sent', 'update.received', 'trial.received')
union all
select ends.seq, format('the run ended with model {}, and its last one is {}', ends.round, lasts.round)
from ends
join lasts using (seq)
where ends.round <> lasts.round or ends.model <> lasts.model
order by seq;
