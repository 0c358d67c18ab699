-- Who runs tools: machines and gateways, each held by one process (boot) under a lease.

-- A name belongs to whoever holds a live lease; the name of a machine whose lease ran out moves to the newcomer, and the old
-- row is called `<name>-<4 hex digits of its id>` from then on.
create function register_machine(p jsonb) returns jsonb language plpgsql as $$
declare
  m machines;
  v_now timestamptz;
  v_name text;
  v_try integer := 0;
begin
  perform pg_advisory_xact_lock(hashtextextended('holdfast.machines', 0));
  v_now := clock_timestamp();
  select * into m from machines where machine_id = p ->> 'machineId';
  if m.lease_expires_at > v_now and m.boot_id <> p ->> 'bootId' and m.boot_id is distinct from p ->> 'replaces' then
    perform fail('machine.lease-held', m.name);
  end if;
  select * into m from machines where name = p ->> 'name' and machine_id <> p ->> 'machineId';
  if found and m.lease_expires_at > v_now then perform fail('machine.lease-held', m.name); end if;
  if m.machine_id is not null then
    loop
      v_name := left(m.name, 58) || '-' || left(md5(m.machine_id || v_try), 4);
      exit when not exists (select from machines where name = v_name);
      v_try := v_try + 1;
    end loop;
    update machines set name = v_name where machine_id = m.machine_id;
  end if;
  insert into catalogs (digest, catalog) values (p #>> '{catalog,digest}', p -> 'catalog') on conflict do nothing;
  insert into machines (machine_id, kind, name, boot_id, catalog_digest, capabilities, lease_expires_at, last_seen_at)
  values (p ->> 'machineId', p ->> 'kind', p ->> 'name', p ->> 'bootId', p #>> '{catalog,digest}', p -> 'capabilities',
    v_now + make_interval(secs => (p ->> 'leaseMs')::integer / 1000.0), v_now)
  on conflict (machine_id) do update set kind = excluded.kind, name = excluded.name, boot_id = excluded.boot_id,
    catalog_digest = excluded.catalog_digest, capabilities = excluded.capabilities,
    lease_expires_at = excluded.lease_expires_at, last_seen_at = excluded.last_seen_at;
  return '{"result": {}}';
end $$;
