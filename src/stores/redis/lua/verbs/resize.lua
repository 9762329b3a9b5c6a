-- resize: pins the limit of a name, or lets claims bring their own again (rule 10).
-- KEYS m
-- ARGV epoch, resource, limit | '-'
-- reply now, due, epoch, pause; event resized | refused
do
local function resize(step, name, limit)
    local pin = tonumber(limit)
    if pin and (pin < 1 or pin > most_permits) then return refuse(step, 'permits out of range') end
    local reason = refusal_of_name(name)
    if reason then return refuse(step, reason) end
    local resource = resource_of(step, name)
    resource.pinned, resource.pin, resource.dirty = pin ~= nil, pin, true
    if pin then
        unused.no_more(step)
        call('HSET', step.prefix .. 'limits', name, limit)
    else
        call('HDEL', step.prefix .. 'limits', name)
    end
    tell(step, nil, 'z' .. sized(name) .. limit .. ':')
    review_width(step, resource)
    end_narrowed(step)
    owe(step, resource)
end

register('resize', {}, function(keys, args)
    local now, name, limit = clock(args), args[2], args[3]
    if not name or not limit or limit ~= '-' and not is_number(limit) then return malformed() end
    return perform(keys, args, now, nil, function(step) resize(step, name, limit) end)
end)
end
