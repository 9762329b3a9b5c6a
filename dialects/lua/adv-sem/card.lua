#!lua flags=allow-oom
-- card: how many slots are in use, without those of the dead.
-- KEYS main, ttl
-- ARGV none
-- Reply: the number
-- Who is over its time, or has not said for too long that it lives, is removed here as well.
local time = redis.call('TIME')
local now = string.format('%.6f', time[1] + time[2] / 1000000)
local main, ttls = KEYS[1], KEYS[2]
for _, by in ipairs({ttls, main}) do
    for _, id in ipairs(redis.call('ZRANGEBYSCORE', by, '-inf', now, 'LIMIT', 0, 10000)) do
        redis.call('ZREM', main, id)
        redis.call('ZREM', ttls, id)
    end
end
return redis.call('ZCARD', main)
