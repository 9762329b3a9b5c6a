-- enter: a request arrives (rules 1, 2, 3, 9).
-- KEYS m
-- ARGV epoch, request, options if any (nowait: hold in µs or nothing: bound or nothing), claims
-- reply now, due, epoch, pause; events granted | queued | refused | ended; queue position
do
-- ---- short paths: a new request in a quiet space. The differential test plays both them and the long path.
local enter_quietly
do
local longest_unindexed = 27 + 32 * index_from
-- The text of the session with one request more; nil if the long path has to add it. If there is an index, it is
-- changed at once, so the caller may not fail after that. The text begins with the highest number, so it is greater
-- than every number that was used.
local function with_request(key, text, id, number, fence)
    if not text or number < text or number >= last_number then return nil end
    if #text ~= indexed_size then
        if #text >= longest_unindexed then return nil end
        return number .. sub(text, 17) .. number .. fence
    end
    call('ZADD', sub(key, 1, -2) .. 'n:' .. session_of_id(id), number, number)
    return number .. sub(text, 17, 27)
        .. format('%016d%08d', sub(text, 28, 43) + digest_of(number, fence), sub(text, 44) + 1)
end

-- The text of a resource on which no claim waits, with one more claim admitted. Nil: it does not fit beside the
-- holders, or the long path has to do it.
local function with_shared(text, index, ticket, id)
    if not text then return 'S' .. ticket .. 's' .. pad4(index) .. id end
    if byte(text) ~= 83 or #text >= 1 + shared_size * most_listed then return nil end
    return text .. ticket .. 's' .. pad4(index) .. id
end
-- The same of permits, and the slots.
local function with_permits(text, permits, limit, index, ticket, id)
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
-- The same of one permit, and its slot.
local function with_permit(text, limit, index, ticket, id)
    if not text then
        return 'P1:1:\1' .. ticket .. 'p' .. pad4(index) .. '00001' .. padded(limit) .. id, 0
    end
    local slots
    text, slots = with_permits(text, 1, limit, index, ticket, id)
    return text, text and slots[1]
end
local function one_slot_text(slot)
    slot = number_text(slot)
    return '1:' .. slot .. ':' .. slot .. ':'
end
-- Notes the deadline of a hold limit, and returns it. `hold` is text, because the server formats numbers slowly.
local function hold_until(key, now, head, id, hold)
    local deadline = digits(now + hold)
    call('ZADD', sub(key, 1, -2) .. 't', deadline, sub(id, 2) .. 'h')
    if deadline < head.start then  -- it is not after `due`
        head.start = digits(deadline - 1) .. sub(head.start, 17)
        head.quiet_until = smaller(head.start, head.check_at)
    end
    return deadline
end
local function record_start(ticket, fence, hold, deadline)
    return 'g' .. ticket .. fence .. (hold and '+' .. hold .. ':' .. deadline .. ':-:0:0:' or '.')
end
-- An exclusive claim behind another one. `place` is the name's field, `holder` its text.
local function queue_exclusive(key, now, head, id, number, place, holder, owner, session)
    local form = byte(holder)
    if form ~= 88 and form ~= 89 then return nil end
    local ticket = head.last < now and now or after(head.last)  -- rule 8
    session = with_request(key, session, id, number, none)
    if not session then return nil end
    local queue, ahead = sub(key, 1, -2) .. 'q:' .. sub(place, 2), 0
    -- The record first: if the user loses the right to one of these commands, no queue has a member without a record.
    call('HSET', key, '', next_head(head, now, ticket), place, 'Y' .. sub(holder, 2), owner, session,
        id, 'x' .. ticket .. place)
    call('ZADD', queue, ticket, id)
    if form == 89 then ahead = call('ZCARD', queue) - 1 end
    return now .. head.start .. 'q' .. number .. ':' .. ticket .. 'w' .. number_text(ahead) .. ':'
end

