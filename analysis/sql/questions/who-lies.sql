-- Question: Who lies?
-- Grain: one row a client, the suspect first: the length of its changes against the others' (1 is usual), and the cosine
--        between them and the step that the model took.
-- Parameters: none
with
    steps as (
        select
            after.round,
            list_transform(list_zip(after.theta, before.theta), lambda pair: pair[1] - pair[2]) as step
        from rounds as after
        join rounds as before on before.round = after.round - 1
    ),
    compared as (
        select
            round,
            client,
            norm / median(norm) over (partition by round) as length,
            list_cosine_similarity(delta, step) as cosine
        from updates
        join steps using (round)
        where accepted and delta is not null
    )
select
    client,
    median(length) as length,
    avg(cosine order by round) filter (not isnan(cosine)) as cosine
from compared
group by client
order by abs(ln(median(length))) desc, cosine, client
