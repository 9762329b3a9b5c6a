#!lua flags=allow-oom
-- refresh: the first element, if it is one of these, becomes another of its channel, which timers for the old one miss.
-- KEYS resource
-- ARGV new element; elements that it may have been up to now
-- Reply: the first element after that, or the beginning of it; 1 if one of all these is in the list, else 0
-- Several, because a reply may have been lost: nobody has to ask first which of them it is.
local resource = KEYS[1]
local head = redis.call('LINDEX', resource, 0)
if not head then return { false, 0 } end
local there = 0
for i = 2, #ARGV do
    if ARGV[i] == head then
        redis.call('LSET', resource, 0, ARGV[1])
        return { ARGV[1], 1 }
    end
    if there == 0 and redis.call('LPOS', resource, ARGV[i]) then there = 1 end
end
return { head:sub(1, 1000), there }
