-- One tool call: pending → (awaiting-approval →) claimed → finished. The claim is the only arbiter of who runs it.

create function read_call(s sessions, p_call text) returns calls language plpgsql as $$
declare
  c calls;
begin
  select * into c from calls where session_id = s.session_id and call_id = p_call;
  if not found then perform fail('call.unknown', p_call); end if;
  return c;
end $$;

create function to_call_detail(s sessions, c calls) returns jsonb language sql stable as $$
  select jsonb_build_object('sessionId', c.session_id, 'turnId', c.turn_id, 'callId', c.call_id,
    'modelCallId', c.model_call_id, 'tool', c.tool, 'form', c.form, 'input', c.input,
    'context', jsonb_strip_nulls(jsonb_build_object('cwd', s.settings -> 'cwd',
      'approvalPolicy', s.settings -> 'approvalPolicy', 'outputStyle', s.settings #> '{model,outputStyle}')))
$$;

create function to_finished(c calls) returns jsonb language sql stable as $$
  select jsonb_build_object('status', c.status, 'outputTokens', c.output -> 'tokens')
$$;

create function claim_call(p jsonb) returns jsonb language plpgsql as $$
declare
  s sessions;
  c calls;
  v_previous jsonb;
  v_result jsonb;
  v_events jsonb[] := '{}';
begin
  select * into s from sessions where session_id = p ->> 'sessionId' for update;
  if not found then perform fail('session.unknown'); end if;
  select * into c from calls where session_id = s.session_id and call_id = p ->> 'callId';
  if not found then perform fail('call.unknown', p ->> 'callId'); end if;
  if s.running_turn is distinct from c.turn_id then return '{"result": {"kind": "sealed"}}'; end if;
  if c.state = 'finished' then
    return jsonb_build_object('result', jsonb_build_object('kind', 'finished') || to_finished(c));
  elsif c.state = 'awaiting-approval' then
    return jsonb_build_object('result', jsonb_build_object('kind', 'awaiting-approval', 'approvalId', 'ap_' || c.call_id));
  end if;
  v_previous := jsonb_build_object('machineId', c.machine_id, 'bootId', c.boot_id);
  update calls set state = 'claimed', fence = fence + 1, machine_id = p ->> 'machineId', boot_id = p ->> 'bootId',
    claimed_at = case c.state when 'claimed' then claimed_at else clock_timestamp() end
  where session_id = s.session_id and call_id = c.call_id;
  if c.state = 'claimed' then
    v_result := jsonb_build_object('kind', 'resolve', 'fence', c.fence + 1, 'call', to_call_detail(s, c), 'previous', v_previous);
  else
    v_result := jsonb_build_object('kind', 'run', 'fence', c.fence + 1, 'call', to_call_detail(s, c), 'approval',
      case when exists (select from approvals where session_id = s.session_id and approval_id = 'ap_' || c.call_id
        and decision = 'accept') then 'accepted' else 'none' end);
  end if;
  if s.state = 'waiting' and (s.waiting ->> 'reason' is distinct from 'machine' or c.placement = 'machine') then
    if s.waiting ->> 'reason' = 'machine' then v_events := array[to_online_event(p ->> 'machineId')]; end if;
    s.state := 'running';
    s.waiting := null;
    return jsonb_build_object('result', v_result, 'events', write_log(s, c.turn_id, v_events, '{}'));
  end if;
  return jsonb_build_object('result', v_result);
end $$;

-- Ends an open call: its result is told at once, its output becomes an item as soon as those before it have. `p_before` goes first.
create function end_call(s sessions, c calls, p_output jsonb, p_fence integer, p_before jsonb[]) returns jsonb language plpgsql as $$
declare
  st steps;
  v_events jsonb[];
  v_items jsonb[];
begin
  update calls set state = 'finished', status = p_output ->> 'status', output = p_output, fence = p_fence
  where session_id = s.session_id and call_id = c.call_id returning * into c;
  update steps set finished = finished + 1, recorded = case calls when 1 then 1 else recorded end
  where session_id = s.session_id and turn_id = c.turn_id and step = c.step returning * into st;
  if st.calls = 1 then
    v_items := array[to_output_item(c)];
  else
    v_items := take_outputs(st, s.running_ordinal);
    update steps set recorded = recorded + cardinality(v_items)
    where session_id = s.session_id and turn_id = c.turn_id and step = c.step and cardinality(v_items) > 0;
  end if;
  v_events := p_before || to_result_event(c);
  if st.finished = st.calls then
    v_events := v_events || jsonb_build_object('type', 'step', 'step', st.step, 'status', 'completed');
    s.open_step := 0;
  end if;
  return jsonb_build_object('result', to_finished(c), 'events', write_log(s, c.turn_id, v_events, v_items));
end $$;

create function finish_call(p jsonb) returns jsonb language plpgsql as $$
declare
  s sessions;
  c calls;
begin
  select * into s from sessions where session_id = p ->> 'sessionId' for update;
  if not found then perform fail('session.unknown'); end if;
  select * into c from calls where session_id = s.session_id and call_id = p ->> 'callId';
  if not found then perform fail('call.unknown', p ->> 'callId'); end if;
  if c.fence <> (p ->> 'fence')::bigint then perform fail('store.stale-fence'); end if;
  if c.state = 'finished' then return jsonb_build_object('result', to_finished(c)); end if;
  if c.state <> 'claimed' then perform fail('store.stale-fence'); end if;
  return end_call(s, c, p -> 'output', c.fence, '{}');
end $$;

-- Takes the claim away from whoever holds it.
create function settle_call(p jsonb) returns jsonb language plpgsql as $$
declare
  s sessions := lock_session(p ->> 'sessionId');
  c calls := read_call(s, p ->> 'callId');
begin
  if c.state = 'finished' then return jsonb_build_object('result', to_finished(c)); end if;
  if s.state <> 'closed' then s.state := 'running'; end if;
  s.waiting := null;
  return end_call(s, c, p -> 'output', c.fence + 1, '{}');
end $$;

create function ask_approval(p jsonb) returns jsonb language plpgsql as $$
declare
  s sessions := lock_session(p ->> 'sessionId');
  c calls := read_call(s, p ->> 'callId');
  a approvals;
  v_id text := 'ap_' || c.call_id;
  v_result jsonb := jsonb_build_object('result', jsonb_build_object('approvalId', v_id));
begin
  if c.fence <> (p ->> 'fence')::bigint or c.state = 'finished' then perform fail('store.stale-fence'); end if;
  if c.state <> 'claimed' then return v_result; end if;
  select * into a from approvals where session_id = s.session_id and approval_id = v_id;
  update calls set state = case when a.decision is null then 'awaiting-approval' else 'pending' end
  where session_id = s.session_id and call_id = c.call_id;
  if a.approval_id is not null then return v_result; end if;
  insert into approvals (session_id, approval_id, call_id, tool, question)
  values (s.session_id, v_id, c.call_id, c.tool, p ->> 'question');
  s.state := 'waiting';
  return v_result || jsonb_build_object('events', write_log(s, c.turn_id, array[jsonb_build_object('type', 'approval',
    'status', 'requested', 'approvalId', v_id, 'callId', c.call_id, 'tool', c.tool, 'question', p ->> 'question')], '{}'));
end $$;

create function decide_approval(p jsonb) returns jsonb language plpgsql as $$
declare
  s sessions := lock_session(p ->> 'sessionId');
  a approvals;
  c calls;
  v_result jsonb;
  v_event jsonb;
  v_text text := 'The person declined this call, so it was not run. Do not try it again in another way; go on without it or ask what to do.';
begin
  select * into a from approvals where session_id = s.session_id and approval_id = p ->> 'approvalId';
  if not found then perform fail('approval.unknown'); end if;
  v_result := jsonb_build_object('approvalId', a.approval_id, 'sessionId', a.session_id, 'callId', a.call_id,
    'tool', a.tool, 'question', a.question, 'decision', p ->> 'decision');
  if a.decision = p ->> 'decision' then return jsonb_build_object('result', v_result); end if;
  if a.decision is not null then perform fail('approval.decided', a.decision); end if;
  c := read_call(s, a.call_id);
  if c.state <> 'awaiting-approval' then perform fail('approval.unknown'); end if;
  update approvals set decision = p ->> 'decision', decided_at = clock_timestamp()
  where session_id = s.session_id and approval_id = a.approval_id;
  v_event := jsonb_build_object('type', 'approval', 'status', 'resolved', 'approvalId', a.approval_id,
    'callId', a.call_id, 'decision', p ->> 'decision');
  s.state := 'running';
  if s.waiting ->> 'reason' = 'approval' then s.waiting := null; end if;
  if p ->> 'decision' = 'decline' then
    return end_call(s, c, jsonb_build_object('status', 'denied', 'text', v_text, 'tokens', (length(v_text) + 3) / 4,
      'durationMs', 0), c.fence + 1, array[v_event]) || jsonb_build_object('result', v_result);
  end if;
  update calls set state = 'pending' where session_id = s.session_id and call_id = c.call_id;
  return jsonb_build_object('result', v_result, 'events', write_log(s, c.turn_id, array[v_event], '{}'));
end $$;

create function append_progress(p jsonb) returns jsonb language plpgsql as $$
declare
  s sessions := lock_session(p ->> 'sessionId');
  c calls := read_call(s, p ->> 'callId');
  v_event jsonb := jsonb_build_object('type', 'mcp_progress') || (p - 'sessionId' - 'fence');
begin
  if c.state <> 'claimed' or c.fence <> (p ->> 'fence')::bigint or c.progress = v_event then return '{"result": {}}'; end if;
  update calls set progress = v_event where session_id = s.session_id and call_id = c.call_id;
  return jsonb_build_object('result', '{}'::jsonb, 'events', write_log(s, c.turn_id, array[v_event], '{}'));
end $$;
