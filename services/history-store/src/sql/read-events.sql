select coalesce(
  (
    select jsonb_agg(
      body || jsonb_build_object('seq', seq, 'sessionId', $1::text, 'turnId', turn_id, 'at', to_iso(at)) order by seq)
    from (select * from events where session_id = $1 and seq > $2::bigint order by seq limit $3) as part
  ), '[]') as page
from sessions where session_id = $1
