local budget = budget_given
local ended_kept = ended_kept_given
