#!lua flags=allow-oom
-- release: gives a slot or a place in the queue up, and all that is stored of it.
-- KEYS main, ttl, waiting, waiting heartbeat, notice
-- ARGV id
-- Reply: 1 if it held a slot, else 0
-- It gives the slot to nobody: `wake_up_nexts` does, and ours run it right after. Something else in place of one key
-- does not keep the others from being left.
local held = 0
for i = 1, 4 do
    if redis.call('TYPE', KEYS[i]).ok == 'zset' then
        local removed = redis.call('ZREM', KEYS[i], ARGV[1])
        if i == 1 then held = removed end
    end
end
-- The server keeps a list of what is watched until it changes: a notice that never came would stay in it.
redis.call('SET', KEYS[5], '')
redis.call('DEL', KEYS[5])
return held
