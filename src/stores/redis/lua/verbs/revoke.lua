-- revoke: an operator ends a request, or asks its holder to leave (rule 13).
-- KEYS m
-- ARGV epoch, resource, ticket, note, '0' (asked) | '1' (at once)
-- reply now, due, epoch, pause; events revoking (with number 0, because its session is a secret) | refused | none
do
local function find_claimant(step, name, ticket)
    if #ticket > 16 then return nil end
    local id = claimant_of(step, resource_of(step, name), digits(ticket))
    return id and find_live(step, session_of(step, session_of_id(id)), number_of_id(id))
end
local function revoke(step, name, ticket, note, at_once)
    if #note > longest_text then return refuse(step, 'note too long') end
    local reason = refusal_of_name(name)
    if reason then return refuse(step, reason) end
    local request = find_claimant(step, name, ticket)
    if not request then return refuse(step, 'not found') end
    if at_once or request.fence == none then return end_request(step, request, 'r', 'u') end
    local session = request.session
    if not request.revoked then
        request.note = note
        set_revoked(request, deadline_of(step, session))
        set_deadline(step, timed(request, 'r'), request.revoked)
    end
    local text = ':' .. request.revoked .. sized(request.note or '')
    local told = may_tell_grant(step, request)
    tell(step, nil, 'v0' .. text, told)
    if told then tell_again(step, session, 'v' .. request.number .. text) end
end

register('revoke', {}, function(keys, args)
    local now, name, ticket, note, at_once = clock(args), args[2], args[3], args[4], args[5]
    if not name or not is_number(ticket) or not note or at_once ~= '0' and at_once ~= '1' then return malformed() end
    return perform(keys, args, now, nil, function(step) revoke(step, name, ticket, note, at_once == '1') end)
end)
end
