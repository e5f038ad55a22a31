-- The public views over a run's log, and `log.updates` beneath `updates`.
-- Reads: log.coordinator, log.evaluator, log.supervisor, log.trials, log.users, log.everyone, log.lines (see
-- analysis/relations.py).
-- A view reads only the files that can have its events; a packed run holds each of these as a table.

-- run: one row; what was run, and how it ended. The supervisor tells the end that the coordinator could not.
create or replace view run as
with
    resumed as (select max(ts) as ts from log.coordinator where event = 'run.resumed'),
    ends as (
        select ts, outcome, reason, true as own from log.coordinator where event = 'run.finished'
        union all
        select ts, outcome, reason, false from log.supervisor where event = 'run.abandoned'
    )
select
    started.scenario ->> '$.name' as name,
    started.scenario,
    started.scenario_hash,
    started.seed,
    started.versions,
    started.dimension,
    started.engine,
    started.weights,
    started.parent,
    started.ts as started,
    ended.ts as finished,
    ended.outcome,
    ended.reason,
    epoch(ended.ts - started.ts) as seconds
from (from log.coordinator where event = 'run.started' order by seq limit 1) as started
left join (
    from ends
    where ts > (from resumed) or (from resumed) is null
    order by own desc, ts desc
    limit 1
) as ended on true;

-- nodes: one row a process, in the order in which they were started; a node that was restarted has several.
create or replace view nodes as
with
    started as (
        select name, role, pid, ts, seq from log.supervisor where event = 'node.started'
        union all
        select node, role, pid, ts, seq
        from log.everyone
        where event = 'node.ready' and not exists (from log.supervisor where event = 'node.started')
    ),
    exited as (select name, pid, ts, code from log.supervisor where event = 'node.exited'),
    enrolled as (
        select unnest(clients) as client, unnest(hosts) as host
        from log.coordinator
        where event = 'clients.enrolled'
    ),
    hosts as (select host, list(distinct client order by client) as clients from enrolled group by host)
select
    started.name,
    started.role,
    started.pid,
    started.ts as started,
    exited.ts as exited,
    exited.code,
    coalesce(hosts.clients, []) as clients
from started
left join exited using (name, pid)
left join hosts on hosts.host = started.name
order by started.seq;

-- clients: one row a client, in the roster's order; those who were added while the run went on come last.
create or replace view clients as
with
    enrolled as (
        select
            seq,
            unnest(clients) as id,
            unnest(range(len(clients))) as place,
            unnest(hosts) as host,
            unnest(clicks) as clicks,
            unnest(attacks) as attack,
            unnest(interactions) as interactions
        from log.coordinator
        where event = 'clients.enrolled'
    ),
    roster as (from enrolled qualify row_number() over (partition by id order by seq) = 1),
    movements as (
        select event, unnest(clients) as id, ts
        from log.coordinator
        where event in ('client.joined', 'client.left')
    ),
    moved as (
        select
            id,
            min(ts) filter (event = 'client.joined') as joined,
            min(ts) filter (event = 'client.left') as "left"
        from movements
        group by id
    )
select
    roster.id,
    row_number() over (order by roster.seq, roster.place) - 1 as number,
    roster.host,
    roster.clicks,
    nullif(roster.attack, '') as attack,
    roster.interactions,
    moved.joined,
    moved."left"
from roster
left join moved using (id)
order by number;

-- rounds: one row a closed round; round 0 is the start model. A round is open from the first question of it.
create or replace view rounds as
with records as (select coalesce(phase, 'training') as phase, * exclude (phase) from log.coordinator)
select
    round,
    phase,
    any_value(theta) as theta,
    any_value(model) as model,
    any_value(participants) as participants,
    any_value(missing) as missing,
    min(ts) filter (event = 'train.sent') as opened,
    min(ts) filter (event = 'round.closed') as closed,
    any_value(aggregation) as aggregation
from records
where event in ('train.sent', 'round.closed')
group by round, phase
having bool_or(event = 'round.closed');

