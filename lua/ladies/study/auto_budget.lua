--- The time of a search of ladies.auto: what its runs have taken, how long another may take and is
-- expected to take, and when there is too little left for it.
--
-- Entries are those of auto_search.lua; `place` is that of a rung. How long an entry takes is known
-- from runs that are alike: its own, those of the one that it is a change of, or all with the same
-- sampler, in proportion to what a batch computes.

local Budget = {}
Budget.__index = Budget

--- The share of the time that a run of the first rung may take, but for the first one of all, so
-- that full batches of a large graph do not take it all.
Budget.LONGEST = 0.1

--- Budget.new(seconds, tried): the time of a search that adds its entries to the list `tried`.
function Budget.new(seconds, tried)
  return setmetatable({seconds = seconds, tried = tried, spent = 0, lost = 0}, Budget)
end

--- budget:took(seconds): counts those of a run, with validation and test.
function Budget:took(seconds) self.spent = self.spent + seconds end

--- budget:lose(seconds): counts those of a run that failed. They count for what is begun alone:
-- where a search goes on, runs are cut off at the same time as before.
function Budget:lose(seconds) self.lost = self.lost + seconds end

--- budget:passed(): the seconds that all runs have taken.
function Budget:passed() return self.spent + self.lost end

--- budget:left(): the seconds that are left, without those of runs that failed.
function Budget:left() return self.seconds - self.spent end

-- Tells whether the next run on a rung is the first of all, which is made in any case, to find out
-- how long others take.
local function is_first(self, place) return place == 1 and self:passed() == 0 end

-- Returns how many seconds a run on a rung may take.
local function longest(self, place)
  local left = math.max(self:left(), 1e-3)
  if place > 1 or is_first(self, place) then return left end
  return math.min(left, Budget.LONGEST * self.seconds)
end

-- Returns the entries that are alike.
local function alike(self, entry)
  if entry.records[1] then return {entry} end
  local method = entry.config.method
  if entry.like and entry.like.config.method == method then return {entry.like} end
  local found = {}
  for _, one in ipairs(self.tried) do
    if one.config.method == method then found[#found + 1] = one end
  end
  return found
end

-- Returns how much there is to compute in a batch of an entry, beside others that are alike.
local function size_of(entry) return (entry.config.layers or 1) * (entry.config.hidden or 1) end

-- Returns what the runs that are alike took: seconds of training, seconds with validation and test,
-- and how much they computed.
local function known_costs(self, entry)
  local trained, seconds, work = 0, 0, 0
  for _, one in ipairs(alike(self, entry)) do
    for _, record in ipairs(one.records) do
      trained, seconds = trained + record.seconds, seconds + record.wall
      work = work + record.batches * size_of(one)
    end
  end
  return trained, seconds, work
end

--- budget:limit(entry, place): after how many seconds of training a run of an entry is cut off: as
-- much of all its seconds as they were in runs that are alike.
function Budget:limit(entry, place)
  local trained, seconds = known_costs(self, entry)
  return (seconds > 0 and trained / seconds or 1) * longest(self, place)
end

--- budget:is_late(entry, place, batches, share): whether there is too little time for so many
-- batches of an entry on a rung, by whose end a share of all time may have passed.
function Budget:is_late(entry, place, batches, share)
  if self:passed() >= self.seconds then return true end
  if is_first(self, place) then return false end
  local _, seconds, work = known_costs(self, entry)
  local expected = work > 0 and batches * size_of(entry) * seconds / work or 0
  return expected > longest(self, place) or self:passed() + expected > share * self.seconds
end

return Budget
