-- inspect: shows the claims on the names of a space, a page at a time, and changes nothing. A name is shown at one
-- moment, unless it has more claims than a page.
-- KEYS m
-- ARGV epoch (zeros: none yet), how many claims about, then 'space', cursor ('0' first), pattern of names or ''
--      | 'name', cursor ('0' first), name | 'wait', '0', session, numbers of waiting requests of the session (up to 8)
-- reply now, due, epoch, pause; next cursor ('0' last); sessions; names
do
-- The fields of a request, without its claims.
local function about_request(step, request)
    local session = request.session
    session.alias = session.alias or alias_of(session.id)
    return session.alias .. request.number .. ':' .. request.ticket .. request.fence
        .. or_none(request.hold_deadline) .. or_none(request.revoked) .. sized(request.note or '')
        .. deadline_of(step, session) .. session.ttl .. ':' .. sized(opened(step, session).label)
end
local function wanted_text(claim) return claim.mode .. claim.permits .. ':' .. claim.limit .. ':' end
-- One claim with its request. `others`: with the request's other claims, too.
local function claim_shown(step, claim, others)
    local request = claim.request
    local claims = request.claims
    local out = {
        about_request(step, request), claim.index .. ':' .. #claims .. ':', claim.admitted and '+' or '-',
        wanted_text(claim), slots_text(claim.slots),
    }
    if not others then return concat(out) .. '-' end
    out[#out + 1] = '+'
    for i = 1, #claims do
        if i ~= claim.index then out[#out + 1] = wanted_text(claims[i]) .. sized(claims[i].name) end
    end
    return concat(out)
end
-- The claims on a resource with tickets above the cursor's, at most `most`: admitted ones first, then waiting ones. A
-- cursor is a letter, a for admitted and q for waiting, and a ticket.
local function claims_on(step, resource, cursor, most, only_holders)
    local found, list, from = {}, sub(cursor, 1, 1), sub(cursor, 2)
    if cursor == '0' then
        list, from = 'a', none
        if resource.holder then found[1] = exclusive_on(step, resource) end
    end
    while true do
        local members
        if list == 'a' then
            members = holders_from(step, resource, from, most - #found + 1)
        else
            members = waiting_on(step, resource) > 0 and call('ZRANGEBYSCORE', queue_of(step, resource), from, '+inf',
                'WITHSCORES', 'LIMIT', '0', most - #found + 1) or no_slots
        end
        for i = 1, #members, 2 do
            if #found >= most then return found, list .. digits(members[i + 1]) end
            found[#found + 1] = claim_on(step, members[i])
        end
        if list == 'q' or only_holders then return found, '0' end
        list, from = 'q', none
    end
end
-- Name, pinned limit, mark, permits in use or claims admitted, admitted claims, waiting claims (`waiting`, if
-- given, replaces it), + or - (more follow), claims.
local function resource_shown(step, resource, claims, whole, others, waiting)
    local admitted = resource.holder and 1 or resource.shared + resource.counted
    local out = {
        sized(resource.name), or_none(pin_of(step, resource)),
        resource.marked and '+' .. mark_text(mark_of(step, resource)) or '-',
        (resource.counted > 0 and resource.used or admitted) .. ':' .. admitted .. ':',
        (waiting or waiting_on(step, resource)) .. ':', whole and '+' or '-', #claims .. ':',
    }
    for i = 1, #claims do out[#out + 1] = claim_shown(step, claims[i], others) end
    return concat(out)
end

local function show_name(step, page, cursor, name, most)
    local text = call('HGET', step.key, 'n' .. name)
    if not text then return end
    local resource = resource_of(step, name, text)
    local claims, next = claims_on(step, resource, cursor, most)
    page[2] = next
    page[4] = resource_shown(step, resource, claims, next == '0', true)
end
-- For the status line: of a waiting claim, some of the holders, the claim ahead of it, and how many are ahead.
local function show_wait(step, page, claim, most)
    local resource, queue = claim.resource, queue_of(step, claim.resource)
    local claims = claims_on(step, resource, '0', most, true)
    local ahead = call('ZRANK', queue, member_of(claim))
    if ahead > 0 then claims[#claims + 1] = claim_on(step, call('ZRANGE', queue, ahead - 1, ahead - 1)[1]) end
    claims[#claims + 1] = claim
    page[#page + 1] = resource_shown(step, resource, claims, true, true, ahead)
end
local function show_waits(step, page, session, numbers, most)
    for i = 1, #numbers do
        local request = request_of(step, session, numbers[i])
        local waits = request and request.fence == none
        local claims, shown = waits and request.claims or no_slots, 0
        for k = 1, #claims do
            if not claims[k].admitted and shown < most_ranks then
                shown = shown + 1
                show_wait(step, page, claims[k], most)
            end
        end
    end
end
-- A name with more claims than the page is listed without claims: the caller requests its pages by name.
local function show_space(step, page, cursor, pattern, most)
    local left = most
    repeat
        local found = call('HSCAN', step.key, cursor, 'MATCH', 'n' .. (pattern == '' and '*' or pattern), 'COUNT', '64')
        local fields = found[2]
        cursor = found[1]
        for i = 1, #fields, 2 do
            local resource = resource_of(step, sub(fields[i], 2), fields[i + 1])
            local count = resource.shared + resource.counted + waiting_on(step, resource)
            local claims = count <= most and claims_on(step, resource, '0', most) or no_slots
            page[#page + 1] = resource_shown(step, resource, claims, count <= most, false)
            left = left - #claims - 1
        end
        left = left - 4
    until left <= 0 or cursor == '0'
    page[2] = cursor
end

register('inspect', {'no-writes'}, function(keys, args)
    local now = clock(args)
    local most, kind, cursor = is_number(args[2]) and tonumber(args[2]), args[3], args[4]
    if not most or most < 1 or not cursor or not find(cursor, '^[aq]?%d+$') or not args[5] then return malformed() end
    local step = new_step(keys, args, now)
    local head = call('HGET', step.key, '')
    -- A viewer that met no space has no epoch.
    if not head and step.epoch == none then return {now .. never .. none .. none, '0', '0'} end
    local refusal = read_head(step, head)
    if refusal then return refusal end
    local page = {now .. sub(head, 1, 48), '0', tostring(space_field(step, 'sessions'))}
    if kind == 'name' then
        show_name(step, page, cursor, args[5], most)
    elseif kind == 'wait' then
        local session = session_of(step, args[5])
        local numbers = {}
        for i = 6, smaller(#args, 5 + most_ranks) do numbers[i - 5] = is_number(args[i]) and digits(args[i]) or none end
        if session then show_waits(step, page, session, numbers, most) end
    elseif kind == 'space' and find(cursor, '^%d+$') then
        show_space(step, page, cursor, args[5], most)
    else
        return malformed()
    end
    return page
end)
end
