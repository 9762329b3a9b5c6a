-- Rule 10: waiters that can never fit any more are told so, the widest first.
local function end_too_wide(resource)
    while pin_of(resource) do
        local widest = call('ZREVRANGE', wide_of(resource), 0, 0, 'WITHSCORES')
        if not widest[1] or tonumber(widest[2]) <= pin_of(resource) then return end
        local whose = read_member(widest[1]:sub(17))
        end_request(request_of(session_of(whose.id), whose.number), 'a', 'k')
    end
end
