#!lua flags=allow-oom
-- close: a session ends, with all that it has (rule 5).
-- KEYS m, s:<session>
-- ARGV lineage, 'l' (left) | 'g' (gone)
-- reply now, due, lineage, pause; event closed, and what befell the session
-- Calls: a few for each request, within the budget; the rest is owed
--%clock
--%prelude
if ARGV[2] ~= 'l' and ARGV[2] ~= 'g' then return malformed end
local refusal = begin_step(KEYS[2]:sub(-16))
if refusal then return refusal end
local session = find_alive(sender)
if session then
    begin_dying(session, ARGV[2])
    end_dying()
else
    remember_ended(sender)  -- its `open` may be on the way still, on an older connection
end
tell(sender, 'c')
return finish_step()