-- decisions: one row a client's update in a closed round: whether the aggregation rule used it, and what it thought of it.
-- A rule names those it used or those it excluded, whichever are fewer; one that names nobody used everybody.
create or replace view decisions as
with
    told as (
        select
            round,
            phase,
            participants,
            (aggregation -> '$.used') is not null as used,
            from_json(coalesce(aggregation -> '$.used', aggregation -> '$.excluded', '[]'), '["VARCHAR"]') as named,
            from_json(aggregation -> '$.scores', '["DOUBLE"]') as scores
        from rounds
    ),
    rows as (
        select round, phase, used, unnest(participants) as client, unnest(range(len(participants))) as place, scores
        from told
    ),
    named as (select round, phase, unnest(named) as client, true as is_named from told)
select
    rows.round,
    rows.phase,
    rows.client,
    coalesce(named.is_named, false) = rows.used as used,
    rows.scores[rows.place + 1] as score
from rows
left join named using (round, phase, client);

-- log.updates: one row a client's update or trial, without its change of the model, which `updates` adds.
-- What users of a client saw comes with its update, but stays in its host's log where it sends a trial.
create or replace view log.updates as
with
    tried as (
        select
            round,
            coalesce(phase, 'training') as phase,
            unnest(clients) as client,
            peers[1] as host,
            unnest(interactions) as n,
            unnest(seeds) as seed,
            unnest(fitness) as fitness,
            ts,
            seq
        from log.trials
        where event = 'trial.received'
    ),
    shown as (
        select round, unnest(clients) as client, unnest(online) as online, unnest(maxrr) as maxrr
        from log.users
        where event = 'lists.shown'
    ),
    seen as (
        select round, client, any_value(online) as online, any_value(maxrr) as maxrr
        from shown
        group by round, client
    )
select
    round,
    coalesce(phase, 'training') as phase,
    unnest(clients) as client,
    peers[1] as host,
    unnest(interactions) as n,
    unnest(thetas) as theta,
    unnest(norm) as norm,
    unnest(online) as online_ndcg_at_10,
    true as accepted,
    null::varchar as reason,
    null::varchar as detail,
    ts as received,
    seq,
    null::bigint as seed,
    null::double as f_plus,
    null::double as f_minus,
    null::double as maxrr
from log.coordinator
where event = 'update.received'
union all
select
    tried.round,
    tried.phase,
    tried.client,
    tried.host,
    tried.n,
    null,
    null,
    seen.online,
    true,
    null,
    null,
    tried.ts,
    tried.seq,
    tried.seed,
    tried.fitness[1],
    tried.fitness[2],
    seen.maxrr
from tried
left join seen using (round, client)
union all
select
    round,
    coalesce(phase, 'training'),
    unnest(if(len(clients) > 0, clients, [null])),
    peers[1],
    null,
    null,
    null,
    null,
    false,
    reason,
    detail,
    ts,
    seq,
    null,
    null,
    null,
    null
from log.coordinator
where event = 'update.refused';

