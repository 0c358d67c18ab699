-- What the tools change that run with the session: plans, goals, questions with answers, and calls that wait for a time.

-- Replies count once; what a cache had is free.
create function count_tokens(p_session text) returns bigint language sql stable as $$
  select coalesce(sum((usage -> 'inputTokens')::bigint - (usage -> 'cachedInputTokens')::bigint + (usage -> 'outputTokens')::bigint), 0)
  from (
    select distinct on (turn_id, response_id) usage from steps
    where session_id = p_session and state = 'committed'
    order by turn_id, response_id, step
  ) as replies
$$;

create function to_goal(g goals) returns jsonb language sql stable as $$
  select jsonb_build_object('objective', g.objective, 'status', g.status,
    'tokensUsed', count_tokens(g.session_id) - g.tokens_before)
    || case when g.token_budget is null then '{}' else jsonb_build_object('tokenBudget', g.token_budget) end
$$;

-- Makes the change and returns the events that tell of it. Needs the lock of the session.
create function apply_effect(p_session text, p_effect jsonb) returns jsonb[] language plpgsql as $$
begin
  case p_effect ->> 'kind'
    when 'plan' then
      return array[jsonb_build_object('type', 'plan') || (p_effect - 'kind')];
    when 'goal-created' then
      insert into goals (session_id, objective, status, token_budget, tokens_before)
      values (p_session, p_effect ->> 'objective', 'active', (p_effect -> 'tokenBudget')::bigint, count_tokens(p_session))
      on conflict (session_id) do update set objective = excluded.objective, status = excluded.status,
        token_budget = excluded.token_budget, tokens_before = excluded.tokens_before, updated_at = clock_timestamp();
    when 'goal-updated' then
      update goals set status = p_effect ->> 'status', updated_at = clock_timestamp() where session_id = p_session;
  end case;
  return '{}';
end $$;

-- The first time that a call was given stays, so that a repeat waits for the same moment; people are told once.
create function park_call(p jsonb) returns jsonb language plpgsql as $$
declare
  s sessions := lock_session(p ->> 'sessionId');
  c calls := read_call(s, p ->> 'callId');
  v_events jsonb[] := '{}';
begin
  if c.fence <> (p ->> 'fence')::bigint or c.state <> 'claimed' then perform fail('store.stale-fence'); end if;
  s.waiting := jsonb_build_object('reason', 'sleep', 'detail', p ->> 'detail');
  if s.state <> 'closed' then s.state := 'waiting'; end if;
  if c.wake_ms is null then
    c.wake_ms := (p -> 'untilMs')::bigint;
    update calls set wake_ms = c.wake_ms where session_id = s.session_id and call_id = c.call_id;
    v_events := array[jsonb_build_object('type', 'status', 'status', 'waiting') || s.waiting];
  end if;
  return jsonb_build_object('events', write_log(s, c.turn_id, v_events, '{}'), 'result', jsonb_build_object(
    'untilMs', c.wake_ms, 'sinceMs', floor(extract(epoch from c.claimed_at) * 1000)::bigint));
end $$;

create function to_approval(a approvals) returns jsonb language sql stable as $$
  select jsonb_strip_nulls(jsonb_build_object('approvalId', a.approval_id, 'sessionId', a.session_id, 'callId', a.call_id,
    'tool', a.tool, 'question', a.question, 'decision', a.decision))
    || case when a.questions is null then '{}' else jsonb_build_object('questions', a.questions) end
    || case when a.answers is null then '{}' else jsonb_build_object('answers', a.answers) end
$$;

-- Why these are not the answers to the questions of an approval that is accepted; null when they are.
create function find_answer_fault(p_questions jsonb, p_answers jsonb) returns text language sql stable as $$
  select case when p_questions is null then
    case when p_answers is not null then 'this approval is a yes-or-no question and takes no answers' end
  else coalesce(
    (select 'the question ' || (asked.question ->> 'id') || ' has no answer; give one with `holdfast answer`'
      from jsonb_array_elements(p_questions) with ordinality as asked(question, n)
      where not coalesce(p_answers, '{}') ? (asked.question ->> 'id') order by n limit 1),
    (select 'there is no question ' || given.id || ' in this approval'
      from jsonb_object_keys(p_answers) as given(id)
      where not p_questions @> jsonb_build_array(jsonb_build_object('id', given.id))
      order by given.id collate "C" limit 1))
  end
$$;
