-- ==== the server's clock and the bounds of a step. Tests have a file of this name that takes both from the arguments.
local noted_every = 1000000  -- microseconds after which a renewal notes the time: a smaller step back may go unseen
local function budget_of() return 48 end  -- admissions and ended claims of one step (rule 4)
local function ended_kept_of() return 65536 end  -- ids of ended sessions that are remembered (rule 5)
local index_from, index_until = 64, 32  -- a session of that many requests gets an index of its numbers, and loses it

-- Every verb begins with this: reads the clock, once in a call.
local function clock()
    if not call then bind() end
    local time = call('TIME')
    local seconds, micros = time[1], time[2]
    return #micros == 6 and seconds .. micros or seconds .. sub('00000' .. micros, -6)
end
