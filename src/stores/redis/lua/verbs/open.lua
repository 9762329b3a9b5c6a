-- open: opens or renews a session, and restores the requests that its client lists (rules 5, 9, 11). It ends none.
-- KEYS m
-- ARGV epoch, session, ttl in ms, connection number (20 digits), highest number, label, live requests
-- reply now, due, epoch, pause; events alive | refused, ended, and other events of the session
do
-- A live request: number, ticket, fence, hold | -, claims, slots.
local function read_live(text)
    local _, last, number, ticket, fence, hold, count = find(text, '^(%d+):(%d+):(%d+):([%d-]+):(%d+):')
    if not last or #number > 20 or #ticket > 20 or #fence > 20 or #count > 4 or #hold > 20 then return nil end
    local live = {
        number = tonumber(number), ticket = tonumber(ticket), fence = tonumber(fence), claims = {}, slots = {},
    }
    if hold ~= '-' then
        live.hold = tonumber(hold)
        if not live.hold then return nil end
    end
    local place = last + 1
    if tonumber(count) > longest_claims + 1 then return nil end
    for i = 1, tonumber(count) do
        local mode, permits, limit, name
        _, last, mode, permits, limit = find(text, '^([xsp])(%d+):(%d+):', place)
        if not last or #permits > 10 or #limit > 10 then return nil end
        name, place = read_sized(text, last + 1)
        if not name then return nil end
        live.claims[i] = {mode = mode, permits = tonumber(permits), limit = tonumber(limit), name = name}
    end
    local given
    given, place = read_number(text, place)
    if not given or given < 0 or given > longest_claims + 1 then return nil end
    for i = 1, given do
        local name, slots
        name, place = read_sized(text, place)
        if name then slots, place = read_slots(text, place) end
        if not slots then return nil end
        live.slots[i] = {name = name, slots = slots}
    end
    return place > #text and live or nil
end

-- ---- is the list one that an engine can have granted?
local wrong_shape
do
-- Exactly as many as the claim wants, in ascending order, below the bound.
local function are_slots_of(given, claim)
    local slots, count, before = given.slots, 0, -1
    for i = 1, #slots, 2 do
        if slots[i] <= before or slots[i + 1] < slots[i] or slots[i + 1] >= most_permits then return false end
        before = slots[i + 1]
        count = count + slots[i + 1] - slots[i] + 1
    end
    return given.name == claim.name and count == claim.permits
end
local function slots_are_whole(live)
    local next = 1
    for i = 1, live.fence ~= 0 and #live.claims or 0 do
        local claim = live.claims[i]
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
function wrong_shape(step, asked)
    if asked.ttl < 100 or asked.ttl * 1000 > longest_ttl(step) then return 'ttl out of range' end
    if #asked.label > longest_text then return 'label too long' end
    if tonumber(asked.highest) >= number_end then return 'number out of range' end
    local seen, twice = {}, false
    for i = 1, #asked.listed do
        local live = asked.listed[i]
        if live.number < 1 or live.number >= number_end then return 'number out of range' end
        local reason = refusal_of_claims(live.claims)
        if reason then return reason end
        if not is_possible(live) then return 'bad reclaim' end
        twice = twice or seen[live.number]
        seen[live.number] = true
    end
    if twice then return 'bad reclaim' end
end
end

-- ---- reclaim
local rivals, give_way
do
-- The claims that are admitted on a resource: an exclusive one, or those with tickets from `lowest` on.
local function admitted_on(step, resource, lowest)
    if resource.holder then return {exclusive_on(step, resource)} end
    local found, members = {}, holders_from(step, resource, lowest, -1)
    for i = 1, #members, 2 do found[#found + 1] = claim_on(step, members[i]) end
    return found
end
local function runs_overlap(a, b)
    local i, j = 1, 1
    while a[i] and b[j] do
        if a[i + 1] < b[j] then
            i = i + 2
        elseif b[j + 1] < a[i] then
            j = j + 2
        else
            return true
        end
    end
    return false
end
local function stands_beside(claim, other)
    return claim.mode ~= 'x' and claim.mode == other.mode and not runs_overlap(claim.presented or no_slots, other.slots)
end
local function stands_beside_all(claim, resource)
    if resource.holder or claim.mode == 'x' then return false end
    if claim.mode == 's' then return resource.counted == 0 end
    return resource.shared == 0 and not any_taken(resource.slots, claim.presented or no_slots)
