-- ladies bench: what the program does with this machine, part by part, each beside what a plain
-- loop of the same access pattern, or BLAS, gets from it. The two are timed in turn, so that a
-- percentage holds on a busy machine too, as far as anything does.

local core = require "ladies_core"
local ladies = require "ladies"
local counted = require("ladies.base.units").counted
local check = require "experiments.bench.check"
local cli = require "ladies.command.cli"
local commit = require "ladies.base.commit"
local json = require "ladies.base.json"
local machine = require "experiments.bench.machine"
local names = require "experiments.bench.names"
local of_machine = require "ladies.base.machine"
local picture = require "experiments.bench.picture"
local tables = require "ladies.base.tables"

local QUICK = 0.1

local spec = {
  name = "ladies bench",
  usage = ("ladies bench [options], or ladies bench NAME --help for %s"):format(names()),
  about = [[Measures samplers, a training step, an epoch, exact inference, loading, start-up and
    primitives, each in turn with what this machine can do at most, and prints a table.]],
  {"quick", help = "a tenth of a second for each part"},
  {"seconds", "S", "positive number", default = 1, help = "for each part"},
  {"threads", "N", "integer in [1, 256]", help = "of the parallel loops"},
  {"only", "LIST", "array of " .. table.concat(machine.groups(), "|"),
    help = "groups of the table"},
  {"out", "DIR", "string", help = "a folder for bench.json, bench.md and bench.svg"},
  {"check", help = "compare with the results that were kept, on one thread; status 1 when "
    .. "something is slower"},
  {"keep", help = "keep these results, of one thread, for --check"},
}

-- ---------------------------------------------------------------- results that are kept

local KEPT = ladies.home() .. "/scripts/bench/kept.json"

-- Reads all results that are kept for comparison, by vector units.
local function read_kept()
  return core.exists(KEPT) and json.decode(core.file.read(KEPT)) or {}
end

local function keep(results)
  local all = read_kept()
  all[core.vector_units()] = tables.merged(all[core.vector_units()] or {}, check.kept(results))
  core.file.write(KEPT, json.encode(all, "  ") .. "\n")
  print("kept in " .. KEPT)
end

-- Compares with what is kept; measures once more what seems slower. Returns whether all is well.
local function is_as_fast(results, measure)
  local units = core.vector_units()
  local kept = read_kept()[units]
  if not kept then
    error(("no results are kept of a machine with %s; --keep keeps these"):format(units), 0)
  end
  local slower, unknown = check.slower(results, kept)
  for _, name in ipairs(unknown) do print(name .. ": nothing to compare with is kept") end
  if #slower > 0 then
    local groups = {}
    for _, one in ipairs(slower) do groups[#groups + 1] = one.result.group end
    slower = check.confirmed(slower, measure(groups, 3), kept)
  end
  print(#slower == 0 and "nothing is slower than it was" or check.text(slower))
  return #slower == 0
end

-- ---------------------------------------------------------------- the command

local function settings_text(opts)
  return ("Measured on %s; %s; %g s for each part; ms are medians of rounds (quartiles)")
    :format(of_machine.measured(), counted(ladies.threads(), "thread"), opts.seconds)
end

local function write_files(folder, opts, results, text)
  core.mkdir(folder)
  local bars = {}
  for _, one in ipairs(results) do
    if one.of then
      bars[#bars + 1] = tables.merged(one.percent, {name = one.group .. ": " .. one.name})
    end
  end
  core.file.write(folder .. "/bench.json", json.encode{
    machine = of_machine.processor(), cores = of_machine.cores, commit = commit(),
    numerics = of_machine.numerics(), vector_units = core.vector_units(),
    threads = ladies.threads(), seconds = opts.seconds,
    results = results,
  } .. "\n")
  core.file.write(folder .. "/bench.md", text .. "\n")
  core.file.write(folder .. "/bench.svg",
    picture(("percent of what the machine can do, %s, %s"):format(core.vector_units(),
      counted(ladies.threads(), "thread")), bars))
  print(("in %s: bench.json, bench.md, bench.svg"):format(folder))
end

-- Tells which part was measured last, on a line of its own that the next one writes over.
local function told(result)
  if core.isatty(2) then
    io.stderr:write(("\r\27[K%s: %s"):format(result.group, result.name))
  end
end

cli.main(spec, arg, function(opts)
  if opts.quick then opts.seconds = QUICK end
  if opts.check or opts.keep then opts.threads = 1 end
  if opts.threads then ladies.threads(opts.threads) end
  local function measure(groups, times)
    local results = machine.measure{seconds = opts.seconds * times, only = groups, told = told,
      program = arg[-1] or "ladies"}
    if core.isatty(2) then io.stderr:write "\r\27[K" end
    return results
  end
  local results = measure(opts.only, 1)
  local text = settings_text(opts) .. "\n\n" .. machine.table(results)
  print(text)
  if opts.out then write_files(opts.out, opts, results, text) end
  if opts.keep then keep(results) end
  if opts.check and not is_as_fast(results, measure) then os.exit(1, true) end
end)
