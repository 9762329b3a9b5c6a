#!lua
-- wake_up_nexts: frees the slots of holders with an expired ttl or heartbeat, and gives free slots to first waiters.
-- KEYS main, ttl, waiting, waiting heartbeat
-- ARGV limit, heartbeat in s, ttl in s, key of a notice with @@@ACQUISITION_ID@@@ in it
-- Reply: the number of slots given; the ids of the removed holders, at most 100
-- If all slots are in use, it does not touch the queue. The expiry of a key is never shortened.
local function keep(key, left)
    if redis.call('TTL', key) < left then redis.call('EXPIRE', key, left) end
end

local main, ttls, waiting, alive = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local heartbeat, ttl = tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
local now_text = string.format('%.6f', now)
local over = {}
for _, by in ipairs({ttls, main}) do
    for _, id in ipairs(redis.call('ZRANGEBYSCORE', by, '-inf', now_text, 'LIMIT', 0, 10000)) do
        if redis.call('ZREM', main, id) == 1 and #over < 100 then over[#over + 1] = id end
        redis.call('ZREM', ttls, id)
    end
end

-- Other clients remove a dead holder from main only. If it had no ttl, its entry in the second key expires after 68
-- years, so each run checks the 16 oldest of those.
local in_34_years = string.format('%.0f', now + 1073741824)
for _, id in ipairs(redis.call('ZRANGEBYSCORE', ttls, in_34_years, '+inf', 'LIMIT', 0, 16)) do
    if not redis.call('ZSCORE', main, id) then redis.call('ZREM', ttls, id) end
end

local free = tonumber(ARGV[1]) - redis.call('ZCARD', main)
if free <= 0 then return {0, over} end
for _, id in ipairs(redis.call('ZRANGEBYSCORE', alive, '-inf', now_text, 'LIMIT', 0, 10000)) do
    redis.call('ZREM', waiting, id)
    redis.call('ZREM', alive, id)
end

local before, after = ARGV[4]:match('^(.-)@@@ACQUISITION_ID@@@(.*)$')
local until_dead = string.format('%.6f', now + heartbeat)
local given = 0
while given < free do
    local id = redis.call('ZPOPMIN', waiting)[1]
    if not id then break end
    redis.call('ZREM', alive, id)
    redis.call('ZADD', main, 'NX', until_dead, id)
    redis.call('RPUSH', before .. id .. after, '1')
    redis.call('EXPIRE', before .. id .. after, heartbeat + 10)
    given = given + 1
end
if given > 0 then
    keep(main, math.max(ttl, heartbeat) + 10)
elseif redis.call('EXISTS', main) == 0 then
    redis.call('DEL', ttls)  -- there are no holders: what is left in it belongs to dead ones
end
return {given, over}
