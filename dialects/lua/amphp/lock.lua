#!lua
-- lock: takes the lock, or joins its queue. If the lock is free, the first in the queue gets it.
-- KEYS lock, queue
-- ARGV token, expiry of the lock in ms, expiry of the queue in ms; prefix of the notice keys, which only ours watch
-- Reply: 1 taken · 2 taken, as the first in the queue · -1-index in the queue · -1-length of the queue, newly queued
-- If another client gave the lock to this token, the reply is 1 and the expiry starts again. The expiry of the queue is
-- never shortened.
local lock, queue = KEYS[1], KEYS[2]
local me, expiry = ARGV[1], ARGV[2]

local function keep_queue()
    if redis.call('PTTL', queue) < tonumber(ARGV[3]) then redis.call('PEXPIRE', queue, ARGV[3]) end
end

local holder = redis.call('GET', lock)
if holder == me then
    redis.call('SET', lock, me, 'PX', expiry)
    return 1
end

local index = redis.call('LPOS', queue, me)
if holder then
    local length = not index and redis.call('RPUSH', queue, me)
    keep_queue()
    return -1 - (index or length)
end

if redis.call('EXISTS', queue) == 0 then
    redis.call('SET', lock, me, 'PX', expiry)
    return 1
end
if not index then index = redis.call('RPUSH', queue, me) - 1 end
local head = redis.call('LPOP', queue)
redis.call('SET', lock, head, 'PX', expiry)
if head == me then return 2 end
local notice = ARGV[4] .. head
redis.call('RPUSH', notice, '1')
redis.call('PEXPIRE', notice, 100) -- clients watch for the write and do not read the key
keep_queue()
return -1 - (index - 1)
