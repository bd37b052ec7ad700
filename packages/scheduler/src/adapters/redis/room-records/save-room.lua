--[[ save-room: save a version of the record of a room over the version before it.
  KEYS[1] record     HASH  version, change, body; expires
  KEYS[2] followers  SET   "instance/incarnation" of each instance that follows the room; expires
  ARGV[1] version    of the record
  ARGV[2] change     that made it
  ARGV[3] body       the record as JSON
  ARGV[4] ttl        ms
  ARGV[5] memory     ms for which the followers are kept
  Returns {"saved", follower...} or {"stale", body that is stored, or "" if there is none}
  Idempotent: the same change is saved once. ]]
local record, followers, version, change, body, ttl, memory = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local stored = redis.call('HMGET', record, 'version', 'change', 'body')
local is_repeat = stored[1] == version and stored[2] == change
if not is_repeat and tonumber(stored[1] or 0) ~= version - 1 then
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
