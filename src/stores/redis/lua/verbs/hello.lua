-- hello: first on every connection. Makes the space; finds out whether the server may have lost some of it, and then
-- begins another history of it (epoch) with a pause; and checks whether this user and this server can keep it.
-- KEYS m
-- ARGV version, longest ttl in ms, lag in ms, '1' (pause after a loss) | '0', epoch that the client knows (zeros:
--      none), highest ticket or fence that it has seen (16 digits each); from a client that can ask the former primary
--      of a planned failover what that attested, or '?'
-- reply now, due, epoch, pause | an error BATONVERSION, BATONSPACE, BATONEVICTION, BATONROLE, BATONHEAD; BATONACL and
--       the ACL rules that the user lacks; or BATONHANDOVER, the epoch, the run id of the former primary, and host and
--       port of each replica
do
-- Tests compare these commands with the library's text and with packaging/redis/client.acl.
local function missing_here(key, sharded)
    local prefix, may = sub(key, 1, -2), redis.acl_check_cmd
    local numsub = sharded and 'SHARDNUMSUB' or 'NUMSUB'
    local missing = server.missing_rights(key, {
        {'FCALL_RO', library .. '_inspect', '1', key}, {'TIME'}, {'INFO', 'replication'},
        {'PUBSUB', numsub, prefix .. 'events'}, {'HGET', key, ''}, {'HMGET', key, ''}, {'HSET', key, '', ''},
        {'HDEL', key, ''}, {'HSCAN', key, '0'}, {'HINCRBY', key, '', '1', for_all = 'write'}, {'HLEN', key},
        {'UNLINK', key}, {'EXISTS', key}, {'PEXPIRE', key, '1'}, {'PERSIST', key}, {'ZADD', key, '1', ''},
        {'ZREM', key, ''}, {'ZRANGE', key, '0', '0'}, {'ZREVRANGE', key, '0', '0'}, {'ZSCORE', key, ''},
        {'ZRANK', key, ''}, {'ZCARD', key}, {'ZCOUNT', key, '0', '1'}, {'ZRANGEBYSCORE', key, '0', '1'},
        {'ZREVRANGEBYSCORE', key, '1', '0'}, {'ZPOPMIN', key}, {'ZREMRANGEBYRANK', key, '0', '0'},
        {'RPUSH', key, ''}, {'LINDEX', key, '0'}, {'LPOP', key},
    })
    -- A user without a channel fails here with each command, and so does one with the channel and neither command.
    local publishes, subscribes, unsubscribes
    if sharded then
        publishes = may('SPUBLISH', prefix .. 'wake:', '') and may('SPUBLISH', prefix .. 'events', '')
        subscribes, unsubscribes = may('SSUBSCRIBE', prefix .. 'wake:'), may('SUNSUBSCRIBE', prefix .. 'wake:')
    else
        publishes = may('PUBLISH', prefix .. 'wake:', '') and may('PUBLISH', prefix .. 'events', '')
        subscribes, unsubscribes = may('SUBSCRIBE', prefix .. 'wake:'), may('UNSUBSCRIBE', prefix .. 'wake:')
    end
    local shard = sharded and 'S' or ''
    if not publishes and not subscribes then missing[#missing + 1] = '&' .. prefix .. '*' end
    if not publishes then missing[#missing + 1] = '+' .. shard .. 'PUBLISH' end
    if not subscribes then missing[#missing + 1] = '+' .. shard .. 'SUBSCRIBE' end
    if not unsubscribes then missing[#missing + 1] = '+' .. shard .. 'UNSUBSCRIBE' end
    return missing
end

-- Epochs that this space has succeeded, the newest last: 16 digits each, and 16 digits of the counter where the pause
-- was shortened, else nines.
local most_former = 64
-- The counter at which an epoch was succeeded, and where it stands; nil if the space has not succeeded it.
local function counter_of(former, epoch)
    local place = find(former, epoch, 1, true) and find_piece(former .. epoch, epoch, 1, 32)
    if place and place <= #former then return sub(former, place + 16, place + 31), place end
end
local function with_former(former, epoch, counter)
    if epoch == none then return former end
    local known, place = counter_of(former, epoch)
    if known then former = sub(former, 1, place - 1) .. sub(former, place + 32) end
    return sub(former .. epoch .. counter, -32 * most_former)
end

-- How much of the pause is over after a restart, in microseconds. Leases from before a restart end at the latest
-- max_ttl after it, so the pause counts from the server's start. Data that were written after the start came from
-- another server, and so may those of a server that has taken part in replication, and of a node of a cluster, which
-- gets slots without replication: then the whole pause is due. The server counts changes of the clock's second: after a
-- few milliseconds it may say that it has been up for one.
local function since_start(step, head, offset)
    local uptime = larger(0, tonumber(server.field('server', 'uptime_in_seconds')) - 1) * 1000000
    local is_own = not head or not step.sharded and offset == 0 and tonumber(sub(head, 49, 64)) <= step.at - uptime
    return is_own and uptime or 0
end

-- Planned failovers (decision 045). The pause counts from when a call first noticed this promotion, although the client
-- searches for the former primary before it begins.
local promotion = {}  -- the replication id that the last promotion made, and when it was noticed
local searches_for = 1000000  -- microseconds, longer than clients search
local function since_promotion(step, replid)
    if promotion.id ~= replid then promotion.id, promotion.noticed = replid, step.at end
    local since = step.at - promotion.noticed
    return since > 0 and since <= searches_for and since or 0
end
-- At most 5: the former primary connected last, so it is among the last.
local function replicas(info)
    local found, from = {}, 1
    while from do
        local _, last, host, port = find(info, '\nslave%d+:ip=([^,]+),port=(%d+)', from)
        if host then found[#found + 1] = ' ' .. host .. ' ' .. port end
        from = last
    end
    return concat(found, '', larger(1, #found - 4))
end

-- Texts of 16 digits, below 2^52. Numbers of 2^52 - 2^48 and more, which the clock reaches in the year 2103, are not
-- adopted, so that no client can make the space's own numbers reach the bound.
local function is_serial(text)
    return text and #text == 16 and not find(text, '%D') and tonumber(text) < presented_end
end
local function adopted(serial) return serial < '4222124650659840' and serial or none end

register('hello', {}, function(keys, args)
    if not call then bind() end
    local denial = server.denial(missing_here(keys[1], is_sharded(keys)))
    if denial then return denial end
    local now = clock(args)
    local version, max_ttl, lag, pausing, knows, seen_serial = args[1], args[2], args[3], args[4], args[5], args[6]
    local attested = args[7] or ''
    if not (is_number(version) and is_number(max_ttl) and is_number(lag)) then return malformed() end
    if pausing ~= '0' and pausing ~= '1' then return malformed() end
    if not is_serial(knows) or not is_serial(seen_serial) then return malformed() end
    if tonumber(max_ttl) < 100 or #max_ttl > 8 or #lag > 8 then return malformed() end
    local step = new_step(keys, args, now)
    local prefix = step.prefix
    if server.field('memory', 'maxmemory_policy') ~= 'noeviction' and server.field('memory', 'maxmemory') ~= '0' then
        return error_reply('BATONEVICTION the server may evict keys: maxmemory-policy must be noeviction')
    end
    local role, replid, promoted, offset, silence, info = server.replication()
    local refusal = server.refusal(step, role, silence)
    if refusal then return refusal end

    local known = call('HMGET', prefix .. 'i', 'version', 'max_ttl', 'lag', 'pause', 'run_id', 'former', 'replid')
    local head, run_id = call('HGET', step.key, ''), server.field('server', 'run_id')
    if known[1] and known[1] ~= version then return error_reply('BATONVERSION ' .. known[1]) end
    if head and is_damaged(head) then return error_reply('BATONHEAD the head of the space is damaged') end
    local present, former = head and sub(head, 17, 32) or none, known[6] or ''
    -- The client was in a history that this space does not know.
    local counter = counter_of(former, knows)
    local is_strange = knows ~= none and knows ~= present and not counter
    local same = known[2] == max_ttl and known[3] == lag and known[4] == pausing
    if known[1] and not same and not is_strange then
        return error_reply('BATONSPACE ' .. known[2] .. ' ' .. known[3] .. ' ' .. known[4])
    end

    step.epoch, step.thorough = present, true
    local is_behind = knows == present and head and seen_serial > sub(head, 65, 80)
        or counter and head and seen_serial > counter and now >= sub(head, 33, 48)
    local restarted, over = known[5] ~= run_id, 0
    local lost = not head or is_strange or is_behind or restarted
        or not witness.is_unbroken(step, head, replid, promoted)
    if restarted and (known[5] or not head) and not (is_strange or is_behind or promoted) then
        over = since_start(step, head, offset)
    end
    local is_promoted = restarted and head and promoted and known[7] == promoted and not (is_strange or is_behind)
    if is_promoted and pausing == '1' then
        over = since_promotion(step, replid)
        if witness.is_handed_over(step, head, attested, known[5], info) then
            lost = false
        elseif attested ~= '' then
            return error_reply('BATONHANDOVER ' .. present .. ' ' .. known[5] .. replicas(info))
        end
    end
    head = head or never .. none .. none .. now .. none
    -- A member of more than 64 bytes makes them skip lists from birth, so that no call walks along a list.
    call('ZADD', prefix .. 'd', '+inf', rep(never, 5))
    call('ZADD', prefix .. 't', '+inf', rep(never, 5))
    if lost then
        former = with_former(former, present, over > 0 and not is_promoted and sub(head, 65, 80) or never)
    end
    if is_strange or is_behind then former = with_former(former, knows, never) end
    call('HSET', prefix .. 'i', 'version', version, 'max_ttl', max_ttl, 'lag', lag, 'pause', pausing, 'replid', replid,
        'run_id', run_id, 'former', former)
    local length = larger(tonumber(max_ttl), tonumber(known[2] or 0)) + larger(tonumber(lag), tonumber(known[3] or 0))
    local pauses = pausing == '1' or known[4] == '1'
    local watched = server.any_viewer(prefix, step.sharded)
    step.seen = watched and {}
    refusal = begin_step(step, head, lost and function()
        -- The state of either epoch may come back, by SWAPDB or RESTORE, and has been succeeded.
        witness.drop(present)
        witness.drop(knows)
        local least = larger(tonumber(larger(present, adopted(knows))) + 1, step.at)
        step.epoch = digits(least + epoch_offset(run_id))
        while witness.of(step.epoch) do step.epoch = after(step.epoch) end
        extend_pause(step, pauses and step.at + length * 1000 - over or 0)
    end)
    if refusal then return refusal end
    if knows ~= none then step.last = larger(step.last, adopted(seen_serial)) end
    witness.checked(witness.of(step.epoch) or witness.make(step.epoch), step, replid, watched)
    return finish_step(step)
end)
end
