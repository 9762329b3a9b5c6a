-- close: ends a session and all its requests (rule 5).
-- KEYS m
-- ARGV epoch, session, 'l' (left) | 'g' (gone)
-- reply now, due, epoch, pause; event closed, and other events of the session
register('close', {'allow-oom'}, function(keys, args)
    local now, id, how = clock(args), args[2], args[3]
    if not is_session(id) or how ~= 'l' and how ~= 'g' then return malformed() end
    return perform(keys, args, now, id, function(step)
        local session = find_alive(step, id)
        if session then
            begin_ending(step, session, how)
            end_sessions(step)
        else
            ended_ids.add(step, id)  -- its `open` may still arrive, on an older connection
        end
        tell(step, id, 'c')
    end)
end)
