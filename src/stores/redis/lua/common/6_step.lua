-- ==== the step: the order in which things happen when a command is performed (docs/rules.md)
-- Head, 80 digits: due, epoch, paused until, noted, last. `due` is the last moment at which nothing is due, or an
-- earlier one. `noted` is the latest time that is known: an earlier one means that the clock went back. `last` is the
-- counter of tickets and fences. In a pause and while work is owed follow: length of the pause (16 digits), and whether
-- `o`, `e` and `z` hold work.
local head_size, long_head_size = 80, 99
local function is_damaged(head) return #head ~= head_size and #head ~= long_head_size or find(head, '%D') ~= nil end

-- ---- the witness: what this library saw last of each epoch of a space
-- The server may lose what a call has written: data are flushed, restored or swapped, or the server follows another
-- one for a while. The library's own memory does not follow the data, so it can tell: it keeps the head that the last
-- call left, and what the last check of the server saw: the replication id, and whether viewers are subscribed. Its key
-- is the epoch, so that two databases with spaces of one name have two witnesses. The parts of the head follow from its
-- text.
local witness, next_head, quiet_head
do
local most_young = 4000  -- witnesses that were used lately; as many older ones are kept
local young, old, count = {}, {}, 0
witness = {}
local function keep(epoch, seen)
    if count >= most_young then young, old, count = {}, young, 0 end
    young[epoch], count = seen, count + 1
    return seen
end
function witness.of(epoch)
    local seen = young[epoch]
    if seen or not old[epoch] then return seen end
    return keep(epoch, old[epoch])
end
function witness.make(epoch) return keep(epoch, {}) end
function witness.drop(epoch) young[epoch], old[epoch] = nil, nil end
function witness.note_head(epoch, head)
    local seen = witness.of(epoch)
    seen.text, seen.start, seen.noted, seen.last = head, sub(head, 1, 48), sub(head, 49, 64), sub(head, 65, 80)
    local is_quiet = #head == head_size and not seen.watched
    seen.quiet_until = is_quiet and smaller(head, seen.check_at) or none
end
-- The text of the head when the time is noted and the counter has advanced.
function next_head(seen, now, last)
    local text = seen.start .. now .. last
    seen.text, seen.noted, seen.last = text, now, last
    return text
end
-- The witness, if nothing is due, owed, paused or watched, the clock goes forward, and the role need not be checked:
-- what the short paths need. Of `quiet_until` only the digits of `due` or `check_at` matter.
function quiet_head(head, now, epoch)
    local seen = young[epoch]
    return seen and seen.text == head and now < seen.quiet_until and seen.noted <= now and seen
end
end

local server = {}
function server.field(section, field) return match(call('INFO', section), '\n' .. field .. ':([^\r\n]*)') end
-- The server's role, its replication id, whether it has a former one, which a promotion leaves, and how many bytes of
-- replication it has sent or received in its history.
function server.replication()
    local info = call('INFO', 'replication')
    local former = match(info, '\nmaster_replid2:(%x+)')
    return match(info, '\nrole:(%a+)'), match(info, '\nmaster_replid:(%x+)'), find(former, '[^0]') ~= nil,
        tonumber(match(info, '\nmaster_repl_offset:(%d+)'))
end
-- Viewers subscribe to `events`, and write nothing.
function server.any_viewer(prefix) return call('PUBSUB', 'NUMSUB', prefix .. 'events')[2] ~= 0 end

local refusal_if_broken
do
-- The clock may have gone back a little since.
local function is_recent(step, time, longest)
    local age = step.at - tonumber(time)
    return age >= -longest and age <= longest
end
function witness.checked(seen, step, replid, watched)
    seen.replid, seen.checked, seen.check_at = replid, step.now, digits(step.at + check_every)
    seen.watched = watched
end
-- How old the last check may be. Another server that was the primary since then has granted nothing yet: it pauses for
-- the longest ttl and `lag`, and it stops within `lag`. A space without a pause trusts the time of two checks.
local function trusted_for(step)
    if space_field(step, 'pause') == 0 then return 2 * check_every end
    return longest_ttl(step) - space_field(step, 'lag') * 1000
