-- A client that left is in no model from the first round without it on.
-- Grain: one row a client and a model.
select
    answers.round,
    client,
    format('{} is in model {}, and round {} is the first without it', client, answers.round, until) as detail
from answers
join members using (client)
where answers.round >= members.until
order by answers.round, number;
