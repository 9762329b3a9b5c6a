#!lua flags=allow-oom
-- remove: takes the first element away if it is this one, and tells the next that it has the resource now.
-- KEYS resource
-- ARGV id, channel; `new` or `old`: how notices are written
-- Reply: the first element after that, or the beginning of it; 1 if this one was taken away, else 0
-- The list may be empty already: others remove what is overdue too.
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
