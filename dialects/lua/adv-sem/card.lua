#!lua flags=allow-oom
-- card: counts the slots in use, without those of dead holders.
-- KEYS main, ttl
-- ARGV none
-- Reply: the number
-- Removes holders whose ttl or heartbeat has expired.
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