end
-- Whether a call of any version of the library has written the space lately, here and under this replication id.
local function is_recorded(step, noted, replid)
    local known = call('HMGET', step.prefix .. 'i', 'run_id', 'replid')
    return known[1] == server.field('server', 'run_id') and known[2] == replid
        and is_recent(step, noted, trusted_for(step))
end
-- Whether the space is as calls of this library left it, or those of another version. `replid` and `promoted` are the
-- server's.
function witness.is_unbroken(step, head, replid, promoted)
    local seen = witness.of(step.epoch)
    local noted, last = sub(head, 49, 64), sub(head, 65, 80)
    if not seen then return is_recorded(step, noted, replid) end  -- the library has just been loaded
    if seen.text ~= head then  -- another version of the library may have written it
        if noted < seen.noted or last < seen.last then return false end
        if seen.replid == replid or is_recorded(step, noted, replid) then return true end
        -- A backup, and the other version has not checked yet. Only its memory could show whether its writes were lost
        -- in a change of roles and back. The sign of that, `promoted`, lasts for more than a second.
        return not promoted and is_recorded(step, noted, seen.replid) and is_recent(step, seen.checked, 2 * check_every)
    end
    -- A backup and a first replica change the replication id, too.
    return seen.replid == replid
        or not promoted and is_recent(step, seen.checked, trusted_for(step))
end
-- Refuses if the state may be lost: `hello` decides. Looks at the role and for viewers once a second, and whenever the
-- head differs.
function refusal_if_broken(step, head)
    local seen = witness.of(step.epoch)
    if seen and seen.text == head and step.now < seen.check_at and step.now >= seen.checked then
        step.seen = seen.watched and {}
        return nil
    end
    local role, replid, promoted = server.replication()
    if role ~= 'master' then return error_reply('BATONROLE the server is a replica') end
    if not witness.is_unbroken(step, head, replid, promoted) then
        return error_reply('BATONUNSURE the state of the space may be lost')
    end
    if not seen then seen = witness.make(step.epoch) end
    if seen.replid ~= replid then call('HSET', step.prefix .. 'i', 'replid', replid) end
    witness.checked(seen, step, replid, server.any_viewer(step.prefix))
    witness.note_head(step.epoch, head)
    step.seen = seen.watched and {}
end
end

local function new_step(keys, args, now, sender)
    local key = keys[1]
    return {
        key = key, prefix = sub(key, 1, -2), now = now, at = tonumber(now), sender = sender, epoch = args[1],
        budget = budget_of(args), allowance = budget_of(args), ended_kept = ended_kept_of(args),
        reply = '', notices = {}, notified = {}, sessions = {}, resources = {}, space = {}, reviews = {},
        completed = {}, ended = {}, ending = {}, next_ending = 1, debts_read = 0, gone = {},
    }
end

-- Refuses another epoch, and a head that is none.
local function read_head(step, head)
    if head and is_damaged(head) then return error_reply('BATONHEAD the head of the space is damaged') end
    local epoch = head and sub(head, 17, 32) or none
    if epoch ~= step.epoch then return error_reply('BATONEPOCH ' .. epoch) end
    step.due, step.paused_until, step.noted, step.last =
        sub(head, 1, 16), sub(head, 33, 48), sub(head, 49, 64), sub(head, 65, 80)
    step.may_be_due, step.pause_length = step.due < step.now, 0
    step.recompute = step.may_be_due
    if #head > head_size then
        step.pause_length = tonumber(sub(head, 81, 96))
        step.stored_debts, step.stored_endings = byte(head, 97) == 49, byte(head, 98) == 49
        step.any_narrowed = byte(head, 99) == 49
        step.more_debts, step.recompute = step.stored_debts, true
        -- While work is owed, `due` says when the work was put off. If the clock went back since, that is later than
        -- now, and later than deadlines that passed before.
        step.may_be_due = true
    end
end

