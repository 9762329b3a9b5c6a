#!lua
-- add: joins the queue of a resource; who is alone there has it, and is told so.
-- KEYS resource
-- ARGV channel, element (id:channel:timeout in ms), id; `new` or `old`: how notices are written
-- Reply: the first element, which has the resource; of something longer than elements are, the beginning
-- The notice repeats the reply; others of the same protocol wait for it.
local resource = KEYS[1]
if redis.call('RPUSH', resource, ARGV[2]) == 1 then
    redis.call('PUBLISH', ARGV[1], ARGV[4] == 'old' and resource .. ':' .. ARGV[3] or ARGV[3] .. ':' .. resource)
end
return redis.call('LINDEX', resource, 0):sub(1, 1000)
