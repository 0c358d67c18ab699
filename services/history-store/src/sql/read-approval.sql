select to_approval(approvals) as page from approvals where session_id = $1 and approval_id = $2
