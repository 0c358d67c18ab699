update machines
set lease_expires_at = clock_timestamp() + make_interval(secs => $3::double precision / 1000), last_seen_at = clock_timestamp()
where machine_id = $1 and boot_id = $2
returning machine_id
