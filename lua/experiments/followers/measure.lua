--- Measures the tables of doc/followers.md one after the other, and writes that page from them, so
-- that every number in it comes from a run.

local core = require "ladies_core"
local bliss = require "experiments.followers.bliss"
local declared = require "experiments.options"
local gcnii = require "experiments.followers.gcnii"
local labor = require "experiments.followers.labor"
local links = require "experiments.followers.links"
local methods = require "experiments.followers.methods"
local models = require "experiments.followers.models"
local options = require "ladies.base.options"
local relations = require "experiments.followers.relations"
local rns = require "experiments.followers.rns"
local Study = require "ladies.study"
local section_of = require "experiments.section"
local tables = require "ladies.base.tables"

local WHERE = "experiments.followers.measure"

-- The tables in the order in which they stand in the document.
local NAMES = {"methods", "models", "rns", "bliss", "gcnii", "labor", "links", "relations"}
local TABLES = {methods = methods, models = models, rns = rns, bliss = bliss, gcnii = gcnii,
  labor = labor, links = links, relations = relations}

local HEAD = [[
# What followed the paper, measured

Made by `ladies followers` from its results, which it keeps in a folder for each table, and from
which it goes on where it was stopped. Not edited by hand. doc/samplers.md has the formula of each
method.

* `ladies followers --tables methods`: every method at equal nodes and at equal seconds
* `ladies followers --tables models`: every architecture with full batches, LADIES and GraphSAGE
* `ladies followers --tables rns`: the claim of random node sampling, by data set
* `ladies followers --tables bliss`: the published table of BLISS on the citation graphs
* `ladies followers --tables gcnii`: the published depth table of GCNII on Cora
* `ladies followers --tables labor`: how many fewer distinct nodes LABOR draws, beside its paper's
  number
* `ladies followers --tables links`: the published table of graph autoencoders, GAE and VGAE
* `ladies followers --tables relations`: links and classes by the types of WordNet's pointers]]

-- Writes the document of all tables that are there.
local function write(folder, out)
  local parts = {HEAD}
  for _, name in ipairs(NAMES) do
    local place = ("%s/%s"):format(folder, name)
    if core.exists(("%s/%s.md"):format(place, name)) == "file" then
      parts[#parts + 1] = section_of{folder = place, name = name, title = name, out = out}
    end
  end
  for i, part in ipairs(parts) do parts[i] = part:gsub("%s*$", "") end
  core.file.write(out, table.concat(parts, "\n\n") .. "\n")
  return #parts - 1
end

--- experiments.followers.measure{tables = {"bliss"}} -> integer, integer: measures what is not
-- measured yet of these tables, each in a folder of its own, and writes the document of all that
-- are there. Returns the number of its sections, and the number of runs that failed.
-- tables     methods, models, rns, bliss, gcnii, labor, links and relations (all): see the
--            functions of these names
-- runs       of each training, instead of those of the tables
-- datasets   names or paths, instead of those of methods, models, rns, bliss, links and
--            relations
-- equal      of methods: {"nodes"}, {"seconds"} or both
-- settings   of ladies.experiment, for all trainings
-- quick      the quick forms of all: minutes
-- folder     where the folders are (runs/followers, or runs/followers-quick)
-- out        the document (doc/followers.md; with quick followers.md in the folder)
-- jobs       runs side by side (as many as there are cores), each with `threads` threads (1)
-- kept       trains nothing: the tables are of the runs that there are, and that of labor, which
--            has no runs, stays as it is
-- quiet      no progress
local function measure(given)
  local opts = options.check(WHERE, given or {}, Study.options(declared.types "followers"))
  local folder = opts.folder or opts.quick and "runs/followers-quick" or "runs/followers"
  local common, failed = {quick = opts.quick, quiet = opts.quiet}, 0
  local training = tables.merged(common, {runs = opts.runs, settings = opts.settings,
    threads = opts.threads, kept = opts.kept})
  local own = {
    methods = tables.merged(training, {datasets = opts.datasets, equal = opts.equal,
      jobs = opts.jobs}),
    models = tables.merged(training, {datasets = opts.datasets, jobs = opts.jobs}),
    rns = tables.merged(training, {datasets = opts.datasets, jobs = opts.jobs}),
    bliss = tables.merged(training, {datasets = opts.datasets, jobs = opts.jobs}),
    gcnii = tables.merged(training, {jobs = opts.jobs}),
    labor = common,
    links = tables.merged(training, {datasets = opts.datasets, jobs = opts.jobs}),
    relations = tables.merged(training, {datasets = opts.datasets, jobs = opts.jobs}),
  }
  for _, name in ipairs(opts.tables) do
    if not (opts.kept and name == "labor") then
      if not opts.quiet then io.stderr:write(name, "\n") end
      local report = TABLES[name](tables.merged(own[name], {out = ("%s/%s"):format(folder, name)}))
      failed = failed + report.failed
    end
  end
  local out = opts.out or opts.quick and folder .. "/followers.md" or "doc/followers.md"
  return write(folder, out), failed
end

return measure
