select coalesce(
  jsonb_agg(
    jsonb_build_object(
      'machineId', machine_id, 'kind', kind, 'name', name, 'bootId', boot_id, 'online', lease_expires_at > clock_timestamp(),
      'lastSeenAt', to_iso(last_seen_at), 'capabilities', capabilities, 'tools', jsonb_path_query_array(catalog, '$.tools[*].name'))
    order by name collate "C"), '[]') as page
from machines join catalogs on digest = catalog_digest
