-- ==== the position of a waiter: how many claims are ahead of it, where the fewest are
-- A waiter looks at what is due the later the further back it is (docs/redis-keys.md). More than 8 waits are not all
-- looked up: the position is 0 then.
local most_ranks = 8

local function place_text(ahead) return ahead and 'w' .. number_text(ahead) .. ':' or '' end
-- `fewest`: the number for earlier requests of the session; `ranks`: how many claims were looked up.
local function fewest_ahead(step, request, fewest, ranks)
    local claims = request.claims
    for i = 1, #claims do
        local claim = claims[i]
        if fewest ~= 0 and not claim.admitted then
            ranks = ranks + 1
            local ahead = ranks <= most_ranks and call('ZRANK', queue_of(step, claim.resource), member_of(claim)) or 0
            if not fewest or ahead < fewest then fewest = ahead end
        end
    end
    return fewest, ranks
end

-- ==== claims on a resource
local function claim_on(step, member)
    local _, index, _, _, id = read_member(member)
    return request_with_id(step, id).claims[index]
end
-- The exclusive claim that is admitted on a resource.
local function exclusive_on(step, resource)
    local claims = request_with_id(step, resource.holder).claims
    for i = 1, #claims do
        if claims[i].name == resource.name then return claims[i] end
    end
end
-- The id of the request with this ticket that has a claim on the resource, if there is one.
local function claimant_of(step, resource, ticket)
    local holder = resource.holder
    if holder and request_with_id(step, holder).ticket == ticket then return holder end
    local member = holders_from(step, resource, ticket, 1)
    if member[1] and digits(member[2]) == ticket then
        member = member[1]
    else
        member = call('ZRANGEBYSCORE', queue_of(step, resource), ticket, ticket, 'LIMIT', '0', '1')[1]
    end
    if not member then return nil end
    local _, _, _, _, id = read_member(member)
    return id
end
