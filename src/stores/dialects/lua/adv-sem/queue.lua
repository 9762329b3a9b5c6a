#!lua
-- queue: joins the queue; who is in it already keeps its place.
-- KEYS waiting (by arrival), waiting heartbeat (by the time at which each counts as dead)
-- ARGV id, heartbeat in s, ttl in s, now in s with microseconds
-- Reply: none
-- An expiry of a key is never shortened: others, with a longer ttl, count on it.
local function keep(key, left)
    if redis.call('TTL', key) < left then redis.call('EXPIRE', key, left) end
end

local id, heartbeat, ttl, now = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
redis.call('ZADD', KEYS[1], 'NX', ARGV[4], id)
redis.call('ZADD', KEYS[2], 'NX', string.format('%.6f', now + heartbeat), id)
local left = math.max(ttl, heartbeat) + 10
keep(KEYS[1], left)
keep(KEYS[2], left)
