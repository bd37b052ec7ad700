--[[ open-inbox: an inbox that messages can be sent to, from now on and for a while.
  KEYS[1] inbox  STREAM  field "body"
  ARGV[1] group  its consumer group
  ARGV[2] idle   ms that it stays unless it is opened again
  Returns {"opened"} or {"open"}
  Idempotent: what is in it stays, and its end moves. ]]
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
