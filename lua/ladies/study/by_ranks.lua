--- Divides the training runs of a study among the ranks that mpirun has started. Rank 0 carries out
-- the study, alone has its folder, and gives runs to the other ranks, which train each run in a
-- process of its own as rank 0 does, and send back its record. So a run is trained by one process,
-- with the bits that it has anywhere.
--
-- Several times a second all ranks tell each other what is new: rank 0 the runs that it gives to
-- each, the others which have ended and how many more they can take.

local link = require "ladies.ranks.link"
local own_folder = require "ladies.base.own_folder"
local runners = require "ladies.study.runners"
local shares = require "ladies.ranks.shares"
local tables = require "ladies.base.tables"

local by_ranks = {}

local KIND = "study"

local Others = {}
Others.__index = Others

-- Sends a message to all ranks, and returns those of all, that of rank r at r + 1.
local function exchange(message)
  return shares.gather(KIND, message)
end

--- others:go_on(settings, waiting, next_run) -> table: gives other ranks runs while the list
-- `waiting` has some, by next_run() -> n, run, and returns those that have ended. settings: those
-- of the processes of each rank (see runners.crew).
function Others:go_on(settings, waiting, next_run)
  local gives, list = {}, {}
  for rank = 1, link.size - 1 do
    gives[rank] = {}
    for _ = 1, self.free[rank] do
      if #waiting == 0 then break end
      local n, run = next_run()
      table.insert(gives[rank], {n, {key = run.key, config = run.config, trace = run.trace}})
    end
  end
  for i, told in ipairs(exchange{settings = settings, gives = gives}) do
    if i > 1 then
      self.free[i - 1] = told.free
      tables.append(list, told.ended)
    end
  end
  return list
end

-- Trains at another rank than 0 what that gives, until it says that the study is over.
local function serve()
  local path = os.tmpname()
  os.remove(path)
  local crew, ended = nil, {}
  local _ <close> = setmetatable({}, {__close = function()
    local _ <close> = crew
  end})
  while true do
    local told = exchange{ended = ended, free = crew and crew:free() or 0}[1]
    if told.over then return end
    crew = crew or runners.crew(own_folder.at(path), told.settings)
    for _, one in ipairs(told.gives[link.rank]) do crew:begin(one[1], one[2]) end
    ended = crew:ended()
  end
end

local leading          -- Others, within by_ranks.lead at rank 0

--- by_ranks.others() -> Others | nil: the other ranks, for runners.side_by_side; nil where there
-- are none to give runs to.
function by_ranks.others() return leading end

--- by_ranks.lead(f, ...) -> any: at rank 0 calls f(...), which carries out studies, and returns its
-- result; meanwhile the other ranks train runs of these, and they return nil.
function by_ranks.lead(f, ...)
  if link.size == 1 then return f(...) end
  if link.rank > 0 then return serve() end
  leading = setmetatable({ranks = link.size, free = tables.repeated(0, link.size - 1)}, Others)
  local result = f(...)
  leading = nil
  exchange{over = true}
  return result
end

return by_ranks
