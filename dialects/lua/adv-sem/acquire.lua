#!lua
-- acquire: takes the slot that `wake_up_nexts` gave to the waiter, and starts its ttl.
-- KEYS main, ttl, max
-- ARGV id, limit, heartbeat in s, ttl in s
-- Reply: 1 if there was a slot, else 0; the number of slots in use
-- ZADD CH does not count an equal score, so ZSCORE decides then. The expiry of a key is never shortened. The ttl is
-- stored only if there is one: other clients leave it behind when they remove a dead holder.
local function keep(key, left)
    if redis.call('TTL', key) < left then redis.call('EXPIRE', key, left) end
end

local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
local id, heartbeat, ttl = ARGV[1], tonumber(ARGV[3]), tonumber(ARGV[4])
local taken = redis.call('ZADD', KEYS[1], 'XX', 'CH', string.format('%.6f', now + heartbeat), id)
if taken == 0 and redis.call('ZSCORE', KEYS[1], id) then taken = 1 end
if taken == 1 then
    if ttl < 2147483637 then  -- "none" in this protocol
        redis.call('ZADD', KEYS[2], string.format('%.6f', now + ttl), id)
        keep(KEYS[2], ttl + 10)
    end
    keep(KEYS[1], math.max(ttl, heartbeat) + 10)
    redis.call('SET', KEYS[3], ARGV[2], 'KEEPTTL')
    keep(KEYS[3], ttl + 10)
end
return {taken, redis.call('ZCARD', KEYS[1])}