-- ---- a space that is not used expires
-- The fixed keys, `m` first: without the head, `hello` takes what is left of the others for a new space.
local unused = {}
do
local fixed_keys = {'m', 'i', 'd', 'c'}
local kept = 86400000  -- ms
-- If only the head is left. What lies ahead of the clock counts: no pause ends early, and no number comes again.
function unused.expire(step)
    if call('HLEN', step.key) ~= 1 then return end
    local ahead = larger(larger(step.paused_until, step.last), larger(step.epoch, step.now)) - step.at
    local length = format('%d', floor((ahead + longest_ttl(step)) / 1000) + kept)
    for i = 1, #fixed_keys do call('PEXPIRE', step.prefix .. fixed_keys[i], length) end
end
-- Before the space holds something again. All fixed keys expire, or none.
function unused.no_more(step)
    if call('PERSIST', step.key) == 0 then return end
    for i = 2, #fixed_keys do call('PERSIST', step.prefix .. fixed_keys[i]) end
end
end

local admit_owed, settle
do
-- Rule 4: nothing is admitted while endings are owed, so nothing is granted to what ends.
local reviews_at_once = 256  -- first claims that do not fit, in one step
-- Debts of earlier steps come into the heap a batch at a time, in their order.
local function read_debts(step)
    local from = step.debts_read
    local found = call('ZRANGE', step.prefix .. 'o', from, from + step.budget - 1, 'WITHSCORES')
    for i = 1, #found, 2 do
        local resource = resource_of(step, sub(found[i], 37))
        if not resource.reviewed then owe(step, resource) end
        resource.reviewed = true
    end
    step.debts_read, step.debts_upto = from + #found / 2, found[1] and digits(found[#found])
    step.more_debts = #found == 2 * step.budget
end
local function next_review(step)
    local reviews = step.reviews
    -- Debts of the same ticket as the last one may follow in the next batch.
    while step.more_debts and not (reviews[1] and step.debts_upto and reviews[1].ticket < step.debts_upto) do
        read_debts(step)
    end
    return reviews[1] and pop_review(reviews)
end
function admit_owed(step)
    if not step.reviews[1] and not step.stored_debts or is_paused(step) or endings_owed(step) then return end
    local reviewed = 0
    while step.allowance > 0 and reviewed < reviews_at_once do
        local review = next_review(step)
        if not review then return end
        local resource = review.resource
        if resource.review == review then
            resource.review, resource.reviewed = nil, true
            reviewed = reviewed + 1
            local mode, _, permits, limit = read_member(review.member)
            if fits(step, resource, mode, permits, limit) then
                step.allowance = step.allowance - 1
                local claim = claim_of_member(step, resource, review.member, review.ticket)
                leave_queue(step, claim, review.member)
                forget_first(resource)
                admit_lowest(step, claim)
                owe(step, resource)
            end
        end
    end
end
local function grant(step, request)
    local claims, fence = request.claims, next_serial(step)
    set_fence(request, fence)
    touch(request)
    for i = 1, #claims do
        local resource = claims[i].resource
        resource.reserved, resource.dirty = resource.reserved - 1, true
        if claims[i].mode == 'x' then resource.fence = fence end
    end
    if request.hold then
        request.hold_deadline = digits(step.at + request.hold)
        call('ZADD', step.prefix .. 't', request.hold_deadline, timed(request, 'h'))
        note_deadline(step, request.hold_deadline)
    end
    tell_granted(step, request)
end
-- Rules 3 and 8: grants are numbered in ticket order, when everything that the step admits is admitted.
local function grant_completed(step)
    local completed = step.completed
    if not completed[1] then return end
    if completed[2] then sort(completed, older) end
    for i = 1, #completed do
        if not completed[i].dropped then grant(step, completed[i]) end  -- the command may have ended it
    end
    step.completed = {}
end
function settle(step)
    admit_owed(step)
    grant_completed(step)
end
end

-- Rule 11: a pause is never shortened.
local function extend_pause(step, upto)
    if upto > tonumber(step.paused_until) then
        step.paused_until, step.pause_length = digits(upto), larger(0, upto - step.at)
    end
    step.space.pauses = call('HINCRBY', step.prefix .. 'i', 'pauses', '1')
    step.recompute = true
