-- ==== admission: which claims are admitted where (rules 2, 3, 4, 8, 10)
local function older(a, b)
    if a.ticket ~= b.ticket then return a.ticket < b.ticket end
    local x, y = a.session.id, b.session.id
    if x ~= y then return bytes_before(x, y) end
    return tonumber(a.number) < tonumber(b.number)
end

-- Rule 2, apart from the queue.
local function fits(step, resource, mode, permits, limit)
    if resource.holder then return false end
    if mode == 's' then return resource.counted == 0 end
    if resource.shared ~= 0 then return false end
    if mode == 'x' then return resource.counted == 0 end
    return resource.used + permits <= limit_for(step, resource, limit)
end

-- ---- debts: resources whose first waiting claim must be checked for admission (rule 4)
-- During a step they are reviews in a heap, the oldest claim first. A resource refers to its review; a review to which
-- its resource does not refer is void. The reviews that are left at the end of the step are stored in `o`, and each
-- resource refers to its entry. A resource that was not reviewed in this step keeps its entry.
local function first_of(step, resource)
    if not resource.first and resource.waiting ~= 0 then
        local found = call('ZRANGE', queue_of(step, resource), '0', '0', 'WITHSCORES')
        local ticket = found[2]
        if ticket then resource.first, resource.first_ticket = found[1], #ticket == 16 and ticket or digits(ticket) end
    end
    return resource.first, resource.first_ticket
end
-- The entry of a claim in `o`: session, number, index. Scores are tickets, so that `o` is in the order of the heap.
local function debt_of(member)
    local _, index, _, _, id = read_member(member)
    return sub(id, 2) .. pad4(index)
end
local push_review, pop_review
do
local function reviewed_before(a, b)
    if a.ticket ~= b.ticket then return a.ticket < b.ticket end
    local x, y = debt_of(a.member), debt_of(b.member)
    if x == y then x, y = a.resource.name, b.resource.name end
    return bytes_before(x, y)
end
function push_review(heap, review)
    local offset = #heap + 1
    while offset > 1 do
        local above = floor(offset / 2)
        if not reviewed_before(review, heap[above]) then break end
        heap[offset], offset = heap[above], above
    end
    heap[offset] = review
