#!lua flags=allow-oom
-- refresh: replaces the first element, if it is one of the given ones, so that timers for the old element do not apply.
-- KEYS resource
-- ARGV new element; the candidates: elements that may be in the list
-- Reply: the first element after that, cut at 1000 bytes; 1 if a candidate is in the list, else 0
-- There are several candidates if the reply to an earlier refresh was lost.
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
