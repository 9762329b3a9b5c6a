#!lua
-- mend: removes the mark of an abandoned resource (rule 7).
-- KEYS m
-- ARGV lineage, resource
-- reply now, due, lineage, pause; event mended | refused
-- Calls: some 6
--%clock
--%prelude
local name = ARGV[2]
if not name then return malformed end
local refusal = begin_step(nil)
if refusal then return refusal end
local reason = refusal_of_name(name)
local mark = not reason and mark_of(resource_of(name))
if reason then
    refuse(reason)
elseif mark then
    tell(nil, 'm' .. sized(name) .. mark_text(mark))
    set_mark(resource_of(name), nil)
else
    refuse('not abandoned')
end
return finish_step()
