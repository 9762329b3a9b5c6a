#!lua flags=allow-oom
-- tick: settles what is due and owed, and does nothing else (rule 4).
-- KEYS m
-- ARGV lineage
-- reply now, due, lineage, pause; no events: they all are notices
-- Calls: 2 if nothing is due
--%clock
local found = call('HGET', KEYS[1], '')
if found and found > now and #found == 80 and found:sub(17, 32) == ARGV[1] and found:sub(49, 64) < now then
    return now .. found:sub(1, 48)
end
-- The rest in a function of its own: the short paths do not pay for its variables.
return (function()
--%prelude
return begin_step(nil) or finish_step()
end)()
