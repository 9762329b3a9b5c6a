#!lua
-- open: a session begins or renews, and its requests become those that its client lists (rules 5, 9, 11).
-- KEYS m, s:<session>
-- ARGV lineage, ttl in ms, link (20 digits), highest number, p (a part of the list) or w (whole), label, live requests
-- reply now, due, lineage, pause; events alive | refused, ended, and what else befalls the session; place
-- Calls: as many as there are requests to end and to restore, a few each
--%clock
--%prelude
--%operators
local ttl, link, highest, part, label = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
if not is_signed(ttl) or not is_number(highest) or not label then return malformed end
if part ~= 'p' and part ~= 'w' then return malformed end
if #link ~= 20 or link:find('%D') or KEYS[2] ~= prefix .. 's:' .. KEYS[2]:sub(-16) then return malformed end
ttl = tonumber(ttl)

-- number, ticket, fence, hold | -, claims, slots
local function read_live(text)
    local read = reader(text)
    local live = {number = read.number(), ticket = read.number(), fence = read.number(), hold = read.maybe()}
    live.claims, live.slots = {}, {}
    for i = 1, read.number() or 0 do
        local mode = read.bytes(1)
        local claim = {mode = mode, permits = read.number(), limit = read.number(), name = read.sized()}
        local whole = mode and mode:find('[xsp]') and claim.permits and claim.limit and claim.name
        if not whole or i > 1001 then return nil end
        live.claims[i] = claim
    end
    for i = 1, read.number() or 0 do
        local listed = {name = read.sized(), slots = read_slots(read)}
        if not listed.name or not listed.slots or i > 1001 then return nil end
        live.slots[i] = listed
    end
    local whole = live.number and live.ticket and live.fence and live.hold ~= false and read.done()
    return whole and live or nil
end
local listed = {}
for i = 7, #ARGV do
    listed[i - 6] = read_live(ARGV[i])
    if not listed[i - 6] then return malformed end
end
local refusal = begin_step(KEYS[2]:sub(-16))
if refusal then return refusal end

-- Exactly as many as the claim wants, in ascending order, below the bound.
local function are_slots_of(given, claim)
    local slots, count, before = given.slots, 0, -1
    for i = 1, #slots, 2 do
        if slots[i] <= before or slots[i + 1] < slots[i] or slots[i + 1] >= 65536 then return false end
        before = slots[i + 1]
        count = count + slots[i + 1] - slots[i] + 1
    end
    return given.name == claim.name and count == claim.permits
end
local function slots_are_whole(live)
    local next = 1
    for _, claim in ipairs(live.fence ~= 0 and live.claims or {}) do
        if claim.mode == 'p' then
            local given = live.slots[next]
            if not given or not are_slots_of(given, claim) then return false end
            claim.presented = given.slots
            next = next + 1
        end
    end
    return live.slots[next] == nil
end
local function is_possible(live)
    if live.ticket >= presented_end or live.fence >= presented_end then return false end
    if live.fence ~= 0 and (live.ticket == 0 or live.ticket >= live.fence) then return false end
    local shortest = live.fence ~= 0 and 0 or shortest_hold
    if live.hold and (live.hold < shortest or live.hold > longest_hold) then return false end
    return slots_are_whole(live)
end
local function wrong_shape()
    if ttl < 100 or ttl * 1000 > longest_ttl() then return 'ttl out of range' end
    if #label > 1024 then return 'label too long' end
    if tonumber(highest) >= number_end then return 'number out of range' end
    local seen, twice = {}, false
    for _, live in ipairs(listed) do
        if live.number < 1 or live.number >= number_end then return 'number out of range' end
        local reason = refusal_of_claims(live.claims)
        if reason then return reason end
        if not is_possible(live) then return 'bad reclaim' end
        twice = twice or seen[live.number]
        seen[live.number] = true
    end
    if twice then return 'bad reclaim' end
end

-- ---- reclaim
local function admitted_on(resource)
    local found, holder = {}, resource.holder
    if holder then
        for _, claim in ipairs(request_of(session_of(holder.id), holder.number).claims) do
            if claim.name == resource.name then found[1] = claim end
        end
    elseif resource.shared + resource.counted > 0 then
        for i, member in ipairs(call('ZRANGE', admitted_of(resource), 0, -1)) do
            local whose = read_member(member)
            found[i] = request_of(session_of(whose.id), whose.number).claims[whose.index]
        end
    end
    return found
end
local function stands_beside(claim, other)
    return claim.mode ~= 'x' and claim.mode == other.mode and not overlap(claim.presented or {}, other.slots)
