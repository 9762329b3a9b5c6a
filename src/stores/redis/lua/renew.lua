#!lua flags=allow-oom
-- renew: a session proves to be alive and hears of its requests (rules 5, 11, 13).
-- KEYS m, s:<session>
-- ARGV lineage
-- reply now, due, lineage, pause; event alive | session_lost, and what else befalls the session; place
-- Calls: 4, and one for each wait, up to 8 of them; once a second one more, to note the time (noted_every)
--%clock
--%noted
local key, session = KEYS[1], KEYS[2]
local all = call('HGETALL', session)
local about, numbers, names, records, got, head
local count = 0
if #all == 4 then
    about = all[1] == '@' and all[2] or all[4]
    head = call('HGET', key, '')
elseif #all > 4 then
    numbers, names, records = {}, {}, {}
    for i = 1, #all, 2 do
        local field, value = all[i], all[i + 1]
        if field == '@' then
            about = value
        elseif field ~= 'h' then
            count = count + 1
            numbers[count], records[count], names[count] = field, value, value:sub(18)
            -- Only the short form: its resource tells the rest.
            if value:byte() ~= 120 or count > 1000 then
                about = nil
                break
            end
        end
    end
    got = about and call('HMGET', key, '', unpack(names))
    head = got and got[1]
end
if head and about:byte(29) == 46 then
    local deadline = string.format('%016d', now + about:sub(1, 8) * 1000)
    -- A deadline before what is due next: the clock went back.
    if head > now and #head == 80 and head:sub(17, 32) == ARGV[1] and head:sub(49, 64) < now
        and head < deadline then
        local id = session:sub(-16)
        call('ZADD', key:sub(1, -2) .. 'd', deadline, id .. 's')
        if now - head:sub(49, 64) >= noted_every then
            call('HSET', key, '', head:sub(1, 48) .. now .. head:sub(65))
        end
        head = head:sub(1, 48)
        if count == 0 then return now .. head .. 'a' .. deadline .. '+0:' end
        local states = {now, head, 'a', deadline, '+', count, ':'}
        local waits, fewest = 0, nil
        for i = 1, count do
            local number, holder = numbers[i], got[i + 1]
            local fence = holder:sub(2, 17)
            if holder:byte() == 71 then
                count = nil
                break
            elseif holder:sub(18) ~= id .. number then
                fence = '0000000000000000'
                waits = waits + 1
                if fewest ~= 0 then
                    local ahead = waits <= 8 and call('ZRANK', key:sub(1, -2) .. 'q:' .. names[i], 'x' .. id .. number)
                    ahead = ahead or 0
                    if not fewest or ahead < fewest then fewest = ahead end
                end
            end
            states[7 + i] = number .. ':' .. records[i]:sub(2, 17) .. fence .. '-'
        end
        if fewest then states[8 + #numbers] = 'w' .. fewest .. ':' end
        if count then return table.concat(states) end
    end
end
-- The rest in a function of its own: the short paths do not pay for its variables.
return (function()
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
return finish_step() .. place_text(owner and fewest_ahead_of_all(owner))
end)()
