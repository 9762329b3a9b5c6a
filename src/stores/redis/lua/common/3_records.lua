-- ==== records: the head, sessions, requests and resources, read when they are needed and written at the end
-- A step is one table, made for one call: `step.at` is the time as a number, `step.now` as text.

local function space_field(step, field)
    local known = step.space
    if known[field] == nil then known[field] = tonumber(call('HGET', step.prefix .. 'i', field) or 0) end
    return known[field]
end
local function longest_ttl(step) return space_field(step, 'max_ttl') * 1000 end
local function is_paused(step) return step.now < step.paused_until end
local function is_watched(step) return step.now < step.watched_until end

-- Rule 8: one counter for tickets and fences.
local function next_serial(step)
    step.last = step.last < step.now and step.now or after(step.last)
    return step.last
end

-- ---- what the step tells
-- Viewers know a session by this name, because its id is a secret.
local nobody = '----------------'
local function alias_of(id) return sub(redis.sha1hex(id), 1, 16) end

-- `twice`: the next event tells another session the same, so viewers are told once.
local function tell(step, id, text, twice)
    if step.seen and not twice then step.seen[#step.seen + 1] = (id and alias_of(id) or nobody) .. sized(text) end
    if not id or id == step.sender then
        step.reply = step.reply .. text
        return
    end
    local notices = step.notices
    local told = notices[id]
    if not told then step.told[#step.told + 1] = id end
    notices[id] = told and told .. text or text
end
local function refuse(step, reason, number) tell(step, step.sender, 'r' .. reason .. ':' .. (number or '-') .. ':') end

-- ---- sessions
-- Field @: ttl (8 digits), link (20 digits), a dot, or how it is ending and its last deadline (16 digits); label.
-- Field h: L if the index `n` exists, else a dot; how many requests were added since they were last counted (2 digits);
-- the highest number. Field d: the digest. Field r, if any: what the next renewal repeats. Every other field is a
-- request number.
local two_digits = {}
for i = 0, 99 do two_digits[i] = (i < 10 and '0' or '') .. i end
-- What the beginning of h becomes with one request more, where nothing else is to be done.
local short_added = {}
for i = 0, index_from - 2 do short_added['.' .. two_digits[i]] = '.' .. two_digits[i + 1] end

local function session_of(step, id)
    local session = step.sessions[id]
    if session == nil or session and not session.about then
        local place = step.prefix .. 's:' .. id
        local got = call('HMGET', place, '@', 'h', 'd', 'r')
        local about, highest = got[1], got[2]
        if not about then
            session = false
        else
            session = session or {id = id, place = place, requests = {}, digest_change = 0}
            session.about, session.ending = about, byte(about, 29) ~= 46 and sub(about, 29, 29)
            session.indexed, session.added = byte(highest) == 76, tonumber(sub(highest, 2, 3))
            session.highest, session.digest, session.repeated = sub(highest, 4), tonumber(got[3]), got[4]
        end
        step.sessions[id] = session
    end
    return session
end
-- A session of which nothing is known yet but that it exists.
local function session_unread(step, id)
    local session = step.sessions[id]
    if not session then
        session = {id = id, place = step.prefix .. 's:' .. id, requests = {}, digest_change = 0}
        step.sessions[id] = session
    end
    return session
end
local function highest_text(session)
    return (session.indexed and 'L' or '.') .. two_digits[smaller(session.added, 99)] .. session.highest
end
local function ttl_of(session) return tonumber(sub(session.about, 1, 8)) * 1000 end
local function link_of(session) return sub(session.about, 9, 28) end
local function label_of(session) return sub(session.about, session.ending and 46 or 30) end
local function numbers_of_place(step, session) return step.prefix .. 'n:' .. session.id end

-- Whatever has a deadline may be due earlier than the head says.
local function note_deadline(step, deadline)
    if deadline <= step.due then step.due = digits(tonumber(deadline) - 1) end
end
local function set_deadline(step, member, deadline)
    call('ZADD', step.prefix .. 'd', deadline, member)
    note_deadline(step, deadline)
end
local function deadline_of(step, session)
    if session.ending then return sub(session.about, 30, 45) end
    if not session.deadline then
        session.deadline = digits(tonumber(call('ZSCORE', step.prefix .. 'd', session.id .. 's')))
    end
    return session.deadline
end
local function prolong(step, session)
    session.deadline = digits(step.at + ttl_of(session))
    set_deadline(step, session.id .. 's', session.deadline)
end

-- ---- resources, one of
--   X fence session number        one exclusive holder, no queue
--   Y fence session number        the same, and `q` may hold claims
--   S count                       shared holders, no queue
--   P claims: permits: slots      holders of permits, no queue; the slots are a bitmap
--   G mark, pinned limit, debt (1 or 0 each), the debt's 36 bytes if any, shared: permit claims: permits:
--     admitted claims of waiting requests: then - or + fence session number: of the exclusive claim; slots
local resource_of
do
local function parse_resource(resource, text)
    local form = byte(text)
    if form == 88 or form == 89 then
        resource.holder, resource.number = sub(text, 18, 33), sub(text, 34)
        resource.fence = sub(text, 2, 17)
        if form == 88 then resource.waiting = 0 end
    elseif form == 83 then
        resource.shared, resource.waiting = tonumber(sub(text, 2)), 0
    elseif form == 80 then
        local counted, used, slots = match(text, '^P(%d+):(%d+):(.*)$')
        resource.counted, resource.used, resource.slots, resource.waiting = tonumber(counted), tonumber(used), slots, 0
    else
        local place = 5
        resource.marked, resource.pinned = byte(text, 2) == 49, byte(text, 3) == 49
        if byte(text, 4) == 49 then
            resource.owed = sub(text, 5, 40)
            place = 41
        end
        local _, last, shared, counted, used, reserved, held = find(text, '^(%d+):(%d+):(%d+):(%d+):([+-])', place)
        resource.shared, resource.counted = tonumber(shared), tonumber(counted)
        resource.used, resource.reserved = tonumber(used), tonumber(reserved)
        place = last + 1
        if held == '+' then
            resource.fence, resource.holder = sub(text, place, place + 15), sub(text, place + 16, place + 31)
            _, last, resource.number = find(text, '^(%d+):', place + 32)
            place = last + 1
        end
        resource.slots = sub(text, place)
    end
    return resource
end
-- `text`: what stands in the server, if it was read already; false: nothing.
function resource_of(step, name, text)
    local resource = step.resources[name]
    if resource then return resource end
    if text == nil then text = call('HGET', step.key, name) end
    resource = {name = name, shared = 0, counted = 0, used = 0, reserved = 0, slots = ''}
    if text then parse_resource(resource, text) else resource.waiting = 0 end
    step.resources[name] = resource
    return resource
end
end


local function queue_of(step, resource) return step.prefix .. 'q:' .. resource.name end
local function admitted_of(step, resource) return step.prefix .. 'a:' .. resource.name end
local function wide_of(step, resource) return step.prefix .. 'w:' .. resource.name end
local function waiting_on(step, resource)
    if not resource.waiting then resource.waiting = call('ZCARD', queue_of(step, resource)) end
    return resource.waiting
end

-- Rule 10: the limit that is pinned, else the claim's own.
local function pin_of(step, resource)
    if resource.pinned and not resource.pin then
        resource.pin = tonumber(call('HGET', step.prefix .. 'limits', resource.name))
    end
    return resource.pinned and resource.pin
end
local function limit_for(step, resource, own) return pin_of(step, resource) or own end

-- ---- marks (rule 7): fence, time, fence of the holder that was told (16 digits each), count, label
local function mark_of(step, resource)
    if resource.marked and not resource.mark then
        local text = call('HGET', step.prefix .. 'marks', resource.name)
        local count, label = match(text, '^(%d+):(.*)$', 49)
        resource.mark = {
            fence = sub(text, 1, 16), at = sub(text, 17, 32), told = sub(text, 33, 48), count = count, label = label,
        }
    end
    return resource.marked and resource.mark
end
local function set_mark(step, resource, mark)
    resource.mark, resource.marked, resource.dirty = mark, mark ~= nil, true
    if not mark then return call('HDEL', step.prefix .. 'marks', resource.name) end
    call('HSET', step.prefix .. 'marks', resource.name,
        mark.fence .. mark.at .. mark.told .. mark.count .. ':' .. mark.label)
end
local function mark_text(mark)
    return sized(mark.label) .. mark.fence .. ':' .. mark.at .. ':' .. mark.count .. ':'
end

-- ---- requests, one of
--   x ticket name     one exclusive claim without a hold limit: held if the resource names it, else it waits
--   g ticket fence, then a dot, or + with hold| -: hold deadline|-: revoked at|-: note, the pause in which it was
--     presented or 0:, then each claim: + (admitted) or -, mode, of permits also count: limit:, name, of permits slots
local function is_simple(request)
    local claims = request.claims
    return #claims == 1 and claims[1].mode == 'x' and not request.hold and request.presented == 0
end

local function new_request(session, number, ticket, claims)
    local request = {
        session = session, number = number, ticket = ticket, fence = none, claims = claims, unadmitted = #claims,
        presented = 0,
    }
    for i = 1, #claims do
        local claim = claims[i]
        claim.request, claim.index, claim.slots = request, i, claim.slots or no_slots
    end
    return request
end
-- The resource of a stored claim is read when it is first asked for: of 1,000 claims, `list` needs none.
local function claim_reader(step)
    if not step.claim_reader then
        step.claim_reader = {__index = function(claim, field)
            if field ~= 'resource' then return nil end
            claim.resource = resource_of(step, claim.name)
            return claim.resource
        end}
    end
    return step.claim_reader
end

-- The claims of a request of the form g.
local function read_claims(text, place)
    local claims = {}
    while place <= #text do
        local mode, permits, limit, slots = sub(text, place + 1, place + 1), 0, 0, no_slots
        local admitted = byte(text, place) == 43
        local name, _, last
        if mode == 'p' then
            _, last, permits, limit = find(text, '^(%d+):(%d+):', place + 2)
            name, place = read_sized(text, last + 1)
            slots, place = read_slots(text, place)
        else
            name, place = read_sized(text, place + 2)
        end
        claims[#claims + 1] = {
            name = name, mode = mode, permits = permits + 0, limit = limit + 0, admitted = admitted, slots = slots,
        }
    end
    return claims
end
local read_request
do
local function read_general(step, session, number, text)
    local place, hold, hold_deadline, revoked, note, presented = 35, nil, nil, nil, nil, 0
    if byte(text, 34) == 43 then
        local _, last
        _, last, hold, hold_deadline, revoked = find(text, '^([%d-]+):([%d-]+):([%d-]+):', place)
        note, place = read_sized(text, last + 1)
        presented, place = read_number(text, place)
    end
    local claims, reader = read_claims(text, place), claim_reader(step)
    local request = new_request(session, number, sub(text, 2, 17), claims)
    request.fence, request.presented, request.note = sub(text, 18, 33), presented, note
    request.hold = hold and hold ~= '-' and tonumber(hold) or nil
    request.hold_deadline = hold_deadline ~= '-' and hold_deadline or nil
    request.revoked = revoked ~= '-' and revoked or nil
    for i = 1, #claims do
        if claims[i].admitted then request.unadmitted = request.unadmitted - 1 end
        setmetatable(claims[i], reader)
    end
    return request
end
function read_request(step, session, number, text)
    if byte(text) == 103 then return read_general(step, session, number, text) end
    local claim = exclusive_claim(sub(text, 18))
    local request, resource = new_request(session, number, sub(text, 2, 17), {claim}), resource_of(step, claim.name)
    claim.resource = resource
    if resource.holder == session.id and resource.number == number then
        request.fence, request.unadmitted, claim.admitted = resource.fence, 0, true
    end
    return request
end
end

local function claim_text(claim)
    local start, name = (claim.admitted and '+' or '-') .. claim.mode, claim.name
    if claim.mode ~= 'p' then return start .. #name .. ':' .. name end
    return start .. claim.permits .. ':' .. claim.limit .. ':' .. #name .. ':' .. name .. slots_text(claim.slots)
end
local function request_text(request)
    local claims = request.claims
    if is_simple(request) and not request.revoked then return 'x' .. request.ticket .. claims[1].name end
    local text = 'g' .. request.ticket .. request.fence
    if request.hold or request.revoked or request.presented ~= 0 then
        text = text .. '+' .. or_none(request.hold) .. or_none(request.hold_deadline) .. or_none(request.revoked)
            .. sized(request.note or '') .. request.presented .. ':'
    else
        text = text .. '.'
    end
    if #claims == 1 then return text .. claim_text(claims[1]) end
    local out = {text}
    for i = 1, #claims do out[i + 1] = claim_text(claims[i]) end
    return concat(out)
end

-- `text`: what stands in the server, if it was read already; false: nothing.
local function request_of(step, session, number, text)
    local request = session.requests[number]
    if request == nil then
        if text == nil then text = call('HGET', session.place, number) end
        request = text and read_request(step, session, number, text) or false
        session.requests[number] = request
    end
    return request
end
-- Reads many requests of a session, and the resources of those with one claim, in two calls.
local function read_requests(step, session, numbers)
    if #numbers < 2 then return end
    local texts, names = call('HMGET', session.place, unpack(numbers)), {}
    for i = 1, #texts do
        local text = texts[i]
        if text and byte(text) == 120 then
            local name = sub(text, 18)
            if not step.resources[name] then names[#names + 1] = name end
        end
    end
    if names[1] then
        local found = call('HMGET', step.key, unpack(names))
        for i = 1, #names do resource_of(step, names[i], found[i]) end
    end
    for i = 1, #numbers do request_of(step, session, numbers[i], texts[i]) end
end
-- Changes what the session's digest says of a request, when its fence or the time of its revocation change.
local function set_fence(request, fence)
    local session, number = request.session, request.number
    session.digest_change = session.digest_change + digest_of(number, fence, request.revoked)
        - digest_of(number, request.fence, request.revoked)
    request.fence = fence
end
local function set_revoked(request, revoked)
    local session, number = request.session, request.number
    session.digest_change = session.digest_change + digest_of(number, request.fence, revoked)
        - digest_of(number, request.fence, request.revoked)
    request.revoked, request.dirty = revoked, true
end
-- The record of a simple request does not change when it is granted.
local function touch(request)
    if request.revoked or not is_simple(request) then request.dirty = true end
end

-- Nothing of the request remains stored, once the session's dropped requests are deleted together.
local function drop_request(request)
    local session, number = request.session, request.number
    session.requests[number], request.dropped = false, true
    session.digest_change = session.digest_change - digest_of(number, request.fence, request.revoked)
    local dropped = session.dropped
    if dropped then dropped[#dropped + 1] = number else session.dropped = {number} end
end
local function delete_dropped(step, session)
    local dropped = session.dropped
    if not dropped then return end
    session.dropped = nil
    for from = 1, #dropped, 1000 do
        local upto = smaller(from + 999, #dropped)
        call('HDEL', session.place, unpack(dropped, from, upto))
        if session.indexed then call('ZREM', numbers_of_place(step, session), unpack(dropped, from, upto)) end
    end
end
local function add_request(step, session, number, ticket, claims)
    delete_dropped(step, session)  -- it may have been dropped under the same number
    local request = new_request(session, number, ticket, claims)
    for i = 1, #claims do claims[i].resource = claims[i].resource or resource_of(step, claims[i].name) end
    request.dirty = true
    session.requests[number] = request
    session.added, session.counted = session.added + 1, true
    session.digest_change = session.digest_change + digest_of(number, none)
    if session.indexed then call('ZADD', numbers_of_place(step, session), number, number) end
    return request
end

-- ---- the numbers of a session's requests above `lowest`, in their order, at most `most`
local function numbers_after(step, session, lowest, most)
    delete_dropped(step, session)
    if session.indexed then
        return call('ZRANGEBYSCORE', numbers_of_place(step, session), '(' .. lowest, '+inf', 'LIMIT', '0', most)
    end
    local found, all = {}, call('HKEYS', session.place)
    for i = 1, #all do
        local number = tonumber(all[i])
        if number and number > tonumber(lowest) then found[#found + 1] = all[i] end
    end
    sort(found, function(a, b) return tonumber(a) < tonumber(b) end)
    for i = most + 1, #found do found[i] = nil end
    return found
end
-- A session with many requests has an index of their numbers, so that none of them needs to be searched for.
local function count_requests(step, session)
    local count, place = call('HLEN', session.place), numbers_of_place(step, session)
    session.added = 0
    if session.indexed and count < index_until then
        call('UNLINK', place)
        session.indexed = false
    elseif not session.indexed and count >= index_from then
        local all = call('HKEYS', session.place)
        for i = 1, #all do
            if tonumber(all[i]) then call('ZADD', place, all[i], all[i]) end
        end
        session.indexed = true
    end
end

-- ---- members of `q` and `a`: what a claim wants, and whose it is
local function pad4(number) return number == 1 and '0001' or sub('000' .. number, -4) end
local function pad5(number) return sub('0000' .. number, -5) end
local function member_text(mode, index, permits, limit, owner)
    if mode == 's' then return 's' .. pad4(index) .. owner end
    if mode == 'p' then return 'p' .. pad4(index) .. pad5(permits) .. pad5(limit) .. owner end
    return 'e' .. pad4(index) .. owner
end
local function member_of(claim)
    local request = claim.request
    local owner = request.session.id .. request.number
    if claim.mode == 'x' and is_simple(request) then return 'x' .. owner end
    return member_text(claim.mode, claim.index, claim.permits, claim.limit, owner)
end
-- Mode, index of the claim, permits, limit, id of the session, number of the request.
local function read_member(member)
    local form = byte(member)
    if form == 120 then return 'x', 1, 0, 0, sub(member, 2, 17), sub(member, 18) end
    local index = tonumber(sub(member, 2, 5))
    if form == 112 then
        return 'p', index, tonumber(sub(member, 6, 10)), tonumber(sub(member, 11, 15)), sub(member, 16, 31),
            sub(member, 32)
    end
    return form == 115 and 's' or 'x', index, 0, 0, sub(member, 6, 21), sub(member, 22)
end
-- The claim that a member stands for. A request of the form x is known from its member alone: a hand-off to it reads
-- nothing of its session.
local function claim_of_member(step, resource, member, ticket)
    local _, index, _, _, id, number = read_member(member)
    if byte(member) ~= 120 then return request_of(step, session_of(step, id), number).claims[index] end
    local session = session_unread(step, id)
    local request = session.requests[number]
    if not request then
        local claim = exclusive_claim(resource.name)
        claim.resource = resource
        request = new_request(session, number, ticket, {claim})
        session.requests[number] = request
    end
    return request.claims[1]
end
