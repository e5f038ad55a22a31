-- Question: what do a run's models give away, and to whom?
-- Grain: one row, of the last round and over all; none without a privacy mechanism. Parameters: none.
select
    max(round) as round,
    arg_max(nominal_basic, round) as nominal_basic,
    arg_max(nominal_advanced, round) as nominal_advanced,
    arg_max(coalesce(epsilon_basic, 'infinity'::double), round) as epsilon_basic,
    arg_max(coalesce(epsilon_advanced, 'infinity'::double), round) as epsilon_advanced,
    arg_max(coalesce(joint_basic, 'infinity'::double), round) as joint_basic,
    arg_max(coalesce(joint_advanced, 'infinity'::double), round) as joint_advanced,
    arg_max(delta_basic, round) as delta_basic,
    arg_max(delta_advanced, round) as delta_advanced,
    max(nominal) as nominal,
    max(coalesce(epsilon, 'infinity'::double)) as epsilon,
    max(coalesce(joint, 'infinity'::double)) as joint,
    max(coalesce(message, 'infinity'::double)) as message,
    count(*) filter (received < promised) as short,
    count(*) filter (topped_up > 0) as topped_up,
    count(*) filter (discarded) as discarded,
    bool_and(equal_weights) as equal_weights
from privacy;
