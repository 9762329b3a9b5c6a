#!lua
-- watch: somebody watches; until then every command tells `events` what came of it.
-- KEYS m
-- ARGV lineage, for how long in ms (up to a minute)
-- reply now, due, lineage, pause; no events
-- Calls: some 5
--%clock
--%prelude
local length = is_number(ARGV[2]) and tonumber(ARGV[2])
if not length or length > 60000 then return malformed end
local refusal = begin_step(nil)
if refusal then return refusal end
watched_until = math.max(watched_until, at + length * 1000)
return finish_step()
