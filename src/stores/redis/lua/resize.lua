#!lua
-- resize: pins the limit of a name, or lets claims bring their own again (rule 10).
-- KEYS m
-- ARGV lineage, resource, limit | '-'
-- reply now, due, lineage, pause; event resized | refused
-- Calls: some 8, and some 10 for each waiter that is too wide
--%clock
--%prelude
--%operators
local name, limit = ARGV[2], ARGV[3]
if not name or not limit or (limit ~= '-' and not is_number(limit)) then return malformed end
local refusal = begin_step(nil)
if refusal then return refusal end
local function perform()
    local pin = tonumber(limit)
    if pin and (pin < 1 or pin > 65536) then return refuse('permits out of range') end
    local reason = refusal_of_name(name)
    if reason then return refuse(reason) end
    local resource = resource_of(name)
    resource.pinned, resource.pin, resource.dirty = pin ~= nil, pin, true
    if pin then
        call('HSET', prefix .. 'limits', name, limit)
    else
        call('HDEL', prefix .. 'limits', name)
    end
    tell(nil, 'z' .. sized(name) .. limit .. ':')
    end_too_wide(resource)
    owe(resource)
end
perform()
return finish_step()
