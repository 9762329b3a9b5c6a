-- ==== the step: the order in which things happen when a command is performed (docs/rules.md)
local looks_at_once = 4096  -- first in line that do not fit, in one step

-- Rule 4: nothing is admitted while endings are owed, so nothing is granted to what ends.
local function admit_owed()
    if owed_known_none or is_paused() or endings_owed() then return end
    local looks = 0
    while allowance > 0 and looks < looks_at_once do
        local first = call('ZRANGE', prefix .. 'o', 0, 0)[1]
        if not first then
            owed_known_none = true
            return
        end
        local resource = resource_of(first:sub(37))
        forget_debt(resource)
        local wanted = read_member((first_of(resource)))
        looks = looks + 1
        if fits(resource, wanted) then
            allowance = allowance - 1
            local claim = request_of(session_of(wanted.id), wanted.number).claims[wanted.index]
            leave_queue(claim)
            admit(claim, lowest_free(resource, claim.permits))
            owe(resource)
        end
    end
end
-- Rules 3 and 8: grants are numbered in ticket order, when everything that the step admits is admitted.
local function grant_completed()
    table.sort(completed, older)
    for _, request in ipairs(completed) do
        request.fence, request.dirty = next_serial(), true
        for _, claim in ipairs(request.claims) do
            local resource = claim.resource
            resource.reserved, resource.dirty = resource.reserved - 1, true
            if claim.mode == 'x' then resource.holder.fence = request.fence end
        end
        if request.hold then
            request.hold_deadline = at + request.hold
            call('ZADD', prefix .. 't', digits(request.hold_deadline), timed(request, 'h'))
        end
        tell_granted(request)
    end
    completed = {}
end
local function settle()
    admit_owed()
    grant_completed()
end

local function add_request(session, number, ticket, wanted)
    local request = new_request(session, number, ticket, wanted)
    request.dirty = true
    session.requests[number] = request
    return request
end
local function same_claims(request, wanted)
    if #request.claims ~= #wanted then return false end
    for i, claim in ipairs(request.claims) do
        local other = wanted[i]
        if claim.name ~= other.name or claim.mode ~= other.mode or claim.permits ~= other.permits
            or claim.limit ~= other.limit then
            return false
        end
    end
    return true
end

-- Refuses another lineage, and what is none.
local function read_head()
    head = call('HGET', KEYS[1], '')
    lineage = head and head:sub(17, 32) or '0000000000000000'
    if lineage ~= ARGV[1] then
        if #lineage ~= 16 or lineage:find('%D') then return redis.error_reply('BATONHEAD the space has no head') end
        return redis.error_reply('BATONLINEAGE ' .. lineage)
    end
    paused_until, high, last_serial =
        tonumber(head:sub(33, 48)), tonumber(head:sub(49, 64)), tonumber(head:sub(65, 80))
    pause_length = tonumber(head:sub(81, 96)) or 0
    watched_until = tonumber(head:sub(97, 112)) or 0
    owed_known_none = head:sub(113, 113) ~= '1'
    if head:sub(114, 114) == '1' then
        for _, text in ipairs(call('LRANGE', prefix .. 'e', 0, -1)) do
            local session = session_of(text:sub(1, 16))
            session.deadline = tonumber(text:sub(18))
            dying[#dying + 1] = {session = session, reason = text:sub(17, 17), text = text, listed = true}
        end
    end
end
-- Settles what is due and owed, before the command of `id` acts; `pausing` acts before that (rule 11).
local function begin_step(id, pausing)
    local refusal = read_head()
    if refusal then return refusal end
    sender = id
    cut_deadlines()
    if pausing then pausing() end
    forget_ended()
    end_due()
    admit_owed()
end

local function save_resource(resource)
    local holder, waiting = resource.holder, waiting_on(resource)
    local plain = not (resource.marked or resource.pinned or resource.owed)
    if plain and not holder and resource.shared + resource.counted + waiting == 0 then
        return call('HDEL', KEYS[1], resource.name)
    end
    if plain and holder and resource.reserved == 0 then
        return call('HSET', KEYS[1], resource.name,
            (waiting == 0 and 'X' or 'Y') .. digits(holder.fence) .. holder.id .. holder.number)
    end
    local flags = (resource.marked and '1' or '0') .. (resource.pinned and '1' or '0') .. (resource.owed and '1' or '0')
    call('HSET', KEYS[1], resource.name, 'G' .. flags .. (resource.owed or '')
        .. format('%d:%d:%d:%d:', resource.shared, resource.counted, resource.used, resource.reserved)
        .. (holder and '+' .. digits(holder.fence) .. holder.id .. holder.number .. ':' or '-')
        .. slots_text(resource.slots))
end
local function save()
    for _, session in pairs(sessions) do
        if session then
            if session.dirty then
                call('HSET', session.key, '@', format('%08d', session.ttl) .. session.link .. (session.dying or '.')
                    .. session.label, 'h', format('%d', session.highest))
            end
            for number, request in pairs(session.requests) do
                if request and request.dirty then call('HSET', session.key, number, request_text(request)) end
            end
        end
    end
    for _, resource in pairs(resources) do
        if resource.dirty then save_resource(resource) end
    end
    for _, entry in ipairs(dying) do
        if not entry.listed then call('RPUSH', prefix .. 'e', entry.text) end
    end
    save_ended()
end

-- When a tick has something to do (as `engine::next_due`).
local function next_due(owed)
    if #dying > 0 then return at end
    local _, deadline = next_ending()
    if not owed and not deadline then return nil end
    if is_paused() then return paused_until end
    return owed and at or deadline
end
local function save_head()
    local owed = not owed_known_none and call('EXISTS', prefix .. 'o') == 1
    local due = next_due(owed)
    head = (due and digits(due - 1) or never) .. lineage .. digits(paused_until) .. digits(math.max(high, last_serial))
        .. digits(last_serial)
    if is_paused() or is_watched() or owed or #dying > 0 then
        -- What is over stays over, also if the clock goes back.
        head = head .. digits(pause_length) .. digits(is_watched() and watched_until or 0) .. (owed and '1' or '0')
            .. (#dying > 0 and '1' or '0')
    end
    call('HSET', KEYS[1], '', head)
end

-- What befell the sender is the reply, the rest are notices, one message a session.
local function tell_all()
    local start, reply, order, notices = now .. head:sub(1, 48), {}, {}, {}
    for _, event in ipairs(events) do
        local id, text = event[1], event[2]
        if not id or id == sender then
            reply[#reply + 1] = text
        else
            if not notices[id] then
                notices[id] = {}
                order[#order + 1] = id
            end
            table.insert(notices[id], text)
        end
    end
    for _, id in ipairs(order) do call('PUBLISH', prefix .. 'wake:' .. id, start .. table.concat(notices[id])) end
    if is_watched() and #events > 0 then
        local seen = {}
        for _, event in ipairs(events) do
            local id, text, twice = event[1], event[2], event[3]
            if not twice then seen[#seen + 1] = (id and alias_of(id) or nobody) .. sized(text) end
        end
        call('PUBLISH', prefix .. 'events', start .. table.concat(seen))
    end
    return start .. table.concat(reply)
end
local function finish_step()
    settle()
    save()
    save_head()
    return tell_all()
end
