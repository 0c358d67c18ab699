-- One model call: open (fence, record inputs, hand out what the worker lacks), commit, note a failed attempt.

-- What the session's machine and the gateways offer now: the machine's catalog first, then those of gateways that are online, by name.
create function read_offer(p_machine text) returns text[] language sql stable as $$
  select coalesce(array_agg(catalog_digest order by first), '{}') from (
    select catalog_digest, min(place) as first from (
      select catalog_digest, row_number() over (order by (machine_id = p_machine) desc, name collate "C") as place from machines
      where machine_id = p_machine or (kind = 'gateway' and lease_expires_at > clock_timestamp())
    ) as offer group by catalog_digest
  ) as distinct_offer
$$;

create function to_refreshed_event(p_digests text[]) returns jsonb language sql stable as $$
  select jsonb_build_object('type', 'context', 'change', 'tools-refreshed', 'detail',
    'Tools offered now: ' || coalesce(sum(jsonb_array_length(catalog -> 'tools')), 0))
  from catalogs where digest = any(p_digests)
$$;

create function to_online_event(p_machine text) returns jsonb language sql stable as $$
  select jsonb_build_object('type', 'context', 'change', 'machine-online', 'detail',
    'Machine ' || coalesce((select name from machines where machine_id = p_machine), p_machine) || ' is back')
$$;

create function read_newest_event(p_session text, p_turn text) returns jsonb language sql stable as $$
  select body from events where session_id = p_session and turn_id = p_turn order by seq desc limit 1
$$;

-- People know that the last attempt failed: the newest event of the turn says so, or what the turn waits for.
create function is_retry_noted(p_session text, p_turn text) returns boolean language sql stable as $$
  select coalesce((body ->> 'type' = 'error' and (body -> 'willRetry')::boolean)
    or (body ->> 'type' = 'status' and body ->> 'status' = 'waiting'), false)
  from read_newest_event(p_session, p_turn) as body
$$;

create function to_lost_event(p_attempt integer) returns jsonb language sql stable as $$
  select jsonb_build_object('type', 'error', 'willRetry', true, 'attempt', p_attempt, 'error', jsonb_build_object(
    'code', 'step.retried', 'message', 'The worker that asked the model was lost; another one asks again.'))
$$;

-- A recorded reply, asked for again. Inputs that came along are kept for the next step, and the reply does not end the turn
-- while such inputs or later steps exist: a workflow that lost its own state finds its way back to where the turn is.
create function repeat_reply(s sessions, st steps, p_inputs text[]) returns jsonb language plpgsql as $$
declare
  v_more boolean;
begin
  update inputs set turn_id = st.turn_id
  where session_id = s.session_id and not recorded and turn_id is null and input_id = any(p_inputs);
  v_more := s.running_steps > st.step or exists (
    select from inputs where session_id = s.session_id and not recorded and turn_id = st.turn_id);
  return jsonb_build_object('result', jsonb_build_object('kind', 'committed', 'reply',
    case when v_more then st.reply || '{"endTurn": false}' else st.reply end));
end $$;

-- Records the inputs that no request of any turn has recorded yet; returns their texts in order, the turn's own input first.
create function record_inputs(p_session text, p_turn text, p_inputs text[]) returns setof inputs language plpgsql as $$
declare
  v_unknown text;
begin
  select wanted into v_unknown from unnest(p_inputs) as wanted
  where not exists (select from inputs where session_id = p_session and input_id = wanted) limit 1;
  if found then perform fail('input.invalid', 'the session has no input ' || v_unknown); end if;
  return query
    with taken as (
      update inputs set turn_id = p_turn, recorded = true
      where session_id = p_session and not recorded
        and (turn_id = p_turn or (turn_id is null and input_id = any(p_inputs)))
      returning *
    )
    select * from taken order by input_id <> p_turn, array_position(p_inputs, input_id) nulls last, position;
end $$;

create function open_step(p jsonb) returns jsonb language plpgsql as $$
declare
  s sessions;
  st steps;
  i inputs;
  v_turn text := p ->> 'turnId';
  v_step bigint := (p ->> 'step')::bigint;
  v_inputs text[] := array(select jsonb_array_elements_text(p -> 'inputs'));
  v_status text;
  v_written jsonb := '[]';
  v_events jsonb[] := '{}';
  v_items jsonb[] := '{}';
  v_offer text[];
  v_have bigint;
  v_last integer;
