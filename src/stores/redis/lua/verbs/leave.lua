-- leave: a request ends by its owner's wish, and what it held passes on (rules 4, 7, 9, 12).
-- KEYS m, s:<session>
-- ARGV lineage, number, then nothing (clean) | 'k' (keep) | 'u' (unclean)
-- reply now, due, lineage, pause; event ended, and what else befalls the session
do
-- ---- short paths: a clean leave in a quiet space. The differential test plays both them and the long path.
local function forget(place, number, fence)
    call('HDEL', place, number)
    call('HINCRBY', place, 'd', format('%d', -digest_of(number, fence)))
end

-- One exclusive claim: its name becomes free, or passes on to the next exclusive claim, or the wait for it ends.
local function leave_exclusive(key, place, now, lineage, number, name)
    local got = call('HMGET', key, '', name)
    local head, holder = got[1], got[2]
    if not is_quiet(head, now, lineage) then return nil end
    local form, fence, last = byte(holder), sub(holder, 2, 17), sub(head, 65, 80)
    head = sub(head, 1, 48)
    -- X: no claim waits, so the one that there is holds the name.
    if form == 88 then
        forget(place, number, fence)
        call('HDEL', key, name)
        return now .. head .. 'e' .. number .. ':l' .. fence
    end
    if form ~= 89 then return nil end
    local prefix, id = sub(key, 1, -2), sub(place, -16)
    local queue = prefix .. 'q:' .. name
    if sub(holder, 18) ~= id .. number then
        forget(place, number, none)
        call('ZREM', queue, 'x' .. id .. number)
        return now .. head .. 'e' .. number .. ':w' .. none
    end
    local first = call('ZPOPMIN', queue)
    local member = first[1]
    local left = now .. head .. 'e' .. number .. ':l' .. fence
    if not member then
        forget(place, number, fence)
        call('HDEL', key, name)
        return left
    end
    local next_id, next_number, ticket = sub(member, 2, 17), sub(member, 18), first[2]
    if byte(member) ~= 120 then
        call('ZADD', queue, ticket, member)
        return nil
    end
    forget(place, number, fence)
    if #ticket < 16 then ticket = digits(ticket) end
    local granted = last < now and now or after(last)
    call('HINCRBY', prefix .. 's:' .. next_id, 'd',
        format('%d', digest_of(next_number, granted) - digest_of(next_number, none)))
    call('HSET', key, '', head .. now .. granted, name, 'Y' .. granted .. next_id .. next_number)
    local grant = 'g' .. next_number .. ':' .. ticket .. granted .. '.'
    if next_id == id then return left .. grant end
    call('PUBLISH', prefix .. 'wake:' .. next_id, now .. head .. grant)
    return left
end

-- What a resource on which no claim waits becomes without this claim: its text, '' if it is free, nil if the long path
-- has to do it.
local function released_text(text, mode, permits, slots)
    local form = byte(text)
    if mode == 'x' then return form == 88 and '' end
    if mode == 's' then
        if form ~= 83 then return nil end
        return text == 'S1' and '' or 'S' .. sub(text, 2) - 1
    end
    local counted, used, bitmap = match(text, '^P(%d+):(%d+):(.*)$')
    if not counted then return nil end
    return counted == '1' and '' or 'P' .. counted - 1 .. ':' .. used - permits .. ':' .. give_back_slots(bitmap, slots)
end
-- Claims of any kind, all granted, and no claim waits where they stand.
local function leave_all(key, place, now, lineage, number, record)
    local fence, rest, hold = sub(record, 18, 33), byte(record, 34), nil
    local from = 35
    if fence == none then return nil end
    if rest == 43 then
        local _, last
        _, last, hold = find(record, '^%d+:(%d+):%-:0:0:', 35)
        if not last then return nil end
        from = last + 1
    end
    local claims, names = read_claims(record, from), {}
    for i = 1, #claims do names[i] = claims[i].name end
    local got = call('HMGET', key, '', unpack(names))
    local head = got[1]
    if not is_quiet(head, now, lineage) then return nil end
    local written, gone = {}, {}
    for i = 1, #claims do
        local claim = claims[i]
        local text = released_text(got[i + 1], claim.mode, claim.permits, claim.slots)
        if not text then return nil end
        if text == '' then
            gone[#gone + 1] = claim.name
        else
            written[#written + 1], written[#written + 2] = claim.name, text
        end
    end
    local prefix, owner = sub(key, 1, -2), sub(place, -16) .. number
    for i = 1, #claims do
        local claim = claims[i]
        if claim.mode ~= 'x' then
            call('ZREM', prefix .. 'a:' .. claim.name, member_text(claim.mode, i, claim.permits, claim.limit, owner))
        end
    end
    if hold then call('ZREM', prefix .. 't', sub(owner, 1, 16) .. digits(number) .. 'h') end
    forget(place, number, fence)
    if gone[1] then call('HDEL', key, unpack(gone)) end
    if written[1] then call('HSET', key, unpack(written)) end
    return now .. sub(head, 1, 48) .. 'e' .. number .. ':l' .. fence
end

-- ---- the long path
local function leave(step, number, manner)
    local owner = find_alive(step, step.sender)
    local request = owner and find_live(step, owner, number)
    if request then return end_owned(step, request, manner) end
    local value = tonumber(number)
    if owner and value < number_end and value > tonumber(owner.highest) then
        owner.highest, owner.counted = number, true
    end
    tell(step, step.sender, ended_text(number, 'g', none))
end

register('leave', {'allow-oom'}, function(keys, args)
    local now, place = clock(args), keys[2]
    local number, manner = args[2], args[3] or 'c'
    if not number or not place or not find(manner, '^[cku]$') then return malformed() end
    if manner == 'c' then
        local got = call('HMGET', place, number, 'h')
        local record = got[1]
        if record and got[2] and byte(got[2]) == 46 and is_plain_number(number) then
            local reply
            if byte(record) == 120 then
                reply = leave_exclusive(keys[1], place, now, args[1], number, sub(record, 18))
            else
                reply = leave_all(keys[1], place, now, args[1], number, record)
            end
            if reply then return reply end
        end
    end
    if not is_number(number) then return malformed() end
    local step = new_step(keys, args, now, sub(place, -16))
    local refusal = begin_step(step, call('HGET', step.key, ''))
    if refusal then return refusal end
    leave(step, number, manner)
    return finish_step(step)
end)
end
