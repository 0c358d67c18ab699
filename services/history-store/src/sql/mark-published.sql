update sessions set published_seq = greatest(published_seq, done.last)
from unnest($1::text[], $2::integer[], $3::integer[]) as done(id, first, last)
where session_id = done.id and published_seq >= done.first - 1
returning session_id as "sessionId"
