#!lua
-- queue: joins the queue. A waiter keeps its position, and a holder does not queue.
-- KEYS waiting (by arrival), waiting heartbeat (by the time at which each counts as dead), main
-- ARGV id, heartbeat in s, ttl in s
-- Reply: none
-- The expiry of a key is never shortened: other clients may have a longer ttl.
local function keep(key, left)
    if redis.call('TTL', key) < left then redis.call('EXPIRE', key, left) end
end

if redis.call('ZSCORE', KEYS[3], ARGV[1]) then return end
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
local id, heartbeat, ttl = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
redis.call('ZADD', KEYS[1], 'NX', string.format('%.6f', now), id)
redis.call('ZADD', KEYS[2], 'NX', string.format('%.6f', now + heartbeat), id)
local left = math.max(ttl, heartbeat) + 10
keep(KEYS[1], left)
keep(KEYS[2], left)
