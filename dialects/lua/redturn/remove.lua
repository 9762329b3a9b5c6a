#!lua flags=allow-oom
-- remove: removes the first element if it is the given one, and notifies the next holder.
-- KEYS resource
-- ARGV id, channel; `new` or `old`: format of notices
-- Reply: the first element after that, cut at 1000 bytes; 1 if the element was removed, else 0
-- Other clients remove overdue elements too, so the list may be empty.
local resource = KEYS[1]
local head = redis.call('LINDEX', resource, 0)
if not head then return { false, 0 } end
local id, channel = head:match('^([^:]*):([^:]*):')
if id ~= ARGV[1] or channel ~= ARGV[2] then return { head:sub(1, 1000), 0 } end

redis.call('LPOP', resource)
local next = redis.call('LINDEX', resource, 0)
if not next then return { false, 1 } end
local next_id, next_channel = next:match('^([^:]*):([^:]*):')
if next_id then
    redis.call('PUBLISH', next_channel, ARGV[3] == 'old' and resource .. ':' .. next_id or next_id .. ':' .. resource)
end
return { next:sub(1, 1000), 1 }
