#!lua
-- pause: nothing is admitted, nothing expires; clients present what they have (rule 11).
-- KEYS m
-- ARGV lineage, until in µs
-- reply now, due, lineage, pause; event paused
-- Calls: some 6
--%clock
--%prelude
if not is_signed(ARGV[2]) or #ARGV[2] > 16 then return malformed end
local upto = tonumber(ARGV[2])
local refusal = begin_step(nil, function()
    if upto > paused_until then
        paused_until, pause_length = upto, math.max(0, upto - at)
    end
    identity.pauses = call('HINCRBY', prefix .. 'i', 'pauses', 1)
    tell(nil, 'p' .. format('%d:', paused_until))
end)
if refusal then return refusal end
return finish_step()
