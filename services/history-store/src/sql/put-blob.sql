insert into blobs (digest, media_type, bytes) values ($1, $2, $3) on conflict do nothing
