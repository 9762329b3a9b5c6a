-- ==== text: what is read and written; numbers are decimals, strings have their length before them
local format = string.format
local prefix = KEYS[1]:sub(1, -2)
local at = tonumber(now)
local never = '9999999999999999'  -- later than all: as text, it is above 2^53
local number_end, presented_end = 9007199254740992, 4503599627370496  -- 2^53, 2^52
local shortest_hold, longest_hold = 1000, 366 * 86400 * 1000000
--%budget
local malformed = redis.error_reply('BATONARGS the arguments are not those of this script')

local function digits(number) return format('%016d', number) end
local function sized(text) return #text .. ':' .. text end

-- A decimal that may stand for any 64-bit number; whether it is in range is a matter of rules.
local function is_number(text) return text and #text <= 20 and (text == '0' or text:find('^[1-9]%d*$') ~= nil) end
local function is_signed(text) return text and is_number(text:match('^%-?(.*)$')) end
local function in_range(text)
    local number = tonumber(text)
    return number >= 1 and number < number_end
end

-- Reads one field after the other; false for what is not there.
local function reader(text, from)
    local place = from or 1
    local read = {}
    function read.number()
        local _, last, found = text:find('^(%-?%d+):', place)
        if not last then return false end
        place = last + 1
        return tonumber(found)
    end
    function read.maybe()
        if text:sub(place, place + 1) ~= '-:' then return read.number() end
        place = place + 2
        return nil
    end
    function read.bytes(count)
        if not count or count < 0 or place + count - 1 > #text then return false end
        place = place + count
        return text:sub(place - count, place - 1)
    end
    function read.sized() return read.bytes(read.number()) end
    function read.done() return place > #text end
    return read
end

-- Bytes, not letters: `<` on strings asks the server's locale.
local function bytes_before(a, b)
    for i = 1, math.min(#a, #b) do
        local x, y = a:byte(i), b:byte(i)
        if x ~= y then return x < y end
    end
    return #a < #b
end

-- Slots are lists of first and last, of ranges in ascending order.
local function slots_text(slots)
    local out = {#slots / 2 .. ':'}
    for i = 1, #slots do out[i + 1] = slots[i] .. ':' end
    return table.concat(out)
end
local function read_slots(read)
    local slots, ranges = {}, read.number()
    if not ranges or ranges < 0 or ranges > 65536 then return false end
    for i = 1, 2 * ranges do
        slots[i] = read.number()
        if not slots[i] then return false end
    end
    return slots
end

local function exclusive_claim(name) return {name = name, mode = 'x', permits = 0, limit = 0} end
local function read_claim(text)
    local mode, permits, limit, name = text:match('^([xsp])(%d+):(%d+):(.*)$')
    return mode and {name = name, mode = mode, permits = tonumber(permits), limit = tonumber(limit)}
end

local function refusal_of_name(name)
    if name == '' then return 'name empty' end
    if #name > 512 then return 'name too long' end
end
local function refusal_of_claims(claims)
    if #claims == 0 then return 'no claims' end
    if #claims > 1000 then return 'too many claims' end
    local seen, twice = {}, false
    for _, claim in ipairs(claims) do
        local reason = refusal_of_name(claim.name)
        if reason then return reason end
        local permits, limit = claim.permits, claim.limit
        local fine = permits == 0 and limit == 0
        if claim.mode == 'p' then fine = permits >= 1 and permits <= limit and limit <= 65536 end
        if not fine then return 'permits out of range' end
        twice = twice or seen[claim.name]
        seen[claim.name] = true
    end
    if twice then return 'duplicate resource' end
end
