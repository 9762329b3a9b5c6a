#!lua flags=allow-oom
-- release: removes a holder or waiter, with all its data.
-- KEYS main, ttl, waiting, waiting heartbeat, notice
-- ARGV id
-- Reply: 1 if it held a slot, else 0
-- The slot stays free until `wake_up_nexts`, which our clients run right after this. A key with other data is skipped.
local held = 0
for i = 1, 4 do
    if redis.call('TYPE', KEYS[i]).ok == 'zset' then
        local removed = redis.call('ZREM', KEYS[i], ARGV[1])
        if i == 1 then held = removed end
    end
end
-- The server tracks a watched key until it changes; a key that is never written would be tracked for ever.
redis.call('SET', KEYS[5], '')
redis.call('DEL', KEYS[5])
return held
