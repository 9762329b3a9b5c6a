#!lua flags=allow-oom
-- ping: renews the heartbeat of a waiter or holder.
-- KEYS waiting, waiting heartbeat, main
-- ARGV id, heartbeat in s, ttl in s
-- Reply: 1 if it waits, else 0; 1 if it holds a slot, else 0
-- ZADD CH does not count an equal score, so ZSCORE decides then. The expiry of a key is never shortened. A key with
-- other data counts as empty, so that one damaged key does not stop the pings of the others.
local function keep(key, left)
    if redis.call('TTL', key) < left then redis.call('EXPIRE', key, left) end
end

local time = redis.call('TIME')
local id, heartbeat, ttl = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local until_dead = string.format('%.6f', time[1] + time[2] / 1000000 + heartbeat)
local there = {0, 0}
for i = 1, 3 do
    if redis.call('TYPE', KEYS[i]).ok == 'zset' then
        if i > 1 then
            local changed = redis.call('ZADD', KEYS[i], 'XX', 'CH', until_dead, id)
            if changed == 0 and redis.call('ZSCORE', KEYS[i], id) then changed = 1 end
            there[i - 1] = changed
        end
        keep(KEYS[i], math.max(ttl, heartbeat) + 10)
    end
end
return there
