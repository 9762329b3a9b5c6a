-- ==== records: the head, sessions, requests and resources, read when they are needed and written at the end
-- A step is one table, made for one call: `step.at` is the time as a number, `step.now` as text.
-- All records are fields of one hash, so that most calls need one command to read them and one to write them:
--   (empty)               the head
--   n<name>               a resource
--   x<session>            a session, as far as it changes with its requests
--   @<session>            the fields of the session's `open`
--   r<session>            the events that the session's next renewal repeats, if any
--   x<session><number>    a request, its number in 16 digits. This text is the request's id

local function space_field(step, field)
    local known = step.space
    if known[field] == nil then known[field] = tonumber(call('HGET', step.prefix .. 'i', field) or 0) end
    return known[field]
end
local function longest_ttl(step) return space_field(step, 'max_ttl') * 1000 end
local function is_paused(step) return step.now < step.paused_until end

-- Rule 8: one counter for tickets and fences.
local function next_serial(step)
    step.last = step.last < step.now and step.now or after(step.last)
    return step.last
end

local function session_of_id(request_id) return sub(request_id, 2, 17) end
local function number_of_id(request_id) return sub(request_id, 18) end

-- ---- events of the step
-- Viewers see a session under this name, because its id is a secret.
local function alias_of(id) return sub(redis.sha1hex(id), 1, 16) end

