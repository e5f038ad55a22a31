-- Everyone who takes part in a round is in its model or missing from it, never both; nobody else is.
-- Grain: one row a client and a closed round; a step of unlearning is for those with an update to keep. Those who left are the concern of clients-that-left-stay-away.
with
    expected as (
        select closings.round, closings.seq, client
        from closings
        join members on closings.round >= since and coalesce(closings.round < until, true)
        where closings.round not in (from restarts)
            and (closings.round not in (select round from steps) or (closings.round, client) in (from steps))
    ),
    found as (
        select round, seq, client, count(*) as times, bool_or(counted) as counted, bool_or(not counted) as missing
        from accounted
        join members using (client)
        group by all
    )
select
    coalesce(expected.round, found.round) as round,
    coalesce(expected.client, found.client) as client,
    case
        when found.client is null then 'takes part, and is neither in the model nor missing'
        when expected.client is null and found.counted then 'is in the model before its first round'
        when expected.client is null then 'is called missing, and does not take part'
        when found.counted and found.missing then 'is in the model and missing from it'
        else 'is named ' || times || ' times'
    end as problem,
    format('{} in round {} {}', client, round, problem) as detail
from expected
full join found using (round, seq, client)
join members using (client)
where found.times is null or found.times > 1
    or (expected.client is null and not (found.counted and coalesce(round >= until, false)))
order by round, members.number;
