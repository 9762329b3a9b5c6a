-- enter: a request arrives (rules 1, 2, 3, 9).
-- KEYS m
-- ARGV epoch, request, options if any (nowait: hold in µs or nothing: bound or nothing), claims
-- reply now, due, epoch, pause; events granted | queued | refused | ended; place
do
-- ---- short paths: a new request in a quiet space. The differential test plays both them and the long path.
local enter_one, enter_all
do
-- Rule 8.
local function next_ticket(head, now) return head.last < now and now or after(head.last) end
-- The text of the session with one request more; nil if the long path has to add it. If there is an index, it is
-- changed at once, so the caller may not fail after that.
local function with_request(key, text, id, number, fence)
    if not text or number <= sub(text, 12, 27) or #id > 33 or number >= last_number then return nil end
    if byte(text) == 46 then
        if #text >= 27 + 32 * index_from then return nil end
        return sub(text, 1, 11) .. number .. sub(text, 28) .. number .. fence
    end
    call('ZADD', sub(key, 1, -2) .. 'n:' .. session_of_id(id), number, number)
    return sub(text, 1, 11) .. number
        .. format('%016d%08d', sub(text, 28, 43) + digest_of(number, fence), sub(text, 44) + 1)
end

-- The resource's text with one more claim admitted, if no claim waits there and it fits beside the holders; of permits
-- also the slots. Nil: it does not, or the long path has to do it.
local function admitted_text(text, mode, permits, limit, index, ticket, fence, id)
    if mode == 'x' then return not text and 'X' .. fence .. id end
    if mode == 's' then
        if not text then return 'S' .. ticket .. 's' .. pad4(index) .. id end
        if byte(text) ~= 83 or #text >= 1 + shared_size * most_listed then return nil end
        return text .. ticket .. 's' .. pad4(index) .. id
    end
    local used, bitmap, holders = 0, '', ''
    if text then
        if byte(text) ~= 80 then return nil end
        used, bitmap, holders = read_permits(text)
        if #holders >= permit_size * most_listed or used + permits > limit then return nil end
    end
    local slots
    slots, bitmap = take_lowest(bitmap, permits)
    return 'P' .. number_text(used + permits) .. ':' .. sized(bitmap) .. holders .. ticket
        .. member_text('p', index, permits, limit, id), slots
end
-- Notes the deadline of a hold limit, and returns it.
local function hold_until(key, now, head, id, hold)
    local deadline = digits(now + hold)
    call('ZADD', sub(key, 1, -2) .. 't', deadline, sub(id, 2) .. 'h')
    if deadline <= sub(head.start, 1, 16) then head.start = digits(deadline - 1) .. sub(head.start, 17) end
    return deadline
end
local function record_start(ticket, fence, hold, deadline)
    return 'g' .. ticket .. fence .. (hold and '+' .. hold .. ':' .. deadline .. ':-:0:0:' or '.')
end
-- An exclusive claim behind another one. `place` is the name's field, `holder` its text.
local function queue_exclusive(key, now, head, id, place, holder, session)
    local ticket, number, form = next_ticket(head, now), sub(id, 18), byte(holder)
    if form ~= 88 and form ~= 89 then return nil end
    session = with_request(key, session, id, number, none)
    if not session then return nil end
    local queue, ahead = sub(key, 1, -2) .. 'q:' .. sub(place, 2), 0
    call('ZADD', queue, ticket, id)
    if form == 89 then ahead = call('ZCARD', queue) - 1 end
    call('HSET', key, '', next_head(head, now, ticket), place, 'Y' .. sub(holder, 2), sub(id, 1, 17), session,
        id, 'x' .. ticket .. place)
    return now .. head.start .. 'q' .. number .. ':' .. ticket .. 'w' .. ahead .. ':'
end

