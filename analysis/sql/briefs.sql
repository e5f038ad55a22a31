-- Question: what did the adversary know when it decided what a client sends?
-- Grain: one row a round and a client that was told what to send, the last time in the round. Parameters: none.
-- `members`, `others` and `size` are null where the client was told that there is no adversary.
with
    told as (
        select seq, event, round, unnest(from_json(record -> '$.clients', '["VARCHAR"]')) as client, record
        from events
        where node = 'coordinator' and event in ('brief.sent', 'instruct.sent')
    ),
    last_word as (
        from told
        where event = 'instruct.sent'
        qualify row_number() over (partition by round, client order by seq desc) = 1
    )
select
    last_word.round,
    last_word.client,
    from_json(arg_max(briefs.record, briefs.seq) -> '$.clients', '["VARCHAR"]') as members,
    from_json(arg_max(briefs.record, briefs.seq) -> '$.others', '["VARCHAR"]') as others,
    (arg_max(briefs.record, briefs.seq) ->> '$.size')::bigint as size
from last_word
left join told as briefs
    on briefs.event = 'brief.sent'
    and briefs.round = last_word.round
    and briefs.client = last_word.client
    and briefs.seq < last_word.seq
    and (last_word.record ->> '$.reason') is null
group by all;
