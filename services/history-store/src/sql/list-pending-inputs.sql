select coalesce(jsonb_agg(pending.input order by pending.position), '[]') as page
from (
  select inputs.position, jsonb_build_object('position', inputs.position, 'sessionId', sessions.session_id,
    'input', jsonb_build_object('inputId', inputs.input_id, 'kind', inputs.kind)) as input
  from sessions join inputs using (session_id)
  where sessions.state <> 'closed'
    and sessions.updated_at <= clock_timestamp() - make_interval(secs => $1::double precision / 1000)
    and (sessions.running_turn is not null or exists (
      select from inputs as waiting where waiting.session_id = sessions.session_id and not waiting.recorded))
    and (inputs.turn_id is null or inputs.turn_id = sessions.running_turn)
    and inputs.position > $2
  order by inputs.position limit $3
) as pending
