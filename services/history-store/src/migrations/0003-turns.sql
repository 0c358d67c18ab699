-- The beginning and the end of a turn.

-- Ends the running turn: every open call gets an output, the open step is closed, the terminal status is written.
create function seal_running(s sessions, p_end jsonb) returns jsonb language plpgsql as $$
declare
  st steps;
  c calls;
  v_turn text := s.running_turn;
  v_kind text := p_end ->> 'kind';
  v_events jsonb[] := '{}';
  v_items jsonb[] := '{}';
  v_elapsed integer;
  v_text text;
begin
  if s.open_step > 0 then
    select * into st from steps where session_id = s.session_id and turn_id = v_turn and step = s.open_step;
    if st.failure ->> 'code' = p_end #>> '{error,code}' then p_end := p_end || jsonb_build_object('error', st.failure); end if;
    for i in 0 .. st.calls - 1 loop
      select * into c from calls
      where session_id = s.session_id and call_id = to_call_id(s.running_ordinal, st.step, i);
      continue when c.state = 'finished';
      v_elapsed := case when c.state = 'claimed' then floor(extract(epoch from clock_timestamp() - c.claimed_at) * 1000) else 0 end;
      v_text := case when c.state = 'claimed' and v_kind = 'cancelled'
        then 'aborted by user after ' || to_char(v_elapsed / 1000.0, 'FM9999999990.0') || 's' else 'aborted' end;
      update calls set state = 'finished', status = 'aborted', fence = fence + 1, output = jsonb_build_object(
        'status', 'aborted', 'text', v_text, 'tokens', (length(v_text) + 3) / 4, 'durationMs', v_elapsed)
      where session_id = s.session_id and call_id = c.call_id returning * into c;
      v_events := v_events || to_result_event(c);
    end loop;
    v_items := take_outputs(st, s.running_ordinal);
    update steps set finished = calls, recorded = calls
    where session_id = s.session_id and turn_id = v_turn and step = st.step;
    v_events := v_events || jsonb_build_object('type', 'step', 'step', st.step, 'status', 'completed');
  end if;
  if v_kind = 'cancelled' then v_items := v_items || to_aborted_message(); end if;
  v_events := v_events || to_terminal_event(p_end);
  update turns set status = v_kind, error = p_end -> 'error', ended_at = clock_timestamp()
  where session_id = s.session_id and turn_id = v_turn;
  update inputs set turn_id = null where session_id = s.session_id and turn_id = v_turn and not recorded;
  s.running_turn := null;
  s.running_ordinal := null;
  s.running_steps := 0;
  s.open_step := 0;
  s.waiting := null;
  s.state := case s.state when 'closed' then 'closed' else 'idle' end;
  return write_log(s, v_turn, v_events, v_items);
end $$;

create function to_terminal_event(p_end jsonb) returns jsonb language sql stable as $$
  select jsonb_build_object('type', 'status', 'status', p_end ->> 'kind')
    || case when p_end ? 'error' then jsonb_build_object('error', p_end -> 'error') else '{}' end
$$;

create function to_aborted_message() returns jsonb language sql stable as $$
  select to_user_message('<turn_aborted>The person interrupted this turn. Tools that were running may have done a part of their work; look at the current state before going on.</turn_aborted>')
$$;

create function to_starting_event(p_ordinal integer, i inputs) returns jsonb language sql stable as $$
  select jsonb_build_object('type', 'status', 'status', 'starting', 'ordinal', p_ordinal,
    'input', jsonb_build_object('inputId', i.input_id, 'text', i.text))
$$;

-- The status of a turn that cannot run any more: it has ended, or another turn consumed its input. Null when it may start.
create function read_verdict(p_session text, p_turn text) returns text language plpgsql as $$
declare
  i inputs;
  v_status text;
begin
  select * into i from inputs where session_id = p_session and input_id = p_turn;
  if not found then perform fail('input.invalid', 'the session has no input ' || p_turn); end if;
  if i.turn_id is null then return null; end if;
  select status into v_status from turns where session_id = p_session and turn_id = i.turn_id;
  return case v_status when 'running' then 'completed' else v_status end;
end $$;

create function start_turn(s sessions, p_turn text) returns jsonb language plpgsql as $$
declare
  i inputs;
begin
  update inputs set turn_id = p_turn where session_id = s.session_id and input_id = p_turn returning * into i;
  s.turns := s.turns + 1;
  s.running_turn := p_turn;
  s.running_ordinal := s.turns;
  s.state := 'running';
  insert into turns (session_id, turn_id, ordinal) values (s.session_id, p_turn, s.turns);
  return write_log(s, p_turn, array[to_starting_event(s.turns, i)], '{}');
