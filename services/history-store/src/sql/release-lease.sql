update machines set lease_expires_at = clock_timestamp(), last_seen_at = clock_timestamp()
where machine_id = $1 and boot_id = $2 and lease_expires_at > clock_timestamp()
