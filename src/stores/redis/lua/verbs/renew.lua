-- renew: a session proves that it is alive, and hears what changed (rules 5, 13). Its cost does not depend on how many
-- requests it has.
-- KEYS m, s:<session>
-- ARGV lineage, numbers of waiting requests whose place is wanted (up to 8)
-- reply now, due, lineage, pause; events repeated, then alive | session_lost, and what else befalls the session; place
do
-- The short path, in a quiet space and with nothing to repeat. The differential test plays both it and the long path.
local function renew_quietly(key, place, now, lineage)
    local head = call('HGET', key, '')
    if not is_quiet(head, now, lineage) then return nil end
    local got = call('HMGET', place, '@', 'd', 'r')
    local about = got[1]
    if not about or got[3] then return nil end
    local deadline = digits(now + sub(about, 1, 8) * 1000)
    if head >= deadline then return nil end  -- it is due before everything else
    call('ZADD', sub(key, 1, -2) .. 'd', deadline, sub(place, -16) .. 's')
    if now - sub(head, 49, 64) >= noted_every then call('HSET', key, '', sub(head, 1, 48) .. now .. sub(head, 65)) end
    return now .. sub(head, 1, 48) .. 'a' .. deadline .. '+' .. call('HLEN', place) - 3 .. ':' .. got[2] .. ':'
end

-- The long path.
local function place_of(step, session, args)
    local fewest, ranks = nil, 0
    for i = 2, #args do
        local request = request_of(step, session, args[i])
        if request and request.fence == none then fewest, ranks = fewest_ahead(step, request, fewest, ranks) end
    end
    return fewest
end

register('renew', {'allow-oom'}, function(keys, args)
    local now = clock(args)
    if not keys[2] or #args > 1 + most_ranks then return malformed() end
    for i = 2, #args do
        if not is_number(args[i]) then return malformed() end
    end
    local quick = not args[2] and renew_quietly(keys[1], keys[2], now, args[1])
    if quick then return quick end
    local step = new_step(keys, args, now, sub(keys[2], -16))
    local refusal = begin_step(step, call('HGET', step.key, ''))
    if refusal then return refusal end
    local session, fewest = find_alive(step, step.sender), nil
    if session then
        tell_repeated(step, session)
        prolong(step, session)
        tell_alive(step, session)
        fewest = place_of(step, session, args)
    else
        tell(step, step.sender, 'l')
    end
    return finish_step(step) .. place_text(fewest)
end)
end
