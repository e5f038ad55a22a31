-- Question: What did the users see, client by client?
-- Grain: one row a client: its mean online nDCG@10 over the run.
-- Parameters: none
select client, clicks, avg(value order by round) as online_ndcg_at_10, count(*) as rounds
from metrics
join clients on id = client
where name = 'online_ndcg_at_10'
group by client, clicks
order by online_ndcg_at_10 desc, client
