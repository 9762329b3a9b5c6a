#!lua flags=allow-oom
-- release: gives a slot or a place in the queue up.
-- KEYS main, ttl, waiting, waiting heartbeat
-- ARGV id
-- Reply: 1 if it held a slot, else 0
-- It gives the slot to nobody: `wake_up_nexts` does, and ours run it right after.
local held = redis.call('ZREM', KEYS[1], ARGV[1])
for i = 2, 4 do redis.call('ZREM', KEYS[i], ARGV[1]) end
return held
