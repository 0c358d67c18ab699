select coalesce((select jsonb_build_object('goal', to_goal(goals)) from goals where session_id = $1), '{}') as page
from sessions where session_id = $1
