select coalesce(jsonb_agg(to_session(newest) order by newest.updated_at desc, newest.session_id), '[]') as page
from (select * from sessions order by updated_at desc, session_id limit $1) as newest
