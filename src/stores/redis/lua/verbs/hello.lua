-- hello: first on every connection. Makes the space, sees whether the server may have lost some of it (lineage), and
-- whether this user and this server can keep it. Always writes, so that it fails on a replica.
-- KEYS m
-- ARGV version, longest ttl in ms, lag in ms, '1' (pause after a loss) | '0'
-- reply now, due, lineage, pause | an error BATONVERSION, BATONSPACE, BATONEVICTION or BATONACL
do
-- Every command that the functions call, with a key of the space: a test compares this list with the library's text.
local function first_forbidden(prefix)
    local m, d, q = prefix .. 'm', prefix .. 'd', prefix .. 'q:'
    local used = {
        {'TIME'}, {'INFO', 'replication'}, {'HGET', m, ''}, {'HMGET', m, ''}, {'HSET', m, '', ''}, {'HDEL', m, ''},
        {'HSCAN', m, '0'}, {'HINCRBY', prefix .. 'i', 'pauses', '1'}, {'UNLINK', prefix .. 'c'},
        {'EXISTS', prefix .. 'o'}, {'ZADD', d, '1', ''}, {'ZREM', d, ''}, {'ZRANGE', d, '0', '0'},
        {'ZREVRANGE', q, '0', '0'}, {'ZSCORE', d, ''}, {'ZRANK', q, ''}, {'ZCARD', q}, {'ZCOUNT', q, '0', '1'},
        {'ZRANGEBYSCORE', q, '0', '1'}, {'ZREVRANGEBYSCORE', d, '1', '0'}, {'ZPOPMIN', q},
        {'ZREMRANGEBYRANK', prefix .. 'c', '0', '0'}, {'RPUSH', prefix .. 'e', ''}, {'LINDEX', prefix .. 'e', '0'},
        {'LPOP', prefix .. 'e'}, {'PUBLISH', prefix .. 'wake:', ''}, {'PUBLISH', prefix .. 'events', ''},
        {'SUBSCRIBE', prefix .. 'wake:'}, {'UNSUBSCRIBE', prefix .. 'wake:'},
    }
    for i = 1, #used do
        if not redis.acl_check_cmd(unpack(used[i])) then return used[i][1] end
    end
end
local function of_server(section, field) return match(call('INFO', section), '\n' .. field .. ':([^\r\n]*)') end

register('hello', {}, function(keys, args)
    local now = clock(args)
    local version, max_ttl, lag, pausing = args[1], args[2], args[3], args[4]
    if not (is_number(version) and is_number(max_ttl) and is_number(lag) and pausing) then return malformed() end
    if tonumber(max_ttl) < 100 or #max_ttl > 8 or #lag > 8 then return malformed() end
    local step = new_step(keys, args, now)
    local prefix = step.prefix
    local forbidden = first_forbidden(prefix)
    if forbidden then return error_reply('BATONACL ' .. forbidden) end
    if of_server('memory', 'maxmemory_policy') ~= 'noeviction' and of_server('memory', 'maxmemory') ~= '0' then
        return error_reply('BATONEVICTION the server may evict keys: maxmemory-policy must be noeviction')
    end

    local replication = call('INFO', 'replication')
    local replid, former = match(replication, '\nmaster_replid:(%x+)'), match(replication, '\nmaster_replid2:(%x+)')
    local known = call('HMGET', prefix .. 'i', 'version', 'max_ttl', 'lag', 'replid')
    local head = call('HGET', step.key, '')
    if known[1] and known[1] ~= version then return error_reply('BATONVERSION ' .. known[1]) end
    if known[1] and (known[2] ~= max_ttl or known[3] ~= lag) then
        return error_reply('BATONSPACE ' .. known[2] .. ' ' .. known[3])
    end

    local lost = known[4] ~= replid
    if not head then
        -- The server counts the turns of the clock's seconds: one that is up for a few milliseconds may say 1.
        local least_age = (tonumber(of_server('server', 'uptime_in_seconds')) - 1) * 1000
        lost = known[1] or least_age < tonumber(max_ttl) or find(former, '[^0]') ~= nil
        head = never .. now .. none .. now .. none
    end
    -- A member of more than 64 bytes makes `d` a skip list from birth, so that no renewal walks along a list.
    call('ZADD', prefix .. 'd', '+inf', rep(never, 5))
    call('HSET', prefix .. 'i', 'version', version, 'max_ttl', max_ttl, 'lag', lag, 'replid', replid)
    step.lineage, step.thorough = sub(head, 17, 32), true
    local refusal = begin_step(step, head, lost and function()
        step.lineage = digits(larger(tonumber(step.lineage) + 1, step.at))
        extend_pause(step, pausing == '1' and step.at + (tonumber(max_ttl) + tonumber(lag)) * 1000 or 0)
    end)
    return refusal or finish_step(step)
end)
end
