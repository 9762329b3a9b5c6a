#!lua
-- add: joins the queue of a resource. The only element is the holder, and gets a notice.
-- KEYS resource
-- ARGV channel, element (id:channel:timeout in ms), id; `new` or `old`: format of notices
-- Reply: the first element, which is the holder, cut at 1000 bytes
-- The notice repeats the reply, because original clients wait for the notice.
local resource = KEYS[1]
if redis.call('RPUSH', resource, ARGV[2]) == 1 then
    redis.call('PUBLISH', ARGV[1], ARGV[4] == 'old' and resource .. ':' .. ARGV[3] or ARGV[3] .. ':' .. resource)
end
return redis.call('LINDEX', resource, 0):sub(1, 1000)
