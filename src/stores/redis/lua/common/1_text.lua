-- ==== runtime and text
-- The server offers its functions to a library only while a call runs, not while the library is loaded. The first call
-- binds them; nothing else that a call does survives it.
local call, concat, error_reply, floor, pairs, setmetatable, sort, tonumber, unpack
local function bind()
    call, error_reply = redis.call, redis.error_reply
    concat, sort, floor = table.concat, table.sort, math.floor
    pairs, setmetatable, tonumber, unpack = _G.pairs, _G.setmetatable, _G.tonumber, _G.unpack
end

local byte, char, find, format, match, rep, sub =
    ('').byte, ('').char, ('').find, ('').format, ('').match, ('').rep, ('').sub

-- Times (microseconds of the server's clock), tickets and fences are texts of 16 digits, which compare as numbers do.
local none = '0000000000000000'
local never = '9999999999999999'  -- above every time and number
local number_end, presented_end = 9007199254740992, 4503599627370496  -- 2^53, 2^52
local last_number = '9007199254740992'  -- 2^53 too
local longest_claims, longest_name, longest_text, most_permits = 1000, 512, 1024, 65536
local shortest_hold, longest_hold = 1000, 366 * 86400 * 1000000

-- Small numbers as text, as text of 4 and 5 digits, and back: the server's Lua formats and reads numbers slowly.
local number_text, pad4, padded, number_of
do
local small_text, small_pad4, small_padded, small_number = {}, {}, {}, {}
for i = 0, 64 do
    small_text[i], small_pad4[i] = format('%d', i), format('%04d', i)
    small_padded[i], small_number[small_text[i]] = format('%05d', i), i
end
function number_text(number) return small_text[number] or format('%d', number) end
function pad4(number) return small_pad4[number] or format('%04d', number) end
function padded(number) return small_padded[number] or format('%05d', number) end
function number_of(text) return small_number[text] or tonumber(text) end
end

local function malformed() return error_reply('BATONARGS the arguments are not those of this function') end
local function digits(number) return format('%016d', number) end
-- The serial after this one.
local after
do
local next_digit = {}
for digit = 48, 56 do next_digit[digit] = char(digit + 1) end
function after(serial)
    local digit = next_digit[byte(serial, 16)]
    return digit and sub(serial, 1, 15) .. digit or digits(serial + 1)
end
end
local function sized(text) return number_text(#text) .. ':' .. text end
local function or_none(text) return text and text .. ':' or '-:' end
local function smaller(a, b) return a < b and a or b end
local function larger(a, b) return a > b and a or b end

-- A decimal of up to 64 bits. The rules check whether it is in range.
local function is_number(text) return text and #text <= 20 and (text == '0' or find(text, '^[1-9]%d*$') ~= nil) end
local function is_session(text) return text and #text == 16 end
-- The letter x, a session, and a number of 16 digits. One of more digits is out of range, so it has no leading zero.
local function is_request(text)
    return text and #text >= 33 and #text <= 37 and byte(text) == 120 and find(text, '^%d+$', 18)
        and (#text == 33 or byte(text, 18) ~= 48)
end
local function is_signed(text) return text and is_number(match(text, '^%-?(.*)$')) end

-- Compares bytes. `<` on strings depends on the server's locale.
local function bytes_before(a, b)
    for i = 1, smaller(#a, #b) do
        local x, y = byte(a, i), byte(b, i)
        if x ~= y then return x < y end
    end
    return #a < #b
end

-- ---- reading: each function returns the field at `offset` and the offset behind it, or nil
local function read_number(text, offset)
    local _, last, found = find(text, '^(%-?%d+):', offset)
    if last then return number_of(found), last + 1 end
end
local function read_sized(text, offset)
    local length, start = read_number(text, offset)
    if not length or length < 0 or start + length - 1 > #text then return nil end
    return sub(text, start, start + length - 1), start + length
end
-- Slots are lists of runs: first, last, first, last, … in ascending order.
local no_slots = {}
local function read_slots(text, offset)
    local runs
    runs, offset = read_number(text, offset)
    if not runs or runs < 0 or runs > most_permits then return nil end
    if runs == 0 then return no_slots, offset end
    local slots = {}
    for i = 1, 2 * runs do
        slots[i], offset = read_number(text, offset)
        if not offset then return nil end
    end
    return slots, offset
end
local function slots_text(slots)
    if #slots == 0 then return '0:' end
    if #slots == 2 then return '1:' .. number_text(slots[1]) .. ':' .. number_text(slots[2]) .. ':' end
    return #slots / 2 .. ':' .. concat(slots, ':') .. ':'
end

-- The offset of `part` in a text of pieces of `size` bytes, where it begins at byte `from` of a piece.
local function find_piece(text, part, from, size)
    local offset = find(text, part, from, true)
    while (offset - from) % size ~= 0 do offset = find(text, part, offset + 1, true) end
    return offset
end

-- ---- claims as callers write them: n (exclusive) or s (shared) and the name; p permits: limit: name; of exclusive and
-- shared claims with numbers, which are refused, X or S permits: limit: name
local read_claim
do
local plain_mode = {[110] = 'x', [115] = 's'}
local long_mode = {X = 'x', S = 's', p = 'p'}
function read_claim(text)
    local mode = plain_mode[byte(text)]
    if mode then return {name = sub(text, 2), mode = mode, permits = 0, limit = 0} end
    local letter, permits, limit, name = match(text, '^([XSp])(%d+):(%d+):(.*)$')
    return letter and {name = name, mode = long_mode[letter], permits = tonumber(permits), limit = tonumber(limit)}
end
end
local function refusal_of_name(name)
    if name == '' then return 'name empty' end
    if #name > longest_name then return 'name too long' end
end
local function refusal_of_claims(claims)
    if #claims == 0 then return 'no claims' end
    if #claims > longest_claims then return 'too many claims' end
    local seen, twice = #claims > 1 and {}, false
    for i = 1, #claims do
        local claim = claims[i]
        local name, permits, limit = claim.name, claim.permits, claim.limit
        local reason = refusal_of_name(name)
        if reason then return reason end
        if claim.mode == 'p' then
            if permits < 1 or permits > limit or limit > most_permits then return 'permits out of range' end
        elseif permits ~= 0 or limit ~= 0 then
            return 'permits out of range'
        end
        if seen then
            twice = twice or seen[name]
            seen[name] = true
        end
    end
    if twice then return 'duplicate resource' end
end

-- The digest of one live request (rule 5). All intermediate values are exact in a double.
local function digest_of(number, fence, revoked)
    local x = tonumber(number) % 67108859 + 3 * (tonumber(fence) % 67108859)
    if revoked then x = x + 5 * (tonumber(revoked) % 67108859) end
    x = x % 67108859
    return x * x % 4294967291
end
