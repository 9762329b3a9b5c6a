-- enter: a request arrives (rules 1, 2, 3, 9).
-- KEYS m, s:<session>
-- ARGV lineage, number, then one exclusive name | '', 'x', exclusive names | '', options, claims
-- reply now, due, lineage, pause; events granted | queued | refused | ended; place
do
-- ---- short paths: a new request in a quiet space. The differential test plays both them and the long path.
-- Rule 8.
local function next_ticket(head, now)
    local last = sub(head, 65, 80)
    return last < now and now or after(last)
end
-- The session's fields h and d with the new request in them; nil if the long path has to do it.
local function with_request(place, number, fence)
    local got = call('HMGET', place, 'h', 'd')
    local highest, added = got[1], got[1] and short_added[sub(got[1], 1, 3)]
    local value = tonumber(number)
    if not added or value <= tonumber(sub(highest, 4)) or value >= number_end then return nil end
    return added .. number, format('%d', got[2] + digest_of(number, fence))
end

-- One exclusive claim: granted if the name is free, queued behind another exclusive claim.
local function enter_exclusive(key, place, now, lineage, number, name)
    local got = call('HMGET', key, '', name)
    local head, holder = got[1], got[2]
    if not is_quiet(head, now, lineage) or not is_plain_number(number) then return nil end
    local ticket = next_ticket(head, now)
    if not holder then
        local fence = after(ticket)
        local highest, digest = with_request(place, number, fence)
        if not highest then return nil end
        head = sub(head, 1, 48)
        call('HSET', place, 'h', highest, 'd', digest, number, 'x' .. ticket .. name)
        call('HSET', key, '', head .. now .. fence, name, 'X' .. fence .. sub(place, -16) .. number)
        return now .. head .. 'g' .. number .. ':' .. ticket .. fence .. '.'
    end
    local form = byte(holder)
    if form ~= 88 and form ~= 89 then return nil end
    local highest, digest = with_request(place, number, none)
    if not highest then return nil end
    head = sub(head, 1, 48)
    local queue, ahead = sub(key, 1, -2) .. 'q:' .. name, 0
    call('HSET', place, 'h', highest, 'd', digest, number, 'x' .. ticket .. name)
    call('ZADD', queue, ticket, 'x' .. sub(place, -16) .. number)
    if form == 88 then
        call('HSET', key, '', head .. now .. ticket, name, 'Y' .. sub(holder, 2))
    else
        call('HSET', key, '', head .. now .. ticket)
        ahead = call('ZCARD', queue) - 1
    end
    return now .. head .. 'q' .. number .. ':' .. ticket .. 'w' .. ahead .. ':'
end

-- A claim that can be admitted beside what stands on its resource, where no claim waits: the resource's new text and,
-- of permits, the slots. Nil: it cannot, or the resource has one of its other forms.
local function admitted_text(claim, text, fence, owner)
    local mode = claim.mode
    if mode == 'x' then return not text and 'X' .. fence .. owner end
    if mode == 's' then
        if not text then return 'S1' end
        return byte(text) == 83 and 'S' .. sub(text, 2) + 1
    end
    local counted, used, bitmap = 0, 0, ''
    if text then
        counted, used, bitmap = match(text, '^P(%d+):(%d+):(.*)$')
        if not counted then return nil end
    end
    used = used + claim.permits
    if used > claim.limit then return nil end
    local slots
    slots, bitmap = take_lowest(bitmap, claim.permits)
    return 'P' .. counted + 1 .. ':' .. used .. ':' .. bitmap, slots
