-- Question: How far does the model move, and is the way straight?
-- Grain: one row a tenth of the run: the length of its path, the distance from its start to its end, their ratio.
-- Parameters: none
with
    models as (select round, theta from rounds),
    steps as (
        select
            floor((after.round - 1) * 10 / (select max(round) from models))::integer + 1 as tenth,
            after.round,
            before.theta as start,
            after.theta as finish,
            list_distance(before.theta, after.theta) as length
        from models as after
        join models as before on before.round = after.round - 1
    )
select
    tenth,
    sum(length order by round) as path,
    list_distance(arg_min(start, round), arg_max(finish, round)) as distance,
    distance / path as straightness
from steps
group by tenth
order by tenth
