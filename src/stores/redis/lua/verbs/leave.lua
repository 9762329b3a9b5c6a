-- leave: a request ends by its owner's wish, and what it held passes on (rules 4, 7, 9, 12).
-- KEYS m
-- ARGV epoch, request, then nothing (clean) | 'k' (keep) | 'u' (unclean)
-- reply now, due, epoch, pause; event ended, and what else befalls the session
do
-- ---- short paths: a clean leave in a quiet space. The differential test plays both them and the long path.
-- The text of the session with one request fewer, and with a request that is granted. Nil: the long path has to do it.
local function without_request(key, text, id, number, fence)
    if byte(text) == 46 then
        local place = find_piece(text, number, 28, 32)
        return sub(text, 1, place - 1) .. sub(text, place + 32)
    end
    local count = tonumber(sub(text, 44))
    if count <= index_until + 1 then return nil end
    call('ZREM', sub(key, 1, -2) .. 'n:' .. session_of_id(id), number)
    return sub(text, 1, 27) .. format('%016d%08d', sub(text, 28, 43) - digest_of(number, fence), count - 1)
end
local function with_grant(text, number, fence)
    if byte(text) == 46 then
        local place = find_piece(text, number, 28, 32)
        return sub(text, 1, place + 15) .. fence .. sub(text, place + 32)
    end
    local digest = sub(text, 28, 43) + digest_of(number, fence) - digest_of(number, none)
    return sub(text, 1, 27) .. digits(digest) .. sub(text, 44)
end

-- The next exclusive claim gets the name. `session` is the text of the session that leaves.
local function hand_over(key, now, head, place, owner, session, next_id, ticket)
    local last, next_owner, number = head.last, sub(next_id, 1, 17), sub(next_id, 18)
    local fence = last < now and now or after(last)
    if #ticket < 16 then ticket = digits(ticket) end
    local grant = 'g' .. number .. ':' .. ticket .. fence .. '.'
    if next_owner == owner then
        call('HSET', key, '', next_head(head, now, fence), place, 'Y' .. fence .. next_id,
            owner, with_grant(session, number, fence))
        return grant
    end
    call('HSET', key, '', next_head(head, now, fence), place, 'Y' .. fence .. next_id, owner, session,
        next_owner, with_grant(call('HGET', key, next_owner), number, fence))
    call('PUBLISH', sub(key, 1, -2) .. 'wake:' .. sub(next_owner, 2), now .. head.start .. grant)
    return ''
end
-- One exclusive claim: its name becomes free, or passes on to the next exclusive claim, or the wait for it ends.
-- `place` is the name's field.
local function leave_exclusive(key, now, head, session, id, place)
    local holder = call('HGET', key, place)
    local form, fence, number, owner = byte(holder), sub(holder, 2, 17), sub(id, 18), sub(id, 1, 17)
    if form == 88 then  -- no claim waits, so the one that there is holds the name
        session = without_request(key, session, id, number, fence)
        if not session then return nil end
        call('HDEL', key, place, id)
        call('HSET', key, owner, session)
        return now .. head.start .. 'e' .. number .. ':l' .. fence
    end
    if form ~= 89 then return nil end
    local holds, queue = sub(holder, 18) == id, sub(key, 1, -2) .. 'q:' .. sub(place, 2)
    session = without_request(key, session, id, number, holds and fence or none)
    if not session then return nil end
    if not holds then
        call('ZREM', queue, id)
        call('HDEL', key, id)
        call('HSET', key, owner, session)
        return now .. head.start .. 'e' .. number .. ':w' .. none
    end
    local first, left = call('ZPOPMIN', queue), now .. head.start .. 'e' .. number .. ':l' .. fence
    local next_id = first[1]
    if not next_id then
        call('HDEL', key, place, id)
        call('HSET', key, owner, session)
        return left
    end
    if byte(next_id) ~= 120 then
        call('ZADD', queue, first[2], next_id)
        return nil
    end
    call('HDEL', key, id)
    return left .. hand_over(key, now, head, place, owner, session, next_id, first[2])
end

