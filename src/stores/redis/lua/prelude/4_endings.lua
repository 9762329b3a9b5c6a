-- ==== requests' and sessions' ends, and what is told of them (rules 4 to 7, 12, 13)
local dying = {}  -- sessions whose end has begun: session, reason, numbers of its requests
local ended, ended_in_step = {}, 0  -- ids of sessions that ended in this step (rule 5)
local forgetting = 'c'  -- the member of `d` that says when all ids in `c` are forgotten

local function ended_text(number, reason, fence) return 'e' .. number .. ':' .. reason .. digits(fence) end
local function queued_text(request) return 'q' .. request.number .. ':' .. digits(request.ticket) end

local function tell_granted(request)
    local slots, marks = {}, {}
    for _, claim in ipairs(request.claims) do
        local resource = claim.resource
        if claim.mode == 'p' then slots[#slots + 1] = sized(claim.name) .. slots_text(claim.slots) end
        local mark = mark_of(resource)
        if mark then
            marks[#marks + 1] = sized(claim.name) .. mark_text(mark)
            if claim.mode == 'x' and mark.told ~= request.fence then
                mark.told = request.fence
                set_mark(resource, mark)
            end
        end
    end
    local text = 'g' .. request.number .. ':' .. digits(request.ticket) .. digits(request.fence)
    if not request.hold and #slots == 0 and #marks == 0 then return tell(request.session.id, text .. '.') end
    tell(request.session.id, text .. '+' .. or_none(request.hold and request.hold_deadline) .. #slots .. ':'
        .. table.concat(slots) .. #marks .. ':' .. table.concat(marks))
end

-- Rule 11: while paused, nobody learns of a grant that he did not present.
local function may_tell_grant(request)
    return not is_paused() or request.presented == of_space('pauses')
end
local function answer_state(request)
    if request.fence ~= 0 and may_tell_grant(request) then return tell_granted(request) end
    tell(request.session.id, queued_text(request))
end
local function tell_alive(session)
    local states = {}
    for i, number in ipairs(numbers_of(session)) do
        local request = request_of(session, number)
        local told = request.fence ~= 0 and may_tell_grant(request)
        states[i] = request.number .. ':' .. digits(request.ticket) .. digits(told and request.fence or 0)
            .. (told and request.revoked and '!' .. digits(request.revoked) or '-')
    end
    local settled = paused_until <= at + longest_ttl()
    tell(session.id, 'a' .. digits(deadline_of(session)) .. (settled and '+' or '-') .. #states .. ':'
        .. table.concat(states))
end

-- How many wait ahead, where the fewest do: a hint for when to look. It is no event, and stands behind all of them.
local places_asked = 8
local function fewest_ahead(request)
    local fewest
    if request.fence ~= 0 then return end
    for i, claim in ipairs(request.claims) do
        if i > places_asked or fewest == 0 then return 0 end
        local ahead = not claim.admitted and call('ZRANK', queue_of(claim.resource), member_of(claim))
        if ahead and (not fewest or ahead < fewest) then fewest = ahead end
    end
    return fewest
end
-- Over all waits of a session. Who waits in many places is one of the first to look.
local function fewest_ahead_of_all(session)
    local fewest, asked = nil, 0
    for _, number in ipairs(numbers_of(session)) do
        local request = request_of(session, number)
        if request.fence == 0 then
            local ahead = asked < places_asked and fewest_ahead(request) or 0
            asked = asked + 1
            if not fewest or ahead < fewest then fewest = ahead end
            if fewest == 0 then break end
        end
    end
    return fewest
end
local function place_text(ahead) return ahead and 'w' .. ahead .. ':' or '' end

local function timed(request, kind) return request.session.id .. digits(request.number) .. kind end

-- Forgets the request and frees what it had.
local function detach(request)
    if request.fence == 0 and request.unadmitted == 0 then
        for i, other in ipairs(completed) do
            if other == request then
                table.remove(completed, i)
                break
            end
        end
    end
    for _, claim in ipairs(request.claims) do
        if claim.admitted then release(claim) else stop_waiting(claim) end
    end
    if request.revoked then call('ZREM', prefix .. 'd', timed(request, 'r')) end
    if request.fence ~= 0 and request.hold then call('ZREM', prefix .. 't', timed(request, 'h')) end
    request.session.requests[request.number] = false
    call('HDEL', request.session.key, request.number)
end

local function end_request(request, reason, manner)
    tell(request.session.id, ended_text(request.number, reason, request.fence))
    if request.fence ~= 0 and manner ~= 'k' then
        for _, claim in ipairs(request.claims) do
            local resource = claim.resource
            local mark = claim.mode == 'x' and mark_of(resource)
            if claim.mode == 'x' and manner == 'u' then
                set_mark(resource, {
                    fence = request.fence, at = at, told = 0, count = (mark and mark.count or 0) + 1,
                    label = request.session.label,
                })
            elseif mark and mark.told == request.fence then
                set_mark(resource, nil)
            end
        end
    end
    detach(request)
end
local function end_owned(request, manner) end_request(request, request.fence ~= 0 and 'l' or 'w', manner) end

-- ---- time
local function first_in(schedule)
    local first = call('ZRANGE', prefix .. schedule, 0, 0, 'WITHSCORES')
    if first[1] and first[2] ~= 'inf' then return first[1], tonumber(first[2]) end
end
-- The deadline that passes next, of a session, a revoked request or a hold limit: its member and time.
local function next_ending()
    local member, deadline = first_in('d')
    local limit, limit_at = first_in('t')
    if not limit then return member, deadline end
    if not member or limit_at < deadline then return limit, limit_at end
    if limit_at == deadline and bytes_before(limit:sub(1, 32), member:sub(1, 32)) then return limit, limit_at end
    return member, deadline
end
local function endings_owed()
    if #dying > 0 then return true end
    if is_paused() then return false end
    local _, deadline = next_ending()
    return deadline ~= nil and deadline <= at
end

-- Rule 5: a session id lives once.
local function remember_ended(id)
    if not ended[id] then ended[id], ended_in_step = true, ended_in_step + 1 end
end
local function has_ended(id)
    if ended[id] then return true end
    local upto = call('ZSCORE', prefix .. 'c', id)
    return upto and at < tonumber(upto)
end
-- Adds the ids of this step to `c`, and drops some whose time is over and, beyond the bound, the earliest.
local ended_dropped = 100
local function save_ended()
    if ended_in_step == 0 then return end
    local place, upto = prefix .. 'c', digits(at + longest_ttl())
    for id in pairs(ended) do call('ZADD', place, 'GT', upto, id) end
    call('ZADD', prefix .. 'd', 'GT', upto, forgetting)
    local gone = math.min(call('ZCOUNT', place, 0, at), ended_dropped)
    gone = math.max(gone, call('ZCARD', place) - ended_kept)
    if gone > 0 then call('ZREMRANGEBYRANK', place, 0, gone - 1) end
end
-- Deletes `c` when the time of the last id in it is over. `due` of the head is never later than that moment.
local function forget_ended()
    if is_paused() or head:sub(1, 16) >= now then return end
    local upto = call('ZSCORE', prefix .. 'd', forgetting)
    if not upto or at < tonumber(upto) then return end
    call('UNLINK', prefix .. 'c')
    call('ZREM', prefix .. 'd', forgetting)
end

-- The session is written into `e` at the end of the step, if its own end is still owed then.
local function begin_dying(session, reason)
    local text = session.id .. reason .. digits(deadline_of(session))
    session.dying, session.dirty = reason, true
    call('ZREM', prefix .. 'd', session.id .. 's')
    dying[#dying + 1] = {session = session, reason = reason, text = text}
end
-- Ends the next request of a dying session, or the session itself when none is left: then true.
local function end_next_of(entry)
    local session = entry.session
    if not entry.numbers then entry.numbers, entry.next = numbers_of(session), 1 end
    local number = entry.numbers[entry.next]
    if not number then
        allowance = allowance - 1
        if entry.reason == 'x' then tell(session.id, 'l') end
        call('DEL', session.key)
        if entry.listed then call('LREM', prefix .. 'e', 1, entry.text) end
        sessions[session.id] = false
        remember_ended(session.id)
        return true
    end
    entry.next = entry.next + 1
    local request = request_of(session, number)
    if not request then return false end  -- revoked meanwhile
    allowance = allowance - #request.claims
    if entry.reason == 'l' then end_owned(request, 'c') else end_request(request, entry.reason, 'u') end
    return false
end
local function end_dying()
    while allowance > 0 and #dying > 0 do
        if end_next_of(dying[1]) then table.remove(dying, 1) end
    end
end
local function finish_dying(session)
    for i, entry in ipairs(dying) do
        if entry.session == session then
            while not end_next_of(entry) do end
            table.remove(dying, i)
            return
        end
    end
end

-- The session, if it is alive now. Its end may be owed still: then it is settled here (rule 4).
local function find_alive(id)
    local session = session_of(id)
    if not session then return nil end
    if not session.dying then
        if is_paused() or at < deadline_of(session) then return session end
        begin_dying(session, 'x')
    end
    finish_dying(session)
    return nil
end
-- The request, unless time has ended it: its own end may be owed still.
local function find_live(session, number)
    local request = request_of(session, number)
    if not request then return nil end
    if is_paused() then return request end
    -- The earlier of the two ends it; at the same moment the revocation does (rule 13).
    local revoked = request.revoked or math.huge
    local limit = request.fence ~= 0 and request.hold and request.hold_deadline or math.huge
    if math.min(revoked, limit) > at then return request end
    end_request(request, limit < revoked and 'h' or 'r', 'u')
end

local function end_due()
    end_dying()
    while allowance > 0 and endings_owed() do
        local member = next_ending()
        local session = session_of(member:sub(1, 16))
        if #member == 17 then
            begin_dying(session, 'x')
            end_dying()
        else
            local request = request_of(session, format('%d', member:sub(17, 32)))
            allowance = allowance - #request.claims
            end_request(request, member:sub(33), 'u')
        end
    end
end

-- Rule 5: after the clock went back, nobody lives longer than his ttl for it, no pause lasts longer than it was, and
-- one that is over stays over. Many deadlines are cut in several steps: until then `high` stays ahead.
local cut_at_once = 512
local function cut_deadlines()
    if not is_paused() then pause_length = 0 end
    if paused_until > at and paused_until - at > pause_length then paused_until = at + pause_length end
    local found = 0
    if at < high then
        local late = call('ZREVRANGEBYSCORE', prefix .. 'd', '(+inf', '(' .. digits(at + longest_ttl()), 'LIMIT', 0,
            cut_at_once)
        found = #late
        for _, member in ipairs(late) do
            local session = member ~= forgetting and session_of(member:sub(1, 16))
            local cut = session and at + session.ttl * 1000
            if #member == 17 then
                move_deadline(session, cut)
            elseif session then
                local request = request_of(session, format('%d', member:sub(17, 32)))
                request.revoked, request.dirty = cut, true
                call('ZADD', prefix .. 'd', digits(cut), member)
            end
        end
    end
    if found < cut_at_once then high = at end
end
