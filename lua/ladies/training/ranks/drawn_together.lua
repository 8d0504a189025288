--- Draws several mini-batches at the same time from a graph that is divided among ranks. A sampler
-- runs as a coroutine and waits while rows of the graph that it asks for are brought from other
-- ranks. All mini-batches of a group run as far as they can; then the rows that they need are
-- brought in one exchange, and they go on, layer by layer. A group is over when no rank wants
-- anything any more: all ranks go through the same exchanges, also one that has no mini-batch. What
-- was brought is kept for the group.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local options = require "ladies.base.options"

local drawn_together = {}

local DrawnTogether = {__name = "DrawnTogether"}
DrawnTogether.__index = DrawnTogether

--- Returns the GraphInParts of a data set, or nil where its graph is whole, or it has none.
function drawn_together.graph_of(data)
  local adjacency = data.graph and data.graph.adjacency
  return options.class_of(adjacency) == "MatrixInParts" and adjacency.graph or nil
end

--- drawn_together.new(batches, graph): makes an object that draws the mini-batches of an iterator
-- of ladies.batches from a GraphInParts, without workers, since these cannot communicate with other
-- ranks.
function drawn_together.new(batches, graph)
  batches:stay_in_step "the ranks bring each other the rows of the graph that it asks for"
  return setmetatable({batches = batches, graph = graph}, DrawnTogether)
end

-- Lets the coroutine of a mini-batch run until it is drawn, which gives job.batch, or lacks rows of
-- the graph, which gives job.wanted.
function DrawnTogether:advance(job)
  local graph = self.graph
  graph.asked, job.wanted = nil, nil
  local ok, result, wanted = coroutine.resume(job.thread)
  if not ok then errors.pass_on(result) end
  job.P = job.P or graph.asked
  if coroutine.status(job.thread) ~= "dead" then
    if not rawequal(result, graph) then
      errors.fail "the sampler yields outside of a coroutine of its own"
    end
    job.wanted = wanted
    return
  end
  job.batch = result
  if result.P == nil then result.P = job.P end
end

-- Lets all mini-batches go on; returns the rows that they lack, each once, ascending.
function DrawnTogether:advance_all(jobs)
  local wanted = core.index{}
  for _, job in ipairs(jobs) do
    if not job.batch then self:advance(job) end
    if job.wanted then wanted = wanted .. job.wanted end
  end
  return core.sampling.unique(wanted):sort()
end

-- Makes samplers wait for rows of the graph until the result, a <close> variable, goes out of
-- scope.
local function drawing(graph)
  graph.is_drawn = true
  return setmetatable({}, {__close = function()
    graph.is_drawn = false
    graph:forget()
  end})
end

--- Draws the next n mini-batches of this rank, which may be none. All ranks call it.
function DrawnTogether:group(n)
  local jobs, graph = {}, self.graph
  for i = 1, n do jobs[i] = {thread = self.batches:thread()} end
  do
    local _ <close> = drawing(graph)
    repeat until not graph:bring(self:advance_all(jobs))
  end
  for i, job in ipairs(jobs) do jobs[i] = job.batch end
  return jobs
end

return drawn_together
