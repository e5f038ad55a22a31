-- Question: Which messages were sent and never received?
-- Grain: one row a sender, a receiver and a type. Only a receiver with a log of its own can tell.
-- Parameters: none
with
    sent as (select node as sender, peer as receiver, type, id from messages where direction = 'sent'),
    received as (select peer as sender, node as receiver, type, id from messages where direction = 'received'),
    writers as (select distinct node from messages)
select sender, receiver, type, count(*) as messages, list(id order by id)[:5] as first_ids
from sent
anti join received using (sender, receiver, type, id)
where receiver in (from writers)
group by sender, receiver, type
order by messages desc, sender, receiver, type