end

-- Settles what is due and owed, before the command acts. `head` was read already; `pausing` acts before that (rule 11).
local function begin_step(step, head, pausing)
    local refusal = read_head(step, head) or not step.thorough and refusal_if_broken(step, head)
    if refusal then return refusal end
    if step.thorough then step.may_be_due, step.recompute = true, true end
    if step.recompute or step.now < step.noted then
        cut_deadlines(step)
        if pausing then pausing(step) end
        if step.may_be_due or step.recompute then
            ended_ids.forget(step)
            end_due(step)
        end
    else
        step.noted = step.now
        if pausing then pausing(step) end
    end
    admit_owed(step)
end

-- ---- writing
local finish_step
do
local function flag(is_set) return is_set and '1' or '0' end
local function session_text(session)
    return digits(session.highest) .. (session.indexed and 'L' or '.')
        .. (session.ending or session.repeats and 'r' or '.') .. (session.revoked and 'v' or '.') .. session.ttl
        .. (session.live or format('%016d%08d', session.digest, session.count))
end
local function opened_text(session)
    return session.connection_number .. (session.last_deadline or none) .. session.label
end
local function request_text(request)
    local claims, ticket, fence = request.claims, request.ticket, request.fence
    local is_plain = not (request.hold or request.revoked) and request.presented == 0
    if is_plain and not claims[2] then
        local claim = claims[1]
        if claim.mode == 'x' then return 'x' .. ticket .. 'n' .. claim.name end
        if claim.mode == 's' then return 's' .. ticket .. fence .. 'n' .. claim.name end
        if claim.permits == 1 then
            return 'p' .. ticket .. fence .. '00001' .. padded(claim.limit) .. padded(claim.slots[1] or 0) .. 'n'
                .. claim.name
        end
    end
    local text = 'g' .. ticket .. fence
    if not is_plain then
        text = text .. '+' .. or_none(request.hold) .. or_none(request.hold_deadline) .. or_none(request.revoked)
            .. sized(request.note or '') .. number_text(request.presented) .. ':'
    else
        text = text .. '.'
    end
    if #claims == 1 then return text .. claim_text(claims[1]) end
    local out = {text}
    for i = 1, #claims do out[i + 1] = claim_text(claims[i]) end
    return concat(out)
end
local function resource_text(step, resource)
    local holder, shared, counted, spilled = resource.holder, resource.shared, resource.counted, resource.spilled
    if not (resource.marked or resource.pinned or resource.owed) and resource.reserved == 0 then
        if holder then return (resource.waiting == 0 and 'X' or 'Y') .. resource.fence .. holder end
        if waiting_on(step, resource) == 0 then
            if counted > 0 then
                return (spilled and 'p' or 'P') .. number_text(resource.used) .. ':' .. sized(resource.slots)
                    .. (spilled and number_text(counted) or resource.holders)
            end
            return shared > 0 and (spilled and 's' .. number_text(shared) or 'S' .. resource.holders)
        end
    end
    return 'G' .. flag(resource.marked) .. flag(resource.pinned) .. flag(resource.owed) .. flag(spilled)
        .. (resource.owed or '') .. number_text(shared) .. ':' .. number_text(counted) .. ':'
        .. number_text(resource.used) .. ':' .. number_text(resource.reserved) .. ':'
        .. (holder and '+' .. resource.fence .. holder or '-') .. sized(resource.slots) .. resource.holders
end
-- Updates the resource's entry in `o`.
local function save_debt(step, resource)
    if not resource.reviewed then return end
    local debt = resource.review and debt_of(resource.review.member) or nil
    if debt == resource.owed then return end
    if resource.owed then call('ZREM', step.prefix .. 'o', resource.owed .. resource.name) end
    if debt then call('ZADD', step.prefix .. 'o', resource.review.ticket, debt .. resource.name) end
    resource.owed, resource.dirty = debt, true
