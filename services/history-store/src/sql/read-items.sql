select coalesce(
  (
    select jsonb_agg(jsonb_build_object('seq', seq, 'item', item) order by seq)
    from (select seq, item from items where session_id = $1 and seq > $2::bigint order by seq limit $3) as part
  ), '[]') as page
from sessions where session_id = $1
