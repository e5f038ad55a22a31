-- Question: what else happened in these rounds, and while they went on?
-- Grain: one row a record that is no message, in the order of time. Parameters: first, last, since, until.
select ts, node, event, round, phase, record
from events
where
    (round between $first and $last or (round is null and ts between $since and $until))
    and not regexp_matches(event, '\.(sent|received|refused)$')  -- by its name, so that no message's record is made
    and event not in ('metric.measured', 'node.ready', 'run.started', 'clients.enrolled', 'timeline.performed')
order by ts, node, seq;
