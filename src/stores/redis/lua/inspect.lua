#!lua flags=no-writes
-- inspect: one page of what there is, as it stands; nothing is settled. Sections: sessions (with their requests),
-- dying, marks, limits.
-- KEYS m
-- ARGV lineage, section, cursor ('0' first), how many about
-- reply now, due, lineage, pause; next cursor ('0' last); items. Calls: some 3 for each request of the page
--%clock
--%prelude
local section, cursor, count = ARGV[2], ARGV[3], ARGV[4]
if not is_number(cursor) or not is_number(count) then return malformed end
local refusal = read_head()
if refusal then return refusal end
local page = {now .. head:sub(1, 48), '0'}

local function claim_text(claim)
    return (claim.admitted and '+' or '-') .. claim.mode .. format('%d:%d:', claim.permits, claim.limit)
        .. sized(claim.name) .. slots_text(claim.slots)
end
local function show_request(request)
    local out = {
        format('%d:%d:', request.ticket, request.fence), or_none(request.hold_deadline), or_none(request.revoked),
        sized(request.note), format('%d:', #request.claims),
    }
    for _, claim in ipairs(request.claims) do out[#out + 1] = claim_text(claim) end
    return table.concat(out)
end
local function show_session(session)
    local numbers = numbers_of(session)
    local out = {
        alias_of(session.id), format('%d:%d:', deadline_of(session), session.ttl), sized(session.label),
        format('%d:', #numbers),
    }
    for _, number in ipairs(numbers) do out[#out + 1] = show_request(request_of(session, number)) end
    return table.concat(out)
end

if section == 'sessions' then
    local found = call('ZSCAN', prefix .. 'd', cursor, 'COUNT', count)
    page[2] = found[1]
    for i = 1, #found[2], 2 do
        local member = found[2][i]
        if #member == 17 then page[#page + 1] = show_session(session_of(member:sub(1, 16))) end
    end
elseif section == 'dying' then
    for _, entry in ipairs(dying) do page[#page + 1] = show_session(entry.session) end
elseif section == 'marks' or section == 'limits' then
    local found = call('HSCAN', prefix .. section, cursor, 'COUNT', count)
    page[2] = found[1]
    for i = 1, #found[2], 2 do
        local name, value = found[2][i], found[2][i + 1]
        if section == 'marks' then
            value = mark_text(mark_of({name = name, marked = true}))
        else
            value = value .. ':'
        end
        page[#page + 1] = sized(name) .. value
    end
else
    return malformed
end
return page