-- One shared claim or one permit that is held, and no claim waits there.
local function leave_single(key, now, head, session, id, record)
    local fence, number, shared = sub(record, 18, 33), sub(id, 18), byte(record) == 115
    if fence == none then return nil end
    local place = sub(record, shared and 34 or 49)
    local text = call('HGET', key, place)
    local changed
    if shared then
        if byte(text) ~= 83 then return nil end
        changed = #text > 1 + shared_size and 'S' .. without_holder(sub(text, 2), 's0001' .. id)
    else
        if byte(text) ~= 80 then return nil end
        local used, bitmap, holders = read_permits(text)
        changed = #holders > permit_size and 'P' .. number_text(used - 1) .. ':'
            .. sized(give_back_slot(bitmap, tonumber(sub(record, 44, 48))))
            .. without_holder(holders, 'p0001' .. sub(record, 34, 43) .. id)
    end
    session = without_request(key, session, id, number, fence)
    if not session then return nil end
    if changed then
        call('HDEL', key, id)
        call('HSET', key, sub(id, 1, 17), session, place, changed)
    else
        call('HDEL', key, id, place)
        call('HSET', key, sub(id, 1, 17), session)
    end
    return now .. head.start .. 'e' .. number .. ':l' .. fence
end

-- What a resource on which no claim waits becomes without this claim: its text, '' if it is free, nil if the long path
-- has to do it.
local function released_text(claim, text, index, id)
    local form, mode = byte(text), claim.mode
    if mode == 'x' then return form == 88 and '' or nil end
    if mode == 's' then
        if form ~= 83 then return nil end
        if #text == 1 + shared_size then return '' end
        return 'S' .. without_holder(sub(text, 2), 's' .. pad4(index) .. id)
    end
    if form ~= 80 then return nil end
    local used, bitmap, holders = read_permits(text)
    if #holders == permit_size then return '' end
    bitmap = give_back_slots(bitmap, claim.slots)
    return 'P' .. number_text(used - claim.permits) .. ':' .. sized(bitmap)
        .. without_holder(holders, member_text('p', index, claim.permits, claim.limit, id))
end
-- Claims of any kind, all granted, and no claim waits where they stand.
local function leave_all(key, now, head, session, id, record)
    local fence, from, hold = sub(record, 18, 33), 35, nil
    if fence == none then return nil end
    if byte(record, 34) == 43 then
        local _, last
        _, last, hold = find(record, '^%d+:(%d+):%-:0:0:', 35)
        if not last then return nil end
        from = last + 1
    end
    local claims, names = read_claims(record, from), {}
    for i = 1, #claims do names[i] = 'n' .. claims[i].name end
    local got = call('HMGET', key, unpack(names))
    local number, written, gone = sub(id, 18), {sub(id, 1, 17), ''}, {id}
    for i = 1, #claims do
        local text = released_text(claims[i], got[i], i, id)
        if not text then return nil end
        if text == '' then
            gone[#gone + 1] = names[i]
        else
            written[#written + 1], written[#written + 2] = names[i], text
        end
    end
    written[2] = without_request(key, session, id, number, fence)
    if not written[2] then return nil end
    if hold then call('ZREM', sub(key, 1, -2) .. 't', sub(id, 2) .. 'h') end
    call('HDEL', key, unpack(gone))
    call('HSET', key, unpack(written))
    return now .. head.start .. 'e' .. number .. ':l' .. fence
end
local function leave_quietly(key, now, epoch, id)
    local got = call('HMGET', key, '', sub(id, 1, 17), id)
    local record = got[3]
    local head = record and quiet_head(got[1], now, epoch)
    if not head then return nil end
    local form = byte(record)
    if form == 120 then return leave_exclusive(key, now, head, got[2], id, sub(record, 18)) end
    if form == 103 then return leave_all(key, now, head, got[2], id, record) end
    return leave_single(key, now, head, got[2], id, record)
end

-- ---- the long path
local function leave(step, number, release_kind)
    local owner = find_alive(step, step.sender)
    local request = owner and find_live(step, owner, number)
    if request then return end_owned(step, request, release_kind) end
    local value = tonumber(number)
    if owner and value < number_end and value > owner.highest then owner.highest, owner.dirty = value, true end
    tell(step, step.sender, ended_text(number, 'g', none))
end

register('leave', {'allow-oom'}, function(keys, args)
    local now, id, release_kind = clock(args), args[2], args[3] or 'c'
    if not is_request(id) or not find(release_kind, '^[cku]$') then return malformed() end
    local reply = short_paths and release_kind == 'c' and leave_quietly(keys[1], now, args[1], id)
    return reply or perform(keys, args, now, session_of_id(id), function(step)
        leave(step, number_of_id(id), release_kind)
    end)
end)
end
