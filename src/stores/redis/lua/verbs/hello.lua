-- hello: first on every connection. Makes the space; finds out whether the server may have lost some of it, and then
-- begins another history of it (lineage) with a pause; and checks whether this user and this server can keep it.
-- KEYS m
-- ARGV version, longest ttl in ms, lag in ms, '1' (pause after a loss) | '0', lineage that the client knows (zeros:
--      none), highest ticket or fence that it has seen (16 digits each)
-- reply now, due, lineage, pause | an error BATONVERSION, BATONSPACE, BATONEVICTION, BATONROLE or BATONACL
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

-- Lineages that this space has succeeded, 16 digits each, the newest last.
local most_former = 64
local function has_succeeded(former, lineage)
    return find(former, lineage, 1, true) and find_piece(former .. lineage, lineage, 1, 16) <= #former
end
local function with_former(former, lineage)
    if lineage == none or has_succeeded(former, lineage) then return former end
    return sub(former .. lineage, -16 * most_former)
end

-- When the pause ends. What was granted before a restart has ended so long after the restart; of any other loss it is
-- not known when it was. The server counts the turns of the clock's seconds: one that is up for a few milliseconds may
-- say 1.
local function pause_until(step, length, restarted)
    local uptime = restarted and larger(0, tonumber(server.field('server', 'uptime_in_seconds')) - 1) or 0
    return step.at + (length - uptime * 1000) * 1000
end

-- 16 digits, below 2^52.
local function is_serial(text)
    return text and #text == 16 and not find(text, '%D') and tonumber(text) < presented_end
end

register('hello', {}, function(keys, args)
    local now = clock(args)
    local version, max_ttl, lag, pausing, knows, seen_serial = args[1], args[2], args[3], args[4], args[5], args[6]
    if not (is_number(version) and is_number(max_ttl) and is_number(lag)) then return malformed() end
    if pausing ~= '0' and pausing ~= '1' then return malformed() end
    if not is_serial(knows) or not is_serial(seen_serial) then return malformed() end
    if tonumber(max_ttl) < 100 or #max_ttl > 8 or #lag > 8 then return malformed() end
    local step = new_step(keys, args, now)
    local prefix = step.prefix
    local forbidden = first_forbidden(prefix)
    if forbidden then return error_reply('BATONACL ' .. forbidden) end
    if server.field('memory', 'maxmemory_policy') ~= 'noeviction' and server.field('memory', 'maxmemory') ~= '0' then
        return error_reply('BATONEVICTION the server may evict keys: maxmemory-policy must be noeviction')
    end
    local role, replid, promoted = server.replication()
    if role ~= 'master' then return error_reply('BATONROLE the server is a replica') end

    local known = call('HMGET', prefix .. 'i', 'version', 'max_ttl', 'lag', 'pause', 'run_id', 'former')
    local head, run_id = call('HGET', step.key, ''), server.field('server', 'run_id')
    if known[1] and known[1] ~= version then return error_reply('BATONVERSION ' .. known[1]) end
    local present, former = head and sub(head, 17, 32) or none, known[6] or ''
    -- The client was in a history that this space does not know.
    local is_strange = knows ~= none and knows ~= present and not has_succeeded(former, knows)
    local same = known[2] == max_ttl and known[3] == lag and known[4] == pausing
    if known[1] and not same and not is_strange then
        return error_reply('BATONSPACE ' .. known[2] .. ' ' .. known[3] .. ' ' .. known[4])
    end

    step.lineage, step.thorough = present, true
    local lost, restarted
    if head then
        local is_behind = knows == present and seen_serial > sub(head, 65, 80)
        restarted = known[5] ~= run_id
        lost = is_strange or is_behind or restarted or not witness.is_unbroken(step, head, replid, promoted)
        restarted = restarted and not (is_strange or is_behind or promoted)
    else
        restarted, lost = known[5] ~= run_id and not (is_strange or promoted), true
        head = never .. none .. none .. now .. none
    end
    -- A member of more than 64 bytes makes `d` a skip list from birth, so that no renewal walks along a list.
    call('ZADD', prefix .. 'd', '+inf', rep(never, 5))
    former = lost and with_former(with_former(former, present), is_strange and knows or none) or former
    call('HSET', prefix .. 'i', 'version', version, 'max_ttl', max_ttl, 'lag', lag, 'pause', pausing, 'replid', replid,
        'run_id', run_id, 'former', former)
    local length = larger(tonumber(max_ttl), tonumber(known[2] or 0)) + larger(tonumber(lag), tonumber(known[3] or 0))
    local pauses = pausing == '1' or known[4] == '1'
    local refusal = begin_step(step, head, lost and function()
        witness.drop(present)
        step.lineage = digits(larger(tonumber(larger(present, knows)) + 1, step.at))
        while witness.of(step.lineage) do step.lineage = after(step.lineage) end
        extend_pause(step, pauses and pause_until(step, length, restarted) or 0)
    end)
    if refusal then return refusal end
    step.last = larger(step.last, seen_serial)
    witness.look(witness.of(step.lineage) or witness.make(step.lineage), step, replid)
    return finish_step(step)
end)
end
