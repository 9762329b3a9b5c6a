-- After how many microseconds a renewal notes the time: so much of a clock that goes back may stay unseen.
local noted_every = 1000000
