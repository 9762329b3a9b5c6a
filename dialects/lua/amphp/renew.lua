#!lua flags=allow-oom
-- renew: prolongs locks, those among them that still belong to their tokens.
-- KEYS lock, …
-- ARGV expiry in ms; the token of each lock
-- Reply: how many were prolonged
-- A lock that expired is not taken again: somebody may have been told that it is free. Nor is one that became something
-- else than a lock an error: it is lost as well.
local renewed = 0
for i, lock in ipairs(KEYS) do
    if redis.pcall('GET', lock) == ARGV[i + 1] then renewed = renewed + redis.call('PEXPIRE', lock, ARGV[1]) end
end
return renewed
