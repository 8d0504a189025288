--- Looks through the space of layer-wise samplers (see experiments.search.space) for points whose
-- gradient has less error x time than the samplers that are known, by successive halving: all
-- points are measured with a few draws on every graph, the better part with more, and the best with
-- many, each time at as many distinct nodes as pooled draws have. The last of them are measured at
-- equal seconds too, and trained.

local core = require "ladies_core"
local declared = require "experiments.options"
local errors = require "ladies.base.errors"
local experiment = require "ladies.experiment"
local Graph = require "experiments.search.measure"
local json = require "ladies.base.json"
local ladies = require "ladies"
local measured = require "ladies.study.measured"
local options = require "ladies.base.options"
local plan = require "experiments.search.plan"
local ratios = require "experiments.search.ratios"
local results = require "experiments.search.results"
local space = require "experiments.search.space"
local Study = require "ladies.study"
local tables = require "ladies.base.tables"
local usable_data = require "ladies.study.usable_data"
local with_threads = require "ladies.base.with_threads"

local WHERE = "ladies lab search"

-- The number of groups that a rung may have; the first group of a rung follows from its place.
local GROUPS = 1000

local Search = {}
Search.__index = Search

-- Returns the graph of this name, with its network; that of one graph is held at a time.
function Search:graph(name)
  if self.graph_name ~= name then
    self.graph_name, self.held = nil, nil
    collectgarbage()
    local data = ladies.data.load(self.study:place(name, plan.MADE))
    if not data.train then data:split() end
    self.graph_name, self.held = name, Graph.graph(data, self.opts.seed)
  end
  return self.held
end

-- Writes the files of the points into the study's folder, from which samplers are made.
function Search:write_points()
  core.folder.make(self.study.folder:file "points")
  for _, point in ipairs(self.points) do
    point.path = self.study.folder:file(("points/%s.lua"):format(point.name))
    if core.exists(point.path) ~= "file" then ladies.file.write(point.path, point.file) end
  end
end

-- Returns measurements of items {key =, ...}, as the study keeps them.
function Search:kept(items, unit, measure)
  return measured(self.study, items, unit, self.opts.quiet, measure)
end

-- Finds the numbers of samples of points on a graph, at as many distinct nodes as pooled draws
-- have: by name, in the records "samples, GRAPH, NAME".
function Search:find_samples(name, points)
  local pooled = self.by_name.pooled_mean_none
  local first = self:kept({{key = ("nodes, %s"):format(name)}}, "graph", function()
    return {nodes = self:graph(name):wanted(pooled.path)}
  end)[1]
  local items = tables.map(points, function(point)
    return {key = ("samples, %s, %s"):format(name, point.name), point = point}
  end)
  local records = self:kept(items, "sampler", function(item)
    return {samples = self:graph(name):samples_for(item.point.path, first.nodes)}
  end)
  for i, point in ipairs(points) do
    point.samples = tables.merged(point.samples, {[name] = records[i].samples})
  end
end

-- Measures points on a graph on a rung; adds their records to point.records[place], by graph.
function Search:measure(name, points, place)
  local rung = tables.merged(self.rungs[place], {first = place * GROUPS + 1})
  local ladies_point = self.points[1]
  local base = {path = ladies_point.path, samples = ladies_point.samples[name]}
  local items = tables.map(points, function(point)
    return {key = ("rung %d, %s, %s"):format(place, name, point.name), point = point}
  end)
  local records = self:kept(items, ("sampler, rung %d, %s"):format(place, name), function(item)
    return self:graph(name):point(item.point.path, item.point.samples[name], base, rung)
  end)
  for i, point in ipairs(points) do
    point.records = point.records or {}
    point.records[place] = tables.merged(point.records[place], {[name] = records[i]})
  end
end

-- Returns the records of a point on a rung, in the order of the graphs.
function Search:records_of(point, place)
  return tables.map(self.names, function(name) return point.records[place][name] end)
end

