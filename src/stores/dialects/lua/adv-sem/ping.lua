#!lua flags=allow-oom
-- ping: says that one is alive, where it waits and where it holds.
-- KEYS waiting, waiting heartbeat, main
-- ARGV id, heartbeat in s, ttl in s, now in s with microseconds
-- Reply: 1 if it waits, else 0; 1 if it holds a slot, else 0
-- An equal score is no change to the server, but the one is there. An expiry of a key is never shortened.
local function keep(key, left)
    if redis.call('TTL', key) < left then redis.call('EXPIRE', key, left) end
end

local id, heartbeat, ttl, now = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local until_dead = string.format('%.6f', now + heartbeat)
local there = {}
for i = 2, 3 do
    local changed = redis.call('ZADD', KEYS[i], 'XX', 'CH', until_dead, id)
    if changed == 0 and redis.call('ZSCORE', KEYS[i], id) then changed = 1 end
    there[i - 1] = changed
end
for i = 1, 3 do
    if redis.call('EXISTS', KEYS[i]) == 1 then keep(KEYS[i], math.max(ttl, heartbeat) + 10) end
end
return there
