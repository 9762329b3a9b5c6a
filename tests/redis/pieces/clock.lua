-- For tests: the time and the budget are the last arguments.
local call = redis.call
local now = table.remove(ARGV)
local budget_given = tonumber(table.remove(ARGV))
