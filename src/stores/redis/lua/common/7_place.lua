-- ==== the place of a waiter: how many claims are ahead of it, where the fewest are
-- A waiter looks at what is due the later the further back it is (docs/redis-keys.md). More than 8 waits are not all
-- looked up: the place is 0 then.
local most_ranks = 8

local function place_text(ahead) return ahead and 'w' .. ahead .. ':' or '' end
-- `fewest` is what earlier requests of the session have, `ranks` how many were looked up.
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
