-- mend: removes the mark of an abandoned resource (rule 7).
-- KEYS m
-- ARGV lineage, resource
-- reply now, due, lineage, pause; event mended | refused
register('mend', {}, function(keys, args)
    local now, name = clock(args), args[2]
    if not name then return malformed() end
    local step = new_step(keys, args, now)
    local refusal = begin_step(step, call('HGET', step.key, ''))
    if refusal then return refusal end
    local reason = refusal_of_name(name)
    local mark = not reason and mark_of(step, resource_of(step, name))
    if mark then
        tell(step, nil, 'm' .. sized(name) .. mark_text(mark))
        set_mark(step, resource_of(step, name), nil)
    else
        refuse(step, reason or 'not abandoned')
    end
    return finish_step(step)
end)
