#!lua flags=allow-oom
-- unlock: releases the lock, and gives it to the first in the queue.
-- KEYS lock, queue
-- ARGV token; for the next holder: expiry of the lock in ms, prefix of the notice keys, which only ours watch
-- Reply: 1 released, 2 the lock was not this token's
-- If the next holder is dead, the lock expires. A queue key with other data counts as an empty queue.
local lock, queue = KEYS[1], KEYS[2]
if redis.pcall('GET', lock) ~= ARGV[1] then return 2 end
local head = redis.pcall('LPOP', queue)
if type(head) ~= 'string' then
    redis.call('DEL', lock)
    return 1
end
redis.call('SET', lock, head, 'PX', ARGV[2])
local notice = ARGV[3] .. head
redis.call('RPUSH', notice, '1')
redis.call('PEXPIRE', notice, 100) -- clients watch for the write and do not read the key
return 1
