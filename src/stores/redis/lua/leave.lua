#!lua flags=allow-oom
-- leave: a request ends by its owner's wish, and what it held passes on (rules 4, 7, 9, 12).
-- KEYS m, s:<session>
-- ARGV lineage, number, then nothing (clean) | 'k' (keep) | 'u' (unclean)
-- reply now, due, lineage, pause; event ended, and what else befalls the session
-- Calls: 5; 7 with a hand-off; 5 to withdraw
--%clock
local key, session, number = KEYS[1], KEYS[2], ARGV[2]
local record = #ARGV == 2 and call('HGET', session, number)
local kind = record and record:byte()
if kind == 120 then
    local name = record:sub(18)
    local got = call('HMGET', key, '', name)
    local head, holder = got[1], got[2]
    if head and head > now and #head == 80 and head:sub(17, 32) == ARGV[1] and head:sub(49, 64) < now then
        local form = holder:byte()
        head = head:sub(1, 48)
        -- X: nobody waits, so whoever claims the name holds it.
        if form == 88 then
            call('HDEL', session, number)
            call('HDEL', key, name)
            return now .. head .. 'e' .. number .. ':l' .. holder:sub(2, 17)
        end
        if form == 89 then
            local prefix, id = key:sub(1, -2), session:sub(-16)
            local queue = prefix .. 'q:' .. name
            if holder:sub(18) ~= id .. number then
                call('ZREM', queue, 'x' .. id .. number)
                call('HDEL', session, number)
                return now .. head .. 'e' .. number .. ':w0000000000000000'
            end
            local first = call('ZPOPMIN', queue)
            local member = first[1]
            local left = now .. head .. 'e' .. number .. ':l' .. holder:sub(2, 17)
            if not member then
                call('HDEL', session, number)
                call('HDEL', key, name)
                return left
            end
            if member:byte() == 120 then
                call('HDEL', session, number)
                call('HSET', key, '', head .. now .. now, name, 'Y' .. now .. member:sub(2))
                local next, ticket = member:sub(2, 17), first[2]
                if #ticket < 16 then ticket = string.format('%016d', ticket) end
                local grant = 'g' .. member:sub(18) .. ':' .. ticket .. now .. '.'
                if next == id then return left .. grant end
                call('PUBLISH', prefix .. 'wake:' .. next, now .. head .. grant)
                return left
            end
            call('ZADD', queue, first[2], member)
        end
    end
elseif kind == 109 then
    local names, count, at = {}, 0, 34
    while at <= #record do
        local _, last, length = record:find('^(%d+):', at)
        at = last + 1 + length
        count = count + 1
        names[count] = record:sub(last + 1, at - 1)
    end
    local got = call('HMGET', key, '', unpack(names))
    local head = got[1]
    if head and head > now and #head == 80 and head:sub(17, 32) == ARGV[1] and head:sub(49, 64) < now then
        local alone = true
        for i = 2, count + 1 do alone = alone and got[i]:byte() == 88 end
        if alone then
            call('HDEL', session, number)
            call('HDEL', key, unpack(names))
            return now .. head:sub(1, 48) .. 'e' .. number .. ':l' .. record:sub(18, 33)
        end
    end
end
-- The rest in a function of its own: the short paths do not pay for its variables.
return (function()
--%prelude
local manner = ARGV[3] or 'c'
if not is_number(number) or not (manner == 'c' or manner == 'k' or manner == 'u') then return malformed end
local refusal = begin_step(session:sub(-16))
if refusal then return refusal end

local function perform()
    local owner = find_alive(sender)
    local request = owner and find_live(owner, number)
    if request then return end_owned(request, manner) end
    if owner and tonumber(number) < number_end and tonumber(number) > owner.highest then
        owner.highest, owner.dirty = tonumber(number), true
    end
    tell(sender, ended_text(number, 'g', 0))
end
perform()
return finish_step()
end)()
