-- Every update in a model was received and accepted, once, for that round, from its client's own host.
-- Grain: one row a client and a model that it should not be in like that.
select
    round,
    client,
    case
        when times = 0 then format('{} is in model {}, and no update of it was received', client, round)
        when times > 1 then format('{} updates of {} were accepted for model {}', times, client, round)
        else format('the update of {} in model {} came from {}, not from {}', client, round, answers.host, members.host)
    end as detail
from answers
join members using (client)
where (times = 0 and refusals = 0) or times > 1 or (times = 1 and answers.host is distinct from members.host)
order by closed, number;
