-- Every client that was sent a model to learn from answered, was declared missing, or left.
-- Grain: one row a client and a closed round that it was asked in.
select
    asked.round,
    asked.client,
    format('{} was asked in round {}, and is neither in its model nor missing nor gone', asked.client, asked.round) as detail
from asked
join members using (client)
where asked.round in (select round from closings)
    and coalesce(members.until > asked.round, true)
    and (asked.round, asked.client) not in (select (round, client) from accounted)
order by asked.round, members.number;