end
-- Adds the fields of a session and its requests that changed to `written`.
local function save_session(step, session, written)
    local count = #written
    for _, request in pairs(session.requests) do
        if request and request.dirty then
            written[count + 1], written[count + 2] = request.id, request_text(request)
            count = count + 2
        end
    end
    if session.changed then
        written[count + 1], written[count + 2] = '@' .. session.id, opened_text(session)
        count = count + 2
    end
    if session.dirty then
        tidy_index(step, session)
        written[count + 1], written[count + 2] = 'x' .. session.id, session_text(session)
    end
end

-- When a tick has something to do (as engine::next_due), as the head says it.
local function due_of(step, owed)
    if any_ending(step) or step.any_narrowed then return digits(step.at - 1) end
    if not step.recompute and not owed then return step.due end
    local _, deadline = next_deadline(step)
    if not deadline and not owed then return never end
    if is_paused(step) then deadline = step.paused_until elseif owed then deadline = step.now end
    return digits(tonumber(deadline) - 1)
end
local function head_text(step, owed)
    local paused, ending, narrowed = is_paused(step), any_ending(step), step.any_narrowed
    local text = due_of(step, owed) .. step.epoch .. step.paused_until .. step.noted .. step.last
    if not (paused or owed or ending or narrowed) then return text end
    -- A pause that has ended stays ended if the clock goes back.
    return text .. digits(paused and step.pause_length or 0) .. flag(owed) .. flag(ending) .. flag(narrowed)
end

-- Writes everything that changed. Deletes first, because a request may come again under its number.
local function save(step)
    local written, gone, owed = {'', ''}, step.gone, false
    for _, session in pairs(step.sessions) do
        if session then save_session(step, session, written) end
    end
    for i = step.next_ending, #step.ending do call('RPUSH', step.prefix .. 'e', step.ending[i]) end
    ended_ids.save(step)
    local count = #written
    for name, resource in pairs(step.resources) do
        save_debt(step, resource)
        owed = owed or resource.review ~= nil
        if resource.dirty then
            local text = resource_text(step, resource)
            if text then
                written[count + 1], written[count + 2] = 'n' .. name, text
                count = count + 2
            else
                gone[#gone + 1] = 'n' .. name
            end
        end
    end
    if step.stored_debts and not owed then owed = call('EXISTS', step.prefix .. 'o') == 1 end
    step.head = head_text(step, owed)
    written[2] = step.head
    for from = 1, #gone, 2000 do call('HDEL', step.key, unpack(gone, from, smaller(from + 1999, #gone))) end
    for from = 1, count, 2000 do call('HSET', step.key, unpack(written, from, smaller(from + 1999, count))) end
    witness.note_head(step.epoch, step.head)
    -- Without records only these steps can leave the space unused, or change what expires with it.
    local may_be_unused = gone[1] or step.ended[1] or step.thorough or step.space.pauses
    if count == 2 and may_be_unused then unused.expire(step) end
end

-- The sender's events are the reply. Those of other sessions are notifications, one message for each session.
local function tell_all(step)
    local start, told = step.now .. sub(step.head, 1, 48), step.notified
    for i = 1, #told do
        call('PUBLISH', step.prefix .. 'wake:' .. told[i], start .. step.notices[told[i]])
    end
    if step.seen and step.seen[1] then call('PUBLISH', step.prefix .. 'events', start .. concat(step.seen)) end
    return start .. step.reply
end
function finish_step(step)
    settle(step)
    save(step)
    return tell_all(step)
end
end

-- One step: `act` performs the command, and what it returns follows the events in the reply.
local function perform(keys, args, now, sender, act, pausing)
    local step = new_step(keys, args, now, sender)
    local refusal = begin_step(step, call('HGET', step.key, ''), pausing)
    if refusal then return refusal end
    local rest = act and act(step)
    return finish_step(step) .. (rest or '')
end

-- ---- registering
-- `flags`: allow-oom lets a verb through that gives memory back, or keeps what is held; no-writes is for viewers.
local function register(verb, flags, callback)
    redis.register_function{function_name = library .. '_' .. verb, flags = flags, callback = callback}
end
