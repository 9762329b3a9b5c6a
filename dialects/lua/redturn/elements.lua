#!lua flags=no-writes
-- elements: reads the whole queue of a resource, for listings.
-- KEYS resource
-- ARGV none
-- Reply: the elements, first to last; none if the first does not have the form of an element
-- Queues have no key prefix, so the key may be a long list of another program, which must not be read.
local resource = KEYS[1]
local head = redis.call('LINDEX', resource, 0)
if not head or #head > 1000 or not head:match('^[^:]+:[^:]*:%d') then return {} end
return redis.call('LRANGE', resource, 0, -1)
