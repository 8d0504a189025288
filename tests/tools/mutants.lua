--- Plants faults in src/core, src/plugins and lua/, one at a time, and lists what no test catches:
--
--   build/bin/ladies tests/tools/mutants.lua --count 200 --seed 1 --jobs 2
--
-- Everything is in build-mutants: a tree for each job, a map of the lines that each test executes,
-- made once for a state of the sources, and the results; a call that was stopped goes on in both.
package.path = arg[0]:match "^(.*)/tools/" .. "/?.lua;" .. package.path

local cjson = require "cjson"
local cli = require "ladies.command.cli"
local files = require "tools.files"
local Map = require "tools.mutants.map"
local Tree = require "tools.mutants.tree"
local shell = require "tools.shell"
local sites_of = require "tools.mutants.sites"
local tables = require "ladies.base.tables"
local trial = require "tools.mutants.trial"

local PARTS = "src/core src/plugins lua"
local read, write = files.read, files.write

local function output_of(command)
  local pipe <close> = assert(io.popen(command))
  return (pipe:read "a":gsub("%s+$", ""))
end

local function exists(path)
  local file = io.open(path)
  return file and file:close() or false
end

local function records_of(path)
  local records = {}
  if exists(path) then
    for line in io.lines(path) do records[#records + 1] = cjson.decode(line) end
  end
  return records
end

-- Returns the places where the lines around at .. last begin and end in `text`.
local function line_around(text, at, last)
  local first = at
  while first > 1 and text:sub(first - 1, first - 1) ~= "\n" do first = first - 1 end
  return first, (text:find("\n", last, true) or #text + 1) - 1
end

local function mutant_of(path, text, site, by)
  local first, last = line_around(text, site.at, site.last)
  return {path = path, line = site.line, kind = site.kind, at = site.at, last = site.last, by = by,
    from = text:sub(site.at, site.last), before = text:sub(first, last),
    after = text:sub(first, site.at - 1) .. by .. text:sub(site.last + 1, last)}
end

-- Returns all places in the sources below `only`, or in all sources, where a fault can be planted:
-- {path, text, site}.
local function all_sites(root, only)
  local list = {}
  local paths = output_of(("cd %s && find %s -name '*.[ch]' -o -name '*.lua' | LC_ALL=C sort")
    :format(shell.quote(root), PARTS))
  for path in paths:gmatch "%S+" do
    if path:sub(1, #only) == only then
      local text = read(root .. "/" .. path)
      for _, site in ipairs(sites_of(text, path:find "%.lua$" and "lua" or "c")) do
        list[#list + 1] = {path = path, text = text, site = site}
      end
    end
  end
  return list
end

-- Makes one mutant of each place, in the order that the seed gives them.
local function shuffled(sites, seed)
  math.randomseed(seed)
  local mutants = {}
  for i = #sites, 1, -1 do
    local j = math.random(i)
    sites[i], sites[j] = sites[j], sites[i]
    local place = sites[i]
    local mutant = mutant_of(place.path, place.text, place.site,
      place.site.by[math.random(#place.site.by)])
    mutant.number = #mutants + 1
    mutants[mutant.number] = mutant
  end
  return mutants
end

-- Makes again the mutants that survived by the records of a file, as far as the sources still have
-- their lines.
local function survivors_of(file, sites)
  local wanted, found = {}, {}
  for _, record in ipairs(records_of(file)) do
    if record.outcome == "survived" then
      wanted[record.path .. "\n" .. record.before .. "\n" .. record.after] = true
    end
  end
  for _, place in ipairs(sites) do
    for _, by in ipairs(place.site.by) do
      local mutant = mutant_of(place.path, place.text, place.site, by)
      local key = mutant.path .. "\n" .. mutant.before .. "\n" .. mutant.after
      if wanted[key] then
        wanted[key] = nil
        mutant.number = #found + 1
        found[mutant.number] = mutant
      end
    end
  end
  return found
end

local function show(mutant)
  return ("%s:%d: %s\n  - %s\n  + %s"):format(mutant.path, mutant.line, mutant.kind, mutant.before,
    mutant.after)
end

local function counts(record)
  return record.outcome == "caught" or record.outcome == "survived"
end

-- Adds a record to the results and tells of it.
local function keep(record, path)
  local file <close> = assert(io.open(path, "a"))
  file:write(cjson.encode(record), "\n")
  print(("%d %s:%d %s: %s%s (%d tests, %.1f s)"):format(record.number, record.path, record.line,
    record.kind, record.outcome, record.test and " by " .. record.test or "", record.tests,
    record.seconds))
  io.stdout:flush()
end

-- Job `job` of `jobs`: tries its share of the mutants, every jobs-th, until enough count.
local function work(opts, paths, mutants)
  local tree = Tree.new(paths.root, ("%s/job%d"):format(paths.folder, opts.job), "MUTANT")
  local map, tests, program = Map.load(paths.map), tree:tests(), tree:program()
  local done, valid = {}, 0
  for _, record in ipairs(records_of(paths.results)) do done[record.number] = record end
  for i = opts.job, #mutants, opts.jobs do
    if valid * opts.jobs >= opts.count then return end
    local record = done[i]
    if not record then
      record = trial.run(tree, tests, map, mutants[i], program)
      keep(record, paths.results)
    end
    if counts(record) then valid = valid + 1 end
  end
end

-- Runs this script once for each job, with `more` among its words.
local function start_jobs(opts, more)
  local words = {shell.quote(shell.ladies), shell.quote(arg[0])}
  for i = 1, #arg do words[#words + 1] = shell.quote(arg[i]) end
  local command = table.concat(words, " ")
  local started = {}
  for job = 1, opts.jobs do started[job] = ("%s --job %d %s&"):format(command, job, more) end
  os.execute(table.concat(started, " ") .. " wait")
end

-- Returns the paths of the parts of a map that is not whole yet, each with what a job has found.
local function parts_of(paths)
  local list = {}
  for path in output_of(("ls %s.part* 2>/dev/null"):format(shell.quote(paths.map))):gmatch "%S+" do
    list[#list + 1] = path
  end
  return list
end

local function all_of(parts)
  local records = {}
  for _, path in ipairs(parts) do tables.append(records, records_of(path)) end
  return records
end

local function map_part(opts, paths)
  local folder, done = ("%s/%%s%d"):format(paths.folder, opts.job), {}
  for _, record in ipairs(all_of(parts_of(paths))) do done[record.name] = true end
  local file <close> = assert(io.open(("%s.part%d"):format(paths.map, opts.job), "a"))
  local function make_plain() return Tree.new(paths.root, folder:format "job", "MUTANT") end
  local function keep_test(record)
    file:write(cjson.encode(record), "\n")
    file:flush()
    io.stderr:write(("map: %s %.1f s%s\n"):format(record.name, record.seconds,
      record.passed and "" or ": fails, and is left out"))
  end
  Map.part(paths.root, folder:format "map", make_plain, cli.words(opts.tests), opts.job, opts.jobs,
    done, keep_test)
end

local function make_map(opts, paths)
  start_jobs(opts, "--map ")
  local parts = parts_of(paths)
  write(paths.map, cjson.encode(Map.join(all_of(parts))))
  for _, path in ipairs(parts) do os.remove(path) end
end

local function summarise(path)
  local number, survivors = {caught = 0, survived = 0, unbuilt = 0, equal = 0}, {}
  for _, record in ipairs(records_of(path)) do
    number[record.outcome] = number[record.outcome] + 1
    if record.outcome == "survived" then survivors[#survivors + 1] = record end
  end
  table.sort(survivors, function(a, b) return a.number < b.number end)
  print(("\n%d survivors:"):format(#survivors))
  for _, record in ipairs(survivors) do
    print(show(record) .. (record.tests == 0 and "\n  no test executes it" or ""))
  end
  local all = number.caught + number.survived
  print(("\n%d of %d mutants caught (%.1f %%); besides, %d did not compile, %d changed nothing")
    :format(number.caught, all, 100 * number.caught / math.max(all, 1), number.unbuilt,
      number.equal))
  print("the results are in " .. path)
end

-- Returns the paths of the tree, the map and the results; every choice of mutants from a state of
-- the sources has results of its own.
local function paths_of(opts)
  local root = output_of(("cd %s && git rev-parse --show-toplevel"):format(
    shell.quote(arg[0]:match "^(.*)/")))
  local folder, key = root .. "/build-mutants", Tree.key(root)
  if opts.tests then
    key = key .. "-" .. output_of("echo " .. shell.quote(opts.tests) .. " | sha1sum"):sub(1, 6)
  end
  local about = ("seed%d%s"):format(opts.seed, opts.only:gsub("/", "-"))
  if opts.again then
    about = "again" .. output_of("sha1sum <" .. shell.quote(opts.again)):sub(1, 8)
  end
  return {root = root, folder = folder, map = ("%s/map-%s.json"):format(folder, key),
    results = ("%s/results-%s-%s.jsonl"):format(folder, key, about)}
end

cli.main({
  name = "mutants.lua",
  about = "Plants faults in src/core, src/plugins and lua/, and lists those that no test catches.",
  {"count", "N", "positive integer", default = 200, help = "mutants that are another program"},
  {"seed", "N", "integer", default = 1, help = "of the choice"},
  {"only", "PATH", "string", default = "", help = "files whose path begins so"},
  {"jobs", "N", "positive integer", default = 1, help = "at the same time"},
  {"again", "FILE", "string", help = "the survivors in these results, and no others"},
  {"tests", "NAME,...", "string", help = "of ctest, that may catch them (default all)"},
  {"list", help = "show the first mutants and try none"},
  {"job", "N", "positive integer", help = "what the command calls itself with"},
  {"map", help = "what it calls itself with to make the map"},
}, arg, function(opts)
  local paths = paths_of(opts)
  local sites = all_sites(paths.root, opts.only)
  local mutants = opts.again and survivors_of(opts.again, sites) or shuffled(sites, opts.seed)
  if opts.list then
    for i = 1, math.min(opts.count, #mutants) do print(show(mutants[i])) end
  elseif opts.map then
    map_part(opts, paths)
  elseif opts.job then
    work(opts, paths, mutants)
  else
    if not exists(paths.map) then make_map(opts, paths) end
    start_jobs(opts, "")
    summarise(paths.results)
  end
end)
