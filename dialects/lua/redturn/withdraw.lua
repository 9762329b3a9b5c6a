#!lua flags=allow-oom
-- withdraw: removes elements at any position; if one of them was the holder, notifies the next holder.
-- KEYS resource
-- ARGV `new` or `old`: format of notices; elements
-- Reply: the number of removed elements
-- One script, because an element may become first between a separate check and its removal.
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
