-- pause: nothing is admitted and nothing expires; clients present what they have (rule 11).
-- KEYS m
-- ARGV epoch, until in µs
-- reply now, due, epoch, pause; event paused
register('pause', {}, function(keys, args)
    local now = clock(args)
    local upto = is_signed(args[2]) and tonumber(args[2])
    if not upto or upto >= number_end then return malformed() end
    return perform(keys, args, now, nil, nil, function(step)
        extend_pause(step, upto)
        tell(step, nil, 'p' .. step.paused_until .. ':')
    end)
end)
