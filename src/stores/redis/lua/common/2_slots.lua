-- ==== slots of a resource: a bitmap in a string, eight slots a byte, the lowest in the lowest bit (rule 10)
local take_slots, give_back_slot, give_back_slots, any_taken, take_lowest
do
local bit_value, lowest_clear = {}, {}
do
    local value = 1
    for bit = 0, 7 do
        bit_value[bit] = value
        value = value * 2
    end
    for each = 0, 254 do
        local bit, rest = 0, each
        while rest % 2 == 1 do bit, rest = bit + 1, (rest - 1) / 2 end
        lowest_clear[each] = bit
    end
end

local function is_set(value, bit) return value % (2 * bit_value[bit]) >= bit_value[bit] end

-- Replaces the bits of the slots first … last; `change` does so within one byte, `whole` is what a whole byte becomes.
local function change_run(bitmap, first, last, change, whole)
    local from, upto = (first - first % 8) / 8 + 1, (last - last % 8) / 8 + 1
    if upto > #bitmap then bitmap = bitmap .. rep('\0', upto - #bitmap) end
    local changed
    if from == upto then
        changed = char(change(byte(bitmap, from), first % 8, last % 8))
    else
        changed = char(change(byte(bitmap, from), first % 8, 7)) .. rep(whole, upto - from - 1)
            .. char(change(byte(bitmap, upto), 0, last % 8))
    end
    return sub(bitmap, 1, from - 1) .. changed .. sub(bitmap, upto + 1)
end
local function set_bits(value, first, last)
    for bit = first, last do
        if not is_set(value, bit) then value = value + bit_value[bit] end
    end
    return value
end
local function clear_bits(value, first, last)
    for bit = first, last do
        if is_set(value, bit) then value = value - bit_value[bit] end
    end
    return value
end
function take_slots(bitmap, slots)
    for i = 1, #slots, 2 do bitmap = change_run(bitmap, slots[i], slots[i + 1], set_bits, '\255') end
    return bitmap
end
function give_back_slot(bitmap, slot)
    local offset = (slot - slot % 8) / 8 + 1
    return sub(bitmap, 1, offset - 1) .. char(byte(bitmap, offset) - bit_value[slot % 8]) .. sub(bitmap, offset + 1)
end
function give_back_slots(bitmap, slots)
    for i = 1, #slots, 2 do
        local first, last = slots[i], slots[i + 1]
        if first == last then
            bitmap = give_back_slot(bitmap, first)
        else
            bitmap = change_run(bitmap, first, last, clear_bits, '\0')
        end
    end
    return bitmap
end
function any_taken(bitmap, slots)
    for i = 1, #slots, 2 do
        for slot = slots[i], slots[i + 1] do
            local value = byte(bitmap, (slot - slot % 8) / 8 + 1)
            if value and is_set(value, slot % 8) then return true end
        end
    end
    return false
end

-- Adds a run behind those that are there, or to the last of them.
local function add_run(slots, first, last)
    if slots[#slots] == first - 1 then
        slots[#slots] = last
    else
        slots[#slots + 1], slots[#slots + 2] = first, last
    end
end
-- The lowest free slots, as runs.
local function lowest_free(bitmap, count)
    local offset = find(bitmap, '[^\255]') or #bitmap + 1
    local slots, value = {}, byte(bitmap, offset)
    while count > 0 do
        local slot = (offset - 1) * 8
        if not value then  -- beyond the bitmap everything is free
            add_run(slots, slot, slot + count - 1)
            return slots
        end
        if value ~= 255 then
            for bit = lowest_clear[value], 7 do
                if count > 0 and not is_set(value, bit) then
                    add_run(slots, slot + bit, slot + bit)
                    count = count - 1
                end
            end
        end
        offset = offset + 1
        value = byte(bitmap, offset)
    end
    return slots
end
-- Takes the lowest free slots: their runs, and the bitmap with them.
function take_lowest(bitmap, count)
    if count > 1 then
        local slots = lowest_free(bitmap, count)
        return slots, take_slots(bitmap, slots)
    end
    local offset = find(bitmap, '[^\255]')
    if not offset then return {#bitmap * 8, #bitmap * 8}, bitmap .. '\1' end
    local value = byte(bitmap, offset)
    local bit = lowest_clear[value]
    local slot = (offset - 1) * 8 + bit
    return {slot, slot}, sub(bitmap, 1, offset - 1) .. char(value + bit_value[bit]) .. sub(bitmap, offset + 1)
end
end
