-- For tests: how many ended ids are kept, the budget and the time are the last arguments.
local call = redis.call
local now = table.remove(ARGV)
local budget_given = tonumber(table.remove(ARGV))
local ended_kept_given = tonumber(table.remove(ARGV))
