-- watch: a viewer watches; until then every command tells `events` what came of it.
-- KEYS m
-- ARGV epoch, for how long in ms (up to a minute)
-- reply now, due, epoch, pause; no events
register('watch', {}, function(keys, args)
    local now = clock(args)
    local length = is_number(args[2]) and tonumber(args[2])
    if not length or length > 60000 then return malformed() end
    return perform(keys, args, now, nil, function(step)
        step.watched_until = larger(step.watched_until, digits(step.at + length * 1000))
    end)
end)