end
-- Other requests that conflict with a presented one: they have its ticket, or both are granted and their modes do not
-- fit or they share a slot.
function rivals(step, live, ticket)
    local found, seen = {}, {}
    local function add(request)
        if seen[request] then return end
        seen[request] = true
        found[#found + 1] = request
    end
    for i = 1, #live.claims do
        local claim = live.claims[i]
        local resource = resource_of(step, claim.name)
        local owner = claimant_of(step, resource, ticket)
        if owner then add(request_with_id(step, owner)) end
        local others = (live.fence == 0 or stands_beside_all(claim, resource)) and no_slots
            or admitted_on(step, resource, none)
        for k = 1, #others do
            if others[k].request.fence ~= none and not stands_beside(claim, others[k]) then add(others[k].request) end
        end
    end
    sort(found, older)
    return found
end
-- Claims of younger requests that still wait go back into the queue, to be admitted anew, in order.
function give_way(step, resource, ticket)
    if resource.reserved == 0 then return end
    local claims = admitted_on(step, resource, ticket)
    for i = 1, #claims do
        local request = claims[i].request
        if request.unadmitted ~= 0 and request.ticket > ticket then
            vacate(step, claims[i])
            wait(step, claims[i])
        end
    end
end
end
-- Ends the requests that a dead session still has under the ticket, although their end is owed (rule 4).
local function end_dead_owners(step, live, ticket)
    for i = 1, #live.claims do
        local id = claimant_of(step, resource_of(step, live.claims[i].name), ticket)
        local owner = id and request_with_id(step, id)
        if owner and not find_alive(step, owner.session.id) then end_with_session(step, owner) end
    end
end

-- Replaces the record of a request, if there is one, by the presented request.
local function restore(step, session, live)
    local number, ticket = digits(live.number), digits(live.ticket)
    local recorded, revoked, note = request_of(step, session, number), nil, nil
    if recorded then
        if ticket == none then ticket = recorded.ticket end
        revoked, note = recorded.revoked, recorded.note
        detach(step, recorded)
    end
    if ticket == none then ticket = next_serial(step) end

    local fence, paused = digits(live.fence), is_paused(step)
    end_dead_owners(step, live, ticket)
    local others, beaten = rivals(step, live, ticket), false
    for i = 1, #others do beaten = beaten or others[i].fence >= fence end
    if beaten then return tell(step, session.id, ended_text(number, 's', fence)) end
    for i = 1, #others do end_request(step, others[i], 's', 'k') end

    local request = add_request(step, session, number, ticket, live.claims)
    set_fence(request, fence)
    request.hold, request.presented = live.hold, paused and space_field(step, 'pauses') or 0
    local claims = request.claims
    for i = 1, #claims do give_way(step, claims[i].resource, paused and none or ticket) end
    for i = 1, #claims do
        if fence == none then wait(step, claims[i]) else admit(step, claims[i], claims[i].presented or no_slots) end
    end
    if fence ~= none and request.hold then
        request.hold_deadline = digits(step.at + request.hold)
        call('ZADD', step.prefix .. 't', request.hold_deadline, timed(request, 'h'))
    end
    if revoked then
        call('ZADD', step.prefix .. 'd', revoked, timed(request, 'r'))
        request.note = note
        set_revoked(request, revoked)
    end
    for i = 1, #claims do review_width(step, claims[i].resource) end
    end_narrowed(step)
end

local function reclaim(step, session, asked)
    local listed, seen = asked.listed, session.highest
    local highest = larger(tonumber(asked.highest), seen)
    for i = 1, #listed do
        local live = listed[i]
        highest = larger(highest, live.number)
        step.last = larger(step.last, digits(larger(live.ticket, live.fence)))
    end
    session.highest, session.dirty = highest, true
    local known = {}
    for i = 1, #listed do known[i] = digits(listed[i].number) end
    read_requests(step, session, known)
    for i = 1, #listed do
        local live, number = listed[i], known[i]
        -- Outside of a pause only what waited comes back, and never under a number that was used (rule 9).
        local comes_back = live.fence == 0 and live.ticket ~= 0 and live.number > seen
        if is_paused(step) or comes_back then
            restore(step, session, live)
        elseif not find_live(step, session, number) then
            tell(step, session.id, ended_text(number, 'g', digits(live.fence)))
        end
    end
end

-- Whether the session existed before this `open`. The first `open` of a session may list waiters of another session.
-- Any other list shows that the session was open before: if it is unknown now, its id must not live twice (rule 5).
local first_connection = rep('0', 19) .. '1'
local function had_a_life(asked)
    local listed = asked.listed
    for i = 1, #listed do
        if listed[i].fence ~= 0 or asked.connection_number ~= first_connection then return true end
    end
    return false
end
local function open(step, asked)
    local reason = wrong_shape(step, asked)
    if reason then return refuse(step, reason) end
    local sender, connection_number = step.sender, asked.connection_number
    local session = find_alive(step, sender)
    if not session then
        if step.sessions[sender] or ended_ids.has(step, sender) or had_a_life(asked) and not is_paused(step) then
            return refuse(step, 'unknown session')
        end
        session = {id = sender, requests = {}, highest = 0, live = ''}
        step.sessions[sender] = session
        call('HINCRBY', step.prefix .. 'i', 'sessions', '1')
        unused.no_more(step)
    elseif connection_number < opened(step, session).connection_number then
        return refuse(step, 'stale connection')
    end
    local again = connection_number == session.connection_number
    if not again then
        session.connection_number, session.label = connection_number, asked.label
        session.ttl = format('%08d', asked.ttl)
        session.changed, session.dirty = true, true
    end
    forget_repeated(step, session)
    prolong(step, session)
    if not again then reclaim(step, session, asked) end
    tell_alive(step, session)
end

register('open', {}, function(keys, args)
    local now, id, ttl = clock(args), args[2], args[3]
    local asked = {connection_number = args[4], highest = args[5], label = args[6], listed = {}}
    if not is_session(id) or not is_signed(ttl) or not is_number(asked.highest) or not asked.label then
        return malformed()
    end
    if #asked.connection_number ~= 20 or find(asked.connection_number, '%D') then return malformed() end
    asked.ttl = tonumber(ttl)
    for i = 7, #args do
        asked.listed[i - 6] = read_live(args[i])
        if not asked.listed[i - 6] then return malformed() end
    end
    return perform(keys, args, now, id, function(step) open(step, asked) end)
end)
end
