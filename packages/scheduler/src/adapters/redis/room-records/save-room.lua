--[[ save-room: save a version of the record of a room over the version before it, or over any lower one.
  KEYS[1] record     HASH  version, change, body; expires
  KEYS[2] followers  SET   "instance/incarnation" of each instance that follows the room; expires
  ARGV[1] version    of the record
  ARGV[2] change     that made it
  ARGV[3] body       the record as JSON
  ARGV[4] ttl        ms
  ARGV[5] memory     ms for which the followers are kept
  ARGV[6] over       "before": only over the version before its own; "lower": over each lower version, or over none
  Returns {"saved", follower...} or {"stale", body that is stored, or "" if there is none}
  Idempotent: the same change is saved once; a repeat over a lower version is stale. ]]
local record, followers, version, change, body, ttl, memory, over = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local stored = redis.call('HMGET', record, 'version', 'change', 'body')
local before = tonumber(stored[1] or 0)
local is_repeat = over == 'before' and stored[1] == version and stored[2] == change
local is_next = over == 'before' and before == version - 1
local is_higher = over == 'lower' and before < tonumber(version)
if not is_repeat and not is_next and not is_higher then
  return { 'stale', stored[3] or '' }
end
if not is_repeat then
  redis.call('HSET', record, 'version', version, 'change', change, 'body', body)
end
redis.call('PEXPIRE', record, ttl)
redis.call('PEXPIRE', followers, memory)
local reply = { 'saved' }
for _, follower in ipairs(redis.call('SMEMBERS', followers)) do
  reply[#reply + 1] = follower
end
return reply
