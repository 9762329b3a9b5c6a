local budget = budget_given
