-- Question: What crosses the wire?
-- Grain: one row a type of message that was sent.
-- Parameters: none
-- Timed: yes
select type, count(*) as messages, sum(bytes)::bigint as bytes, round(avg(bytes)) as bytes_a_message
from messages
where direction = 'sent'
group by type
order by bytes desc, type
