--[[ bury-letter: move a letter that nobody can handle to the dead letters.
  KEYS[1] inbox     STREAM  field "body"
  KEYS[2] dead      STREAM  fields "body", "letter", "deliveries"
  ARGV[1] group     consumer group of the inbox
  ARGV[2] letter    its id
  ARGV[3] deliveries  how often it was handed out
  ARGV[4] limit     dead letters to keep
  Returns {"buried", id} or {"absent"}
  Idempotent: a letter that was confirmed or buried already is absent. ]]
local inbox, dead, group, letter, deliveries, limit = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local found = redis.call('XRANGE', inbox, letter, letter)
if #found == 0 then
  return { 'absent' }
end
local body = found[1][2][2]
local id = redis.call('XADD', dead, 'MAXLEN', limit, '*', 'body', body, 'letter', letter, 'deliveries', deliveries)
-- Whoever was gone and is back keeps its dead letters for good again.
redis.call('PERSIST', dead)
redis.call('XACK', inbox, group, letter)
redis.call('XDEL', inbox, letter)
return { 'buried', id }
