-- The facts that the checks of analysis/checks compare, out of the coordinator's records.
-- Reads: records (see facts_of_journals.sql and facts_of_packed.sql). Creates tables for one connection.
-- After `run.resumed` the open round is opened again, and what was received for it before counts no more.

-- spoken: one row a record of the coordinator.
create temp view spoken as
from records
where node = 'coordinator';

-- steps: one row a client and a round of unlearning that it has a part in; restarts: the rounds that begin unlearning.
create temp table steps as
select distinct round, unnest(clients) as client from spoken where event = 'update.kept';

create temp table restarts as
select distinct round from spoken where event = 'phase.began';

create temp table resumptions as
select seq from spoken where event = 'run.resumed';

-- members: one row a client; `since` is the first round with it, `until` the first without it, null if it never left.
create temp table members as
with
    enrolled as (
        select seq, unnest(clients) as client, unnest(hosts) as host, unnest(range(len(clients))) as place
        from spoken
        where event = 'clients.enrolled'
    ),
    came as (
        select unnest(clients) as client, coalesce(round, 1) as round
        from spoken
        where event in ('clients.enrolled', 'client.added')
    ),
    gone as (select unnest(clients) as client, round from spoken where event = 'client.left')
select
    client,
    row_number() over (order by min((seq, place))) - 1 as number,
    arg_min(host, seq) as host,
    (select min(came.round) from came where came.client = enrolled.client) as since,
    (select min(gone.round) from gone where gone.client = enrolled.client) as until
from enrolled
group by client;

-- closings: one row a model; `began` is the record at which the coordinator that made it had started, -1 the first.
create temp table closings as
select closed.round, closed.seq, coalesce(resumptions.seq, -1) as began, model, participants, missing
from (from spoken where event = 'round.closed') as closed
asof left join resumptions on resumptions.seq <= closed.seq;

-- accounted: one row a client and a model that it is in (`counted`) or missing from.
create temp table accounted as
select round, seq, began, unnest(participants) as client, true as counted from closings
union all
select round, seq, began, unnest(missing), false from closings;

-- receipts: one row a client's update, refused ones too.
create temp table receipts as
select round, seq, unnest(clients) as client, peers[1] as host, event <> 'update.refused' as accepted
from spoken
where event in ('update.received', 'trial.received', 'update.refused');

-- answers: one row a client that is in a model, with the update of it that is: the last that was accepted for it.
create temp table answers as
select
    accounted.round,
    accounted.seq as closed,
    accounted.client,
    count(*) filter (accepted) as times,
    count(*) filter (not accepted) as refusals,
    max(receipts.seq) filter (accepted) as seq,
    arg_max(host, receipts.seq) filter (accepted) as host
from accounted
left join receipts
    on receipts.round = accounted.round
    and receipts.client = accounted.client
    and receipts.seq < accounted.seq
    and receipts.seq > accounted.began
where counted
group by all;

-- asked: one row a client and a question to it; a question without names is to all clients of its hosts.
create temp table asked as
with questions as (select round, clients, unnest(peers) as host from spoken where event = 'train.sent')
select distinct round, unnest(clients) as client from questions where clients is not null
union all
select distinct questions.round, members.client
from questions
join members on members.host = questions.host
where questions.clients is null;