-- One claim: granted at once, or queued if it is exclusive and so is the holder.
function enter_one(key, now, epoch, id, text, may_wait, hold)
    local mode, place, permits, limit, _ = 'x', text, nil, nil, nil
    local form = byte(text)
    if form == 115 then
        mode, place = 's', 'n' .. sub(text, 2)
    elseif form == 112 then
        mode = 'p'
        _, _, permits, limit, place = find(text, '^p(%d+):(%d+):(.*)$')
        if not place then return nil end
        permits, limit, place = number_of(permits), number_of(limit), 'n' .. place
        if permits < 1 or permits > limit or limit > most_permits then return nil end
    elseif form ~= 110 then
        return nil
    end
    if #place == 1 or #place > longest_name + 1 then return nil end
    local owner = sub(id, 1, 17)
    local got = call('HMGET', key, '', place, owner)
    local head = quiet_head(got[1], now, epoch)
    if not head then return nil end
    local number, ticket = sub(id, 18), next_ticket(head, now)
    local fence = after(ticket)
    local resource, slots = admitted_text(got[2], mode, permits, limit, 1, ticket, fence, id)
    if not resource then
        if mode ~= 'x' or not may_wait then return nil end
        return queue_exclusive(key, now, head, id, place, got[2], got[3])
    end
    local session = with_request(key, got[3], id, number, fence)
    if not session then return nil end
    local deadline = hold and hold_until(key, now, head, id, hold)
    local name, taken = (hold or slots) and sized(sub(place, 2)), slots and slots_text(slots)
    local record
    if hold or slots and permits > 1 then
        record = record_start(ticket, fence, hold, deadline) .. '+' .. mode
            .. (slots and permits .. ':' .. limit .. ':' .. name .. taken or name)
    elseif mode == 'x' then
        record = 'x' .. ticket .. place
    elseif mode == 's' then
        record = 's' .. ticket .. fence .. place
    else
        record = 'p' .. ticket .. fence .. '00001' .. padded(limit) .. padded(slots[1]) .. place
    end
    call('HSET', key, '', next_head(head, now, fence), place, resource, owner, session, id, record)
    if not hold and not slots then return now .. head.start .. 'g' .. number .. ':' .. ticket .. fence .. '.' end
    return now .. head.start .. 'g' .. number .. ':' .. ticket .. fence .. '+' .. or_none(deadline)
        .. (slots and '1:' .. name .. taken or '0:') .. '0:'
end

