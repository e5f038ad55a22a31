-- updates: one row a client's update in a round, refused ones too; delta = theta - the model it started from.
-- Reads: log.updates, rounds. The join is dropped by the planner where delta is not asked for, so nothing is read twice.
create or replace view updates as
select
    u.round,
    u.phase,
    u.client,
    u.host,
    u.n,
    u.theta,
    if(u.theta is null, null, list_transform(list_zip(u.theta, before.theta), lambda pair: pair[1] - pair[2])) as delta,
    u.norm,
    u.online_ndcg_at_10,
    u.accepted,
    u.reason,
    u.detail,
    u.received,
    u.seed,
    u.f_plus,
    u.f_minus,
    u.maxrr
from log.updates as u
left join (select round + 1 as round, any_value(theta) as theta from rounds group by all) as before using (round);
