-- ==== ends of requests and sessions, and their events (rules 4 to 7, 12, 13)
local function ended_text(number, reason, fence) return 'e' .. number .. ':' .. reason .. fence end

local function tell_granted(step, request)
    local slots, slot_count, marks, mark_count, claims = '', 0, '', 0, request.claims
    for i = 1, #claims do
        local claim = claims[i]
        local resource = claim.resource
        if claim.mode == 'p' then
            slots, slot_count = slots .. sized(claim.name) .. slots_text(claim.slots), slot_count + 1
        end
        if resource.marked then
            local mark = mark_of(step, resource)
            marks, mark_count = marks .. sized(claim.name) .. mark_text(mark), mark_count + 1
            if claim.mode == 'x' and mark.told ~= request.fence then
                mark.told = request.fence
                set_mark(step, resource, mark)
            end
        end
    end
    local text = 'g' .. request.number .. ':' .. request.ticket .. request.fence
    if not request.hold and slot_count == 0 and mark_count == 0 then
        return tell(step, request.session.id, text .. '.')
    end
    tell(step, request.session.id, text .. '+' .. or_none(request.hold and request.hold_deadline)
        .. number_text(slot_count) .. ':' .. slots .. number_text(mark_count) .. ':' .. marks)
end

-- Rule 11: in a pause a session does not learn of a grant that it did not present.
local function may_tell_grant(step, request)
    return not is_paused(step) or request.presented == space_field(step, 'pauses')
end
local function tell_alive(step, session)
    local settled = not is_paused(step) or tonumber(step.paused_until) <= step.at + longest_ttl(step)
    local start = session.deadline .. (settled and '+' or '-')
    if session.indexed or session.revoked then
        tell(step, session.id, 'a' .. start .. format('%d:%d:', live_count(session), live_digest(step, session)))
    else
        tell(step, session.id, 'A' .. start .. session.live .. ':')
    end
end

-- A notification may get lost, so the reply to the next renewal repeats ends and revocations (rule 5). The digest shows
-- those beyond the bound.
local tell_again
do
local most_repeated = 16
function tell_again(step, session, text)
    tell(step, session.id, text)
    if session.id == step.sender or session.ending then return end
    local place = 'r' .. session.id
    local kept = session.repeats and call('HGET', step.key, place) or '00'
    local count = tonumber(sub(kept, 1, 2))
    if count == most_repeated then return end
    call('HSET', step.key, place, format('%02d', count + 1) .. sub(kept, 3) .. sized(text))
    session.repeats, session.dirty = true, true
end
end
local function forget_repeated(step, session)
    if not session.repeats then return end
    call('HDEL', step.key, 'r' .. session.id)
    session.repeats, session.dirty = false, true
end
-- Removes a request everywhere, without an event. `timed` is its member in the schedules of deadlines.
local function timed(request, letter) return sub(request.id, 2) .. letter end
local function detach(step, request)
    local claims = request.claims
    for i = 1, #claims do
        local claim = claims[i]
        if claim.admitted then release(step, claim) else stop_waiting(step, claim) end
    end
    if request.hold_deadline then call('ZREM', step.prefix .. 't', timed(request, 'h')) end
    if request.revoked then call('ZREM', step.prefix .. 'd', timed(request, 'r')) end
    drop_request(step, request)
end

local end_request
do
-- Rule 7: `release_kind` is c (clean), k (keep) or u (unclean).
local function leave_marks(step, request, release_kind)
    local claims = request.claims
    for i = 1, #claims do
        local claim = claims[i]
        local resource = claim.resource
        if claim.mode == 'x' then
            local mark = resource.marked and mark_of(step, resource)
            if release_kind == 'u' then
                set_mark(step, resource, {
                    fence = request.fence, at = step.now, told = none, count = (mark and mark.count or 0) + 1,
                    label = opened(step, request.session).label,
                })
            elseif mark and mark.told == request.fence then
                set_mark(step, resource, nil)
            end
        end
    end
end
function end_request(step, request, reason, release_kind)
    local text = ended_text(request.number, reason, request.fence)
    if reason == 'l' or reason == 'w' then
        tell(step, request.session.id, text)
    else
        tell_again(step, request.session, text)
    end
    if request.fence ~= none and release_kind ~= 'k' then leave_marks(step, request, release_kind) end
    detach(step, request)
