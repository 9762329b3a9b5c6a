-- The server's time, read once: 16 digits of microseconds, which compare as text. Nine times of ten nothing is padded.
local call = redis.call
local time = call('TIME')
local now, micros = time[1], time[2]
now = #micros == 6 and now .. micros or now .. ('00000' .. micros):sub(-6)