-- Several claims, all granted at once.
function enter_all(key, now, epoch, id, wanted, hold)
    local names = {'', sub(id, 1, 17)}
    for i = 1, #wanted do names[i + 2] = 'n' .. wanted[i].name end
    local got = call('HMGET', key, unpack(names))
    local head = quiet_head(got[1], now, epoch)
    if not head then return nil end
    local ticket, number = next_ticket(head, now), sub(id, 18)
    local fence = after(ticket)
    local records, told, written = {''}, {}, {'', '', names[2], '', id, ''}
    for i = 1, #wanted do
        local claim = wanted[i]
        local text, slots =
            admitted_text(got[i + 2], claim.mode, claim.permits, claim.limit, i, ticket, fence, id)
        if not text then return nil end
        claim.admitted, claim.slots = true, slots
        written[2 * i + 5], written[2 * i + 6] = names[i + 2], text
        records[i + 1] = claim_text(claim)
        if slots then told[#told + 1] = sized(claim.name) .. slots_text(slots) end
    end
    written[4] = with_request(key, got[2], id, number, fence)
    if not written[4] then return nil end
    local deadline = hold and hold_until(key, now, head, id, hold)
    records[1] = record_start(ticket, fence, hold, deadline)
    written[2], written[6] = next_head(head, now, fence), concat(records)
    call('HSET', key, unpack(written))
    local reply = now .. head.start .. 'g' .. number .. ':' .. ticket .. fence
    if not hold and not told[1] then return reply .. '.' end
    return reply .. '+' .. or_none(deadline) .. #told .. ':' .. concat(told) .. '0:'
end
end

-- ---- the long path
-- The options: whether there are any, nowait, hold limit, bound of the queue.
local function read_options(text)
    local nowait, hold, bound = match(text, '^([01]):(%-?%d*):(%d*)$')
    return nowait, nowait == '1', tonumber(hold or ''), tonumber(bound or '')
end
local function read_wanted(args, first)
    local wanted = {}
    for i = first, #args do
        wanted[i - first + 1] = read_claim(args[i])
        if not wanted[i - first + 1] then return nil end
    end
    return wanted
end

local function same_claims(request, wanted)
    local claims = request.claims
    if #claims ~= #wanted then return false end
    for i = 1, #claims do
        local claim, other = claims[i], wanted[i]
        if claim.name ~= other.name or claim.mode ~= other.mode or claim.permits ~= other.permits
            or claim.limit ~= other.limit then
            return false
        end
    end
    return true
end

local function wrong_shape(number, wanted, wrong_hold)
    local value = tonumber(number)
    if value < 1 or value >= number_end then return 'number out of range' end
    local reason = refusal_of_claims(wanted)
    if reason then return reason end
    if wrong_hold then return 'hold limit out of range' end
end
local function admissible_now(step, resource, claim)
    return fits(step, resource, claim.mode, claim.permits, claim.limit) and waiting_on(step, resource) == 0
        and not is_paused(step)
end
-- What the state of the resources says against it. Notes which claims can be admitted at once.
local function wrong_now(step, wanted, nowait, bound)
    for i = 1, #wanted do
        local claim = wanted[i]
        local resource = claim.resource
        if resource.pinned and claim.permits > limit_for(step, resource, claim.limit) then return 'above limit' end
        claim.at_once = admissible_now(step, resource, claim)
        if not claim.at_once then
            if nowait then return is_paused(step) and 'paused' or 'busy' end
            if bound and waiting_on(step, resource) >= bound then return 'queue full' end
        end
    end
end

local function queued_text(request) return 'q' .. request.number .. ':' .. request.ticket end
local function answer_state(step, request)
    if request.fence ~= none and may_tell_grant(step, request) then return tell_granted(step, request) end
    tell(step, request.session.id, queued_text(request))
end
-- Returns the place in the queue, if it waits.
local function enter(step, number, wanted, nowait, hold, bound)
    local sender = step.sender
    local owner = find_alive(step, sender)
    if not owner then return refuse(step, 'unknown session', number) end
    if tonumber(number) <= owner.highest then
        local request = find_live(step, owner, number)
        if not request then return tell(step, sender, ended_text(number, 'g', none)) end
        if not same_claims(request, wanted) then return refuse(step, 'claims differ', number) end
        answer_state(step, request)
        return request.fence == none and fewest_ahead(step, request, nil, 0)
    end
    owner.highest, owner.dirty = tonumber(number), true
    for i = 1, #wanted do wanted[i].resource = resource_of(step, wanted[i].name) end
    local reason = wrong_now(step, wanted, nowait, bound)
    if reason then return refuse(step, reason, number) end
    local request = add_request(step, owner, number, next_serial(step), wanted)
    request.hold = hold
    local fewest
    for i = 1, #wanted do
        local claim = wanted[i]
        if claim.at_once then
            admit_lowest(step, claim)
        else
            wait(step, claim)
            local ahead = claim.resource.waiting - 1
            if not fewest or ahead < fewest then fewest = ahead end
        end
    end
    settle(step)
    if request.fence == none then tell(step, sender, queued_text(request)) end
    return fewest
end

-- Reads the head and the resources of all claims in one call.
local function read_with_head(step, claims)
    local names = {''}
    for i = 1, #claims do names[i + 1] = 'n' .. claims[i].name end
    local got = call('HMGET', step.key, unpack(names))
    for i = 1, #claims do resource_of(step, claims[i].name, got[i + 1]) end
    return got[1]
end

register('enter', {}, function(keys, args)
    local now, id, first = clock(args), args[2], 3
    if not is_request(id) then return malformed() end
    local any, nowait, hold, bound
    if args[3] and byte(args[3]) < 50 then  -- 0 or 1
        any, nowait, hold, bound = read_options(args[3])
        if not any then return malformed() end
        first = 4
    end
    local wrong_hold = hold and (hold < shortest_hold or hold > longest_hold)
    if short_paths and not wrong_hold and args[first] and not args[first + 1] then
        local reply = enter_one(keys[1], now, args[1], id, args[first], not any, hold)
        if reply then return reply end
    end
    local wanted, number = read_wanted(args, first), number_of_id(id)
    if not wanted then return malformed() end
    local reason, fewest = wrong_shape(number, wanted, wrong_hold), nil
    if short_paths and not reason and wanted[2] then
        local reply = enter_all(keys[1], now, args[1], id, wanted, hold)
        if reply then return reply end
    end
    local step = new_step(keys, args, now, session_of_id(id))
    local refusal = begin_step(step, reason and call('HGET', step.key, '') or read_with_head(step, wanted))
    if refusal then return refusal end
    if reason then
        refuse(step, reason, number)
    else
        fewest = enter(step, number, wanted, nowait, hold, bound)
    end
    return finish_step(step) .. place_text(fewest)
end)
end
