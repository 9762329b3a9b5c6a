#!lua flags=allow-oom
-- renew: a session proves to be alive and hears of its requests (rules 5, 11, 13).
-- KEYS m, s:<session>
-- ARGV lineage
-- reply now, due, lineage, pause; event alive | session_lost, and what else befalls the session
-- Calls: 4; once a second 5, to note the time (noted_every)
--%clock
--%noted
local key, session = KEYS[1], KEYS[2]
local all = call('HGETALL', session)
local ask, numbers, records, ttl, count = {''}, {}, {}, nil, 0
for i = 1, #all, 2 do
    local field, value = all[i], all[i + 1]
    if field == '@' then
        ttl = value:byte(29) == 46 and value:sub(1, 8)
    elseif field ~= 'h' then
        count = count + 1
        numbers[count], records[count] = field, value
        ask[count + 1] = value:byte() == 120 and value:sub(18)
    end
end
local plain = ttl and count <= 1000
for i = 1, count do plain = plain and ask[i + 1] end
if plain then
    local got = call('HMGET', key, unpack(ask))
    local head = got[1]
    local deadline = string.format('%016d', now + ttl * 1000)
    -- A deadline before what is due next: the clock went back.
    if head and head > now and #head == 80 and head:sub(17, 32) == ARGV[1] and head:sub(49, 64) < now
        and head < deadline then
        local id = session:sub(-16)
        call('ZADD', key:sub(1, -2) .. 'd', deadline, id .. 's')
        if now - head:sub(49, 64) >= noted_every then
            call('HSET', key, '', head:sub(1, 48) .. now .. head:sub(65))
        end
        head = head:sub(1, 48)
        if count == 0 then return now .. head .. 'a' .. deadline .. '+0:' end
        local states = {}
        for i = 1, count do
            local number, holder = numbers[i], got[i + 1]
            local form = holder:byte()
            local fence = (form == 88 or form == 89) and holder:sub(18) == id .. number and holder:sub(2, 17)
            plain = plain and form ~= 71
            states[i] = number .. ':' .. records[i]:sub(2, 17) .. (fence or '0000000000000000') .. '-'
        end
        if plain then return now .. head .. 'a' .. deadline .. '+' .. count .. ':' .. table.concat(states) end
    end
end
--%prelude
local refusal = begin_step(session:sub(-16))
if refusal then return refusal end
local owner = find_alive(sender)
if owner then
    prolong(owner)
    tell_alive(owner)
else
    tell(sender, 'l')
end
return finish_step()
