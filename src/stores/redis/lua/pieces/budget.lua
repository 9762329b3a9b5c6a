local budget = 128  -- admissions and ended claims of one step (rule 4)
local ended_kept = 65536  -- ids of ended sessions that are remembered (rule 5)
