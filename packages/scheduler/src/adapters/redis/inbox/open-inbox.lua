--[[ open-inbox: create an inbox, or extend the expiry of an open one.
  KEYS[1] inbox  STREAM  field "body"
  ARGV[1] group  its consumer group
  ARGV[2] idle   ms after which it expires unless it is opened again
  Returns {"opened"} or {"open"}
  Idempotent: its messages stay, and only its expiry changes. ]]
local inbox, group, idle = KEYS[1], ARGV[1], ARGV[2]
local word = 'opened'
local made = redis.pcall('XGROUP', 'CREATE', inbox, group, '0', 'MKSTREAM')
if made['err'] then
  if not string.find(made['err'], 'BUSYGROUP', 1, true) then
    return made
  end
  word = 'open'
end
redis.call('PEXPIRE', inbox, idle)
return { word }
