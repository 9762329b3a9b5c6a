-- tick: settles what is due and owed, and does nothing else (rule 4).
-- KEYS m
-- ARGV epoch
-- reply now, due, epoch, pause; no events: they all are notices
register('tick', {'allow-oom'}, function(keys, args)
    local now = clock(args)
    local head = call('HGET', keys[1], '')
    local quiet = short_paths and quiet_head(head, now, args[1])
    if quiet then return now .. quiet.start end
    local step = new_step(keys, args, now)
    return begin_step(step, head) or finish_step(step)
end)
