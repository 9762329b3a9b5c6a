#!lua flags=allow-oom
-- renew: renews the locks that still belong to their tokens.
-- KEYS lock, …
-- ARGV expiry in ms; the token of each lock
-- Reply: the number of renewed locks
-- An expired lock is not taken again: another client may have seen that it is free. A key with other data counts as an
-- expired lock.
local renewed = 0
for i, lock in ipairs(KEYS) do
    if redis.pcall('GET', lock) == ARGV[i + 1] then renewed = renewed + redis.call('PEXPIRE', lock, ARGV[1]) end
end
return renewed
