-- revoke: an operator ends a request, or asks its holder to leave (rule 13).
-- KEYS m
-- ARGV lineage, resource, ticket, note, '0' (asked) | '1' (at once)
-- reply now, due, lineage, pause; events revoking (of number 0: whose it is stays a secret) | refused | none
do
local function find_claimant(step, name, ticket)
    if #ticket > 16 then return nil end
    local resource, score = resource_of(step, name), digits(ticket)
    if resource.holder then
        local session = session_of(step, resource.holder)
        local request = request_of(step, session, resource.number)
        if request.ticket == score then return find_live(step, session, resource.number) end
    end
    local places = {admitted_of(step, resource), queue_of(step, resource)}
    for i = 1, 2 do
        local member = call('ZRANGEBYSCORE', places[i], score, score, 'LIMIT', '0', '1')[1]
        if member then
            local _, _, _, _, id, number = read_member(member)
            return find_live(step, session_of(step, id), number)
        end
    end
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
    local step = new_step(keys, args, now)
    local refusal = begin_step(step, call('HGET', step.key, ''))
    if refusal then return refusal end
    revoke(step, name, ticket, note, at_once == '1')
    return finish_step(step)
end)
end
