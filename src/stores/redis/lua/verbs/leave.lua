-- leave: ends a request for its owner, and grants its names to the next waiters (rules 4, 7, 9, 12).
-- KEYS m
-- ARGV epoch, request, then nothing (clean) | 'k' (keep) | 'u' (unclean)
-- reply now, due, epoch, pause; event ended, and other events of the session
do
-- ---- short paths: a clean leave in a quiet space. The differential test plays both them and the long path.
local one_live = 27 + 32  -- bytes of a session with one live request
-- The text of the session with one request fewer, and with a request that is granted. Nil: the long path has to do it.
local function without_request(key, text, id, number, fence)
    if #text == one_live then  -- no live request is left, so none is revoked
        return byte(text, 19) == 46 and sub(text, 1, 27) or sub(text, 1, 18) .. '.' .. sub(text, 20, 27)
    end
    if #text ~= indexed_size then
        local place = find_piece(text, number, 28, 32)
        if place + 32 > #text then return sub(text, 1, place - 1) end
        return sub(text, 1, place - 1) .. sub(text, place + 32)
    end
    local count = tonumber(sub(text, 44))
    if count <= index_until + 1 then return nil end
    call('ZREM', sub(key, 1, -2) .. 'n:' .. session_of_id(id), number)
    return sub(text, 1, 27) .. format('%016d%08d', sub(text, 28, 43) - digest_of(number, fence), count - 1)
end
local function with_grant(text, number, fence)
    if #text == one_live then return sub(text, 1, 43) .. fence end
    if #text ~= indexed_size then
        local place = find_piece(text, number, 28, 32)
        if place + 32 > #text then return sub(text, 1, place + 15) .. fence end
        return sub(text, 1, place + 15) .. fence .. sub(text, place + 32)
    end
    local digest = sub(text, 28, 43) + digest_of(number, fence) - digest_of(number, none)
    return sub(text, 1, 27) .. digits(digest) .. sub(text, 44)
end

-- The next exclusive claim gets the name. `session` is the text of the session that leaves.
local function hand_over(prefix, key, now, head, place, owner, session, next_id, ticket)
    local next_owner, number = sub(next_id, 1, 17), sub(next_id, 18)
    local fence = head.last < now and now or after(head.last)
    if #ticket < 16 then ticket = digits(ticket) end
    local holder, is_own = 'Y' .. fence .. next_id, next_owner == owner
    local granted = with_grant(is_own and session or call('HGET', key, next_owner), number, fence)
    if is_own then
        call('HSET', key, '', next_head(head, now, fence), place, holder, owner, granted)
        return 'g' .. number .. ':' .. ticket .. fence .. '.'
    end
    call('HSET', key, '', next_head(head, now, fence), place, holder, owner, session, next_owner, granted)
    call('PUBLISH', prefix .. 'wake:' .. sub(next_owner, 2),
        now .. head.start .. 'g' .. number .. ':' .. ticket .. fence .. '.')
    return ''
end
-- One exclusive claim in a queue: its name passes on to the next exclusive claim, or the wait for it ends.
local function leave_queued(key, now, head, session, owner, id, number, place, holder)
    if byte(holder) ~= 89 then return nil end
    local fence, holds = sub(holder, 2, 17), sub(holder, 18) == id
    local prefix = sub(key, 1, -2)
    local queue = prefix .. 'q:' .. sub(place, 2)
    session = without_request(key, session, id, number, holds and fence or none)
    if not session then return nil end
    if not holds then
        call('ZREM', queue, id)
        call('HDEL', key, id)
        call('HSET', key, owner, session)
        return now .. head.start .. 'e' .. number .. ':w' .. none
    end
    local first, granted = call('ZPOPMIN', queue), ''
    local next_id = first[1]
    if not next_id then
        call('HDEL', key, place, id)
        call('HSET', key, owner, session)
    elseif byte(next_id) ~= 120 then
        call('ZADD', queue, first[2], next_id)
        return nil
    else
        call('HDEL', key, id)
        granted = hand_over(prefix, key, now, head, place, owner, session, next_id, first[2])
    end
    return now .. head.start .. 'e' .. number .. ':l' .. fence .. granted
end

-- One shared claim or one permit that is held, and no claim waits there.
local function leave_single(key, now, head, session, owner, id, number, record)
    local fence, shared = sub(record, 18, 33), byte(record) == 115
    if fence == none or byte(id) ~= 120 then return nil end  -- records of names have these letters, too
    local place = sub(record, shared and 34 or 49)
    local text = call('HGET', key, place)
    local form, count, colon = byte(text, 1, 3)
    local changed
    if shared then
        if form ~= 83 then return nil end
        changed = #text > 1 + shared_size and 'S' .. without_holder(sub(text, 2), 's0001' .. id)
    else
        if form ~= 80 then return nil end
        if count ~= 49 or colon ~= 58 then  -- more than this one permit
            local used, bitmap, holders = read_permits(text)
            bitmap = give_back_slot(bitmap, tonumber(sub(record, 44, 48)))
            changed = 'P' .. number_text(used - 1) .. ':' .. sized(bitmap)
                .. without_holder(holders, 'p0001' .. sub(record, 34, 43) .. id)
        end
    end
    session = without_request(key, session, id, number, fence)
    if not session then return nil end
    if changed then
        call('HDEL', key, id)
        call('HSET', key, owner, session, place, changed)
    else
        call('HDEL', key, id, place)
        call('HSET', key, owner, session)
    end
    return now .. head.start .. 'e' .. number .. ':l' .. fence
