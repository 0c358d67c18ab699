-- What every writing function is made of. Expected failures are raised with SQLSTATE HF001 and the failure code as message.

create function fail(p_code text, p_detail text default '') returns void language plpgsql as $$
begin
  raise exception using errcode = 'HF001', message = p_code, detail = p_detail;
end $$;

create function to_iso(p_at timestamptz) returns text language sql stable as $$
  select to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

create function to_session(s sessions) returns jsonb language sql stable as $$
  select jsonb_build_object(
    'sessionId', s.session_id, 'title', s.title, 'state', s.state, 'settings', s.settings, 'turns', s.turns,
    'lastItemSeq', s.last_item_seq, 'lastEventSeq', s.last_event_seq,
    'createdAt', to_iso(s.created_at), 'updatedAt', to_iso(s.updated_at))
    || case when s.running_turn is null then '{}' else jsonb_build_object('runningTurn', s.running_turn) end
$$;

create function to_user_message(p_text text) returns jsonb language sql stable as $$
  select jsonb_build_object('type', 'message', 'role', 'user',
    'content', jsonb_build_array(jsonb_build_object('type', 'input_text', 'text', p_text)))
$$;

-- Takes the lock of the session, so that whatever follows has the session to itself until commit.
create function lock_session(p_session text) returns sessions language plpgsql as $$
declare
  s sessions;
begin
  select * into s from sessions where session_id = p_session for update;
  if not found then perform fail('session.unknown'); end if;
  return s;
end $$;

-- Appends items and events under the next numbers and writes the changed session row back. Needs the lock.
-- Returns one batch of events: the number of the first, what they have in common, and their bodies; the adapter puts them together.
create function write_log(s sessions, p_turn text, p_events jsonb[], p_items jsonb[]) returns jsonb language plpgsql as $$
declare
  v_at timestamptz := clock_timestamp();
  v_items integer := cardinality(p_items);
  v_events integer := cardinality(p_events);
begin
  if v_items > 0 then
    insert into items (session_id, seq, turn_id, item)
    select s.session_id, s.last_item_seq + n, p_turn, p_items[n] from generate_series(1, v_items) as n;
  end if;
  if v_events > 0 then
    insert into events (session_id, seq, turn_id, at, body)
    select s.session_id, s.last_event_seq + n, p_turn, v_at, p_events[n] from generate_series(1, v_events) as n;
  end if;
  update sessions set
    state = s.state, catalogs = s.catalogs, turns = s.turns, running_turn = s.running_turn,
    running_ordinal = s.running_ordinal, running_steps = s.running_steps, open_step = s.open_step, waiting = s.waiting,
    last_item_seq = s.last_item_seq + v_items, last_event_seq = s.last_event_seq + v_events, updated_at = v_at
  where session_id = s.session_id;
  if v_events = 0 then return '[]'; end if;
  return jsonb_build_array(jsonb_build_object(
    'turnId', p_turn, 'at', to_iso(v_at), 'seq', s.last_event_seq + 1, 'bodies', to_jsonb(p_events)));
end $$;

create function to_result_event(c calls) returns jsonb language sql stable as $$
  select jsonb_build_object('type', 'tool_result', 'callId', c.call_id, 'tool', c.tool)
    || (c.output - 'tokens')
$$;

create function to_output_item(c calls) returns jsonb language sql stable as $$
  select jsonb_build_object(
    'type', case c.form when 'function' then 'function_call_output' else 'custom_tool_call_output' end,
    'call_id', c.model_call_id, 'output', c.output ->> 'text')
    || case when c.output ? 'image' then jsonb_build_object('image', c.output -> 'image') else '{}' end
$$;

create function to_call_id(p_ordinal integer, p_step integer, p_index integer) returns text language sql immutable as $$
  select p_ordinal::text || '.' || p_step::text || '.' || p_index::text
$$;

-- The outputs of a step that may become items now: finished, and with nothing unfinished before them.
create function take_outputs(st steps, p_ordinal integer) returns jsonb[] language plpgsql as $$
declare
  c calls;
  v_items jsonb[] := '{}';
begin
  for i in st.recorded .. st.calls - 1 loop
    select * into c from calls
    where session_id = st.session_id and call_id = to_call_id(p_ordinal, st.step, i) and state = 'finished';
    exit when not found;
    v_items := v_items || to_output_item(c);
  end loop;
  return v_items;
end $$;
