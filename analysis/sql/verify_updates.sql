-- Question: which updates are the models made of?
-- Grain: one row an accepted update of training, by round. Parameters: none.
select round, client, n, theta, norm, online_ndcg_at_10
from updates
where accepted and phase = 'training' and client is not null
order by round;
