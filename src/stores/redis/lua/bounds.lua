local budget = 128  -- admissions and ended claims of one step (rule 4)
local noted_every = 1000000  -- µs after which a renewal notes the time: as much of a clock that goes back may stay unseen
