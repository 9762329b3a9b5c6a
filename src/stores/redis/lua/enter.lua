#!lua
-- enter: a request arrives (rules 1, 2, 3, 9). Exclusive claims on free names, and one behind another exclusive holder,
-- take the short paths above the prelude; everything else is the engine's way, below it.
-- KEYS m, s:<session>
-- ARGV lineage, number, then one exclusive name | '', 'x', exclusive names | '', options, claims
-- reply now, due, lineage, pause; events granted | queued | refused | ended; place. Calls: 5 granted, 7 queued
--%clock
local key, session, number, name = KEYS[1], KEYS[2], ARGV[2], ARGV[3]
if name ~= '' and #ARGV == 3 and #name <= 512 then
    local got = call('HMGET', key, '', name)
    local head, holder = got[1], got[2]
    if head and head > now and #head == 80 and head:sub(17, 32) == ARGV[1] and head:sub(49, 64) < now then
        local highest, value = call('HGET', session, 'h'), tonumber(number)
        if highest and value > tonumber(highest) and value < 9007199254740992 and number:find('^[1-9]%d*$') then
            head = head:sub(1, 48)
            if not holder then
                local fence = string.format('%016d', now + 1)
                call('HSET', session, 'h', number, number, 'x' .. now .. name)
                call('HSET', key, '', head .. fence .. fence, name, 'X' .. fence .. session:sub(-16) .. number)
                return now .. head .. 'g' .. number .. ':' .. now .. fence .. '.'
            end
            local form = holder:byte()
            if form == 88 or form == 89 then
                call('HSET', session, 'h', number, number, 'x' .. now .. name)
                local queue, ahead = key:sub(1, -2) .. 'q:' .. name, 0
                call('ZADD', queue, now, 'x' .. session:sub(-16) .. number)
                if form == 88 then
                    call('HSET', key, '', head .. now .. now, name, 'Y' .. holder:sub(2))
                else
                    call('HSET', key, '', head .. now .. now)
                    ahead = call('ZCARD', queue) - 1
                end
                return now .. head .. 'q' .. number .. ':' .. now .. 'w' .. ahead .. ':'
            end
        end
    end
elseif name == '' and ARGV[4] == 'x' and #ARGV > 4 and #ARGV <= 1004 then
    local got = call('HMGET', key, '', unpack(ARGV, 5))
    local head = got[1]
    if head and head > now and #head == 80 and head:sub(17, 32) == ARGV[1] and head:sub(49, 64) < now then
        local fence = string.format('%016d', now + 1)
        local held = 'X' .. fence .. session:sub(-16) .. number
        local written, record, seen = {'HSET', key, '', head:sub(1, 48) .. fence .. fence}, {'m' .. now .. fence}, {}
        local free = true
        for i = 5, #ARGV do
            name = ARGV[i]
            free = free and not got[i - 3] and name ~= '' and #name <= 512 and not seen[name]
            seen[name] = true
            record[i - 3] = #name .. ':' .. name
            written[2 * i - 5], written[2 * i - 4] = name, held
        end
        local highest, value = call('HGET', session, 'h'), tonumber(number)
        if free and highest and value > tonumber(highest) and value < 9007199254740992
            and number:find('^[1-9]%d*$') then
            call('HSET', session, 'h', number, number, table.concat(record))
            call(unpack(written))
            return now .. head:sub(1, 48) .. 'g' .. number .. ':' .. now .. fence .. '.'
        end
    end
end
-- The rest in a function of its own: the short paths do not pay for its variables.
return (function()
--%prelude
local wanted, options = {}, {nowait = false}
if ARGV[3] ~= '' then
    wanted[1] = exclusive_claim(ARGV[3])
elseif ARGV[4] == 'x' then
    for i = 5, #ARGV do wanted[i - 4] = exclusive_claim(ARGV[i]) end
else
    local nowait, hold, bound = (ARGV[4] or ''):match('^([01]):(%-?%d*):(%d*)$')
    if not nowait then return malformed end
    options.nowait, options.hold, options.bound = nowait == '1', tonumber(hold), tonumber(bound)
    for i = 5, #ARGV do
        wanted[i - 4] = read_claim(ARGV[i])
        if not wanted[i - 4] then return malformed end
    end
end
if not is_number(number) then return malformed end
local refusal = begin_step(session:sub(-16))
if refusal then return refusal end

local function wrong_shape()
    if not in_range(number) then return 'number out of range' end
    local reason = refusal_of_claims(wanted)
    if reason then return reason end
    local hold = options.hold
    if hold and (hold < shortest_hold or hold > longest_hold) then return 'hold limit out of range' end
end

-- What the state of the resources says against it.
local function wrong_now()
    for _, claim in ipairs(wanted) do
        local resource = resource_of(claim.name)
        if claim.permits > limit_for(resource, claim.limit) then return 'above limit' end
        if not admissible_now(resource, claim) then
            if options.nowait then return 'busy' end
            if options.bound and waiting_on(resource) >= options.bound then return 'queue full' end
        end
    end
end

local request
local function perform()
    local reason = wrong_shape()
    if reason then return refuse(reason, number) end
    local owner = find_alive(sender)
    if not owner then return refuse('unknown session', number) end
    request = find_live(owner, number)
    if request then
        if not same_claims(request, wanted) then return refuse('claims differ', number) end
        return answer_state(request)
    end
    if tonumber(number) <= owner.highest then return tell(sender, ended_text(number, 'g', 0)) end
    owner.highest, owner.dirty = tonumber(number), true
    reason = wrong_now()
    if reason then return refuse(reason, number) end
    request = add_request(owner, number, next_serial(), wanted)
    request.hold = options.hold
    for _, claim in ipairs(request.claims) do place(claim) end
    settle()
    if request.fence == 0 then tell(sender, queued_text(request)) end
end
perform()
return finish_step() .. place_text(request and fewest_ahead(request))
end)()
