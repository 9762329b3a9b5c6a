-- list: the states of a session's requests above a number, lowest first, a page of them (rule 5).
-- KEYS m
-- ARGV epoch, session, number
-- reply now, due, epoch, pause; event listed | session_lost, and other events of the session
do
local page = 256
local most_read = 65536  -- bytes of requests, after which a page ends

local function state_text(step, request)
    local fence, revoked = request.fence, request.revoked
    if fence == none or not may_tell_grant(step, request) then fence, revoked = none, nil end
    return request.number .. request.ticket .. fence .. (revoked and '!' .. revoked or '-')
end
local function list(step, session, lowest)
    local above = #lowest < 16 and digits(lowest) or #lowest == 16 and lowest or never
    local numbers = numbers_after(step, session, above, page + 1)
    local out, count, most, bytes = {''}, 0, smaller(#numbers, page), 0
    while count < most and bytes < most_read do
        local upto = smaller(count + read_at_once, most)
        bytes = bytes + read_requests(step, session, numbers, count + 1, upto)
        for i = count + 1, upto do out[i + 1] = state_text(step, request_of(step, session, numbers[i])) end
        count = upto
    end
    out[1] = 't' .. lowest .. ':' .. (#numbers > count and '+' or '-') .. count .. ':'
    tell(step, session.id, concat(out))
end

register('list', {'allow-oom'}, function(keys, args)
    local now, id, lowest = clock(args), args[2], args[3]
    if not is_session(id) or not is_number(lowest) then return malformed() end
    return perform(keys, args, now, id, function(step)
        local session = find_alive(step, id)
        if session then list(step, session, lowest) else tell(step, id, 'l') end
    end)
end)
end
