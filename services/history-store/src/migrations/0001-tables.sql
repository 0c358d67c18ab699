-- The truth: two append-only logs per session (items, events) and the state machines of steps and calls.
-- The session row is the lock of everything in the session and holds what the hot path needs of the running turn.
-- Rows of the hot path (steps, calls, items, events) have no foreign key: their writers hold the lock of the session, and the
-- check of each row would cost more than the row.

create table machines (
  machine_id text primary key,
  kind text not null check (kind in ('machine', 'gateway')),
  name text not null unique,
  boot_id text not null,
  catalog_digest text not null,
  capabilities jsonb not null,
  lease_expires_at timestamptz not null,
  last_seen_at timestamptz not null
);

create table catalogs (
  digest text primary key,
  catalog jsonb not null
);

create table sessions (
  session_id text primary key,
  title text not null,
  state text not null default 'idle' check (state in ('idle', 'running', 'waiting', 'closed')),
  settings jsonb not null,
  -- Digests frozen at the first step; null until then.
  catalogs text[],
  epoch integer not null default 0,
  turns integer not null default 0,
  running_turn text,
  running_ordinal integer,
  -- Steps that the running turn has started, and the one of them that has not ended (0: none).
  running_steps integer not null default 0,
  open_step integer not null default 0,
  -- {reason, detail} of the last status:waiting; null once the turn went on.
  waiting jsonb,
  last_item_seq integer not null default 0,
  last_event_seq integer not null default 0,
  -- Every event up to here has been handed to the event stream.
  published_seq integer not null default 0,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp()
) with (fillfactor = 50);

create table inputs (
  session_id text not null references sessions,
  input_id text not null,
  position bigint generated always as identity,
  kind text not null check (kind in ('prompt', 'steer')),
  text text not null,
  -- The turn that consumed it; `recorded` once the model can see it.
  turn_id text,
  recorded boolean not null default false,
  created_at timestamptz not null default clock_timestamp(),
  primary key (session_id, input_id)
);
create index inputs_unrecorded on inputs (session_id) where not recorded;

create table turns (
  session_id text not null references sessions,
  turn_id text not null,
  ordinal integer not null,
  status text not null default 'running' check (status in ('running', 'completed', 'error', 'cancelled')),
  error jsonb,
  started_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  primary key (session_id, turn_id)
);
create index turns_running on turns (session_id) where status = 'running';

create table steps (
  session_id text not null,
  turn_id text not null,
  step integer not null,
  fence integer not null default 1,
  state text not null default 'open' check (state in ('open', 'committed')),
  -- The newest attempt whose failure people have been told of.
  noted_fence integer not null default 0,
  -- The notice of an attempt that will not be repeated.
  failure jsonb,
  response_id text,
  usage jsonb,
  reply jsonb,
  -- Calls asked for, calls finished, and outputs that are items already (always the first ones).
  calls integer not null default 0,
  finished integer not null default 0,
  recorded integer not null default 0,
  primary key (session_id, turn_id, step)
) with (fillfactor = 70);

create table calls (
  session_id text not null,
  call_id text not null,
  turn_id text not null,
  step integer not null,
  index integer not null,
  model_call_id text not null,
  tool text not null,
  placement text not null check (placement in ('machine', 'gateway', 'workflow')),
  parallel boolean not null,
  form text not null check (form in ('function', 'freeform')),
  input text not null,
  state text not null default 'pending' check (state in ('pending', 'awaiting-approval', 'claimed', 'finished')),
  fence integer not null default 0,
  machine_id text,
  boot_id text,
  claimed_at timestamptz,
  -- The body of the last mcp_progress event, so that a repeated request is recognised.
  progress jsonb,
  -- When a call that waits for a time goes on, in milliseconds since 1970.
  wake_ms bigint,
  status text,
  output jsonb,
  primary key (session_id, call_id)
) with (fillfactor = 70);

create table approvals (
  session_id text not null references sessions,
  approval_id text not null,
  call_id text not null,
  tool text not null,
  question text not null,
  -- More than yes or no: the questions, and what a person answered by their ids.
  questions jsonb,
  answers jsonb,
  decision text check (decision in ('accept', 'decline')),
  asked_at timestamptz not null default clock_timestamp(),
  decided_at timestamptz,
  primary key (session_id, approval_id)
);

create table goals (
  session_id text primary key references sessions,
  objective text not null,
  status text not null check (status in ('active', 'complete', 'blocked', 'paused')),
  token_budget bigint,
  -- What the session had used when the goal was set.
  tokens_before bigint not null,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp()
);

create table items (
  session_id text not null,
  seq integer not null,
  turn_id text,
  item jsonb not null,
  primary key (session_id, seq)
);

create table events (
  session_id text not null,
  seq integer not null,
  turn_id text,
  at timestamptz not null,
  body jsonb not null,
  primary key (session_id, seq)
);

create table blobs (
  digest text primary key,
  media_type text not null,
  bytes bytea not null
);
