select to_session(sessions) as page from sessions where session_id = $1
