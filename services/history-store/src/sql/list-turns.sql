select coalesce(
  (
    select jsonb_agg(
      jsonb_build_object(
        'turnId', turns.turn_id, 'ordinal', turns.ordinal, 'status', turns.status,
        'steps', (select count(*) from steps where steps.session_id = $1 and steps.turn_id = turns.turn_id),
        'usage', (
          select jsonb_build_object(
            'inputTokens', coalesce(sum((usage -> 'inputTokens')::bigint), 0),
            'cachedInputTokens', coalesce(sum((usage -> 'cachedInputTokens')::bigint), 0),
            'outputTokens', coalesce(sum((usage -> 'outputTokens')::bigint), 0),
            'reasoningOutputTokens', coalesce(sum((usage -> 'reasoningOutputTokens')::bigint), 0))
          from (
            select distinct on (response_id) usage from steps
            where steps.session_id = $1 and steps.turn_id = turns.turn_id and state = 'committed'
            order by response_id, step
          ) as replies
        ),
        'startedAt', to_iso(turns.started_at))
      || case when turns.error is null then '{}' else jsonb_build_object('error', turns.error) end
      || case when turns.ended_at is null then '{}' else jsonb_build_object('endedAt', to_iso(turns.ended_at)) end
      order by turns.ordinal)
    from turns where turns.session_id = $1
  ), '[]') as page
from sessions where session_id = $1
