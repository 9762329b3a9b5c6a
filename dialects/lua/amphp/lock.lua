#!lua
-- lock: takes the lock, or a place in its queue. Whoever finds it free gives it to the first in the queue.
-- KEYS lock, queue
-- ARGV token, expiry of the lock in ms, expiry of the queue in ms; where notices stand, which only ours listen to
-- Reply: 1 it is mine · 2 it is mine, as I was first in the queue · -1-place in the queue · -1-length, newly queued
-- A lock that was given to me by somebody else is found here to be mine; its expiry then begins anew. The queue is
-- everybody's: who does not wait for long does not shorten its life.
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

local place = redis.call('LPOS', queue, me)
if holder then
    local length = not place and redis.call('RPUSH', queue, me)
    keep_queue()
    return -1 - (place or length)
end

if redis.call('EXISTS', queue) == 0 then
    redis.call('SET', lock, me, 'PX', expiry)
    return 1
end
if not place then place = redis.call('RPUSH', queue, me) - 1 end
local head = redis.call('LPOP', queue)
redis.call('SET', lock, head, 'PX', expiry)
if head == me then return 2 end
local notice = ARGV[4] .. head
redis.call('RPUSH', notice, '1')
redis.call('PEXPIRE', notice, 100) -- its coming is heard, and nobody reads it
keep_queue()
return -1 - (place - 1)