end
function pop_review(heap)
    local first, moved, size = heap[1], heap[#heap], #heap - 1
    heap[size + 1] = nil
    if size > 0 then
        local offset = 1
        while 2 * offset <= size do
            local below = 2 * offset
            if below < size and reviewed_before(heap[below + 1], heap[below]) then below = below + 1 end
            if not reviewed_before(heap[below], moved) then break end
            heap[offset], offset = heap[below], below
        end
        heap[offset] = moved
    end
    return first
end
end

-- Schedules a review of the first claim in the queue of this resource. No claim fits beside an exclusive one, so behind
-- an exclusive claim nothing is owed.
local function owe(step, resource)
    if resource.review or resource.holder then return end
    local member, ticket = first_of(step, resource)
    if not member then return end
    resource.review, resource.reviewed = {resource = resource, member = member, ticket = ticket}, true
    push_review(step.reviews, resource.review)
end
local function forget_first(resource) resource.first, resource.review, resource.reviewed = nil, nil, true end

-- ---- queues
-- The widest of the claims of two permits or more, with its permits.
local function widest_on(step, resource)
    local widest = call('ZREVRANGE', wide_of(step, resource), '0', '0', 'WITHSCORES')
    return widest[1], tonumber(widest[2] or 0)
end
-- Keeps `z` true: a name is in it while a claim waits that is wider than its pinned limit. Scores give the order in
-- which names were narrowed.
local function review_width(step, resource)
    local offset, pin = step.prefix .. 'z', pin_of(step, resource)
    local too_wide = false
    if pin then
        local _, permits = widest_on(step, resource)
        too_wide = permits > pin
    end
    local listed = step.any_narrowed and call('ZSCORE', offset, resource.name)
    if too_wide and not listed then
        local last = call('ZREVRANGE', offset, '0', '0', 'WITHSCORES')[2] or 0
        call('ZADD', offset, last + 1, resource.name)
        step.any_narrowed = true
    elseif listed and not too_wide then
        call('ZREM', offset, resource.name)
        step.any_narrowed = call('EXISTS', offset) == 1
    end
end
local function wait(step, claim)
    local resource, request, member = claim.resource, claim.request, member_of(claim)
    local ticket, waiting = request.ticket, waiting_on(step, resource)
    call('ZADD', queue_of(step, resource), ticket, member)
    if claim.permits > 1 then call('ZADD', wide_of(step, resource), claim.permits, ticket .. member) end
    resource.waiting, resource.dirty = waiting + 1, true
    if waiting > 0 then
        local first, first_ticket = first_of(step, resource)  -- this member, if the first one was not known before
        if first ~= member then
            if first_ticket < ticket then return end
            if first_ticket == ticket and not bytes_before(member, first) then return end
        end
        forget_first(resource)
    end
    resource.first, resource.first_ticket = member, ticket
    owe(step, resource)
end
local function leave_queue(step, claim, member)
    local resource = claim.resource
    call('ZREM', queue_of(step, resource), member)
    if claim.permits > 1 then
        call('ZREM', wide_of(step, resource), claim.request.ticket .. member)
        if step.any_narrowed then review_width(step, resource) end
    end
    resource.waiting, resource.dirty = resource.waiting and resource.waiting - 1, true
end
local function stop_waiting(step, claim)
    local resource, member = claim.resource, member_of(claim)
    local was_first = first_of(step, resource) == member
    if was_first then forget_first(resource) end
    leave_queue(step, claim, member)
    if was_first then owe(step, resource) end
end

-- Rule 3: a waiting request keeps what it has been admitted to; with the last claim it is complete.
-- `bitmap`: the resource's slots with those of the claim, if they were computed already.
local function admit(step, claim, slots, bitmap)
    local resource, request, mode = claim.resource, claim.request, claim.mode
    claim.admitted, claim.slots = true, slots
    if mode == 'x' then
        resource.holder, resource.fence = request.id, request.fence
        resource.review, resource.reviewed = nil, true  -- behind it nothing is owed
    else
        add_holder(step, resource, request.ticket, member_of(claim))
        if mode == 's' then
            resource.shared = resource.shared + 1
        else
            resource.counted, resource.used = resource.counted + 1, resource.used + claim.permits
            resource.slots = bitmap or take_slots(resource.slots, slots)
        end
    end
    request.unadmitted, resource.dirty = request.unadmitted - 1, true
    touch(request)
    if request.fence ~= none then return end
    resource.reserved = resource.reserved + 1
    if request.unadmitted == 0 then step.completed[#step.completed + 1] = request end
end
local function admit_lowest(step, claim)
    if claim.mode ~= 'p' then return admit(step, claim, no_slots) end
    admit(step, claim, take_lowest(claim.resource.slots, claim.permits))
end
local function vacate(step, claim)
    local resource, request, mode = claim.resource, claim.request, claim.mode
    if mode == 'x' then
        resource.holder = nil
    else
        remove_holder(step, resource, member_of(claim))
        if mode == 's' then
            resource.shared = resource.shared - 1
        else
            resource.counted, resource.used = resource.counted - 1, resource.used - claim.permits
            resource.slots = resource.counted == 0 and '' or give_back_slots(resource.slots, claim.slots)
        end
        resource.spilled = resource.spilled and resource.shared + resource.counted > 0
    end
    if request.fence == none then resource.reserved = resource.reserved - 1 end
    request.unadmitted = request.unadmitted + 1
    claim.admitted, claim.slots, resource.dirty = false, no_slots, true
    touch(request)
end
local function release(step, claim)
    vacate(step, claim)
    owe(step, claim.resource)
end