end $$;

-- A turn that ends before its first step. While another turn runs, the model learns nothing of it, so that no item gets between
-- the calls of that turn and their outputs.
create function seal_unstarted(s sessions, p_turn text, p_end jsonb) returns jsonb language plpgsql as $$
declare
  i inputs;
  v_kind text := p_end ->> 'kind';
  v_items jsonb[] := '{}';
begin
  update inputs set turn_id = p_turn, recorded = true
  where session_id = s.session_id and input_id = p_turn returning * into i;
  s.turns := s.turns + 1;
  insert into turns (session_id, turn_id, ordinal, status, error, ended_at)
  values (s.session_id, p_turn, s.turns, v_kind, p_end -> 'error', clock_timestamp());
  if s.running_turn is null then
    v_items := array[to_user_message(i.text)];
    if v_kind = 'cancelled' then v_items := v_items || to_aborted_message(); end if;
  end if;
  return write_log(s, p_turn, array[to_starting_event(s.turns, i), to_terminal_event(p_end)], v_items);
end $$;

create function seal_turn(p jsonb) returns jsonb language plpgsql as $$
declare
  s sessions := lock_session(p ->> 'sessionId');
  v_turn text := p ->> 'turnId';
  v_end jsonb := p -> 'end';
  v_status text := v_end ->> 'kind';
  v_decided text;
  v_events jsonb;
begin
  if s.running_turn = v_turn then
    v_events := seal_running(s, v_end);
  else
    v_decided := read_verdict(s.session_id, v_turn);
    if v_decided is not null then return jsonb_build_object('result', jsonb_build_object('status', v_decided)); end if;
    v_events := seal_unstarted(s, v_turn, v_end);
  end if;
  return jsonb_build_object('result', jsonb_build_object('status', v_status), 'events', v_events);
end $$;

create function note_waiting(p jsonb) returns jsonb language plpgsql as $$
declare
  s sessions := lock_session(p ->> 'sessionId');
  v_waiting jsonb := jsonb_build_object('reason', p ->> 'reason', 'detail', p ->> 'detail');
begin
  if s.running_turn is distinct from p ->> 'turnId' or s.waiting = v_waiting then return '{"result": {}}'; end if;
  s.waiting := v_waiting;
  if s.state <> 'closed' then s.state := 'waiting'; end if;
  return jsonb_build_object('result', '{}'::jsonb, 'events', write_log(s, s.running_turn,
    array[jsonb_build_object('type', 'status', 'status', 'waiting') || v_waiting], '{}'));
end $$;

create function close_session(p jsonb) returns jsonb language plpgsql as $$
declare
  s sessions := lock_session(p ->> 'sessionId');
  v_events jsonb := '[]';
begin
  if s.running_turn is not null then v_events := seal_running(s, '{"kind": "cancelled"}'); end if;
  update sessions set state = 'closed', updated_at = clock_timestamp()
  where session_id = s.session_id and state <> 'closed';
  select * into s from sessions where session_id = s.session_id;
  return jsonb_build_object('result', to_session(s), 'events', v_events);
end $$;

create function create_session(p jsonb) returns jsonb language plpgsql as $$
declare
  s sessions;
begin
  select * into s from sessions where session_id = p ->> 'sessionId';
  if not found then
    perform from machines where machine_id = p #>> '{settings,machineId}';
    if not found then perform fail('machine.unknown', p #>> '{settings,machineId}'); end if;
    insert into sessions (session_id, title, settings, last_item_seq)
    values (p ->> 'sessionId', p ->> 'title', p -> 'settings', jsonb_array_length(p -> 'context'))
    on conflict do nothing returning * into s;
    if found then
      insert into items (session_id, seq, item)
      select s.session_id, n, item from jsonb_array_elements(p -> 'context') with ordinality as context(item, n);
    else
      select * into s from sessions where session_id = p ->> 'sessionId';
    end if;
  end if;
  return jsonb_build_object('result', to_session(s));
end $$;

create function add_input(p jsonb) returns jsonb language plpgsql as $$
declare
  s sessions := lock_session(p ->> 'sessionId');
begin
  perform from inputs where session_id = s.session_id and input_id = p #>> '{input,inputId}';
  if found then return '{"result": {"duplicate": true}}'; end if;
  if s.state = 'closed' then perform fail('session.closed'); end if;
  insert into inputs (session_id, input_id, kind, text)
  values (s.session_id, p #>> '{input,inputId}', p #>> '{input,kind}', p #>> '{input,text}');
  update sessions set updated_at = clock_timestamp() where session_id = s.session_id;
  return '{"result": {"duplicate": false}}';
end $$;
