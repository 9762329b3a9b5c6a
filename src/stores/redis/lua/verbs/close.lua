-- close: a session ends, with all that it has (rule 5).
-- KEYS m, s:<session>
-- ARGV lineage, 'l' (left) | 'g' (gone)
-- reply now, due, lineage, pause; event closed, and what befell the session
register('close', {'allow-oom'}, function(keys, args)
    local now = clock(args)
    if not keys[2] or args[2] ~= 'l' and args[2] ~= 'g' then return malformed() end
    local step = new_step(keys, args, now, sub(keys[2], -16))
    local refusal = begin_step(step, call('HGET', step.key, ''))
    if refusal then return refusal end
    local session = find_alive(step, step.sender)
    if session then
        begin_ending(step, session, args[2])
        end_sessions(step)
    else
        remember_ended(step, step.sender)  -- its `open` may still arrive, on an older connection
    end
    tell(step, step.sender, 'c')
    return finish_step(step)
end)
