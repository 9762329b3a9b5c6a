#!lua flags=allow-oom
-- refresh: the first element, if it is this one, becomes another of the same channel; timers for the old one miss it.
-- KEYS resource
-- ARGV channel, old id, new id, new element
-- Reply: the new element; none if the first is not this one
-- The new id is part of the element; it is an argument because the protocol has it as one.
local resource = KEYS[1]
local head = redis.call('LINDEX', resource, 0)
if not head then return false end
local id, channel = head:match('^([^:]*):([^:]*):')
if id ~= ARGV[2] or channel ~= ARGV[1] then return false end
redis.call('LSET', resource, 0, ARGV[4])
return ARGV[4]
