--[[ bury-message: move a letter that nobody can handle to the dead letters, or drop it where none are kept.
  KEYS[1] inbox     STREAM  field "body"
  KEYS[2] dead      STREAM  fields "body", "letter", "deliveries"
  ARGV[1] group     consumer group of the inbox
  ARGV[2] letter    its id
  ARGV[3] deliveries  how often it was handed out
  ARGV[4] limit     dead letters to keep
  Returns {"buried", id}, {"dropped"} or {"absent"}
  Idempotent: a letter that was confirmed or buried already is absent. ]]
local inbox, dead, group, letter, deliveries, limit = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local found = redis.call('XRANGE', inbox, letter, letter)
redis.call('XACK', inbox, group, letter)
if #found == 0 then
  return { 'absent' }
end
redis.call('XDEL', inbox, letter)
if limit == 0 then
  return { 'dropped' }
end
local body = found[1][2][2]
local id = redis.call('XADD', dead, 'MAXLEN', limit, '*', 'body', body, 'letter', letter, 'deliveries', deliveries)
-- Whoever was gone and is back keeps its dead letters for good again.
redis.call('PERSIST', dead)
return { 'buried', id }