-- Claims of any kind from args[first] on, also with a hold limit, all granted at once. Tables that begin with room for
-- three claims need not grow with each of them.
local function enter_all(key, now, args, number, first, hold)
    local id, count, permits, limits = args[2], #args - first + 1, {nil, nil, nil}, {nil, nil, nil}
    if count < 1 or count > longest_claims then return nil end
    local fields = {'', sub(id, 1, 17), nil, nil, nil, nil}  -- also the set of the names
    for i = 1, count do
        local text, _ = args[first + i - 1], nil
        local form, place = byte(text), text
        if form == 115 then
            place, permits[i] = 'n' .. sub(text, 2), 0
        elseif form == 112 then
            local wanted, limit
            _, _, wanted, limit, place = find(text, '^p(%d+):(%d+):(.*)$')
            if not place then return nil end
            wanted, limit, place = number_of(wanted), number_of(limit), 'n' .. place
            if wanted < 1 or wanted > limit or limit > most_permits then return nil end
            permits[i], limits[i] = wanted, limit
        elseif form ~= 110 then
            return nil
        end
        if #place == 1 or #place > longest_name + 1 or fields[place] then return nil end
        fields[i + 2], fields[place] = place, true
    end
    local got = call('HMGET', key, unpack(fields))
    local head = quiet_head(got[1], now, args[1])
    if not head then return nil end
    local ticket = head.last < now and now or after(head.last)  -- rule 8
    local fence = after(ticket)
    local records, told, exclusive = {'', nil, nil, nil}, {}, 'X' .. fence .. id
    local written = {'', '', fields[2], '', id, '', nil, nil, nil, nil, nil, nil}
    for i = 1, count do
        local present, field, wanted = got[i + 2], fields[i + 2], permits[i]
        local text, slots
        if not wanted then
            text, records[i + 1] = not present and exclusive, '+x' .. number_text(#field - 1) .. ':' .. sub(field, 2)
        elseif wanted == 0 then
            text = with_shared(present, i, ticket, id)
            records[i + 1] = '+s' .. number_text(#field - 1) .. ':' .. sub(field, 2)
        else
            local limit = limits[i]
            if wanted == 1 then
                text, slots = with_permit(present, limit, i, ticket, id)
                slots = text and one_slot_text(slots)
            else
                text, slots = with_permits(present, wanted, limit, i, ticket, id)
                slots = text and slots_text(slots)
            end
            if text then
                local taken = sized(sub(field, 2)) .. slots
                told[#told + 1] = taken
                records[i + 1] = '+p' .. number_text(wanted) .. ':' .. number_text(limit) .. ':' .. taken
            end
        end
        if not text then return nil end
        written[2 * i + 5], written[2 * i + 6] = field, text
    end
    written[4] = with_request(key, got[2], id, number, fence)
    if not written[4] then return nil end
    local deadline = hold and hold_until(key, now, head, id, hold)
    records[1] = record_start(ticket, fence, hold, deadline)
    written[2], written[6] = next_head(head, now, fence), concat(records)
    call('HSET', key, unpack(written))
    local reply = now .. head.start .. 'g' .. number .. ':' .. ticket .. fence
    if not hold and not told[1] then return reply .. '.' end
    return reply .. '+' .. or_none(deadline) .. number_text(#told) .. ':'
        .. (told[2] and concat(told) or told[1] or '') .. '0:'
end

-- One exclusive or shared claim, or one permit, is granted at once; an exclusive claim is queued behind another one.
-- Nil: the long path has to do it, or to say what is wrong.
function enter_quietly(key, now, args)
    local id, place, hold, may_wait = args[2], args[3], nil, true
    local number = place and #id == 33 and byte(id) == 120 and match(id, '^%d+$', 18)
    if not number then return nil end
    local form, first = byte(place), 3
    if form == 49 or form == 48 then  -- options
        if place ~= '1::' then
            hold = match(place, '^[01]:(%d*):%d*$')
            if not hold then return nil end
            if hold == '' then
                hold = nil
            elseif byte(hold) == 48 or hold + 0 < shortest_hold or hold + 0 > longest_hold then
                return nil
            end
        end
        place, first, may_wait = args[4], 4, false
        form = place and byte(place)
    end
    if args[first + 1] then return enter_all(key, now, args, number, first, hold) end
    local name, limit, _
    if form ~= 110 then
        if hold then return enter_all(key, now, args, number, first, hold) end
        if form == 115 then
            place = 'n' .. sub(place, 2)
        elseif form == 112 then
            _, _, limit, name = find(place, '^p1:(%d+):(.*)$')
            if not name then return enter_all(key, now, args, number, first, hold) end
            limit, place = number_of(limit), 'n' .. name
            if limit < 1 or limit > most_permits then return nil end
        else
            return nil
        end
    end
    if #place == 1 or #place > longest_name + 1 then return nil end
    local owner = sub(id, 1, 17)
    local got = call('HMGET', key, '', place, owner)
    local head, present = quiet_head(got[1], now, args[1]), got[2]
    if not head then return nil end
    if form == 110 and present then
        return may_wait and queue_exclusive(key, now, head, id, number, place, present, owner, got[3])
    end
    local ticket = head.last < now and now or after(head.last)  -- rule 8
    local fence = after(ticket)
    local resource, slot, record
    if form == 110 then
        resource, record = 'X' .. fence .. id, not hold and 'x' .. ticket .. place
    elseif form == 115 then
        resource, record = with_shared(present, 1, ticket, id), 's' .. ticket .. fence .. place
    else
        resource, slot = with_permit(present, limit, 1, ticket, id)
        record = 'p' .. ticket .. fence .. '00001' .. padded(limit) .. padded(slot or 0) .. place
    end
    local session = resource and with_request(key, got[3], id, number, fence)
    if not session then return nil end
    local rest = '.'
    if hold then
        local deadline = hold_until(key, now, head, id, hold)
        record = record_start(ticket, fence, hold, deadline) .. '+x' .. sized(sub(place, 2))
        rest = '+' .. deadline .. ':0:0:'
    elseif slot then
        rest = '+-:1:' .. sized(name) .. one_slot_text(slot) .. '0:'
    end
    call('HSET', key, '', next_head(head, now, fence), place, resource, owner, session, id, record)
    return now .. head.start .. 'g' .. number .. ':' .. ticket .. fence .. rest
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
-- The refusal by the state of the resources, if there is one. Notes which claims can be admitted at once.
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
-- Returns the number of claims ahead, if the request waits.
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
    local now = clock(args)
    local reply = short_paths and enter_quietly(keys[1], now, args)
    if reply then return reply end
    local id, first = args[2], 3
    if not is_request(id) then return malformed() end
    local any, nowait, hold, bound
    if args[3] and find(args[3], '^[01]') then
        any, nowait, hold, bound = read_options(args[3])
        if not any then return malformed() end
        first = 4
    end
    local wrong_hold = hold and (hold < shortest_hold or hold > longest_hold)
    local wanted, number = read_wanted(args, first), number_of_id(id)
    if not wanted then return malformed() end
    local reason, fewest = wrong_shape(number, wanted, wrong_hold), nil
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
