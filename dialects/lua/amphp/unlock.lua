#!lua flags=allow-oom
-- unlock: gives the lock up, to the first in the queue if there is one.
-- KEYS lock, queue
-- ARGV token; for the next owner: expiry of the lock in ms, and where notices stand, which only ours listen to
-- Reply: 1 it was mine, 2 it was not
-- The next owner may be dead: then the lock expires, as it does when another client gives it to a dead one. What is no
-- queue has no first one.
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
redis.call('PEXPIRE', notice, 100) -- its coming is heard, and nobody reads it
return 1
