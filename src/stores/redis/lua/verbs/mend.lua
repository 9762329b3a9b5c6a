-- mend: removes the mark of an abandoned resource (rule 7).
-- KEYS m
-- ARGV epoch, resource
-- reply now, due, epoch, pause; event mended | refused
register('mend', {}, function(keys, args)
    local now, name = clock(args), args[2]
    if not name then return malformed() end
    return perform(keys, args, now, nil, function(step)
        local reason = refusal_of_name(name)
        local mark = not reason and mark_of(step, resource_of(step, name))
        if not mark then return refuse(step, reason or 'not abandoned') end
        tell(step, nil, 'm' .. sized(name) .. mark_text(mark))
        set_mark(step, resource_of(step, name), nil)
    end)
end)
