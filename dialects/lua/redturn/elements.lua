#!lua flags=no-writes
-- elements: the whole queue of a resource, for people to see.
-- KEYS resource
-- ARGV none
-- Reply: the elements, first to last; none if the first does not look like one
-- Queues have no prefix: a list of somebody else's, which may be long, is not read.
local resource = KEYS[1]
local head = redis.call('LINDEX', resource, 0)
if not head or #head > 1000 or not head:match('^[^:]+:[^:]*:%d') then return {} end
return redis.call('LRANGE', resource, 0, -1)