end
end
-- Ends a request for its owner: by `leave` or `close`.
local function end_owned(step, request, release_kind)
    end_request(step, request, request.fence ~= none and 'l' or 'w', release_kind)
end

-- ---- sessions that end
-- Rule 5: a session id lives once. The ids that ended are in `c`; `d` has a member that says when all of them are
-- forgotten.
local ended_ids = {deadline = 'c'}
function ended_ids.add(step, id) step.ended[#step.ended + 1] = id end
function ended_ids.has(step, id)
    for i = 1, #step.ended do
        if step.ended[i] == id then return true end
    end
    local upto = call('ZSCORE', step.prefix .. 'c', id)
    return upto and step.at < tonumber(upto)
end
-- Adds the ids of this step to `c`, drops some whose time is over and, beyond the bound, the earliest.
function ended_ids.save(step)
    local most_dropped = 100
    local ended = step.ended
    if #ended == 0 then return end
    local place, upto = step.prefix .. 'c', digits(step.at + longest_ttl(step))
    for i = 1, #ended do call('ZADD', place, 'GT', upto, ended[i]) end
    call('ZADD', step.prefix .. 'd', 'GT', upto, ended_ids.deadline)
    note_deadline(step, upto)
    local gone = smaller(call('ZCOUNT', place, '0', step.now), most_dropped)
    gone = larger(gone, call('ZCARD', place) - step.ended_kept)
    if gone > 0 then call('ZREMRANGEBYRANK', place, '0', gone - 1) end
end
-- Deletes `c` when the time of the last id in it is over.
function ended_ids.forget(step)
    if is_paused(step) then return end
    local upto = call('ZSCORE', step.prefix .. 'd', ended_ids.deadline)
    if not upto or step.at < tonumber(upto) then return end
    call('UNLINK', step.prefix .. 'c')
    call('ZREM', step.prefix .. 'd', ended_ids.deadline)
end

-- The ending session joins those in `e`, oldest first. Its record says how it ends: x expired, l left, g gone.
local function begin_ending(step, session, reason)
    forget_repeated(step, session)
    opened(step, session).last_deadline = deadline_of(step, session)
    session.ending, session.changed, session.dirty = reason, true, true
    call('ZREM', step.prefix .. 'd', session.id .. 's')
    step.ending[#step.ending + 1] = session.id
end
-- Ends a request of a session whose end has begun.
local function end_with_session(step, request)
    local reason = request.session.ending
    step.allowance = step.allowance - #request.claims
    if reason == 'l' then end_owned(step, request, 'c') else end_request(step, request, reason, 'u') end
end
local any_ending, end_sessions
do
-- The id of the oldest session whose end has begun: from `e`, else of this step.
local function first_ending(step)
    if step.stored_endings then return call('LINDEX', step.prefix .. 'e', '0'), true end
    return step.ending[step.next_ending], false
end
function any_ending(step)
    return step.stored_endings or step.ending[step.next_ending] ~= nil
end
-- Ends the lowest requests of the session, as many as the budget allows, and the session itself when none is left.
local function continue_ending(step, session, stored)
    while step.allowance > 0 do
        local numbers = numbers_after(step, session, none, step.allowance)
        read_requests(step, session, numbers)
        for i = 1, #numbers do
            if step.allowance <= 0 then return end
            end_with_session(step, request_of(step, session, numbers[i]))
        end
        if #numbers == 0 then break end
    end
    if step.allowance <= 0 then return end
    step.allowance = step.allowance - 1
    if session.ending == 'x' then tell(step, session.id, 'l') end
    local gone = step.gone
    gone[#gone + 1], gone[#gone + 2] = 'x' .. session.id, '@' .. session.id
    call('HINCRBY', step.prefix .. 'i', 'sessions', '-1')
    if session.indexed then call('UNLINK', index_of(step, session)) end
    if stored then
        call('LPOP', step.prefix .. 'e')
        step.stored_endings = call('EXISTS', step.prefix .. 'e') == 1
    else
        step.next_ending = step.next_ending + 1
    end
    step.sessions[session.id] = false
    ended_ids.add(step, session.id)
end
function end_sessions(step)
    while step.allowance > 0 do
        local id, stored = first_ending(step)
        if not id then return end
        continue_ending(step, session_of(step, id), stored)
    end
end
end

-- ---- rule 10: waiters that are wider than a limit that was pinned end, the widest first
-- Until then their name is in `z`, in the order in which the names were narrowed.
local function end_narrowed(step)
    while step.any_narrowed and step.allowance > 0 do
        local resource = resource_of(step, call('ZRANGE', step.prefix .. 'z', '0', '0')[1])
        local _, _, _, _, id = read_member(sub(widest_on(step, resource), 17))
        local request = request_with_id(step, id)
        step.allowance = step.allowance - #request.claims
        end_request(step, request, 'a', 'k')
    end
end

-- ---- time
local next_deadline
do
local function first_in(step, schedule)
    local first = call('ZRANGE', step.prefix .. schedule, '0', '0', 'WITHSCORES')
    local time = first[2]
    if time and time ~= 'inf' then return first[1], #time == 16 and time or digits(time) end
end
-- The deadline that passes next, of a session, a revoked request or a hold limit: its member and time.
function next_deadline(step)
    local member, deadline = first_in(step, 'd')
    local limit, limit_at = first_in(step, 't')
    if not limit then return member, deadline end
    if not member or limit_at < deadline then return limit, limit_at end
    if limit_at == deadline and bytes_before(sub(limit, 1, 32), sub(member, 1, 32)) then return limit, limit_at end
    return member, deadline
end
end
-- Whether ends are owed or due that this step could not perform.
local function endings_owed(step)
    if any_ending(step) or step.any_narrowed then return true end
    if is_paused(step) or not step.may_be_due then return false end
    local _, deadline = next_deadline(step)
    return deadline ~= nil and deadline <= step.now
end

-- The session, if it is alive now. One whose end has begun, or is due, is not (rule 4).
local function find_alive(step, id)
    local session = session_of(step, id)
    if not session or session.ending then return nil end
    if not step.may_be_due or is_paused(step) or step.now < deadline_of(step, session) then return session end
    begin_ending(step, session, 'x')
    return nil
end
-- The request, unless time has ended it: its own end may be owed still.
local function find_live(step, session, number, text)
    local request = request_of(step, session, number, text)
    if not request then return nil end
    local revoked, limit = request.revoked or never, request.fence ~= none and request.hold_deadline or never
    if is_paused(step) or smaller(revoked, limit) > step.now then return request end
    -- The earlier of the two ends it; at the same moment the revocation does (rule 13).
    end_request(step, request, limit < revoked and 'h' or 'r', 'u')
end

local function end_due(step)
    end_sessions(step)
    end_narrowed(step)
    while step.allowance > 0 and not is_paused(step) do
        local member, deadline = next_deadline(step)
        if not deadline or deadline > step.now then
            step.may_be_due = false
            return
        end
        local session = session_of(step, sub(member, 1, 16))
        if #member == 17 then
            begin_ending(step, session, 'x')
            end_sessions(step)
        else
            local request = request_of(step, session, sub(member, 17, 32))
            step.allowance = step.allowance - #request.claims
            end_request(step, request, sub(member, 33), 'u')
        end
    end
end

-- Rule 5: after the clock went back, no session lives longer than its ttl, no pause lasts longer than it was, and one
-- that is over stays over. Many deadlines are cut in several steps; until then `noted` stays ahead of the clock.
local function cut_deadlines(step)
    local cut_at_once = 512
    if not is_paused(step) then step.pause_length = 0 end
    local left = tonumber(step.paused_until) - step.at
    if left > 0 and left > step.pause_length then step.paused_until = digits(step.at + step.pause_length) end
    if step.now >= step.noted then
        step.noted = step.now
        return
    end
    local late = call('ZREVRANGEBYSCORE', step.prefix .. 'd', '(+inf', '(' .. digits(step.at + longest_ttl(step)),
        'LIMIT', '0', cut_at_once)
    for i = 1, #late do
        local member = late[i]
        if member ~= ended_ids.deadline then
            local session = session_of(step, sub(member, 1, 16))
            local cut = digits(step.at + ttl_of(session))
            if #member == 17 then
                session.deadline = cut
            else
                set_revoked(request_of(step, session, sub(member, 17, 32)), cut)
            end
            set_deadline(step, member, cut)
        end
    end
    if #late < cut_at_once then step.noted = step.now end
end
