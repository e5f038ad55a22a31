-- Noise shares are counted: a model has its clients' shares, all of one number, and those missing are flagged or replaced.
-- Grain: one row a problem of a round with a privacy mechanism.
with
    private as (
        select coalesce(scenario ->> '$.privacy.mechanism', 'none') <> 'none' as mechanism
        from spoken
        where event = 'run.started'
    ),
    told as (
        select
            closings.round,
            closings.seq,
            closings.began,
            closings.participants,
            spoken.privacy is not null as accounted,
            unnest(from_json(spoken.privacy, '{
                "promised": "INTEGER", "received": "INTEGER", "topped_up": "INTEGER", "givers": ["VARCHAR"],
                "discarded": "BOOLEAN"
            }'))
        from closings
        join spoken using (seq)
        where closings.round > 0 and (from private limit 1)
    ),
    short as (select seq, round, promised, received, remedy from spoken where event = 'noise.short'),
    flags as (
        select told.seq, arg_max(short.remedy, short.seq) as remedy
        from told
        join short on short.round = told.round and short.seq between told.began and told.seq
        where short.promised = told.promised and short.received = told.received
        group by told.seq
    ),
    gifts as (
        select seq, round, unnest(clients) as client, peers[1] as host, promised, lacking, givers
        from spoken
        where event = 'shares.received'
    ),
    wanted as (select *, unnest(givers) as giver from told)
select round, seq, format('model {} has no account of its privacy', round) as detail
from told
where not accounted
union all
select round, seq, format('model {} counts {} shares, and has {} clients', round, received, len(participants))
from told
where accounted and if(discarded, len(participants) > 0, received <> len(participants))
union all
select told.round, told.seq, format('{} has one of {} shares in model {} of {}', answers.client, coalesce(spoken.promised, 0), told.round, told.promised)
from told
join answers on answers.closed = told.seq
join spoken on spoken.seq = answers.seq
where coalesce(spoken.promised, 0) <> told.promised
union all
select told.round, told.seq, format('model {} lacks {} of {} shares, and nothing flags it', told.round, promised - received, promised)
from told
left join flags using (seq)
where received < promised and remedy is null
union all
select told.round, told.seq, format('model {} lacks {} of {} shares after a {}', told.round, promised - received - topped_up, promised, remedy)
from told
join flags using (seq)
where not discarded and received + topped_up < promised and remedy <> 'proceed'
union all
select
    wanted.round,
    wanted.seq,
    format('{} is said to have given noise for model {}, and did not', wanted.giver, wanted.round)
from wanted
left join members on members.client = wanted.giver
left join gifts
    on gifts.client = wanted.giver
    and gifts.host = members.host
    and gifts.round = wanted.round
    and gifts.seq between wanted.began and wanted.seq
    and (gifts.promised, gifts.lacking, gifts.givers) = (wanted.promised, wanted.topped_up, len(wanted.givers))
group by all
having count(gifts.seq) = 0 or not list_contains(any_value(wanted.participants), wanted.giver)
order by 2, 3;
