-- Question: which models were made, and of whom?
-- Grain: one row a closed round of training, in order. Parameters: none.
select round, theta, model, participants
from rounds
where phase = 'training'
order by round;
