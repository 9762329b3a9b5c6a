#!lua
-- revoke: an operator ends a request, or asks its holder to leave (rule 13).
-- KEYS m
-- ARGV lineage, resource, ticket, note, '0' (asked) | '1' (at once)
-- reply now, due, lineage, pause; events revoking (of number 0: whose it is stays a secret) | refused | none
-- Calls: some 15
--%clock
--%prelude
local name, ticket, note, at_once = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
if not name or not is_number(ticket) or not note or not at_once then return malformed end
local refusal = begin_step(nil)
if refusal then return refusal end

local function find_claimant()
    if #ticket > 16 then return nil end
    local resource, score = resource_of(name), digits(ticket)
    local holder = resource.holder
    if holder then
        local session = session_of(holder.id)
        local request = request_of(session, holder.number)
        if request.ticket == tonumber(ticket) then return find_live(session, holder.number) end
    end
    for _, place in ipairs({admitted_of(resource), queue_of(resource)}) do
        local member = call('ZRANGEBYSCORE', place, score, score)[1]
        if member then
            local whose = read_member(member)
            return find_live(session_of(whose.id), whose.number)
        end
    end
end
local function perform()
    if #note > 1024 then return refuse('note too long') end
    local reason = refusal_of_name(name)
    if reason then return refuse(reason) end
    local request = find_claimant()
    if not request then return refuse('not found') end
    if at_once == '1' or request.fence == 0 then return end_request(request, 'r', 'u') end
    if not request.revoked then
        request.revoked, request.note, request.dirty = deadline_of(request.session), note, true
        call('ZADD', prefix .. 'd', digits(request.revoked), timed(request, 'r'))
    end
    local text = ':' .. digits(request.revoked) .. sized(request.note)
    local told = may_tell_grant(request)
    tell(nil, 'v0' .. text, told)
    if told then tell(request.session.id, 'v' .. request.number .. text) end
end
perform()
return finish_step()
