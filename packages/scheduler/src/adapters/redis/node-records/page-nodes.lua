--[[ page-nodes: some ids of one part of the index, longest unseen first; ids that were unseen for too long are removed.
  KEYS[1] index   ZSET  node id -> last seen (ms, server time)
  ARGV[1] max     ids to return, and to remove
  ARGV[2] forget  ms after which an unseen id is removed
  ARGV[3] score   of the last returned id, or ""
  ARGV[4] after   the last returned id, or ""
  Returns {"page", score of the last, id...}
  Safe twice: returns the same ids again unless they were seen in between; these come again at the end. ]]
local index, max, forget, score, after = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3], ARGV[4]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local limit = string.format('%.0f', now - forget)
for _, node in ipairs(redis.call('ZRANGEBYSCORE', index, '-inf', limit, 'LIMIT', 0, max)) do
  redis.call('ZREM', index, node)
end
local from = 0
if score ~= '' then
  -- If the last id was seen in between, its position is lost: all ids of its time are returned again, so that none is missed.
  if redis.call('ZSCORE', index, after) == score then
    from = redis.call('ZRANK', index, after) + 1
  else
    from = redis.call('ZCOUNT', index, '-inf', '(' .. score)
  end
end
local page = { 'page', score }
local found = redis.call('ZRANGE', index, from, from + max - 1, 'WITHSCORES')
for at = 1, #found, 2 do
  page[#page + 1] = found[at]
  page[2] = found[at + 1]
end
return page