end
local function stands_beside_all(claim, resource)
    if resource.holder or claim.mode == 'x' then return false end
    if claim.mode == 's' then return resource.counted == 0 end
    return resource.shared == 0 and not overlap(claim.presented or {}, resource.slots)
end
-- Other grants that cannot stand beside a presented one: their modes do not fit, or they have one of its slots.
local function rivals(live)
    local found, seen = {}, {}
    if live.fence == 0 then return found end
    for _, claim in ipairs(live.claims) do
        local resource = resource_of(claim.name)
        for _, other in ipairs(stands_beside_all(claim, resource) and {} or admitted_on(resource)) do
            local request = other.request
            if request.fence ~= 0 and not seen[request] and not stands_beside(claim, other) then
                seen[request] = true
                found[#found + 1] = request
            end
        end
    end
    table.sort(found, older)
    return found
end
-- A number of an earlier history that this one has given to somebody else, on the same resource.
local function ticket_taken(live, ticket)
    local score = digits(ticket)
    for _, claim in ipairs(live.claims) do
        local resource = resource_of(claim.name)
        if call('ZCOUNT', queue_of(resource), score, score) > 0 then return true end
        if call('ZCOUNT', admitted_of(resource), score, score) > 0 then return true end
        local holder = resource.holder
        if holder and request_of(session_of(holder.id), holder.number).ticket == ticket then return true end
    end
    return false
end
-- Claims of requests that still wait go back into the queue: they are admitted anew, in order, after the pause.
local function give_way(resource)
    if resource.reserved == 0 then return end
    for _, claim in ipairs(admitted_on(resource)) do
        if claim.request.fence == 0 then
            vacate(claim)
            wait(claim)
        end
    end
end

-- Puts a presented request in the place of whatever is recorded of it.
local function restore(session, live)
    local number, ticket = format('%d', live.number), live.ticket
    local recorded, revoked, note = request_of(session, number), nil, ''
    if recorded then
        if ticket == 0 then ticket = recorded.ticket end
        revoked, note = recorded.revoked, recorded.note
        detach(recorded)
    end
    if ticket == 0 then ticket = next_serial() end

    local others, beaten = rivals(live), false
    for _, other in ipairs(others) do beaten = beaten or other.fence >= live.fence end
    if beaten or ticket_taken(live, ticket) then return tell(session.id, ended_text(number, 's', live.fence)) end
    for _, other in ipairs(others) do end_request(other, 's', 'k') end

    local request = add_request(session, number, ticket, live.claims)
    request.fence, request.hold, request.presented = live.fence, live.hold, of_space('pauses')
    for _, claim in ipairs(request.claims) do give_way(claim.resource) end
    for _, claim in ipairs(request.claims) do
        if request.fence == 0 then wait(claim) else admit(claim, claim.presented or {}) end
    end
    if request.fence ~= 0 and request.hold then
        request.hold_deadline = at + request.hold
        call('ZADD', prefix .. 't', digits(request.hold_deadline), timed(request, 'h'))
    end
    if revoked then
        call('ZADD', prefix .. 'd', digits(revoked), timed(request, 'r'))
        request.revoked, request.note = revoked, note
    end
    for _, claim in ipairs(live.claims) do end_too_wide(claim.resource) end
end

local function reclaim(session)
    local kept = {}
    for _, live in ipairs(listed) do kept[live.number] = true end
    for _, number in ipairs(part == 'w' and numbers_of(session) or {}) do
        if tonumber(number) <= tonumber(highest) and not kept[tonumber(number)] then
            end_owned(request_of(session, number), 'k')
        end
    end
    session.highest = math.max(session.highest, tonumber(highest))
    for _, live in ipairs(listed) do
        session.highest = math.max(session.highest, live.number)
        last_serial = math.max(last_serial, live.ticket, live.fence)
    end
    for _, live in ipairs(listed) do
        if is_paused() then
            restore(session, live)
        elseif not find_live(session, format('%d', live.number)) then
            tell(session.id, ended_text(format('%d', live.number), 'g', live.fence))
        end
    end
end

local session
local function perform()
    local reason = wrong_shape()
    if reason then return refuse(reason) end
    session = find_alive(sender)
    if not session and has_ended(sender) then return refuse('unknown session') end
    if not session and #listed > 0 and not is_paused() then return refuse('unknown session') end
    if session and link < session.link then return refuse('late link') end
    local again = session and link == session.link
    if not session then
        session = {id = sender, key = KEYS[2], highest = 0, requests = {}, unread = {}, complete = true}
        sessions[sender] = session
    end
    if not again then session.ttl, session.label, session.link = ttl, label, link end
    session.dirty = true
    prolong(session)
    if not again then reclaim(session) end
    tell_alive(session)
end
perform()
return finish_step() .. place_text(session and fewest_ahead_of_all(session))