begin
  select * into s from sessions where session_id = p ->> 'sessionId' for update;
  if not found then perform fail('session.unknown'); end if;
  if s.running_turn is distinct from v_turn then
    v_status := read_verdict(s.session_id, v_turn);
    if v_status is not null then
      return jsonb_build_object('result', jsonb_build_object('kind', 'sealed', 'status', v_status));
    end if;
    if s.state = 'closed' then perform fail('session.closed'); end if;
    if v_step <> 1 then perform fail('input.invalid', 'step 1 comes next'); end if;
    if s.running_turn is not null then
      v_written := seal_running(s, '{"kind": "cancelled"}');
      select * into s from sessions where session_id = s.session_id;
    end if;
    v_written := v_written || start_turn(s, v_turn);
    select * into s from sessions where session_id = s.session_id;
  end if;

  select * into st from steps where session_id = s.session_id and turn_id = v_turn and step = v_step;
  if st.state = 'committed' then return repeat_reply(s, st, v_inputs); end if;
  if st.state = 'open' then
    if not is_retry_noted(s.session_id, v_turn) then v_events := v_events || to_lost_event(st.fence); end if;
    update steps set fence = fence + 1
    where session_id = s.session_id and turn_id = v_turn and step = v_step returning * into st;
  else
    if s.open_step > 0 then perform fail('store.calls-open', 'step ' || s.open_step || ' has not ended'); end if;
    if v_step <> s.running_steps + 1 then
      perform fail('input.invalid', 'step ' || (s.running_steps + 1) || ' comes next');
    end if;
    insert into steps (session_id, turn_id, step) values (s.session_id, v_turn, v_step) returning * into st;
    s.running_steps := v_step;
    s.open_step := v_step;
    v_events := v_events || jsonb_build_object('type', 'step', 'step', v_step, 'status', 'started');
  end if;

  if cardinality(v_inputs) > 0 or exists (
    select from inputs where session_id = s.session_id and not recorded and turn_id = v_turn) then
    for i in select * from record_inputs(s.session_id, v_turn, v_inputs) loop
      v_items := v_items || to_user_message(i.text);
      continue when i.input_id = v_turn;
      v_events := v_events || jsonb_build_object('type', 'message_injected', 'inputId', i.input_id, 'text', i.text);
    end loop;
  end if;
  if s.waiting ->> 'reason' = 'machine' then
    v_events := v_events || to_online_event(s.settings ->> 'machineId');
  end if;
  if s.catalogs is null or (p -> 'refreshTools')::boolean then
    v_offer := read_offer(s.settings ->> 'machineId');
    if s.catalogs <> v_offer then v_events := v_events || to_refreshed_event(v_offer); end if;
    s.catalogs := v_offer;
  end if;
  s.waiting := null;
  s.state := case s.state when 'closed' then 'closed' else 'running' end;
  v_last := s.last_item_seq + cardinality(v_items);
  v_have := case when (p #> '{have,epoch}')::bigint = s.epoch and (p #> '{have,seq}')::bigint between 0 and v_last
    then (p #> '{have,seq}')::bigint end;
  v_written := v_written || write_log(s, v_turn, v_events, v_items);
  return jsonb_build_object(
    'events', v_written,
    'result', jsonb_build_object(
      'kind', 'open', 'fence', st.fence, 'ordinal', s.running_ordinal, 'epoch', s.epoch, 'reset', v_have is null,
      'items', (select coalesce(jsonb_agg(jsonb_build_object('seq', seq, 'item', item) order by seq), '[]')
        from items where session_id = s.session_id and seq > coalesce(v_have, 0)),
      'settings', s.settings, 'catalogs', to_jsonb(s.catalogs)));
end $$;

-- The events of a reply's own content: one for each reasoning and assistant item that has text.
create function to_content_event(p_item jsonb, p_step integer) returns jsonb language plpgsql immutable as $$
declare
  v_text text;
begin
  if p_item ->> 'type' = 'reasoning' then
    select string_agg(part ->> 'text', E'\n\n' order by n) into v_text
    from jsonb_array_elements(p_item -> 'summary') with ordinality as summary(part, n);
  elsif p_item ->> 'type' = 'message' and p_item ->> 'role' = 'assistant' then
    select string_agg(part ->> 'text', '' order by n) into v_text
    from jsonb_array_elements(p_item -> 'content') with ordinality as content(part, n);
  end if;
  if coalesce(v_text, '') = '' then return null; end if;
  return jsonb_build_object('type', case p_item ->> 'type' when 'message' then 'text' else 'reasoning' end,
    'step', p_step, 'text', v_text);
end $$;

create function commit_step(p jsonb) returns jsonb language plpgsql as $$
declare
  s sessions;
  st steps;
  v_call_id text;
  v_turn text := p ->> 'turnId';
  v_part jsonb;
  v_event jsonb;
  v_refs jsonb := '[]';
  v_events jsonb[] := '{}';
  v_items jsonb[] := array(select jsonb_array_elements(p -> 'items'));
  v_reply jsonb;
begin
  select * into s from sessions where session_id = p ->> 'sessionId' for update;
  if not found then perform fail('session.unknown'); end if;
  if s.running_turn is distinct from v_turn then
    select jsonb_build_object('kind', 'sealed', 'status', status) into v_reply
    from turns where session_id = s.session_id and turn_id = v_turn;
    if not found then perform fail('store.stale-fence'); end if;
    return jsonb_build_object('result', v_reply);
  end if;
  select * into st from steps where session_id = s.session_id and turn_id = v_turn and step = (p ->> 'step')::bigint;
  if st.state = 'committed' and st.response_id = p ->> 'responseId' then
    return jsonb_build_object('result', st.reply);
  end if;
  if st.state is distinct from 'open' or st.fence <> (p ->> 'fence')::bigint then perform fail('store.stale-fence'); end if;

  foreach v_part in array v_items loop
    continue when v_part ->> 'type' not in ('message', 'reasoning');
    v_event := to_content_event(v_part, st.step);
    if v_event is not null then v_events := v_events || v_event; end if;
  end loop;
  v_events := v_events || jsonb_build_object('type', 'usage', 'step', st.step, 'responseId', p ->> 'responseId',
    'usage', p -> 'usage', 'contextTokens', p -> 'contextTokens');
  for v_part in select jsonb_array_elements(p -> 'calls') loop
    v_call_id := to_call_id(s.running_ordinal, st.step, st.calls);
    insert into calls (session_id, call_id, turn_id, step, index, model_call_id, tool, placement, parallel, form, input)
    values (s.session_id, v_call_id, v_turn, st.step, st.calls, v_part ->> 'modelCallId', v_part ->> 'tool',
      v_part ->> 'placement', (v_part -> 'parallel')::boolean, v_part ->> 'form', v_part ->> 'input');
    st.calls := st.calls + 1;
    v_refs := v_refs || jsonb_build_object('callId', v_call_id, 'tool', v_part -> 'tool',
      'placement', v_part -> 'placement', 'parallel', v_part -> 'parallel');
    v_events := v_events || jsonb_build_object('type', 'tool_call', 'step', st.step, 'callId', v_call_id,
      'tool', v_part -> 'tool', 'input', v_part -> 'input');
  end loop;
  if st.calls = 0 then
    v_events := v_events || jsonb_build_object('type', 'step', 'step', st.step, 'status', 'completed');
    s.open_step := 0;
  end if;
  v_reply := jsonb_build_object('kind', 'reply', 'calls', v_refs, 'contextTokens', p -> 'contextTokens', 'endTurn', p -> 'endTurn');
  update steps set state = 'committed', response_id = p ->> 'responseId', usage = p -> 'usage', reply = v_reply, calls = st.calls
  where session_id = s.session_id and turn_id = v_turn and step = st.step;
  return jsonb_build_object('result', v_reply, 'events', write_log(s, v_turn, v_events, v_items));
end $$;

create function note_failure(p jsonb) returns jsonb language plpgsql as $$
declare
  s sessions := lock_session(p ->> 'sessionId');
  st steps;
  v_event jsonb;
begin
  if s.running_turn is distinct from p ->> 'turnId' then return '{"result": {}}'; end if;
  if not (p -> 'willRetry')::boolean then
    update steps set failure = p -> 'error'
    where session_id = s.session_id and turn_id = p ->> 'turnId' and step = (p ->> 'step')::bigint
      and state = 'open' and fence = (p ->> 'fence')::bigint;
    return '{"result": {}}';
  end if;
  update steps set noted_fence = fence
  where session_id = s.session_id and turn_id = p ->> 'turnId' and step = (p ->> 'step')::bigint
    and state = 'open' and fence = (p ->> 'fence')::bigint and noted_fence < fence
  returning * into st;
  if not found then return '{"result": {}}'; end if;
  if p ? 'waiting' then
    s.waiting := jsonb_build_object('reason', p ->> 'waiting', 'detail', p #>> '{error,message}');
    if s.state <> 'closed' then s.state := 'waiting'; end if;
    v_event := jsonb_build_object('type', 'status', 'status', 'waiting') || s.waiting;
    -- A turn that waits for the same thing again, with nothing in between, says so once.
    if read_newest_event(s.session_id, s.running_turn) = v_event then v_event := null; end if;
  else
    v_event := jsonb_build_object('type', 'error', 'error', p -> 'error', 'willRetry', true, 'attempt', st.fence);
  end if;
  return jsonb_build_object('result', '{}'::jsonb, 'events',
    write_log(s, s.running_turn, array_remove(array[v_event], null), '{}'));
end $$;
