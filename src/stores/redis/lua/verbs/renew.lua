-- renew: prolongs a session, and repeats what was only notified (rules 5, 13). Its cost does not depend on the number
-- of requests.
-- KEYS m
-- ARGV epoch, session, numbers of waiting requests whose queue position is wanted (up to 8)
-- reply now, due, epoch, pause; events repeated, then alive | session_lost, and other events of the session; position
do
-- The short path, in a quiet space and with nothing to repeat. The differential test plays both it and the long path.
local function renew_quietly(key, now, epoch, id)
    local got = call('HMGET', key, '', 'x' .. id)
    local head, session = quiet_head(got[1], now, epoch), got[2]
    if not head or not session then return nil end
    local special, revoked = byte(session, 18, 19)
    if special ~= 46 or revoked ~= 46 then return nil end
    local deadline = digits(now + sub(session, 20, 27) * 1000)
    if head.text >= deadline then return nil end  -- it is due before everything else
    call('ZADD', sub(key, 1, -2) .. 'd', deadline, id .. 's')
    if renewals_note and now ~= head.noted then call('HSET', key, '', next_head(head, now, head.last)) end
    if #session ~= indexed_size then
        return now .. head.start .. 'A' .. deadline .. '+' .. sub(session, 28) .. ':'
    end
    return now .. head.start .. 'a' .. deadline .. '+' .. format('%d:%d:', sub(session, 44), sub(session, 28, 43))
end

-- The long path.
local function tell_repeated(step, session)
    if not session.repeats then return end
    local text, place = call('HGET', step.key, 'r' .. session.id), 3
    forget_repeated(step, session)
    while place <= #text do
        local event
        event, place = read_sized(text, place)
        tell(step, session.id, event)
    end
end
local function place_of(step, session, args)
    local fewest, ranks, met = nil, 0, 0
    for i = 3, #args do
        local request = request_of(step, session, digits(args[i]))
        if request and request.fence == none then
            if met >= most_met then return 0 end
            fewest, ranks = fewest_ahead(step, request, fewest, ranks)
            met = met + #request.claims
        end
    end
    return fewest
end

register('renew', {'allow-oom'}, function(keys, args)
    local now, id = clock(args), args[2]
    if not is_session(id) then return malformed() end
    if short_paths and not args[3] then
        local reply = renew_quietly(keys[1], now, args[1], id)
        if reply then return reply end
    end
    if #args > 2 + most_ranks then return malformed() end
    for i = 3, #args do
        if not is_number(args[i]) then return malformed() end
    end
    return perform(keys, args, now, id, function(step)
        local session = find_alive(step, id)
        if not session then return tell(step, id, 'l') end
        tell_repeated(step, session)
        prolong(step, session)
        tell_alive(step, session)
        return place_text(place_of(step, session, args))
    end)
end)
end
