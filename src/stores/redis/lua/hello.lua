#!lua
-- hello: first on every connection. Makes the space, sees whether the server may have lost some of it (lineage), and
-- whether this user and this server can keep it. Always writes, so that it fails on a replica.
-- KEYS m
-- ARGV version, longest ttl in ms, lag in ms, '1' (pause after a loss) | '0'
-- reply now, due, lineage, pause | an error BATONVERSION, BATONSPACE, BATONEVICTION or BATONACL. Calls: some 12
--%clock
--%prelude
local version, max_ttl, lag, pausing = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
if not (is_number(version) and is_number(max_ttl) and is_number(lag) and pausing) then return malformed end
if tonumber(max_ttl) < 100 or #max_ttl > 8 or #lag > 8 then return malformed end

local used = {
    {'HGET', KEYS[1], ''}, {'HMGET', KEYS[1], ''}, {'HSET', KEYS[1], '', ''}, {'HDEL', KEYS[1], ''},
    {'HGETALL', KEYS[1]}, {'HKEYS', KEYS[1]}, {'HINCRBY', prefix .. 'i', 'pauses', '1'}, {'DEL', prefix .. 's:'},
    {'EXISTS', prefix .. 'o'}, {'ZADD', prefix .. 'd', '1', ''}, {'ZREM', prefix .. 'd', ''},
    {'ZRANGE', prefix .. 'd', '0', '0'}, {'ZREVRANGE', prefix .. 'w:', '0', '0'}, {'ZSCORE', prefix .. 'd', ''},
    {'ZREVRANGEBYSCORE', prefix .. 'd', '1', '0'}, {'ZRANGEBYSCORE', prefix .. 'q:', '0', '1'},
    {'ZCARD', prefix .. 'q:'}, {'ZCOUNT', prefix .. 'q:', '0', '1'}, {'ZPOPMIN', prefix .. 'q:'},
    {'ZREMRANGEBYRANK', prefix .. 'c', '0', '0'}, {'UNLINK', prefix .. 'c'},
    {'ZRANK', prefix .. 'q:', ''}, {'ZSCAN', prefix .. 'd', '0'}, {'HSCAN', prefix .. 'marks', '0'},
    {'RPUSH', prefix .. 'e', ''}, {'LRANGE', prefix .. 'e', '0', '-1'}, {'LREM', prefix .. 'e', '1', ''},
    {'PUBLISH', prefix .. 'wake:', ''}, {'PUBLISH', prefix .. 'events', ''}, {'SUBSCRIBE', prefix .. 'wake:'},
    {'INFO', 'replication'}, {'TIME'},
}
for _, command in ipairs(used) do
    if not redis.acl_check_cmd(unpack(command)) then return redis.error_reply('BATONACL ' .. command[1]) end
end

local function of_server(section, field) return call('INFO', section):match('\n' .. field .. ':([^\r\n]*)') end
local policy = of_server('memory', 'maxmemory_policy')
if policy ~= 'noeviction' and of_server('memory', 'maxmemory') ~= '0' then
    return redis.error_reply('BATONEVICTION the server may evict keys: maxmemory-policy must be noeviction')
end

local replication = call('INFO', 'replication')
local replid, former = replication:match('\nmaster_replid:(%x+)'), replication:match('\nmaster_replid2:(%x+)')
local known = call('HMGET', prefix .. 'i', 'version', 'max_ttl', 'lag', 'replid')
local found = call('HGET', KEYS[1], '')
if known[1] and known[1] ~= version then return redis.error_reply('BATONVERSION ' .. known[1]) end
if known[1] and (known[2] ~= max_ttl or known[3] ~= lag) then
    return redis.error_reply('BATONSPACE ' .. known[2] .. ' ' .. known[3])
end

local lost = known[4] ~= replid
if not found then
    -- Counted by the turns of the clock's seconds: a server of a few milliseconds may say 1.
    local least_age = (tonumber(of_server('server', 'uptime_in_seconds')) - 1) * 1000
    lost = known[1] or least_age < tonumber(max_ttl) or former:find('[^0]') ~= nil
    found = never .. now .. '0000000000000000' .. now .. '0000000000000000'
    call('HSET', KEYS[1], '', found)
end
-- One member of more than 64 bytes: so `d` is never a list that every renewal walks along.
call('ZADD', prefix .. 'd', '+inf', never:rep(5))
call('HSET', prefix .. 'i', 'version', version, 'max_ttl', max_ttl, 'lag', lag, 'replid', replid)
ARGV[1] = found:sub(17, 32)
local refusal = begin_step(nil, lost and function()
    lineage = digits(math.max(tonumber(lineage) + 1, at))
    local upto = at + (tonumber(max_ttl) + tonumber(lag)) * 1000
    if pausing == '1' and upto > paused_until then paused_until, pause_length = upto, upto - at end
    identity.pauses = call('HINCRBY', prefix .. 'i', 'pauses', 1)
end)
if refusal then return refusal end
return finish_step()
