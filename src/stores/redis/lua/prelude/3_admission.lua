-- ==== admission: who is admitted where (rules 2, 3, 4, 8, 10)
local allowance = budget
local completed = {}  -- requests whose claims are all admitted, to be numbered
local owed_known_none  -- nothing is owed, for sure

local function older(a, b)
    if a.ticket ~= b.ticket then return a.ticket < b.ticket end
    if a.session.id ~= b.session.id then return bytes_before(a.session.id, b.session.id) end
    return tonumber(a.number) < tonumber(b.number)
end

local function fits(resource, claim)
    if resource.holder then return false end
    if claim.mode == 'x' then return resource.shared == 0 and resource.counted == 0 end
    if claim.mode == 's' then return resource.counted == 0 end
    return resource.shared == 0 and resource.used + claim.permits <= limit_for(resource, claim.limit)
end
local function admissible_now(resource, claim)
    return not is_paused() and waiting_on(resource) == 0 and fits(resource, claim)
end

-- The lowest free slots, as ranges; they are taken by `take`.
local function lowest_free(resource, count)
    local found, from, taken = {}, 0, resource.slots
    for i = 1, #taken + 1, 2 do
        local upto = (taken[i] or 65536) - 1
        if count == 0 then break end
        if upto >= from then
            local last = math.min(upto, from + count - 1)
            found[#found + 1], found[#found + 2] = from, last
            count = count - (last - from + 1)
        end
        from = (taken[i + 1] or upto) + 1
    end
    return found
end
local function joined(ranges)
    local out = {}
    for i = 1, #ranges, 2 do
        if #out > 0 and ranges[i] == out[#out] + 1 then
            out[#out] = ranges[i + 1]
        else
            out[#out + 1], out[#out + 2] = ranges[i], ranges[i + 1]
        end
    end
    return out
end
local function take(resource, slots)
    local all, i, j = {}, 1, 1
    local taken = resource.slots
    while taken[i] or slots[j] do
        if not slots[j] or (taken[i] and taken[i] < slots[j]) then
            all[#all + 1], all[#all + 2] = taken[i], taken[i + 1]
            i = i + 2
        else
            all[#all + 1], all[#all + 2] = slots[j], slots[j + 1]
            j = j + 2
        end
    end
    resource.slots = joined(all)
end
local function give_back(resource, slots)
    local left, j = {}, 1
    local taken = resource.slots
    for i = 1, #taken, 2 do
        local from, upto = taken[i], taken[i + 1]
        while slots[j] and slots[j] <= upto do
            if slots[j] > from then left[#left + 1], left[#left + 2] = from, slots[j] - 1 end
            from = slots[j + 1] + 1
            j = j + 2
        end
        if from <= upto then left[#left + 1], left[#left + 2] = from, upto end
    end
    resource.slots = left
end
local function overlap(a, b)
    local i, j = 1, 1
    while a[i] and b[j] do
        if a[i + 1] < b[j] then
            i = i + 2
        elseif b[j + 1] < a[i] then
            j = j + 2
        else
            return true
        end
    end
    return false
end

-- ---- queues
local function first_of(resource)
    if resource.waiting == 0 then return nil end
    local first = call('ZRANGE', queue_of(resource), 0, 0, 'WITHSCORES')
    if first[1] then return first[1], first[2] end
end

-- Who is owed to, so that the list of debts is in ticket order, then by request, then in the order of its claims.
local function debt_of(member)
    local claim = read_member(member)
    return claim.id .. digits(claim.number) .. format('%04d', claim.index)
end
local function forget_debt(resource)
    if not resource.owed then return end
    call('ZREM', prefix .. 'o', resource.owed .. resource.name)
    resource.owed, resource.dirty = nil, true
end
-- The first in line of this resource is to be looked at before the step ends (rule 4).
local function owe(resource)
    local member, ticket = first_of(resource)
    local debt = member and debt_of(member)
    if resource.owed == debt then return end
    forget_debt(resource)
    if not debt then return end
    call('ZADD', prefix .. 'o', ticket, debt .. resource.name)
    resource.owed, resource.dirty, owed_known_none = debt, true, false
end

local function wait(claim)
    local resource, member, ticket = claim.resource, member_of(claim), digits(claim.request.ticket)
    local waiting = waiting_on(resource)
    call('ZADD', queue_of(resource), ticket, member)
    if claim.permits > 1 then call('ZADD', wide_of(resource), claim.permits, ticket .. member) end
    resource.waiting, resource.dirty = waiting + 1, true
    if first_of(resource) == member then owe(resource) end
end
local function leave_queue(claim)
    local resource, member = claim.resource, member_of(claim)
    local waiting = waiting_on(resource)
    if resource.owed == debt_of(member) then forget_debt(resource) end
    call('ZREM', queue_of(resource), member)
    if claim.permits > 1 then call('ZREM', wide_of(resource), digits(claim.request.ticket) .. member) end
    resource.waiting, resource.dirty = waiting - 1, true
end
local function stop_waiting(claim)
    local was_first = first_of(claim.resource) == member_of(claim)
    leave_queue(claim)
    if was_first then owe(claim.resource) end
end

-- Rule 3: what a waiting request has been admitted to it keeps; with the last claim it is complete.
local function admit(claim, slots)
    local resource, request = claim.resource, claim.request
    claim.admitted, claim.slots = true, slots
    if claim.mode == 'x' then
        resource.holder = {fence = request.fence, id = request.session.id, number = request.number}
    else
        call('ZADD', admitted_of(resource), digits(request.ticket), member_of(claim))
        local tally = claim.mode == 's' and 'shared' or 'counted'
        resource[tally] = resource[tally] + 1
        resource.used = resource.used + claim.permits
        take(resource, slots)
    end
    request.unadmitted = request.unadmitted - 1
    resource.dirty, request.dirty = true, true
    if request.fence ~= 0 then return end
    resource.reserved = resource.reserved + 1
    if request.unadmitted == 0 then completed[#completed + 1] = request end
end
local function vacate(claim)
    local resource, request = claim.resource, claim.request
    if claim.mode == 'x' then
        resource.holder = nil
    else
        call('ZREM', admitted_of(resource), member_of(claim))
        local tally = claim.mode == 's' and 'shared' or 'counted'
        resource[tally] = resource[tally] - 1
        resource.used = resource.used - claim.permits
        give_back(resource, claim.slots)
    end
    if request.fence == 0 then resource.reserved = resource.reserved - 1 end
    request.unadmitted = request.unadmitted + 1
    claim.admitted, claim.slots = false, {}
    resource.dirty, request.dirty = true, true
end
local function release(claim)
    vacate(claim)
    owe(claim.resource)
end
local function place(claim)
    if admissible_now(claim.resource, claim) then
        admit(claim, lowest_free(claim.resource, claim.permits))
    else
        wait(claim)
    end
end
