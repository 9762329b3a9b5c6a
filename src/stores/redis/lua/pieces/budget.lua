local budget = 128  -- admissions and ended claims of one step (rule 4)