end

-- The permits of a claim are released: the resource's text, '' if it is free, nil if the long path has to do it. `runs`
-- is where the slots are in the record.
local function without_permits(text, index, permits, limit, id, record, runs)
    if byte(text) ~= 80 then return nil end
    if find(text, permits .. ':', 2, true) == 2 then return '' end  -- no other permits are in use
    local used, bitmap, holders = read_permits(text)
    permits = number_of(permits)
    return 'P' .. number_text(used - permits) .. ':' .. sized(give_back_slots(bitmap, (read_slots(record, runs))))
        .. without_holder(holders, member_text('p', index, permits, number_of(limit), id))
end
local function without_shared(text, index, id)
    if byte(text) ~= 83 then return nil end
    return #text == 1 + shared_size and '' or 'S' .. without_holder(sub(text, 2), 's' .. pad4(index) .. id)
end
-- Claims of any kind, all granted, and no claim waits on their names.
local function leave_all(key, now, head, session, owner, id, number, record)
    local fence, place, hold, _ = sub(record, 18, 33), 35, nil, nil
    if fence == none then return nil end
    if byte(record, 34) == 43 then
        _, place, hold = find(record, '^%d+:(%d+):%-:0:0:', 35)
        if not place then return nil end
        place = place + 1
    end
    local fields, modes, permits, limits, runs, count = {}, {}, {}, {}, {}, 0
    while place do
        local mode = byte(record, place + 1)
        local last, length
        count = count + 1
        modes[count] = mode
        if mode == 112 then
            _, last, permits[count], limits[count], length = find(record, '^(%d+):(%d+):(%d+):', place + 2)
        else
            _, last, length = find(record, '^(%d+):', place + 2)
        end
        place = last + number_of(length) + 1
        fields[count] = 'n' .. sub(record, last + 1, place - 1)
        if mode == 112 then  -- slots are digits and colons
            runs[count], place = place, find(record, '+', place, true)
        elseif place > #record then
            place = nil
        end
    end
    local got = call('HMGET', key, unpack(fields))
    local written, gone, gone_count = {owner, ''}, {id}, 1
    for i = 1, count do
        local text, mode = got[i], modes[i]
        if mode == 120 then
            text = byte(text) == 88 and ''
        elseif mode == 115 then
            text = without_shared(text, i, id)
        else
            text = without_permits(text, i, permits[i], limits[i], id, record, runs[i])
        end
        if not text then return nil end
        if text == '' then
            gone_count = gone_count + 1
            gone[gone_count] = fields[i]
        else
            written[#written + 1], written[#written + 2] = fields[i], text
        end
    end
    written[2] = without_request(key, session, id, number, fence)
    if not written[2] then return nil end
    if hold then call('ZREM', sub(key, 1, -2) .. 't', sub(id, 2) .. 'h') end
    call('HDEL', key, unpack(gone))
    call('HSET', key, unpack(written))
    return now .. head.start .. 'e' .. number .. ':l' .. fence
end
-- A record of a request shows that the id is one.
local function leave_quietly(key, now, epoch, id)
    if #id ~= 33 then return nil end
    local owner = sub(id, 1, 17)
    local got = call('HMGET', key, '', owner, id)
    local record = got[3]
    local head = record and quiet_head(got[1], now, epoch)
    if not head then return nil end
    local number, form = sub(id, 18), byte(record)
    if form ~= 120 then
        local act = form == 103 and leave_all or leave_single
        return act(key, now, head, got[2], owner, id, number, record)
    end
    local place = sub(record, 18)
    local holder = call('HGET', key, place)
    if byte(holder) ~= 88 then return leave_queued(key, now, head, got[2], owner, id, number, place, holder) end
    -- One exclusive claim that holds its name, because no claim waits.
    local fence = sub(holder, 2, 17)
    local session = without_request(key, got[2], id, number, fence)
    if not session then return nil end
    call('HDEL', key, place, id)
    call('HSET', key, owner, session)
    return now .. head.start .. 'e' .. number .. ':l' .. fence
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
    local now, id, release_kind = clock(args), args[2], args[3]
    if short_paths and id and not release_kind then
        local reply = leave_quietly(keys[1], now, args[1], id)
        if reply then return reply end
    end
    if not is_request(id) or release_kind and release_kind ~= 'k' and release_kind ~= 'u' then return malformed() end
    return perform(keys, args, now, session_of_id(id), function(step)
        leave(step, number_of_id(id), release_kind or 'c')
    end)
end)
end
