-- An update that was refused is in no model.
-- Grain: one row a client and a model for which only refused updates of it came.
select round, client, format('{} is in model {}, and its update was refused', client, round) as detail
from answers
where times = 0 and refusals > 0
order by closed, client;
