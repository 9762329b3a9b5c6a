-- attest: what a former primary, now a replica, says of its end as the primary of a space (decision 045).
-- KEYS none, so that a node of a cluster does not redirect the call
-- ARGV epoch, run id of the former primary
-- reply now, run id, role, link to the primary, whether it is read-only, replication id, the former one, how far that
--       goes, and the head as this library wrote it last | empty: another server, or it did not write this epoch
register('attest', {'no-writes'}, function(_, args)
    local now, epoch, run_id = clock(args), args[1], args[2]
    local seen = witness.of(epoch)
    if not seen or not seen.text or server.field('server', 'run_id') ~= run_id then return '' end
    local info = call('INFO', 'replication')
    local function field(name) return match(info, '\n' .. name .. ':([^\r\n]*)') or '-' end
    return concat({now, run_id, field('role'), field('master_link_status'), field('slave_read_only'),
        field('master_replid'), field('master_replid2'), field('second_repl_offset'), seen.text}, ' ')
end)
