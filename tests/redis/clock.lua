-- For tests: how many ended ids are kept, the budget and the time are the last arguments, renewals note every time, and
-- small sessions have an index.
local noted_every = 0
local index_from, index_until = 8, 6
local function budget_of(args) return args.budget end
local function ended_kept_of(args) return args.ended_kept end
local function clock(args)
    if not call then bind() end
    local now = table.remove(args)
    args.budget = tonumber(table.remove(args))
    args.ended_kept = tonumber(table.remove(args))
    return now
end
