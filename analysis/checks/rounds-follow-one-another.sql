-- Rounds are closed in order, 0, 1, 2 and so on, none left out and none twice, however often the run is resumed.
-- Grain: one row a model that does not follow the one before.
select
    seq,
    round,
    if(
        previous is null,
        format('the first model is {}, not 0', round),
        format('model {} was made after model {}', round, previous)
    ) as detail
from (select seq, round, lag(round) over (order by seq) as previous from closings)
where round <> coalesce(previous + 1, 0)
order by seq;
