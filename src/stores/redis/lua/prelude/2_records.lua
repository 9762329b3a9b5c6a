-- ==== records: the head, sessions, requests and resources, read when they are needed and written at the end
local head, lineage, paused_until, pause_length, high, last_serial, watched_until
local sender  -- the session that the command speaks for
local events = {}  -- of this step, in order: session or nil, text
local sessions, resources = {}, {}
local identity = {}

-- A field of the space's identity, `i`.
local function of_space(field)
    if identity[field] == nil then identity[field] = tonumber(call('HGET', prefix .. 'i', field) or 0) end
    return identity[field]
end
local function longest_ttl() return of_space('max_ttl') * 1000 end
local function is_paused() return at < paused_until end
local function is_watched() return at < watched_until end

-- What others may know a session by: its id is a secret.
local nobody = '----------------'
local function alias_of(id) return redis.sha1hex(id):sub(1, 16) end

-- `twice`: the next event tells another session the same, so viewers are told once.
local function tell(session, text, twice) events[#events + 1] = {session, text, twice} end
local function refuse(reason, number) tell(sender, 'r' .. reason .. ':' .. (number or '-') .. ':') end

local function next_serial()
    last_serial = math.max(last_serial + 1, at)
    return last_serial
end

-- ---- sessions: @ is ttl (8 digits), link (20 digits), how it is dying (1), label
local function session_of(id)
    local session = sessions[id]
    if session == nil then
        local place = prefix .. 's:' .. id
        local got = call('HMGET', place, '@', 'h')
        local text = got[1]
        session = text and {
            id = id, key = place, ttl = tonumber(text:sub(1, 8)), link = text:sub(9, 28),
            dying = text:sub(29, 29) ~= '.' and text:sub(29, 29), label = text:sub(30),
            highest = tonumber(got[2]), requests = {}, unread = {},
        } or false
        sessions[id] = session
    end
    return session
end

local function deadline_of(session)
    if not session.deadline then session.deadline = tonumber(call('ZSCORE', prefix .. 'd', session.id .. 's')) end
    return session.deadline
end

local function move_deadline(session, deadline)
    session.deadline = deadline
    call('ZADD', prefix .. 'd', digits(deadline), session.id .. 's')
end
local function prolong(session) move_deadline(session, at + session.ttl * 1000) end

-- ---- resources
local function resource_of(name)
    local resource = resources[name]
    if resource then return resource end
    resource = {name = name, shared = 0, counted = 0, used = 0, reserved = 0, slots = {}}
    resources[name] = resource
    local text = call('HGET', KEYS[1], name)
    local form = text and text:sub(1, 1)
    if not text then
        resource.waiting = 0
    elseif form == 'G' then
        resource.marked, resource.pinned = text:sub(2, 2) == '1', text:sub(3, 3) == '1'
        local read = reader(text, 5)
        if text:sub(4, 4) == '1' then resource.owed = read.bytes(36) end
        resource.shared, resource.counted = read.number(), read.number()
        resource.used, resource.reserved = read.number(), read.number()
        if read.bytes(1) == '+' then
            local fence, id = read.bytes(16), read.bytes(16)
            resource.holder = {fence = tonumber(fence), id = id, number = format('%d', read.number())}
        end
        resource.slots = read_slots(read)
    else
        resource.holder = {fence = tonumber(text:sub(2, 17)), id = text:sub(18, 33), number = text:sub(34)}
        if form == 'X' then resource.waiting = 0 end
    end
    return resource
end

local function queue_of(resource) return prefix .. 'q:' .. resource.name end
local function admitted_of(resource) return prefix .. 'a:' .. resource.name end
local function wide_of(resource) return prefix .. 'w:' .. resource.name end

local function waiting_on(resource)
    if not resource.waiting then resource.waiting = call('ZCARD', queue_of(resource)) end
    return resource.waiting
end

-- The limit that is pinned, else the claim's own (rule 10).
local function pin_of(resource)
    if resource.pinned and not resource.pin then
        resource.pin = tonumber(call('HGET', prefix .. 'limits', resource.name))
    end
    return resource.pinned and resource.pin
end
local function limit_for(resource, own) return pin_of(resource) or own end

-- ---- marks (rule 7): fence, time, fence of the holder that was told (16 digits each), count, label
local function mark_of(resource)
    if resource.marked and not resource.mark then
        local text = call('HGET', prefix .. 'marks', resource.name)
        local count, label = text:match('^(%d+):(.*)$', 49)
        resource.mark = {
            fence = tonumber(text:sub(1, 16)), at = tonumber(text:sub(17, 32)), told = tonumber(text:sub(33, 48)),
            count = tonumber(count), label = label,
        }
    end
    return resource.marked and resource.mark
end
local function set_mark(resource, mark)
    resource.mark, resource.marked, resource.dirty = mark, mark ~= nil, true
    if not mark then return call('HDEL', prefix .. 'marks', resource.name) end
    call('HSET', prefix .. 'marks', resource.name,
        digits(mark.fence) .. digits(mark.at) .. digits(mark.told) .. format('%d:', mark.count) .. mark.label)
end
local function mark_text(mark)
    return sized(mark.label) .. format('%d:%d:%d:', mark.fence, mark.at, mark.count)
end

-- ---- claims in queues and among the admitted: what they want, and whose they are
local function is_simple(request)
    local claims = request.claims
    return #claims == 1 and claims[1].mode == 'x' and not request.hold and request.presented == 0
end
local function member_of(claim)
    local request = claim.request
    if is_simple(request) then return 'x' .. request.session.id .. request.number end
    return format('g%s%04d%05d%05d', claim.mode, claim.index, claim.permits, claim.limit) .. request.session.id
        .. request.number
end
local function read_member(member)
    if member:byte() == 120 then
        return {mode = 'x', index = 1, permits = 0, limit = 0, id = member:sub(2, 17), number = member:sub(18)}
    end
    return {
        mode = member:sub(2, 2), index = tonumber(member:sub(3, 6)), permits = tonumber(member:sub(7, 11)),
        limit = tonumber(member:sub(12, 16)), id = member:sub(17, 32), number = member:sub(33),
    }
end

-- ---- requests: x one exclusive claim, whose resource tells the rest; m several that are held; g everything else
local function new_request(session, number, ticket, claims)
    local request = {
        session = session, number = number, ticket = ticket, fence = 0, claims = claims, unadmitted = #claims,
        presented = 0, note = '',
    }
    for index, claim in ipairs(claims) do
        claim.request, claim.index, claim.resource, claim.slots = request, index, resource_of(claim.name), {}
    end
    return request
end
local function held_alone(request, fence)
    request.fence, request.unadmitted = fence, 0
    for _, claim in ipairs(request.claims) do claim.admitted = true end
end

local function read_general(session, number, text)
    local read = reader(text, 2)
    local ticket, fence, hold, hold_deadline = read.number(), read.number(), read.maybe(), read.maybe()
    local revoked, note, presented = read.maybe(), read.sized(), read.number()
    local claims, states = {}, {}
    for i = 1, read.number() do
        states[i] = {admitted = read.bytes(1) == '+'}
        local mode = read.bytes(1)
        claims[i] = {mode = mode, permits = read.number(), limit = read.number(), name = read.sized()}
        states[i].slots = read_slots(read)
    end
    local request = new_request(session, number, ticket, claims)
    request.fence, request.hold, request.hold_deadline, request.revoked = fence, hold, hold_deadline, revoked
    request.note, request.presented = note, presented
    for i, claim in ipairs(claims) do
        claim.admitted, claim.slots = states[i].admitted, states[i].slots
        if claim.admitted then request.unadmitted = request.unadmitted - 1 end
    end
    return request
end

local function read_request(session, number, text)
    local kind = text:sub(1, 1)
    if kind == 'g' then return read_general(session, number, text) end
    local ticket = tonumber(text:sub(2, 17))
    if kind == 'x' then
        local request = new_request(session, number, ticket, {exclusive_claim(text:sub(18))})
        local holder = request.claims[1].resource.holder
        if holder and holder.id == session.id and holder.number == number then held_alone(request, holder.fence) end
        return request
    end
    local claims, read = {}, reader(text, 34)
    while not read.done() do claims[#claims + 1] = exclusive_claim(read.sized()) end
    local request = new_request(session, number, ticket, claims)
    held_alone(request, tonumber(text:sub(18, 33)))
    return request
end

local function or_none(number) return number and format('%d:', number) or '-:' end
local function request_text(request)
    local derived = is_simple(request) and not request.revoked
    if derived then return 'x' .. digits(request.ticket) .. request.claims[1].name end
    local out = {
        format('g%d:%d:', request.ticket, request.fence), or_none(request.hold), or_none(request.hold_deadline),
        or_none(request.revoked), sized(request.note), format('%d:%d:', request.presented, #request.claims),
    }
    for _, claim in ipairs(request.claims) do
        out[#out + 1] = (claim.admitted and '+' or '-') .. claim.mode .. format('%d:%d:', claim.permits, claim.limit)
            .. sized(claim.name) .. slots_text(claim.slots)
    end
    return table.concat(out)
end

local function request_of(session, number)
    local request = session.requests[number]
    if request == nil then
        local text = call('HGET', session.key, number)
        request = text and read_request(session, number, text) or false
        session.requests[number] = request
    end
    return request
end

-- The numbers of its requests, lowest first.
local function numbers_of(session)
    if not session.complete then
        for _, field in ipairs(call('HKEYS', session.key)) do
            if field ~= '@' and field ~= 'h' and session.requests[field] == nil then session.unread[field] = true end
        end
        session.complete = true
    end
    local all = {}
    for number in pairs(session.unread) do
        if session.requests[number] == nil then all[#all + 1] = number end
    end
    for number, request in pairs(session.requests) do
        if request then all[#all + 1] = number end
    end
    table.sort(all, function(a, b) return tonumber(a) < tonumber(b) end)
    return all
end
