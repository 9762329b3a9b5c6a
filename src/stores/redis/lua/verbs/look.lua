-- look: in place of `hello` for a user that may only inspect: the state of the space. Changes nothing, makes no space.
-- KEYS m
-- ARGV version
-- reply now, due, epoch (zeros: there is no space), pause; then max_ttl, lag, pause after a loss, as `hello` got them
--      | an error BATONVERSION, BATONHEAD or BATONACL
register('look', {'no-writes'}, function(keys, args)
    if not call then bind() end
    local key = keys[1]
    local denial = server.denial(server.missing_rights(key, {
        {'TIME'}, {'HGET', key, '', for_all = 'read'}, {'HMGET', key, ''}, {'HSCAN', key, '0'},
        {'ZRANGE', key, '0', '0'}, {'ZRANGEBYSCORE', key, '0', '1'}, {'ZSCORE', key, ''}, {'ZRANK', key, ''},
        {'ZCARD', key},
    }))
    if denial then return denial end
    local now, version = clock(args), args[1]
    if not is_number(version) then return malformed() end
    local head = call('HGET', key, '')
    if not head then return {now .. never .. none .. none} end
    local known = call('HMGET', sub(key, 1, -2) .. 'i', 'version', 'max_ttl', 'lag', 'pause')
    if known[1] ~= version then return error_reply('BATONVERSION ' .. (known[1] or 'unknown')) end
    if is_damaged(head) then return error_reply('BATONHEAD the head of the space is damaged') end
    return {now .. sub(head, 1, 48), known[2], known[3], known[4]}
end)