-- `twice`: the next event has the same contents for another session, so viewers get only one.
local function tell(step, id, text, twice)
    if step.seen and not twice then step.seen[#step.seen + 1] = (id and alias_of(id) or rep('-', 16)) .. sized(text) end
    if not id or id == step.sender then
        step.reply = step.reply .. text
        return
    end
    local notices = step.notices
    local told = notices[id]
    if not told then step.notified[#step.notified + 1] = id end
    notices[id] = told and told .. text or text
end
local function refuse(step, reason, number) tell(step, step.sender, 'r' .. reason .. ':' .. (number or '-') .. ':') end

-- ---- sessions
-- Field x: highest number (16 digits), so that the text compares with a number as the highest number does; L if the
-- index `n:<session>` exists, else a dot; a dot, r if the next renewal has to repeat something, or how the session is
-- ending (x expired, l left, g gone); v if a request may be revoked, else a dot; ttl in ms (8 digits). Then, with an
-- index, the digest (16 digits) and how many requests are alive (8 digits); without, number and fence of each live
-- request (16 digits each, zeros while it waits). So the length shows whether there is an index.
-- Field @: connection number (20 digits), the last deadline of a session that is ending (16 digits), label.
local indexed_size = 51  -- bytes of a session with an index
local function session_of(step, id)
    local session = step.sessions[id]
    if session == nil then
        local text = call('HGET', step.key, 'x' .. id)
        session = false
        if text then
            local special = sub(text, 18, 18)
            session = {
                id = id, requests = {}, indexed = byte(text, 17) == 76, repeats = special == 'r',
                ending = special ~= '.' and special ~= 'r' and special, revoked = byte(text, 19) == 118,
                ttl = sub(text, 20, 27), highest = tonumber(sub(text, 1, 16)),
            }
            if session.indexed then
                session.digest, session.count = tonumber(sub(text, 28, 43)), tonumber(sub(text, 44))
            else
                session.live = sub(text, 28)
            end
        end
        step.sessions[id] = session
    end
    return session
end
-- The session, with the fields of its `open`.
local function opened(step, session)
    if not session.connection_number then
        local text = call('HGET', step.key, '@' .. session.id)
        session.connection_number, session.last_deadline = sub(text, 1, 20), sub(text, 21, 36)
        session.label = sub(text, 37)
    end
    return session
end
local function ttl_of(session) return tonumber(session.ttl) * 1000 end

-- A new deadline may be earlier than `due` in the head.
local function note_deadline(step, deadline)
    if deadline <= step.due then step.due = digits(tonumber(deadline) - 1) end
end
local function set_deadline(step, member, deadline)
    call('ZADD', step.prefix .. 'd', deadline, member)
    note_deadline(step, deadline)
end
local function deadline_of(step, session)
    if session.ending then return opened(step, session).last_deadline end
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
--   X fence, request id            one exclusive holder, no queue
--   Y fence, request id            the same, and `q` may hold claims
--   S holders                      shared holders, no queue
--   s count                        the same, their claims in `a`
--   P permits: slots, holders      holders of permits, no queue
--   p permits: slots, count        the same, their claims in `a`
--   G mark, pinned limit, debt, claims in `a` (1 or 0 each), the debt's 36 bytes if any, shared: permit claims:
--     permits: admitted claims of waiting requests: then - or + fence and request id of the exclusive claim; slots,
--     holders
-- Holders are shared or permit claims that are admitted: each is its ticket and its member. Slots are a bitmap; its
-- length and a colon stand before it.
local shared_size, permit_size = 54, 64  -- bytes of a holder
-- A resource of the form P or p: permits, bitmap, what follows.
local function read_permits(text)
    local used, bitmap, offset
    used, offset = read_number(text, 2)
    bitmap, offset = read_sized(text, offset)
    return used, bitmap, sub(text, offset)
end
local resource_of
do
local function parse_general(resource, text)
    local offset = 6
    resource.marked, resource.pinned = byte(text, 2) == 49, byte(text, 3) == 49
    resource.spilled = byte(text, 5) == 49
    if byte(text, 4) == 49 then
        resource.owed = sub(text, 6, 41)
        offset = 42
    end
    local _, last, shared, counted, used, reserved, held = find(text, '^(%d+):(%d+):(%d+):(%d+):([+-])', offset)
    resource.shared, resource.counted = tonumber(shared), tonumber(counted)
    resource.used, resource.reserved = tonumber(used), tonumber(reserved)
    offset = last + 1
    if held == '+' then
        resource.fence, resource.holder = sub(text, offset, offset + 15), sub(text, offset + 16, offset + 48)
        offset = offset + 49
    end
    resource.slots, offset = read_sized(text, offset)
    resource.holders = sub(text, offset)
end
local function parse_resource(resource, text)
    local form = byte(text)
    if form == 71 then return parse_general(resource, text) end
    if form ~= 89 then resource.waiting = 0 end
    if form == 88 or form == 89 then
        resource.fence, resource.holder = sub(text, 2, 17), sub(text, 18)
    elseif form == 83 then
        resource.holders, resource.shared = sub(text, 2), (#text - 1) / shared_size
    elseif form == 115 then
        resource.shared, resource.spilled = tonumber(sub(text, 2)), true
    else
        local rest
        resource.used, resource.slots, rest = read_permits(text)
        if form == 80 then
            resource.holders, resource.counted = rest, #rest / permit_size
        else
            resource.counted, resource.spilled = tonumber(rest), true
        end
    end
end
-- `text`: the record in the server, if it was read already; false: there is none.
function resource_of(step, name, text)
    local resource = step.resources[name]
    if resource then return resource end
    if text == nil then text = call('HGET', step.key, 'n' .. name) end
    resource = {name = name, shared = 0, counted = 0, used = 0, reserved = 0, slots = '', holders = ''}
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

-- ---- holders of a resource: a few are in its record, more in the ZSET `a`, until none is left
local function without_holder(holders, member)
    local size = #member + 16
    local offset = find_piece(holders, member, 17, size)
    return sub(holders, 1, offset - 17) .. sub(holders, offset + #member)
end
local holders_from, add_holder
do
-- The holders in the text with tickets from `lowest` on: member, ticket, member, ticket, … in their order.
local function listed_holders(resource, lowest)
    local found, holders, size = {}, resource.holders, resource.shared > 0 and shared_size or permit_size
    for offset = 1, #holders, size do
        local ticket = sub(holders, offset, offset + 15)
        if ticket >= lowest then
            found[#found + 1] = {ticket = ticket, member = sub(holders, offset + 16, offset + size - 1)}
        end
    end
    sort(found, function(a, b)
        if a.ticket ~= b.ticket then return a.ticket < b.ticket end
        return bytes_before(a.member, b.member)
    end)
    local flat = {}
    for i = 1, #found do flat[2 * i - 1], flat[2 * i] = found[i].member, found[i].ticket end
    return flat
end
-- The same of all holders, at most `most`.
function holders_from(step, resource, lowest, most)
    if resource.spilled then
        return call('ZRANGEBYSCORE', admitted_of(step, resource), lowest, '+inf', 'WITHSCORES', 'LIMIT', '0', most)
    end
    return listed_holders(resource, lowest)
end
function add_holder(step, resource, ticket, member)
    if not resource.spilled and resource.shared + resource.counted >= most_listed then
        local known = listed_holders(resource, none)
        for i = 1, #known, 2 do call('ZADD', admitted_of(step, resource), known[i + 1], known[i]) end
        resource.spilled, resource.holders = true, ''
    end
    if resource.spilled then
        call('ZADD', admitted_of(step, resource), ticket, member)
    else
        resource.holders = resource.holders .. ticket .. member
    end
end
end
local function remove_holder(step, resource, member)
    if resource.spilled then
        call('ZREM', admitted_of(step, resource), member)
    else
        resource.holders = without_holder(resource.holders, member)
    end
end

-- Rule 10: the limit that is pinned, else the claim's own.
local function pin_of(step, resource)
    if resource.pinned and not resource.pin then
        resource.pin = tonumber(call('HGET', step.prefix .. 'limits', resource.name))
    end
    return resource.pinned and resource.pin
end
local function limit_for(step, resource, own) return pin_of(step, resource) or own end

-- ---- marks (rule 7): fence, time, fence of the holder that was notified (16 digits each), count, label
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
--   x ticket n name   one exclusive claim without a hold limit: held if the resource names it, else it waits
--   s ticket fence n name, p ticket fence permits (00001) limit slot (5 digits each) n name
--                     one shared claim, or a claim of one permit, without a hold limit; fence and slot are zeros while
--                     it waits
--   g ticket fence, then a dot, or + with hold| -: hold deadline|-: revoked at|-: note, the pause in which it was
--     presented or 0:, then each claim: + (admitted) or -, mode, of permits also count: limit:, name, of permits slots
local function is_simple(request)
    local claims = request.claims
    return #claims == 1 and claims[1].mode == 'x' and not request.hold and request.presented == 0
end

local function new_request(session, number, ticket, claims)
    local request = {
        session = session, number = number, id = 'x' .. session.id .. number, ticket = ticket, fence = none,
        claims = claims, unadmitted = #claims, presented = 0,
    }
    for i = 1, #claims do
        local claim = claims[i]
        claim.request, claim.index, claim.slots = request, i, claim.slots or no_slots
    end
    return request
end

-- The claims of a request of the form g.
local function read_claims(text, offset)
    local claims = {}
    while offset <= #text do
        local mode, permits, limit, slots = sub(text, offset + 1, offset + 1), 0, 0, no_slots
        local admitted = byte(text, offset) == 43
        local name, _, last
        if mode == 'p' then
            _, last, permits, limit = find(text, '^(%d+):(%d+):', offset + 2)
            name, offset = read_sized(text, last + 1)
            slots, offset = read_slots(text, offset)
        else
            name, offset = read_sized(text, offset + 2)
        end
        claims[#claims + 1] = {
            name = name, mode = mode, permits = permits + 0, limit = limit + 0, admitted = admitted, slots = slots,
        }
    end
    return claims
end
local read_request
do
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
local function read_general(step, session, number, text)
    local offset, hold, hold_deadline, revoked, note, presented = 35, nil, nil, nil, nil, 0
    if byte(text, 34) == 43 then
        local _, last
        _, last, hold, hold_deadline, revoked = find(text, '^([%d-]+):([%d-]+):([%d-]+):', offset)
        note, offset = read_sized(text, last + 1)
        presented, offset = read_number(text, offset)
    end
    local claims, reader = read_claims(text, offset), claim_reader(step)
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
local function read_single(session, number, text, mode)
    local fence, claim = sub(text, 18, 33), {mode = mode, permits = 0, limit = 0}
    if mode == 's' then
        claim.name = sub(text, 35)
    else
        local slot = tonumber(sub(text, 44, 48))
        claim.name, claim.permits, claim.limit = sub(text, 50), 1, tonumber(sub(text, 39, 43))
        claim.slots = fence ~= none and {slot, slot} or no_slots
    end
    local request = new_request(session, number, sub(text, 2, 17), {claim})
    request.fence, claim.admitted = fence, fence ~= none
    if claim.admitted then request.unadmitted = 0 end
    return request
end
function read_request(step, session, number, text)
    local form = byte(text)
    if form == 103 then return read_general(step, session, number, text) end
    if form ~= 120 then
        local request = read_single(session, number, text, form == 115 and 's' or 'p')
        setmetatable(request.claims[1], claim_reader(step))
        return request
    end
    local claim = {name = sub(text, 19), mode = 'x', permits = 0, limit = 0}
    local request, resource = new_request(session, number, sub(text, 2, 17), {claim}), resource_of(step, claim.name)
    claim.resource = resource
    if resource.holder == request.id then
        request.fence, request.unadmitted, claim.admitted = resource.fence, 0, true
    end
    return request
end
end

local function claim_text(claim)
    local start, name = (claim.admitted and '+' or '-') .. claim.mode, claim.name
    if claim.mode ~= 'p' then return start .. sized(name) end
    return start .. number_text(claim.permits) .. ':' .. number_text(claim.limit) .. ':' .. sized(name)
        .. slots_text(claim.slots)
end
-- `text`: the record in the server, if it was read already; false: there is none.
local function request_of(step, session, number, text)
    local request = session.requests[number]
    if request == nil then
        if text == nil then text = call('HGET', step.key, 'x' .. session.id .. number) end
        request = text and read_request(step, session, number, text) or false
        session.requests[number] = request
    end
    return request
end
local function request_with_id(step, id)
    return request_of(step, session_of(step, session_of_id(id)), number_of_id(id))
end
-- Reads many requests of a session, and the resources of those with one claim, in two calls. The server's Lua cannot
-- pass more than 8,000 arguments to a call: so many requests are read one by one, when they are needed.
local function read_requests(step, session, numbers)
    if #numbers < 2 or #numbers > 7000 then return end
    local ids, names = {}, {}
    for i = 1, #numbers do ids[i] = 'x' .. session.id .. numbers[i] end
    local texts = call('HMGET', step.key, unpack(ids))
    for i = 1, #texts do
        local text = texts[i]
        if text and byte(text) == 120 then
            if not step.resources[sub(text, 19)] then names[#names + 1] = sub(text, 18) end
        end
    end
    if names[1] then
        local found = call('HMGET', step.key, unpack(names))
        for i = 1, #names do resource_of(step, sub(names[i], 2), found[i]) end
    end
    for i = 1, #numbers do request_of(step, session, numbers[i], texts[i]) end
end
-- The record of a simple request does not change when it is granted.
local function touch(request)
    if request.revoked or not is_simple(request) then request.dirty = true end
end

-- ---- the live requests of a session
-- The field of a session lists a few, with their fences. For more there is an index of their numbers, and a digest
-- (rule 5).
local function index_of(step, session) return step.prefix .. 'n:' .. session.id end
local live_digest, live_count, numbers_after, set_fence, set_revoked, drop_request, add_request, tidy_index
do
local function find_live_number(live, number) return find_piece(live, number, 1, 32) end
function live_digest(step, session)
    if session.indexed then return session.digest end
    local sum, live = 0, session.live
    for offset = 1, #live, 32 do
        local number = sub(live, offset, offset + 15)
        sum = sum + digest_of(number, sub(live, offset + 16, offset + 31),
            session.revoked and request_of(step, session, number).revoked)
    end
    return sum
end
function live_count(session) return session.indexed and session.count or #session.live / 32 end
-- Takes the removed numbers out of the index.
local function update_index(step, session)
    local unlisted = session.unlisted
    if not unlisted then return end
    session.unlisted = nil
    for from = 1, #unlisted, 1000 do
        call('ZREM', index_of(step, session), unpack(unlisted, from, smaller(from + 999, #unlisted)))
    end
end
-- The numbers above `lowest` in their order, at most `most`.
function numbers_after(step, session, lowest, most)
    if session.indexed then
        update_index(step, session)
        return call('ZRANGEBYSCORE', index_of(step, session), '(' .. lowest, '+inf', 'LIMIT', '0', most)
    end
    local found, live = {}, session.live
    for offset = 1, #live, 32 do
        local number = sub(live, offset, offset + 15)
        if number > lowest then found[#found + 1] = number end
    end
    sort(found)
    for i = most + 1, #found do found[i] = nil end
    return found
end
local function add_number(step, session, number)
    if not session.indexed and #session.live >= 32 * index_from then
        local live = session.live
        session.digest, session.count = live_digest(step, session), #live / 32
        session.indexed, session.live = true, nil
        for offset = 1, #live, 32 do
            local known = sub(live, offset, offset + 15)
            call('ZADD', index_of(step, session), known, known)
        end
    end
    if session.indexed then
        update_index(step, session)  -- it may have been dropped under the same number
        call('ZADD', index_of(step, session), number, number)
        session.digest, session.count = session.digest + digest_of(number, none), session.count + 1
    else
        session.live = session.live .. number .. none
    end
    session.dirty = true
end
local function remove_number(request)
    local session, number = request.session, request.number
    session.dirty = true
    if session.indexed then
        session.digest = session.digest - digest_of(number, request.fence, request.revoked)
        session.count, session.unlisted = session.count - 1, session.unlisted or {}
        session.unlisted[#session.unlisted + 1] = number
    else
        local live = session.live
        local offset = find_live_number(live, number)
        session.live = sub(live, 1, offset - 1) .. sub(live, offset + 32)
    end
    if live_count(session) == 0 then session.revoked = false end
end
-- Before the session is written.
function tidy_index(step, session)
    update_index(step, session)
    if not session.indexed or session.count > index_until then return end
    local numbers, live = call('ZRANGE', index_of(step, session), '0', '-1'), ''
    for i = 1, #numbers do live = live .. numbers[i] .. request_of(step, session, numbers[i]).fence end
    call('UNLINK', index_of(step, session))
    session.indexed, session.live = false, live
end
local function set_digest(session, request, fence, revoked)
    session.digest = session.digest + digest_of(request.number, fence, revoked)
        - digest_of(request.number, request.fence, request.revoked)
end
function set_fence(request, fence)
    local session = request.session
    if session.indexed then
        set_digest(session, request, fence, request.revoked)
    else
        local live = session.live
        local offset = find_live_number(live, request.number)
        session.live = sub(live, 1, offset + 15) .. fence .. sub(live, offset + 32)
    end
    request.fence, session.dirty = fence, true
end
function set_revoked(request, revoked)
    local session = request.session
    if session.indexed then set_digest(session, request, request.fence, revoked) end
    session.revoked, session.dirty, request.revoked, request.dirty = true, true, revoked, true
end

function drop_request(step, request)
    request.session.requests[request.number], request.dropped = false, true
    remove_number(request)
    step.gone[#step.gone + 1] = request.id
end
function add_request(step, session, number, ticket, claims)
    local request = new_request(session, number, ticket, claims)
    for i = 1, #claims do claims[i].resource = claims[i].resource or resource_of(step, claims[i].name) end
    request.dirty = true
    session.requests[number] = request
    add_number(step, session, number)
    return request
end
end

-- ---- members of `q`, `a` and holders: mode and permits of a claim, and the id of its request
-- The member of a simple request is the request's id.
local function member_text(mode, index, permits, limit, id)
    if mode == 's' then return 's' .. pad4(index) .. id end
    if mode == 'p' then return 'p' .. pad4(index) .. padded(permits) .. padded(limit) .. id end
    return 'e' .. pad4(index) .. id
end
local function member_of(claim)
    local request = claim.request
    if claim.mode == 'x' and is_simple(request) then return request.id end
    return member_text(claim.mode, claim.index, claim.permits, claim.limit, request.id)
end
-- Mode, index of the claim, permits, limit, id of the request.
local function read_member(member)
    local form = byte(member)
    if form == 120 then return 'x', 1, 0, 0, member end
    local index = tonumber(sub(member, 2, 5))
    if form == 112 then
        return 'p', index, tonumber(sub(member, 6, 10)), tonumber(sub(member, 11, 15)), sub(member, 16)
    end
    return form == 115 and 's' or 'x', index, 0, 0, sub(member, 6)
end
-- The claim that a member stands for. A simple request is known from its member alone: it is not read.
local function claim_of_member(step, resource, member, ticket)
    local _, index, _, _, id = read_member(member)
    if byte(member) ~= 120 then return request_with_id(step, id).claims[index] end
    local session, number = session_of(step, session_of_id(id)), number_of_id(id)
    local request = session.requests[number]
    if not request then
        local claim = {name = resource.name, mode = 'x', permits = 0, limit = 0, resource = resource}
        request = new_request(session, number, ticket, {claim})
        session.requests[number] = request
    end
    return request.claims[1]
end