-- privacy: one row a closed round of a run with a privacy mechanism: its noise, what it cost, and all rounds so far.
create or replace view privacy as
select
    round,
    coalesce(phase, 'training') as phase,
    unnest(from_json(privacy, '{
        "promised": "INTEGER", "received": "INTEGER", "topped_up": "INTEGER", "givers": ["VARCHAR"],
        "discarded": "BOOLEAN", "equal_weights": "BOOLEAN",
        "nominal": "DOUBLE", "epsilon": "DOUBLE", "joint": "DOUBLE", "message": "DOUBLE", "delta": "DOUBLE",
        "nominal_basic": "DOUBLE", "nominal_advanced": "DOUBLE", "epsilon_basic": "DOUBLE", "epsilon_advanced": "DOUBLE",
        "joint_basic": "DOUBLE", "joint_advanced": "DOUBLE", "delta_basic": "DOUBLE", "delta_advanced": "DOUBLE"
    }'))
from log.coordinator
where event = 'round.closed' and privacy is not null;

-- metrics: one row a value; `client` is null for what is measured of the model or of all clients.
-- online = Σ_t γ^(t-1) · mean over clients of their online nDCG@10 in round t, γ = 0.9995. A resumed run may have
-- asked a client twice in one round (its answers are equal): it counts once.
create or replace view metrics as
with
    measured as (
        select coalesce(phase, 'training') as phase, name, unnest(rounds) as round, unnest("values") as value
        from log.evaluator
        where event = 'metric.measured'
    ),
    answers as (
        select round, phase, client, any_value(online_ndcg_at_10) as value, any_value(maxrr) as maxrr
        from log.updates
        where accepted
        group by round, phase, client
    ),
    means as (select round, phase, avg(value order by client) as value from answers group by round, phase)
select round, phase, name, null::varchar as client, any_value(value) as value
from measured
group by round, phase, name
union all
select round, phase, 'online_ndcg_at_10', client, value
from answers
union all
select round, phase, 'maxrr', client, maxrr
from answers
where maxrr is not null
union all
select round, phase, 'epsilon', null, coalesce(epsilon, 'infinity'::double)
from privacy
union all
select round, phase, 'epsilon_total', null, coalesce(epsilon_basic, 'infinity'::double)
from privacy
union all
select round, phase, 'online', null, sum(pow(0.9995, round - 1) * value) over (partition by phase order by round)
from means;

-- messages: one row a message and peer, as the node that wrote it saw it.
create or replace view messages as
select
    ts,
    node,
    seq,
    direction,
    message as type,
    unnest(peers) as peer,
    round,
    bytes,
    id,
    cause,
    if(event in ('frame.refused', 'update.refused'), reason, null) as refused
from log.everyone
where direction is not null;

-- faults: one row a fault of a node: what was done to it and by whom, and what the coordinator noticed.
-- What was done lasts until it is undone; a host is back when it joins again, a silent one also when its answer comes.
create or replace view faults as
with
    noticed as (
        select split_part(event, '.', 2) as what, name as whom, ts, round, clients, null::varchar as detail
        from log.coordinator
        where event in ('client.lost', 'client.silent')
        union all
        select 'crashed', name, ts, round, null, traceback
        from log.supervisor
        where event = 'node.crashed'
    ),
    back as (
        select if(event = 'client.rejoined', name, peers[1]) as whom, ts
        from log.coordinator
        where event in ('client.rejoined', 'update.received', 'trial.received')
    ),
    deeds as (
        select split_part(event, '.', 2) as what, unnest(whom) as whom, ts, round, "by", signal as detail
        from log.supervisor
        where event in ('client.killed', 'client.paused')
    ),
    undone as (
        select if(event = 'client.restarted', 'killed', 'paused') as what, unnest(whom) as whom, ts
        from log.supervisor
        where event in ('client.restarted', 'client.unpaused')
    ),
    weather as (
        select fault, what, unnest(whom) as whom, ts, round, "by", settings::varchar as detail
        from log.supervisor
        where event = 'network.disturbed'
    ),
    healed as (select fault, ts from log.supervisor where event = 'network.healed')
select
    noticed.what,
    noticed.whom,
    noticed.ts as since,
    min(back.ts) as until,
    null::varchar as caused_by,
    noticed.round,
    noticed.clients,
    noticed.detail
from noticed
left join back on back.whom = noticed.whom and back.ts > noticed.ts
group by all
union all
select deeds.what, deeds.whom, deeds.ts, min(undone.ts), deeds."by", deeds.round, null, deeds.detail
from deeds
left join undone on undone.what = deeds.what and undone.whom = deeds.whom and undone.ts > deeds.ts
group by all
union all
select weather.what, weather.whom, weather.ts, min(healed.ts), weather."by", weather.round, null, weather.detail
from weather
left join healed on healed.fault = weather.fault and healed.ts > weather.ts
group by all
order by since;

-- events: every record. `record` is the line as it was written, but for the updates' weights: those are `updates.theta`.
create or replace view events as
select
    make_timestamp(round(common.ts * 1e6)::bigint) as ts,
    common.node,
    common.seq,
    common.event,
    common.round,
    coalesce(common.phase, 'training') as phase,
    common.cause,
    if(common.event = 'update.received', json_merge_patch(line, '{"thetas": null}'), line) as record
from (
    select line, from_json(line, '{"ts": "DOUBLE", "node": "VARCHAR", "seq": "BIGINT", "event": "VARCHAR", "round": "INTEGER", "phase": "VARCHAR", "cause": "VARCHAR"}') as common
    from log.lines
)
where common.event is not null;

-- damage: how many lines of a file are not records; a node that was killed while it wrote leaves one.
create or replace view damage as
select file, count(*) as lines
from log.lines
where line is null or (line ->> '$.event') is null
group by file;
