select session_id as "sessionId", published_seq as "publishedSeq", last_event_seq as "lastEventSeq"
from sessions
where published_seq < last_event_seq and updated_at < clock_timestamp() - make_interval(secs => $1::double precision / 1000)
order by updated_at desc limit 200
