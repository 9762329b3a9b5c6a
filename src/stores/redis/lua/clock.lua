-- ==== the server's clock and the bounds of a step. Tests have a file of this name that takes both from the arguments.
local function budget_of() return 48 end  -- admissions and ended claims of one step (rule 4)
local function ended_kept_of() return 65536 end  -- ids of ended sessions that are remembered (rule 5)
local index_from, index_until = 16, 4  -- a session of more requests than that has an index of their numbers, until then
local most_listed = 8  -- shared and permit holders in the record of their resource
local check_every = 1000000  -- microseconds after which a call looks at the server's role again
local short_paths = true  -- the benchmark compares them with the long path

local renewals_note = false  -- the look at the server's role notes the time: a smaller step back may go unseen

-- Every verb begins with this: reads the clock, once in a call.
local function clock()
    if not call then bind() end
    local time = call('TIME')
    local seconds, micros = time[1], time[2]
    return #micros == 6 and seconds .. micros or seconds .. sub('00000' .. micros, -6)
end
