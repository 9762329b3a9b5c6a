local noted_every = 0