-- Returns the best `left` points of a rung, and before them those that others are set beside.
function Search:best(points, place, left)
  local known, others = {}, {}
  for _, point in ipairs(points) do
    point.score = ratios.score(self:records_of(point, place))
    if point.title then
      if not point.score then
        errors.fail(("%s: %s: %s"):format(WHERE, point.title,
          tables.map(self:records_of(point, place), function(one) return one.failure end)[1]
          or "it fails"))
      end
      known[#known + 1] = point
    elseif point.score then
      others[#others + 1] = point
    end
  end
  table.sort(others, function(a, b)
    if a.score ~= b.score then return a.score < b.score end
    return a.name < b.name
  end)
  return tables.append(known, table.move(others, 1, math.min(left, #others), 1, {}))
end

-- Carries out the rungs; returns the points that are left.
function Search:rungs_of_all()
  local left = self.points
  for place, rung in ipairs(self.rungs) do
    for _, name in ipairs(self.names) do
      if place == 1 then self:find_samples(name, left) end
      self:measure(name, left, place)
    end
    left = self:best(left, place, rung.left or #left)
  end
  return left
end

-- Measures the last points at the seconds of LADIES' mini-batches, on a new rung.
function Search:at_equal_seconds(points)
  local place, last = #self.rungs + 1, self.rungs[#self.rungs]
  local rung = tables.merged(last, {first = place * GROUPS + 1})
  for _, name in ipairs(self.names) do
    local base = {path = self.points[1].path, samples = self.points[1].samples[name]}
    local items = tables.map(points, function(point)
      return {key = ("seconds, %s, %s"):format(name, point.name), point = point}
    end)
    local records = self:kept(items, ("sampler, equal seconds, %s"):format(name), function(item)
      local graph, path = self:graph(name), item.point.path
      local samples = item.point == self.points[1] and base.samples
        or graph:samples_in_time(path, base)
      return graph:point(path, samples, base, rung)
    end)
    for i, point in ipairs(points) do
      point.in_time = tables.merged(point.in_time, {[name] = records[i]})
    end
  end
end

-- Trains the known samplers and the best others with opts.seeds seeds for opts.seconds each; each
-- point gets its records by graph, in the order of the seeds.
function Search:train(points)
  local runs, list, others = {}, {}, 0
  for _, point in ipairs(points) do
    others = others + (point.title and 0 or 1)
    if point.title or others <= self.opts.trained then list[#list + 1] = point end
  end
  for _, name in ipairs(self.names) do
    for _, point in ipairs(list) do
      for seed = 1, self.opts.seeds do
        runs[#runs + 1] = {key = ("%s, %s, seed %d"):format(name, point.name, seed), point = point,
          graph = name, config = experiment.configure(tables.merged(plan.TRAINING,
            experiment.own{method = point.path}, {samples = point.samples[name],
            dataset = self.study:place(name, plan.MADE), max_seconds = self.opts.seconds,
            seed = seed}))}
      end
    end
  end
  local notes = {}
  self.study:complete(runs, {jobs = 1, threads = 1, quiet = self.opts.quiet}, notes)
  for _, run in ipairs(runs) do
    local record = self.study:record(run.key)
    run.point.trained = run.point.trained or {}
    run.point.trained[run.graph] = run.point.trained[run.graph] or {}
    table.insert(run.point.trained[run.graph], record and record.test_f1 or false)
  end
  return notes
end

local SPEC = tables.merged(declared.types "lab search", {rungs = "array of tables or nil"})

-- Returns the points of the search: all of the space, or those of these names, and those that they
-- are set beside.
local function points_of(quick, names)
  local all = space.points(quick)
  if not names then return all end
  local by_name, is_wanted = tables.by_field(all, "name"), {}
  for _, name in ipairs(names) do
    if not by_name[name] then
      local near = options.nearest(name, tables.sorted_keys(by_name))
      errors.fail(('%s: there is no point "%s"%s'):format(WHERE, name,
        near and ('; did you mean "%s"?'):format(near) or ""))
    end
    is_wanted[name] = true
  end
  local list = {}
  for _, point in ipairs(all) do
    if point.title or is_wanted[point.name] then list[#list + 1] = point end
  end
  return list
end

--- experiments.search{quick = false, datasets = {"cora", "pubmed"}, ...} -> table: looks for a
-- layer-wise sampler whose gradient has less error (bias² and variance) x time than LADIES with and
-- without self nodes, GraphSAGE, LABOR and pooled draws, at as many distinct nodes. Returns a
-- report (see ladies.report).
-- quick      a sixth of the space, two graphs, three rungs and short trainings
-- datasets   the graphs: names of data sets, "power-law" and "communities", which are made
-- seeds      of the trainings of the best at the end; seconds: of each training
-- trained    how many are trained besides those that others are set beside
-- points     names of points that are looked at alone, with the draws of the last rung at once
-- rungs      {{groups =, draws =, batches =, left =}, ...}, see search/plan.lua
-- seed       of everything random
-- out        the folder of the study (runs/search-N), which goes on where it was stopped; it holds
--            the points as files, which every command takes
-- quiet      no progress
local function search(given)
  local opts = options.check(WHERE, given or {}, SPEC)
  local datasets, rungs = plan.of(opts.quick)
  local self = setmetatable({opts = opts,
    rungs = opts.rungs or opts.points and {rungs[#rungs]} or rungs}, Search)
  local missing
  self.names, missing = usable_data(WHERE, opts.datasets or datasets, plan.MADE)
  self.points = points_of(opts.quick, opts.points)
  self.by_name = tables.by_field(self.points, "name")
  self.study = Study.at(opts.out, "runs/search", json.encode{search = self.names,
    points = #self.points, rungs = self.rungs, seed = opts.seed})
  local _ <close> = with_threads(1)
  self:write_points()
  local left = self:rungs_of_all()
  self:at_equal_seconds(left)
  local notes = self:train(left)
  local report = self.study:report("search", "A search of layer-wise samplers")
  results.show(report, self, left)
  report:note(table.unpack(missing))
  report:note(table.unpack(notes))
  return report:write()
end

return search
