#!lua flags=allow-oom
-- withdraw: takes elements away wherever they stand; if one had the resource, tells the next that it has it now.
-- KEYS resource
-- ARGV `new` or `old`: how notices are written; elements
-- Reply: how many were taken away
-- In one step: an element that became first between a look and its removal would leave the next one untold.
local resource = KEYS[1]
local head, had, removed = redis.call('LINDEX', resource, 0), false, 0
for i = 2, #ARGV do
    had = had or ARGV[i] == head
    removed = removed + redis.call('LREM', resource, 0, ARGV[i])
end
local next = had and redis.call('LINDEX', resource, 0)
if next then
    local id, channel = next:match('^([^:]*):([^:]*):')
    if id then
        redis.call('PUBLISH', channel, ARGV[1] == 'old' and resource .. ':' .. id or id .. ':' .. resource)
    end
end
return removed