end
-- Claims of any kind that are all granted at once.
local function enter_all(key, place, now, lineage, number, wanted, hold)
    local got
    if wanted[2] then
        local names = {}
        for i = 1, #wanted do names[i] = wanted[i].name end
        got = call('HMGET', key, '', unpack(names))
    else
        got = call('HMGET', key, '', wanted[1].name)
    end
    local head = got[1]
    if not is_quiet(head, now, lineage) or not is_plain_number(number) then return nil end
    local ticket = next_ticket(head, now)
    local fence, owner = after(ticket), sub(place, -16) .. number
    local written, records, told = {}, {}, nil
    for i = 1, #wanted do
        local claim = wanted[i]
        local name = claim.name
        local text, slots = admitted_text(claim, got[i + 1], fence, owner)
        if not text then return nil end
        claim.admitted, claim.slots = true, slots
        written[2 * i - 1], written[2 * i] = name, text
        records[i] = claim_text(claim)
        if slots then
            told = told or {}
            told[#told + 1] = sized(name) .. slots_text(slots)
        end
    end
    local highest, digest = with_request(place, number, fence)
    if not highest then return nil end
    local prefix, due = sub(key, 1, -2), sub(head, 1, 16)
    for i = 1, #wanted do
        local claim = wanted[i]
        if claim.mode ~= 'x' then
            local member = member_text(claim.mode, i, claim.permits, claim.limit, owner)
            call('ZADD', prefix .. 'a:' .. claim.name, ticket, member)
        end
    end
    local deadline
    local record = records[2] and concat(records) or records[1]
    if hold then
        deadline = digits(now + hold)
        call('ZADD', prefix .. 't', deadline, sub(owner, 1, 16) .. digits(number) .. 'h')
        if deadline <= due then due = digits(deadline - 1) end
        record = 'g' .. ticket .. fence .. '+' .. hold .. ':' .. deadline .. ':-:0:0:' .. record
    elseif not wanted[2] and wanted[1].mode == 'x' then
        record = 'x' .. ticket .. wanted[1].name
    else
        record = 'g' .. ticket .. fence .. '.' .. record
    end
    call('HSET', place, 'h', highest, 'd', digest, number, record)
    head = due .. sub(head, 17, 48)
    if written[3] then
        call('HSET', key, '', head .. now .. fence, unpack(written))
    else
        call('HSET', key, '', head .. now .. fence, written[1], written[2])
    end
    local reply = now .. head .. 'g' .. number .. ':' .. ticket .. fence
    if not hold and not told then return reply .. '.' end
    return reply .. '+' .. or_none(deadline) .. (told and #told or 0) .. ':' .. (told and concat(told) or '') .. '0:'
end

-- ---- the long path
local function read_wanted(args)
    local wanted = {}
    if args[3] ~= '' then
        wanted[1] = args[3] and exclusive_claim(args[3])
        return wanted[1] and #args == 3 and wanted
    end
    if args[4] == 'x' then
        for i = 5, #args do wanted[i - 4] = exclusive_claim(args[i]) end
        return wanted
    end
    local nowait, hold, bound = '0', nil, nil
    if args[4] ~= '0::' then
        nowait, hold, bound = match(args[4] or '', '^([01]):(%-?%d*):(%d*)$')
        if not nowait then return nil end
    end
    for i = 5, #args do
        wanted[i - 4] = read_claim(args[i])
        if not wanted[i - 4] then return nil end
    end
    return wanted, nowait == '1', hold and tonumber(hold), bound and tonumber(bound)
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

local function wrong_shape(number, wanted, hold)
    local value = tonumber(number)
    if value < 1 or value >= number_end then return 'number out of range' end
    local reason = refusal_of_claims(wanted)
    if reason then return reason end
    if hold and (hold < shortest_hold or hold > longest_hold) then return 'hold limit out of range' end
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

-- Returns the place in the queue, if it waits.
local function enter(step, number, wanted, nowait, hold, bound)
    local sender = step.sender
    local owner = find_alive(step, sender)
    if not owner then return refuse(step, 'unknown session', number) end
    if tonumber(number) <= tonumber(owner.highest) then
        local request = find_live(step, owner, number)
        if not request then return tell(step, sender, ended_text(number, 'g', none)) end
        if not same_claims(request, wanted) then return refuse(step, 'claims differ', number) end
        answer_state(step, request)
        return request.fence == none and fewest_ahead(step, request, nil, 0)
    end
    owner.highest, owner.counted = number, true
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
    if not claims[2] then
        local got = call('HMGET', step.key, '', claims[1].name)
        resource_of(step, claims[1].name, got[2])
        return got[1]
    end
    local names = {}
    for i = 1, #claims do names[i] = claims[i].name end
    local got = call('HMGET', step.key, '', unpack(names))
    for i = 1, #names do resource_of(step, names[i], got[i + 1]) end
    return got[1]
end

register('enter', {}, function(keys, args)
    local now, place, number, name = clock(args), keys[2], args[2], args[3]
    if not place or not number or not name then return malformed() end
    if name ~= '' and #name <= longest_name and not args[4] then
        local reply = enter_exclusive(keys[1], place, now, args[1], number, name)
        if reply then return reply end
    end
    local wanted, nowait, hold, bound = read_wanted(args)
    if not wanted or not is_number(number) then return malformed() end
    local reason, fewest = wrong_shape(number, wanted, hold), nil
    if name == '' and not reason then
        local reply = enter_all(keys[1], place, now, args[1], number, wanted, hold)
        if reply then return reply end
    end
    local step = new_step(keys, args, now, sub(keys[2], -16))
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
